//! Turns of whole bytes, as `sch_cake` has them where a host's flows share a quantum.

use super::rotation::BYTE;

/// Turns in whole bytes, rounded at random so that their mean is right (`cake_get_flow_quantum`).
#[derive(Clone, Debug)]
pub(super) struct Dither(u64);

impl Dither {
    pub fn new(seed: u64) -> Self {
        Dither(seed | 1)
    }

    fn whole(&mut self, share: u32) -> i64 {
        // Marsaglia's xorshift (64 bits: 13, 7, 17), of which the upper 16 bits count.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::from(share.saturating_add((self.0 >> 48) as u32) >> 16) * BYTE
    }
}

/// What a turn adds to a queue's deficit, in 2^-16 bytes; whole bytes with `dither`.
#[inline]
pub(super) fn added(dither: &mut Option<Dither>, share: u32) -> i64 {
    dither.as_mut().map_or(i64::from(share), |dither| dither.whole(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dithered_turn_is_of_whole_bytes_and_right_in_the_mean() {
        // 305 B, the quantum at 10 Mbit/s, among four queues of a host: 76 or 77 B, 76.25 in the mean.
        let share = (305 << 16) / 4;
        let mut dither = Some(Dither::new(1));
        let mut sum = 0;
        for _ in 0..10_000 {
            let turn = added(&mut dither, share);
            assert!([76 * BYTE, 77 * BYTE].contains(&turn));
            sum += turn;
        }
        let mean = sum as f64 / (10_000 * BYTE) as f64;
        // The standard deviation of the mean is 0.0043 B.
        assert!((mean - 76.25).abs() < 0.017, "{mean}");
        assert_eq!(added(&mut None, share), 76 * BYTE + BYTE / 4);
    }
}
