//! Queue protection (RFC 9957): a score for each flow of how much of the congestion is its own, and who is sent away when the
//! delay is critical.

use packet::{Duration, Instant};

use crate::shells::flows::hash;

/// Buckets for flows (2^5), and one for those that find none.
const BITS: u32 = 5;
const BUCKETS: usize = 1 << BITS;
/// Buckets in which a flow looks for its own.
const ATTEMPTS: u32 = 2;
/// Congestion that a flow may cause for ever, bytes/s: its score ages by it (AGING).
const AGING: f64 = (1 << 19) as f64;
/// A score is at most that (MAX_QLSCORE), s.
const MOST_SCORE: f64 = 5.0;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    flow: u64,
    /// When the score has aged to nothing: the score is how far away that is.
    expires: Instant,
}

/// The buckets.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    buckets: [Bucket; BUCKETS + 1],
    seed: u64,
    /// The delay from which on flows are judged, s, and the product of it and a score above which a packet goes.
    critical: f64,
    product: f64,
    /// Packets sent away.
    pub sanctioned: u64,
}

impl Protection {
    /// Judges from a delay of `critical` seconds on flows with a score of `score` seconds.
    pub fn new(critical: f64, score: f64, seed: u64) -> Self {
        let buckets = [Bucket::default(); BUCKETS + 1];
        Protection { buckets, seed, critical, product: critical * score, sanctioned: 0 }
    }

    /// The flow's bucket, or one that has expired, or that of all others.
    fn pick(&mut self, flow: u64, now: Instant) -> &mut Bucket {
        let mut bits = hash(flow, self.seed);
        let mut expired = None;
        let mut found = None;
        for _ in 0..ATTEMPTS {
            let place = bits as usize & (BUCKETS - 1);
            if self.buckets[place].flow == flow {
                found = Some(place);
                break;
            }
            if expired.is_none() && self.buckets[place].expires <= now {
                expired = Some(place);
            }
            bits >>= BITS;
        }
        let place = found.or(expired).unwrap_or(BUCKETS);
        let bucket = &mut self.buckets[place];
        bucket.expires = bucket.expires.max(now);
        bucket.flow = flow;
        bucket
    }

    /// Whether a packet that finds this delay (s) and the queue's own probability goes to the classic queue.
    pub fn sanctions(
        &mut self,
        flow: u64,
        bytes: u32,
        native: f64,
        delay: f64,
        now: Instant,
    ) -> bool {
        let bucket = self.pick(flow, now);
        let grown = Duration::from_secs_f64(native * f64::from(bytes) / AGING);
        let most = now + Duration::from_secs_f64(MOST_SCORE);
        bucket.expires = (bucket.expires + grown).min(most);
        let score = bucket.expires.since(now).secs_f64();
        let sanctioned = delay > self.critical && delay * score > self.product;
        self.sanctioned += u64::from(sanctioned);
        sanctioned
    }
}
