//! Quantiles of a sample.

/// The smallest value that at least a share `p` of the sorted sample does not exceed
/// (the inverse of the empirical distribution function).
///
/// # Panics
/// If the sample is empty.
pub fn quantile<T: Copy>(sorted: &[T], p: f64) -> T {
    // n * p may land a rounding error above a whole number; that must not skip a rank.
    let rank = (sorted.len() as f64 * p - 1e-9).ceil().max(1.0) as usize;
    sorted[rank.min(sorted.len()) - 1]
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
