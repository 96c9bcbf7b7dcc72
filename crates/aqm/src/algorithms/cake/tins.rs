//! The division of packets into tins, and the share of the rate that each tin has.

use packet::Duration;

use super::super::alternation::Numbers;
use super::shaper::Pace;

/// How packets are divided by their code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    BestEffort,
    Diffserv3,
    Diffserv4,
    Diffserv8,
    Precedence,
}

impl Scheme {
    /// The scheme called `name`.
    pub fn named(name: &str) -> Self {
        match name {
            "besteffort" => Scheme::BestEffort,
            "diffserv4" => Scheme::Diffserv4,
            "diffserv8" => Scheme::Diffserv8,
            "precedence" => Scheme::Precedence,
            _ => Scheme::Diffserv3,
        }
    }

    /// The tin of packets with code point `dscp`.
    pub const fn tin(self, dscp: u8) -> usize {
        let background = matches!(dscp, 1 | 8); // LE, CS1
        let network = matches!(dscp, 48 | 56); // CS6, CS7
        let voice = network || matches!(dscp, 44 | 46); // VA, EF
        match self {
            Scheme::BestEffort => 0,
            Scheme::Precedence => (dscp >> 3 & 7) as usize,
            Scheme::Diffserv3 if background => 1,
            Scheme::Diffserv3 if voice || dscp == 4 => 2, // TOS4
            Scheme::Diffserv3 => 0,
            Scheme::Diffserv4 => diffserv4(dscp, background, voice),
            Scheme::Diffserv8 => diffserv8(dscp, background, network),
        }
    }

    /// For each tin, the binary shift of the rate that gives its share, and its quantum in bytes if
    /// there is no rate. Empty for the schemes of eight tins.
    fn shares(self) -> &'static [(u32, i64)] {
        match self {
            Scheme::BestEffort => &[(0, 65_535)],
            Scheme::Diffserv3 => &[(0, 1024), (4, 64), (2, 256)],
            Scheme::Diffserv4 => &[(0, 1024), (4, 64), (1, 512), (2, 256)],
            Scheme::Diffserv8 | Scheme::Precedence => &[],
        }
    }

    /// Rate in bytes per second and quantum in bytes of each tin, if CAKE sends at `rate`.
    pub fn divide(self, rate: u64) -> impl Iterator<Item = (u64, i64)> {
        // Eight tins have 7/8 of the one before, rounded down each time.
        let eighths = |(rate, quantum): &(u64, i64)| Some((rate * 7 / 8, quantum * 7 / 8));
        let falling = core::iter::successors(Some((rate, 256)), eighths);
        let fixed = self.shares().iter().map(move |(shift, quantum)| (rate >> shift, *quantum));
        let eight = if self.shares().is_empty() { 8 } else { 0 };
        fixed.chain(falling.take(eight))
    }
}

/// The tin in diffserv4: background 1, streaming 2, delay-sensitive 3, the rest 0.
const fn diffserv4(dscp: u8, background: bool, voice: bool) -> usize {
    if background {
        return 1;
    }
    match dscp {
        32 | 40 => 3, // CS4, CS5
        _ if voice => 3,
        // TOS4, CS2, AF2x, CS3, AF3x, AF4x
        4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
        _ => 0,
    }
}

/// The tin in diffserv8: from the least effort, 0, to network control, 7.
const fn diffserv8(dscp: u8, background: bool, network: bool) -> usize {
    if background {
        return if dscp == 1 { 0 } else { 1 };
    }
    match dscp {
        _ if network => 7,
        32 | 40 | 44 | 46 => 6,                // CS4, CS5, VA, EF
        16 => 5,                               // CS2
        4 | 18 | 20 | 22 => 4,                 // TOS4, AF2x
        24 | 26 | 28 | 30 | 34 | 36 | 38 => 3, // CS3, AF3x, AF4x
        2 | 10 | 12 | 14 => 1,                 // TOS2, AF1x
        _ => 2,
    }
}

/// Numbers that the queues of one tin have in common.
#[derive(Clone, Debug)]
pub(super) struct TinNumbers {
    pub pace: Pace,
    /// Bytes per turn of the tin, if there is no rate.
    pub quantum: i64,
    /// Bytes per turn of a queue that is the only bulk queue of its hosts.
    pub flow_quantum: u32,
    pub law: Numbers,
}

impl TinNumbers {
    /// The numbers of a tin with `rate` bytes per second, 0 for no limit.
    pub fn new(
        (rate, quantum): (u64, i64),
        mtu: u64,
        target: Duration,
        interval: Duration,
    ) -> Self {
        let pace = Pace::limited(rate);
        let flow_quantum = flow_quantum(rate);
        let law = Numbers::at_rate(target, interval, pace.time_for(mtu));
        TinNumbers { pace, quantum, flow_quantum, law }
    }

