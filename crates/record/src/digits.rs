//! Sorts whole numbers by their digits (radix sort).

/// Bits of a digit: the counts of all values of a digit fit in a processor's L1 cache.
const BITS: u32 = 11;
const VALUES: usize = 1 << BITS;

/// Number of values from which on sorting by digits is quicker than by comparisons.
const MANY: usize = 4_096;

/// Sorts `values`. Many values are sorted by the digits in which they differ, from the lowest digit
/// on, each in one stable pass.
pub(crate) fn sort(values: &mut Vec<u64>) {
    let differ = values.iter().fold(0, |all, value| all | (value ^ values[0]));
    let digits = (64 - differ.leading_zeros()).div_ceil(BITS);
    // A pass over one digit costs as much as a few comparisons of each value.
    if values.len() < MANY || digits > 4 {
        return values.sort_unstable();
    }
    let mut other = vec![0; values.len()];
    for digit in 0..digits {
        let of = |value: u64| (value >> (digit * BITS)) as usize % VALUES;
        let mut places = [0_usize; VALUES];
        values.iter().for_each(|&value| places[of(value)] += 1);
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &value in values.iter() {
            let place = &mut places[of(value)];
            other[*place] = value;
            *place += 1;
        }
        std::mem::swap(values, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;

    #[test]
    fn digits_sort_as_comparisons_do() {
        let mut rng = Rng::named(1, "digits");
        for (n, most, above) in [
            (0, 1, 0),
            (MANY, 1, 7),
            (MANY + 1, 2_048, 1 << 40),
            (3 * MANY, 1_000_000_000, 5_000_000_000),
            (MANY, 1 << 43, 0),
            (MANY, u64::MAX, 0),
        ] {
            let values: Vec<u64> = (0..n).map(|_| above + rng.below(most)).collect();
            let (mut ours, mut theirs) = (values.clone(), values);
            sort(&mut ours);
            theirs.sort_unstable();
            assert!(ours == theirs, "{n} values below {most} above {above}");
        }
    }
}
