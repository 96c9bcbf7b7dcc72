//! Queue protection (RFC 9957): a score of each flow's part in the congestion, and the choice of
//! packets that are redirected to the classic queue while the delay is critical.

use packet::{Duration, Instant};

use crate::shells::flows::hash;

/// Number of buckets for flows, as a power of two; one more serves flows that find none.
const BITS: u32 = 5;
const BUCKETS: usize = 1 << BITS;
/// Number of buckets in which a flow looks for its own.
const ATTEMPTS: u32 = 2;
/// Rate at which a score ages, in bytes/s: congestion that a flow may cause for ever (AGING).
const AGING: f64 = (1 << 19) as f64;
/// Largest score, in seconds (MAX_QLSCORE).
const MOST_SCORE: f64 = 5.0;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    flow: u64,
    /// Time at which the score has aged to zero; the score is the time left until then.
    expires: Instant,
}

/// The buckets and thresholds of queue protection.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    buckets: [Bucket; BUCKETS + 1],
    seed: u64,
    /// Delay above which packets are redirected, in seconds.
    critical: f64,
    /// Product of delay and score above which a packet is redirected, in seconds squared.
    product: f64,
    /// Number of packets redirected to the classic queue.
    pub sanctioned: u64,
}

impl Protection {
    /// Queue protection that redirects packets above a delay of `critical` seconds; at that delay,
    /// from a score of `score` seconds on.
    pub fn new(critical: f64, score: f64, seed: u64) -> Self {
        let buckets = [Bucket::default(); BUCKETS + 1];
        Protection { buckets, seed, critical, product: critical * score, sanctioned: 0 }
    }

    /// The flow's bucket, or an expired one, or the one that the remaining flows share.
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

    /// Whether a packet is redirected to the classic queue; `native` is the queue's own probability
    /// of a mark, and `delay` is in seconds.
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
