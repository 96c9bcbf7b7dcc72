//! Quantiles of a sample.

/// The smallest value that at least a share `p` of the sorted sample does not exceed
/// (the inverse of the empirical distribution function).
///
/// # Panics
/// If the sample is empty.
pub fn quantile<T: Copy>(sorted: &[T], p: f64) -> T {
    sorted[rank(sorted.len() as u64, p) as usize - 1]
}

/// The rank, from 1, of the quantile `p` among `n` sorted values; 1 if there are none.
pub(crate) fn rank(n: u64, p: f64) -> u64 {
    // `n * p` may be a rounding error above a whole number, which must not skip a rank.
    let rank = (n as f64 * p - 1e-9).ceil().max(1.0) as u64;
    rank.min(n.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_order_statistics() {
        let sample: Vec<u32> = (1..=10).collect();
        assert_eq!(quantile(&sample, 0.1), 1);
        assert_eq!(quantile(&sample, 0.11), 2);
        assert_eq!(quantile(&sample, 0.5), 5);
        assert_eq!(quantile(&sample, 0.7), 7);
        assert_eq!(quantile(&sample, 1.0), 10);
        assert_eq!(quantile(&[7], 0.5), 7);
    }
}
