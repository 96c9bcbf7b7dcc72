//! Ladders of bit rates, as services have published them.

pub(super) const NAMES: &[&str] = &["netflix", "apple", "pensieve"];

/// Bit rates of the ladder called `name`, bit/s of video, from the lowest on.
pub(super) fn rates(name: &str) -> &'static [u64] {
    match name {
        "apple" => &[
            145_000, 365_000, 730_000, 1_100_000, 2_000_000, 3_000_000, 4_500_000, 6_000_000,
            7_800_000,
        ],
        "pensieve" => &[300_000, 750_000, 1_200_000, 1_850_000, 2_850_000, 4_300_000],
        _ => &[
            235_000, 375_000, 560_000, 750_000, 1_050_000, 1_750_000, 2_350_000, 3_000_000,
            4_300_000, 5_800_000,
        ],
    }
}
