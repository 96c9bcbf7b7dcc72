//! The reciprocal square root of a count in 32 bits, as in `sch_cake`.

/// Table of 2^32/√count by count, as in `sch_cake`; the entry of 0 is that of 1.
const ROOTS: [u32; 16] = [
    4_294_967_295,
    4_294_967_295,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// 2^32/√count; beyond the table one Newton step from `last`, the value of the last count.
pub(super) fn inverse_root(count: u32, last: u32) -> u32 {
    if let Some(known) = ROOTS.get(count as usize) {
        return *known;
    }
    let square = (u64::from(last) * u64::from(last)) >> 32;
    // A quarter of the term, so that the product fits into 64 bits.
    let rest = (3u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
    (rest.wrapping_mul(u64::from(last)) >> 31) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_roots_are_exact_up_to_fifteen_and_close_above() {
        let mut root = 0;
        for count in 0..2_000 {
            root = inverse_root(count, root);
            let exact = 2f64.powi(32) / f64::from(count.max(1)).sqrt();
            let apart = f64::from(root) / exact - 1.0;
            let most = if count < 16 { 1e-9 } else { 0.0036 };
            assert!(apart.abs() < most, "{count}: {apart}");
        }
        // One step of Newton from the root of 15 towards 2^30 leaves 0.16 %.
        assert_eq!(inverse_root(16, 1_108_955_788), 1_071_990_595);
        assert_eq!(inverse_root(15, 7), 1_108_955_788, "back from above");
    }
}
