//! The radio channel that an access point and its stations share: who may send when (EDCA with the
//! parameters of one access category, IEEE 802.11-2020 section 10.23.2), and each station's use of
//! the channel.

use packet::{Duration, Instant, Rng};
use record::Window;

/// Timing parameters of the channel.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// A slot of the backoff.
    pub slot: Duration,
    /// How long the channel must have been idle before slots count (AIFS, or DIFS).
    pub idle: Duration,
    /// Time between a frame and its acknowledgement.
    pub sifs: Duration,
    /// Duration of preamble and header of the physical layer.
    pub preamble: Duration,
    /// Duration of a block acknowledgement, its own preamble included.
    pub block_ack: Duration,
    /// Duration of a request for a block acknowledgement, its own preamble included.
    pub request: Duration,
    /// Time that a sender waits after its transmission for the acknowledgement to begin.
    pub timeout: Duration,
    /// Smallest and largest contention window, in slots.
    pub window: (u32, u32),
    /// Number of failures in a row for which the contention window doubles; after one more the
    /// window is the smallest again.
    pub retry_limit: u32,
}

/// A contender for the channel: the access point, or a station.
#[derive(Clone, Debug)]
struct Contender {
    waiting: bool,
    /// Slots left of the contender's backoff, which also counts down when nothing waits.
    backoff: u32,
    /// Earliest time from which slots count.
    since: Instant,
    /// Time until which the contender waited in vain for an acknowledgement, so that the channel
    /// was busy for it alone.
    blocked_until: Instant,
    window: u32,
    /// Transmissions in vain since the last success, or since the window was last set back (QSRC).
    failures: u32,
    /// Whether the contender begins in the slot of the present sender, so that both collide.
    collides: bool,
    /// Whether the contender's transmission under way has collided.
    lost: bool,
}

/// Use of the channel by a station in the measured interval, both directions together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Time on the air, acknowledgements included.
    pub airtime: Duration,
    /// Number of aggregates sent.
    pub aggregates: u64,
    /// Frames in the aggregates sent.
    pub frames: u64,
    /// Frames that had to be retransmitted.
    pub repeated: u64,
    /// Frames that were given up after their last try.
    pub given_up: u64,
}

/// The radio channel, which both directions of a link share.
pub struct Medium {
    /// The timing of medium access.
    pub timing: Timing,
    contenders: Vec<Contender>,
    /// Time from which the channel is idle for contenders that do not send.
    free_at: Instant,
    /// The transmission under way or the last one: who sends, since when, and until when it is on the air.
    sender: usize,
    began: Instant,
    air_ends: Instant,
    window: Window,
    shares: Vec<Share>,
    /// Airtime in which each station has sent since the access point last read it, to share airtime
    /// fairly.
    received: Vec<Duration>,
}

impl Medium {
    /// An idle channel of an access point, contender 0, and `stations`, contenders from 1 on.
    pub fn new(timing: Timing, stations: usize, window: Window) -> Self {
        let contender = Contender {
            waiting: false,
            backoff: 0,
            since: Instant::ZERO,
            blocked_until: Instant::ZERO,
            window: timing.window.0,
            failures: 0,
            collides: false,
            lost: false,
        };
        Medium {
            timing,
            contenders: vec![contender; stations + 1],
            free_at: Instant::ZERO,
            sender: 0,
            began: Instant::ZERO,
            air_ends: Instant::ZERO,
            window,
            shares: vec![Share::default(); stations],
            received: vec![Duration::ZERO; stations],
        }
    }

    /// A contender has something to send from now on. If the channel is busy and the backoff after its own last
    /// transmission is over, it draws another; if the channel is idle, it sends at the next slot.
    pub fn wait(&mut self, contender: usize, now: Instant, rng: &mut Rng) {
        let (slot, from) = (self.timing.slot, self.counts_from(contender));
        let busy = now < self.free_at.max(self.contenders[contender].blocked_until);
        let own = &mut self.contenders[contender];
        if std::mem::replace(&mut own.waiting, true) {
            return;
        }
        if now >= from {
            let passed = now.since(from).nanos() / slot.nanos();
            if u64::from(own.backoff) <= passed {
                (own.backoff, own.since) = (0, from + slot * (passed + 1));
            }
        } else if busy && own.backoff == 0 {
            own.draw(now, rng);
        }
    }

