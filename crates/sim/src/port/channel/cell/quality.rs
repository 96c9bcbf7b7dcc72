//! Channel quality: a Markov chain over the channel quality indicators (CQI) of 3GPP, and what each carries.

use packet::{Duration, Instant};

use super::ue::Ue;

/// Efficiencies of CQI 1 to 15, bit/s/Hz.
pub type Table = [f64; 15];

/// How the qualities of UEs wander.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// What each CQI carries.
    pub table: Table,
    /// Time between steps.
    pub step: Duration,
    /// The probability of a step of one up or down.
    pub moves: f64,
    /// How far from the mean all steps go back to it, CQI.
    pub spread: f64,
}

/// Steps after which the chain has forgotten where it was.
const FORGOTTEN: u64 = 5_000;

impl Quality {
    /// Efficiency of a UE at `now`, which its chain is moved to.
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
