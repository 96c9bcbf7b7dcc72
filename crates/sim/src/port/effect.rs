//! An element of a packet's route at which an effect acts ([`crate::effect`]). It has no queue: a
//! packet goes on at once, later, or not at all.

use packet::{Instant, Rng};
use record::{Meter, Window};

use crate::effect::{Effect, Fate, Passing};

/// What an effect did to packets in the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectCounts {
    /// Packets that reached the effect.
    pub packets: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets that the effect marked with CE.
    pub marked: u64,
    /// Copies that were sent behind packets.
    pub copied: u64,
    /// Packets that were corrupted.
    pub corrupted: u64,
    /// Packets that were held back until others had passed.
    pub held: u64,
    /// The time by which packets were delayed in total, ns.
    pub delayed_ns: u128,
}

impl EffectCounts {
    /// Mean delay of the packets that went on, s.
    pub fn delay_mean_s(&self) -> f64 {
        let went = self.packets - self.lost;
        if went == 0 { 0.0 } else { self.delayed_ns as f64 / 1e9 / went as f64 }
    }
}

/// A packet that waits for others to pass it.
struct Held {
    id: u32,
    packets: u32,
    until: Instant,
}

/// An effect, its stream of random numbers, and what it has done.
pub struct EffectPort {
    effect: Box<dyn Effect>,
    rng: Rng,
    window: Window,
    counts: EffectCounts,
    held: Vec<Held>,
    released: Vec<u32>,
    /// A meter that stays empty: what an effect does is in `counts`.
    meter: Meter,
}

impl EffectPort {
    /// An element with `effect`, which counts packets in the measured interval `window`.
    pub fn new(effect: Box<dyn Effect>, rng: Rng, window: Window, meter: Meter) -> Self {
        let (held, released) = (Vec::new(), Vec::new());
        EffectPort { effect, rng, window, counts: EffectCounts::default(), held, released, meter }
    }

    /// A packet reaches the effect, which decides its fate. Held packets that enough others have
    /// passed are then released.
    pub fn pass(&mut self, id: u32, packet: &mut Passing) {
        let ecn = packet.ecn;
        self.effect.pass(packet, &mut self.rng);
        if self.window.contains(packet.now) {
            self.count(packet, packet.ecn != ecn);
        }
        if !matches!(packet.fate, Fate::Lost | Fate::Held(..)) {
            let released = &mut self.released;
            self.held.retain_mut(|held| {
                held.packets -= 1;
                if held.packets == 0 {
                    released.push(held.id);
                }
                held.packets > 0
            });
        }
        if let Fate::Held(packets, until) = packet.fate {
            self.held.push(Held { id, packets, until });
        }
    }

    fn count(&mut self, packet: &Passing, marked: bool) {
        let counts = &mut self.counts;
        counts.packets += 1;
        counts.marked += u64::from(marked);
        counts.delayed_ns += u128::from(packet.at.since(packet.now).nanos());
        match packet.fate {
            Fate::GoesOn => {}
            Fate::Lost => counts.lost += 1,
            Fate::Copied => counts.copied += 1,
            Fate::Corrupted => counts.corrupted += 1,
            Fate::Held(..) => counts.held += 1,
        }
    }

    /// Releases the packets that may not be held longer than until `now`.
    pub fn release(&mut self, now: Instant) {
        let released = &mut self.released;
        self.held.retain(|held| {
            if held.until <= now {
                released.push(held.id);
            }
            held.until > now
        });
    }

    /// Removes and returns the handle of a released packet, the first released one first.
    pub fn take_released(&mut self) -> Option<u32> {
        (!self.released.is_empty()).then(|| self.released.remove(0))
    }

    /// Counters of the effect in the measured interval.
    pub fn counts(&self) -> &EffectCounts {
        &self.counts
    }
    /// The meter, which stays empty.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
    /// The meter, which stays empty.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
}
