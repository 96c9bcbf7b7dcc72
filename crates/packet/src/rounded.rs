//! Times rounded to two bytes.

use crate::Duration;

/// Number of bits that are kept below the leading 1 of a time.
const BITS: u32 = 9;
const PLACES: u64 = 1 << BITS;

/// A time in two bytes, with a relative error of at most 1/1024: its leading ten bits and their
/// shift. The two bytes are also the time's index among all such times, so that histograms can
/// count times without computing with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rounded(u16);

impl Rounded {
    /// The value for "no time", which [`Rounded::of`] never returns.
    pub const NONE: Rounded = Rounded(0);

    /// The rounded value of a time, which counts as one nanosecond at least.
    #[inline]
    pub fn of(time: Duration) -> Rounded {
        let ns = time.nanos().max(1);
        let shift = u64::from((ns | PLACES).ilog2() - BITS);
        Rounded((shift * PLACES + (ns >> shift)) as u16)
    }

    /// The midpoint of the range of times that round to this value; within 0.1 % of each of them.
    pub fn middle(self) -> Duration {
        let place = u64::from(self.0);
        let shift = (place / PLACES).saturating_sub(1);
        Duration::from_nanos(((place - shift * PLACES) << shift) + (1 << shift >> 1))
    }

    /// Index of this time among all rounded times; a longer time has a larger index.
    #[inline]
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// The rounded time with this index.
    ///
    /// # Panics
    /// If the index is above 65,535.
    pub fn at(place: usize) -> Rounded {
        Rounded(u16::try_from(place).expect("a rounded time has two bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_within_a_thousandth() {
        let mut ns = 1.0f64;
        while ns < 1e18 {
            let rounded = Rounded::of(Duration::from_nanos(ns as u64));
            let back = rounded.middle().nanos() as f64;
            assert!((back / (ns as u64) as f64 - 1.0).abs() <= 0.001, "{ns} ns became {back}");
            assert_eq!(Rounded::at(rounded.place()), rounded);
            ns *= 1.07;
        }
        assert_eq!(Rounded::of(Duration::ZERO).middle().nanos(), 1, "a time is never nothing");
        assert_ne!(Rounded::of(Duration::ZERO), Rounded::NONE);
        Rounded::of(Duration::from_nanos(u64::MAX)).middle();
    }

    #[test]
    fn places_follow_each_other_without_a_gap() {
        let mut place = Rounded::of(Duration::from_nanos(1)).place();
        for ns in 2..100_000 {
            let next = Rounded::of(Duration::from_nanos(ns)).place();
            assert!(next == place || next == place + 1, "{ns} ns");
            place = next;
        }
    }
}