    /// Changes the rate of the clock and of the queues' turns alone.
    pub fn set_rate(&mut self, rate: u64) {
        (self.pace, self.flow_quantum) = (Pace::of(rate), flow_quantum(rate));
    }
}

/// Bytes per turn of a queue at `rate` bytes per second, 0 for no limit.
fn flow_quantum(rate: u64) -> u32 {
    if rate > 0 { (rate >> 12).clamp(300, 1514) as u32 } else { 1514 }
}

/// Bytes that all queues together may hold at `rate` bytes per second, 0 for no limit: four
/// intervals' worth and at least 4 MiB, but at most 10 240 packets.
pub(super) fn buffer(rate: u64, mtu: u64, interval: Duration) -> u64 {
    let most = 10_240 * mtu;
    if rate == 0 {
        return most;
    }
    let four = u128::from(rate) * u128::from(interval.nanos()) * 4 / 1_000_000_000;
    (four as u64).max(4 << 20).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::dscp;

    const MS: Duration = Duration::from_millis(1);

    fn tin(rate: u64) -> TinNumbers {
        TinNumbers::new((rate, 1), 1514, MS * 5, MS * 100)
    }

    #[test]
    fn slow_tins_have_time_and_small_quanta() {
        for (rate, mtu_time, target, interval, quantum) in [
            (125_000, 12_112_000, 18_168_000, 113_168_000, 300),
            (1_250_000, 1_211_200, 5_000_000, 100_000_000, 305),
            (12_500_000, 121_120, 5_000_000, 100_000_000, 1514),
            (0, 0, 5_000_000, 100_000_000, 1514),
        ] {
            let TinNumbers { law, flow_quantum, .. } = tin(rate);
            let found = [law.mtu_time, law.target, law.interval].map(Duration::nanos);
            assert_eq!(found, [mtu_time, target, interval], "{rate}");
            assert_eq!(flow_quantum, quantum, "{rate}");
        }
    }

    #[test]
    fn the_buffer_is_four_intervals_within_bounds() {
        assert_eq!(buffer(12_500_000, 1514, MS * 100), 5_000_000);
        assert_eq!(buffer(1_250_000, 1514, MS * 100), 4 << 20);
        assert_eq!(buffer(125_000_000, 1514, MS * 100), 10_240 * 1514);
        assert_eq!(buffer(0, 1514, MS * 100), 10_240 * 1514);
    }

    #[test]
    fn rates_are_divided() {
        let divide = |scheme: Scheme| scheme.divide(1_250_000).collect::<Vec<_>>();
        assert_eq!(divide(Scheme::BestEffort), [(1_250_000, 65_535)]);
        assert_eq!(divide(Scheme::Diffserv3), [(1_250_000, 1024), (78_125, 64), (312_500, 256)]);
        let four = [(1_250_000, 1024), (78_125, 64), (625_000, 512), (312_500, 256)];
        assert_eq!(divide(Scheme::Diffserv4), four);
        let eight = divide(Scheme::Diffserv8);
        assert_eq!(eight, divide(Scheme::Precedence));
        let rates: Vec<u64> = eight.iter().map(|(rate, _)| *rate).collect();
        let falling = [1_250_000, 1_093_750, 957_031, 837_402, 732_726, 641_135, 560_993, 490_868];
        assert_eq!(rates, falling);
        let quanta: Vec<i64> = eight.iter().map(|(_, quantum)| *quantum).collect();
        assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
    }

    /// The tin of each DSCP in [`dscp::CODE_POINTS`], one digit each, in the order of that array.
    fn tins(scheme: Scheme) -> String {
        dscp::CODE_POINTS.iter().map(|(_, code)| scheme.tin(*code).to_string()).collect()
    }

    #[test]
    fn code_points_find_their_tins() {
        // default le tos4 | cs1 af1x | cs2 af2x | cs3 af3x | cs4 af4x | cs5 va ef | cs6 cs7
        assert_eq!(tins(Scheme::Diffserv3), "012100000000000000002222");
        assert_eq!(tins(Scheme::Diffserv4), "012100022222222322233333");
        assert_eq!(tins(Scheme::Diffserv8), "204111154443333633366677");
        assert_eq!(tins(Scheme::Precedence), "000111122223333444455567");
        assert_eq!(tins(Scheme::BestEffort), "0".repeat(24));
        // TOS2 has no name: with eight tins it is high throughput.
        assert_eq!((Scheme::Diffserv8.tin(2), Scheme::Diffserv4.tin(2)), (1, 0));
        assert!([3, 5, 7, 11, 45, 47, 57, 63].iter().all(|code| Scheme::Diffserv8.tin(*code) == 2));
    }

    #[test]
    fn schemes_have_the_names_of_tc() {
        let named =
            ["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"].map(Scheme::named);
        let all = [
            Scheme::BestEffort,
            Scheme::Diffserv3,
            Scheme::Diffserv4,
            Scheme::Diffserv8,
            Scheme::Precedence,
        ];
        assert_eq!(named, all);
    }
}