    /// A contender that waited has nothing to send after all.
    pub fn withdraw(&mut self, contender: usize) {
        let own = &mut self.contenders[contender];
        (own.waiting, own.collides) = (false, false);
    }

    /// Time from which the slots of a contender count.
    #[inline]
    fn counts_from(&self, contender: usize) -> Instant {
        let own = &self.contenders[contender];
        (self.free_at.max(own.blocked_until) + self.timing.idle).max(own.since)
    }

    /// When a waiting contender begins to send if no other does before.
    #[inline]
    pub fn turn(&self, contender: usize) -> Option<Instant> {
        let own = &self.contenders[contender];
        if own.collides {
            return Some(self.began);
        }
        let slots = self.timing.slot * u64::from(own.backoff);
        own.waiting.then(|| self.counts_from(contender) + slots)
    }

    /// A contender begins a transmission that takes `air`, and whose acknowledgement takes
    /// `response` after that. The others keep the slots that they have left, less the one at whose
    /// beginning the channel was still idle; a contender without any left begins at this instant
    /// too, and both transmissions are lost.
    pub fn begin(&mut self, contender: usize, now: Instant, air: Duration, response: Duration) {
        let own = &mut self.contenders[contender];
        (own.waiting, own.backoff, own.lost) = (false, 0, own.collides);
        if std::mem::take(&mut own.collides) {
            self.contenders[self.sender].lost = true;
            self.air_ends = self.air_ends.max(now + air);
            self.free_at = self.air_ends;
            return;
        }
        let slot = self.timing.slot;
        for other in (0..self.contenders.len()).filter(|&other| other != contender) {
            let from = self.counts_from(other);
            let own = &mut self.contenders[other];
            if now >= from {
                let passed = now.since(from).nanos() / slot.nanos();
                own.collides = own.waiting && from + slot * u64::from(own.backoff) == now;
                own.backoff = own.backoff.saturating_sub(passed as u32 + 1);
            }
        }
        (self.sender, self.began) = (contender, now);
        (self.air_ends, self.free_at) = (now + air, now + air + response);
    }

    /// Whether the transmission of a contender that is under way has collided.
    pub fn is_lost(&self, contender: usize) -> bool {
        self.contenders[contender].lost
    }

    /// A contender's transmission was acknowledged, or was not: its contention window shrinks or doubles (10.23.2.2), and
    /// it draws its next backoff, whether or not more waits.
    pub fn ended(&mut self, contender: usize, now: Instant, rng: &mut Rng) {
        let Timing { window: (least, most), retry_limit, .. } = self.timing;
        let own = &mut self.contenders[contender];
        let lost = std::mem::take(&mut own.lost);
        if lost {
            own.blocked_until = now;
        }
        if lost && own.failures < retry_limit {
            own.failures += 1;
            own.window = (2 * own.window + 1).min(most);
        } else {
            (own.failures, own.window) = (0, least);
        }
        own.draw(now, rng);
    }

    /// Counts a transmission to or from a station with this number of frames; a request has 0.
    pub fn took(&mut self, station: usize, began: Instant, lasts: Duration, frames: u64) {
        if self.window.contains(began) {
            let share = &mut self.shares[station];
            share.airtime += lasts;
            share.aggregates += u64::from(frames > 0);
            share.frames += frames;
        }
    }

    /// Counts frames that are retransmitted.
    pub fn repeats(&mut self, station: usize, now: Instant, frames: u64) {
        if self.window.contains(now) {
            self.shares[station].repeated += frames;
        }
    }

    /// Counts frames that are given up.
    pub fn gives_up(&mut self, station: usize, now: Instant, frames: u64) {
        if self.window.contains(now) {
            self.shares[station].given_up += frames;
        }
    }

    /// Adds a time for which a station has sent.
    pub fn receive(&mut self, station: usize, lasts: Duration) {
        self.received[station] += lasts;
    }

