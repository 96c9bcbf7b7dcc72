//! Alternative backoff with ECN (RFC 8511): a mark comes from a short queue, so it takes less of the
//! window than a loss.

/// Share of the window that a mark leaves (beta_ecn), in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BetaEcn(u16);

impl BetaEcn {
    pub fn new(share: f64) -> Self {
        BetaEcn((share * 1_000.0 + 0.5) as u16)
    }

    /// RFC 8511 section 3: the threshold after a mark is this share of `before`, at least two
    /// segments, and the window is no more than that. `before` is the usable window before the mark
    /// was answered, in place of the RFC's FlightSize.
    pub fn threshold(self, before: u64, mss: u64) -> u64 {
        (before * u64::from(self.0) / 1_000).max(2 * mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_fifths_are_left_and_two_segments_at_least() {
        let beta = BetaEcn::new(0.8);
        assert_eq!(beta.threshold(10_000, 1_000), 8_000);
        assert_eq!(beta.threshold(2_000, 1_000), 2_000);
        assert_eq!(BetaEcn::new(0.85).threshold(10_000, 1_000), 8_500);
    }
}
