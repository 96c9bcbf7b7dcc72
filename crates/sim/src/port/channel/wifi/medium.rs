//! The radio channel that an access point and its stations share: who may send when (DCF with EDCA's
//! parameters of one access category), and what each station took of it.

use packet::{Duration, Instant, Rng};
use record::Window;

/// Times of the channel.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// A slot of the backoff.
    pub slot: Duration,
    /// How long the channel must have been idle before slots count (AIFS, or DIFS).
    pub idle: Duration,
    /// Between a frame and its acknowledgement.
    pub sifs: Duration,
    /// Preamble and header of the physical layer.
    pub preamble: Duration,
    /// Block acknowledgement, its own preamble included.
    pub block_ack: Duration,
    /// Smallest and largest contention window, in slots.
    pub window: (u32, u32),
}

/// Who contends: the access point, or a station.
#[derive(Clone, Debug)]
struct Contender {
    waiting: bool,
    /// Slots left of its backoff, counted from when the channel is idle and it waits.
    backoff: u32,
    since: Instant,
    window: u32,
    /// Whether it begins in the same slot as the station that sends, so that both collide.
    collides: bool,
}

/// What a station took of the channel in the measured interval, both directions together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Time on the air, acknowledgements included.
    pub airtime: Duration,
    /// Aggregates sent, and frames in them.
    pub aggregates: u64,
    /// Of these.
    pub frames: u64,
    /// Frames that had to be retransmitted.
    pub repeated: u64,
}

/// The channel.
pub struct Medium {
    /// Its times.
    pub timing: Timing,
    contenders: Vec<Contender>,
    /// End of the transmission under way, its acknowledgement included, or of the last one.
    free_at: Instant,
    /// When that began, and whether another began in the same slot.
    began: Instant,
    collided: bool,
    window: Window,
    shares: Vec<Share>,
    /// Airtime of what each station sent since the access point last looked, for its fair turns.
    received: Vec<Duration>,
}

impl Medium {
    /// An idle channel of an access point, contender 0, and `stations`, contenders from 1 on.
    pub fn new(timing: Timing, stations: usize, window: Window) -> Self {
        let contender = Contender {
            waiting: false,
            backoff: 0,
            since: Instant::ZERO,
            window: timing.window.0,
            collides: false,
        };
        Medium {
            timing,
            contenders: vec![contender; stations + 1],
            free_at: Instant::ZERO,
            began: Instant::ZERO,
            collided: false,
            window,
            shares: vec![Share::default(); stations],
            received: vec![Duration::ZERO; stations],
        }
    }

    /// A contender that has something to send draws its backoff, unless it waits already.
    pub fn wait(&mut self, contender: usize, now: Instant, rng: &mut Rng) {
        let own = &mut self.contenders[contender];
        if !own.waiting {
            own.waiting = true;
            own.since = now;
            own.backoff = rng.below(u64::from(own.window) + 1) as u32;
        }
    }

    /// From when on the slots of a contender count.
    fn counts_from(&self, contender: &Contender) -> Instant {
        self.free_at.max(contender.since) + self.timing.idle
    }

    /// When a waiting contender begins to send if no other does before.
    pub fn turn(&self, contender: usize) -> Option<Instant> {
        let own = &self.contenders[contender];
        if own.collides {
            return Some(self.began);
        }
        let slots = self.timing.slot * u64::from(own.backoff);
        own.waiting.then(|| self.counts_from(own) + slots)
    }

    /// A contender whose turn it is begins a transmission of this length. The others keep the slots that
    /// they have left; one without any begins at the same instant, and both are lost.
    pub fn begin(&mut self, contender: usize, now: Instant, lasts: Duration) {
        if std::mem::take(&mut self.contenders[contender].collides) {
            self.collided = true;
            self.free_at = self.free_at.max(now + lasts);
            self.contenders[contender].waiting = false;
            return;
        }
        self.contenders[contender].waiting = false;
        for other in 0..self.contenders.len() {
            let from = self.counts_from(&self.contenders[other]);
            let own = &mut self.contenders[other];
            if own.waiting && now >= from {
                let passed = now.since(from).nanos() / self.timing.slot.nanos();
                own.backoff = own.backoff.saturating_sub(passed as u32);
                own.collides = own.backoff == 0 && self.timing.slot * passed == now.since(from);
            }
        }
        (self.began, self.collided) = (now, false);
        self.free_at = now + lasts;
    }

    /// Whether the transmission that began at `began` met another. Call it when it ends.
    pub fn was_lost(&self, began: Instant) -> bool {
        self.collided && began == self.began
    }

    /// A contender's transmission arrived, or did not: its contention window shrinks or doubles.
    pub fn ended(&mut self, contender: usize, arrived: bool) {
        let (least, most) = self.timing.window;
        let window = &mut self.contenders[contender].window;
        *window = if arrived { least } else { (2 * *window + 1).min(most) };
    }

    /// Counts a transmission of `frames` to or from a station.
    pub fn took(&mut self, station: usize, began: Instant, lasts: Duration, frames: u64) {
        if self.window.contains(began) {
            let share = &mut self.shares[station];
            share.airtime += lasts;
            share.aggregates += 1;
            share.frames += frames;
        }
    }

    /// Counts frames that must be retransmitted.
    pub fn repeats(&mut self, station: usize, now: Instant, frames: u64) {
        if self.window.contains(now) {
            self.shares[station].repeated += frames;
        }
    }

    /// A station has sent for this long.
    pub fn receive(&mut self, station: usize, lasts: Duration) {
        self.received[station] += lasts;
    }

    /// How long a station has sent since this was last called.
    pub fn take_received(&mut self, station: usize) -> Duration {
        std::mem::take(&mut self.received[station])
    }

    /// What each station took.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }
}
