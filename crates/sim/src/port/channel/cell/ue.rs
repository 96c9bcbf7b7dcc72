//! A user equipment as its base station sees it.

use packet::{Instant, Packet, Rng};

use super::marking::Rates;
use super::reorder::Arrived;

/// The state of a UE in one direction.
pub(super) struct Ue {
    /// Mean channel quality (CQI).
    pub mean: f64,
    /// Present channel quality (CQI).
    pub quality: usize,
    /// Step of time up to which the channel quality has been moved.
    pub moved: u64,
    pub rng: Rng,
    /// Spectral efficiency at the current channel quality, bit/s/Hz.
    pub efficiency: f64,
    /// Waiting bytes of which the scheduler knows.
    pub known: u64,
    /// A packet of which a part was sent: its bytes left, the packet, and when it was begun.
    pub partial: Option<(u64, Packet, Instant)>,
    /// Time of the UE's last report of waiting bytes.
    pub requested: Instant,
    /// Phase of the UE's opportunities to request.
    pub phase: u64,
    /// Bytes sent since the average was updated, the average in bytes per slot, and the slot of
    /// that update.
    pub got: f64,
    mean_got: f64,
    slot: u64,
    pub arrived: Arrived,
    pub rates: Rates,
}

impl Ue {
    pub fn new(mean: f64, rng: &mut Rng) -> Self {
        Ue {
            mean,
            quality: mean.round() as usize,
            moved: 0,
            phase: rng.next_u64() >> 20,
            rng: rng.called("quality").member(rng.next_u64()),
            efficiency: 0.0,
            known: 0,
            partial: None,
            requested: Instant::ZERO,
            got: 0.0,
            mean_got: 0.0,
            slot: 0,
            arrived: Arrived::default(),
            rates: Rates::default(),
        }
    }

    /// Mean bytes per slot that the UE got, exponentially weighted over `window` slots before this
    /// one.
    pub fn average(&mut self, slot: u64, window: f64) -> f64 {
        let keep = 1.0 - 1.0 / window;
        let passed = slot.saturating_sub(self.slot).min(1 << 20) as i32;
        if passed > 0 {
            self.mean_got = self.mean_got * keep.powi(passed) + self.got / window;
            (self.got, self.slot) = (0.0, slot);
        }
        self.mean_got
    }
}

/// A transport block.
pub(super) struct Block {
    pub ue: usize,
    /// Number of the block among the UE's blocks.
    pub number: u64,
    /// The part of a slot that the block takes.
    pub part: f64,
    /// Packets that end in the block.
    pub packets: Vec<Packet>,
    /// Number of transmissions of the block so far.
    pub tries: u32,
}