    /// Time for which a station has sent since the last call of this method.
    pub fn take_received(&mut self, station: usize) -> Duration {
        std::mem::take(&mut self.received[station])
    }

    /// Use of the channel by each station.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }
}

impl Contender {
    /// Draws a backoff.
    fn draw(&mut self, now: Instant, rng: &mut Rng) {
        self.since = now;
        self.backoff = rng.below(u64::from(self.window) + 1) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(count: u64) -> Duration {
        Duration::from_nanos(1_000 * count)
    }

    fn at(count: u64) -> Instant {
        Instant::ZERO + us(count)
    }

    /// An idle channel whose contenders wait with these backoffs from the beginning; backoffs drawn
    /// later are 0.
    fn waiting(backoffs: &[u32]) -> Medium {
        let timing = Timing {
            slot: us(9),
            idle: us(34),
            sifs: us(16),
            preamble: us(32),
            block_ack: us(32),
            request: us(32),
            timeout: us(45),
            window: (0, 0),
            retry_limit: 7,
        };
        let window = Window { from: Instant::ZERO, to: Instant::NEVER };
        let mut medium = Medium::new(timing, backoffs.len() - 1, window);
        for (contender, &backoff) in medium.contenders.iter_mut().zip(backoffs) {
            (contender.waiting, contender.backoff) = (true, backoff);
        }
        medium
    }

    #[test]
    fn who_waits_has_one_slot_fewer_than_have_passed() {
        let mut medium = waiting(&[2, 5]);
        assert_eq!((medium.turn(0), medium.turn(1)), (Some(at(52)), Some(at(79))));
        medium.begin(0, at(52), us(100), us(48));
        // Of the five slots of contender 1, two and the one at the end of AIFS have passed (IEEE
        // 802.11-2020, 10.23.2.4).
        assert_eq!(medium.turn(1), Some(at(200 + 34 + 2 * 9)));
    }

    #[test]
    fn a_collision_ends_with_its_frames_and_its_senders_wait_for_the_timeout() {
        let (mut medium, mut rng) = (waiting(&[3, 3, 10]), Rng::named(1, "a test"));
        medium.begin(0, at(61), us(100), us(48));
        assert_eq!(medium.turn(1), Some(at(61)));
        medium.begin(1, at(61), us(300), us(48));
        assert!(medium.is_lost(0) && medium.is_lost(1) && !medium.is_lost(2));
        assert_eq!(medium.turn(2), Some(at(361 + 34 + 6 * 9)), "nobody acknowledges");
        medium.ended(0, at(61 + 100 + 45), &mut rng);
        medium.wait(0, at(206), &mut rng);
        assert_eq!(medium.turn(0), Some(at(361 + 34)), "the longer one is on the air");
        medium.ended(1, at(361 + 45), &mut rng);
        medium.wait(1, at(406), &mut rng);
        assert_eq!(medium.turn(1), Some(at(406 + 34)));
    }

    /// IEEE 802.11-2020, 10.23.2.2: the window doubles up to its largest, and after dot11ShortRetryLimit failures in a row
    /// the next one sets it back.
    #[test]
    fn the_window_is_the_smallest_again_after_the_retry_limit() {
        let windows = |retry_limit: u32| {
            let (mut medium, mut rng) = (waiting(&[0, 0]), Rng::named(1, "a test"));
            (medium.timing.window, medium.timing.retry_limit) = ((15, 1_023), retry_limit);
            // A success, nine failures, a success and a failure.
            let lost = (0..12).map(|i| i != 0 && i != 10);
            let mut ends = |lost: bool| {
                medium.contenders[0].lost = lost;
                medium.ended(0, at(1), &mut rng);
                medium.contenders[0].window
            };
            lost.map(&mut ends).collect::<Vec<u32>>()
        };
        assert_eq!(windows(7), [15, 31, 63, 127, 255, 511, 1_023, 1_023, 15, 31, 15, 31]);
        assert_eq!(windows(9)[7..], [1_023, 1_023, 1_023, 15, 31]);
    }
}
