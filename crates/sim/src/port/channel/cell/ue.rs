//! A user equipment as its base station sees it.

use packet::{Instant, Packet, Rng};

use super::marking::Rates;
use super::reorder::Arrived;

/// The state of a UE in one direction.
pub(super) struct Ue {
    /// Channel quality (CQI): its mean, the one now, and up to when it was moved.
    pub mean: f64,
    pub quality: usize,
    pub moved: u64,
    pub rng: Rng,
    /// Spectral efficiency at the current channel quality, bit/s/Hz.
    pub efficiency: f64,
    /// Bytes that the scheduler knows of.
    pub known: u64,
    /// Bytes left of a packet that was begun, the packet, and when it was.
    pub partial: Option<(u64, Packet, Instant)>,
    /// Up to when its reports of bytes are under way, and when its opportunities to request are.
    pub requested: Instant,
    pub phase: u64,
    /// Bytes since the average was moved, the average over slots, and the slot of that.
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

    /// Bytes a slot that it got in the mean, exponentially weighted over `window` slots before this one.
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
    /// Its number among the UE's blocks.
    pub number: u64,
    /// The part of a slot that it takes.
    pub part: f64,
    /// Packets that end in it.
    pub packets: Vec<Packet>,
    /// How often it was sent.
    pub tries: u32,
}
