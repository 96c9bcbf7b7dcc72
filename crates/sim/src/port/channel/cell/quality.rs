//! Channel quality: a Markov chain over the channel quality indicators (CQI) of 3GPP, and the
//! spectral efficiency of each.

use packet::{Duration, Instant};

use super::ue::Ue;

/// Spectral efficiencies of CQI 1 to 15, bit/s/Hz.
pub type Table = [f64; 15];

/// Parameters of the random walks of the UEs' channel qualities.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// Spectral efficiency of each CQI.
    pub table: Table,
    /// Time between steps.
    pub step: Duration,
    /// The probability of a step of one up or down.
    pub moves: f64,
    /// Distance from the mean, in CQI, at which every step leads back towards it.
    pub spread: f64,
}

/// Number of steps after which the chain no longer depends on where it was.
const FORGOTTEN: u64 = 5_000;

impl Quality {
    /// Moves the chain of a UE to `now`, and returns the UE's spectral efficiency.
    pub(super) fn efficiency(&self, ue: &mut Ue, now: Instant) -> f64 {
        let step = now.nanos() / self.step.nanos();
        if self.moves > 0.0 {
            let first = ue.moved.max(step.saturating_sub(FORGOTTEN));
            for _ in first..step {
                self.advance(ue);
            }
        }
        ue.moved = step;
        ue.efficiency = self.table[ue.quality.clamp(1, 15) - 1];
        ue.efficiency
    }

    fn advance(&self, ue: &mut Ue) {
        if ue.rng.uniform() >= self.moves {
            return;
        }
        let away = (ue.quality as f64 - ue.mean) / self.spread;
        let up = ue.rng.uniform() < 0.5 - 0.5 * away.clamp(-1.0, 1.0);
        ue.quality = if up { (ue.quality + 1).min(15) } else { (ue.quality - 1).max(1) };
    }
}
