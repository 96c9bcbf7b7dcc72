//! The sides on which hosts are, the round-trip times between them, and their clocks.

use packet::{Duration, Instant, Rng};
use tcp::HostClock;

/// The two sides of the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side of the browsers; "forward" traffic goes towards it.
    Clients,
    /// The side of the web servers.
    Servers,
}

impl Side {
    /// The name that scenarios use.
    pub fn name(self) -> &'static str {
        match self {
            Side::Clients => "clients",
            Side::Servers => "servers",
        }
    }

    /// The side opposite to this one.
    pub fn other(self) -> Side {
        match self {
            Side::Clients => Side::Servers,
            Side::Servers => Side::Clients,
        }
    }
}

/// The two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the servers to the clients.
    Forward,
    /// From the clients to the servers.
    Reverse,
}

impl Direction {
    /// Both directions, in the order that scenarios use.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// The direction of packets that this side sends.
    pub fn from(side: Side) -> Direction {
        if side == Side::Servers { Direction::Forward } else { Direction::Reverse }
    }

    /// The name that scenarios use.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }

    /// Prefix of the names of a link's fields that concern its rate in this direction.
    pub fn prefix(self) -> &'static str {
        match self {
            Direction::Forward => "",
            Direction::Reverse => "reverse_",
        }
    }
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Routes of the packets that one side of a group sends, by machine. If there are more machines
/// than routes, machines take the routes in turn.
#[derive(Clone, Debug)]
pub enum Routes {
    /// The sending machine selects the route.
    BySender(Vec<u32>),
    /// The receiving machine selects the route: each receiver has links of its own.
    ByReceiver(Vec<u32>),
}

impl Routes {
    /// The route from one machine to another.
    #[inline]
    pub fn of(&self, sender: u32, receiver: u32) -> u32 {
        match self {
            Routes::BySender(routes) => routes[sender as usize % routes.len()],
            Routes::ByReceiver(routes) => routes[receiver as usize % routes.len()],
        }
    }
}

/// The machines of both sides, with the phases of their clocks.
pub struct Machines {
    clients: Vec<HostClock>,
    servers: Vec<HostClock>,
}

impl Machines {
    /// Machines whose clocks started at random instants; the two clocks of a host start
    /// together at its boot.
    pub fn new(seed: u64, clients: u32, servers: u32) -> Self {
        let clocks = |side: &str, n: u32| -> Vec<HostClock> {
            (0..n).map(|i| clock(boot(seed, side, i))).collect()
        };
        Machines { clients: clocks(CLIENTS, clients), servers: clocks(SERVERS, servers) }
    }

    fn of(&self, side: Side) -> &[HostClock] {
        match side {
            Side::Clients => &self.clients,
            Side::Servers => &self.servers,
        }
    }
    /// Number of machines of a side.
    pub fn count(&self, side: Side) -> u32 {
        self.of(side).len() as u32
    }
    /// The phases of a machine's clocks.
    pub fn clock(&self, side: Side, machine: u32) -> HostClock {
        let clocks = self.of(side);
        clocks[machine as usize % clocks.len()]
    }
    /// Number of a machine, unique over both sides.
    pub fn number(&self, side: Side, machine: u32) -> u32 {
        2 * (machine % self.count(side)) + u32::from(side == Side::Servers)
    }
}

/// Names of the streams of random numbers that give the boot instants of a side's machines.
const CLIENTS: &str = "clock.clients";
const SERVERS: &str = "clock.servers";

/// Boot instant of a machine, ns within a second; it decides the phases of the machine's clock
/// ticks.
fn boot(seed: u64, side: &str, machine: u32) -> u64 {
    Rng::indexed(seed, side, u64::from(machine)).below(1_000_000_000)
}

fn clock(boot: u64) -> HostClock {
    let phase = |period: u64| Duration::from_nanos(boot % period);
    HostClock { slow: phase(500_000_000), fast: phase(200_000_000) }
}

/// Clocks by which the client machines delay packets, as dummynet does in the kernel's clock
/// interrupt. All have one period; the phase of each is that of its machine's other clocks.
#[derive(Clone, Debug, Default)]
pub struct DelayClocks {
    tick: Duration,
    /// Time of each machine's first tick.
    phases: Vec<Duration>,
}

impl DelayClocks {
    /// Clocks with the period `tick` on `clients` machines; a period of zero makes delays exact.
    pub fn new(seed: u64, clients: u32, tick: Duration) -> Self {
        let machines = if tick == Duration::ZERO { 0 } else { clients };
        let phase = |i| Duration::from_nanos(boot(seed, CLIENTS, i) % tick.nanos());
        DelayClocks { tick, phases: (0..machines).map(phase).collect() }
    }

    /// Whether delays are exact and not rounded to ticks.
    #[inline]
    pub fn are_exact(&self) -> bool {
        self.tick == Duration::ZERO
    }

    /// When a packet is released that a machine begins to delay at `at`. Dummynet stores the delay
    /// as n whole ticks and counts from the tick before the packet's arrival, so that the packet
    /// waits between n - 1 and n ticks.
    pub fn end(&self, machine: u32, at: Instant, delay: Duration) -> Instant {
        let tick = self.tick.nanos();
        let ticks = delay.nanos() / tick;
        if ticks == 0 {
            return at;
        }
        // Ticks are counted from one before the run began, so that no time is negative.
        let before = tick - self.phases[machine as usize].nanos();
        let last = (at.nanos() + before) / tick;
        Instant::from_nanos((last + ticks).saturating_mul(tick).saturating_sub(before))
    }
}

/// Base round-trip times of the nine pairs of sources and destinations of the Common TCP Evaluation
/// Suite, ms, without its central link (draft-irtf-iccrg-tcpeval-01, table 1).
pub const TCPEVAL_MS: [u64; 9] = [4, 28, 54, 74, 98, 124, 150, 174, 200];

/// Round-trip propagation times of connections.
#[derive(Clone, Debug)]
pub enum RoundTrips {
    /// One round-trip time for all connections.
    Constant(Duration),
    /// One round-trip time for each pair of machines, at index `own machine * peers + peer`.
    Pairs {
        /// Round-trip times, in the order of the pairs of machines.
        table: Vec<Duration>,
        /// Number of machines of the other side.
        peers: u32,
    },
    /// One round-trip time for each user or flow; a shorter list is repeated.
    Sources(Vec<Duration>),
    /// One of these round-trip times for every connection, all equally likely.
    OneOf(Vec<Duration>),
    /// A round-trip time drawn uniformly between two bounds for every connection.
    Connections {
        /// Smallest round-trip time.
        min: Duration,
        /// Largest round-trip time.
        max: Duration,
    },
}

impl RoundTrips {
    /// Draws the round-trip time of a new connection of `source` between two machines. Sources are
    /// numbered within their group, so that a group's round-trip times do not depend on other
    /// groups.
    pub fn draw(&self, machine: u32, peer: u32, source: u32, rng: &mut Rng) -> Duration {
        match self {
            RoundTrips::Constant(time) => *time,
            RoundTrips::Pairs { table, peers } => table[(machine * peers + peer) as usize],
            RoundTrips::Sources(table) => table[source as usize % table.len()],
            RoundTrips::OneOf(table) => table[rng.below(table.len() as u64) as usize],
            RoundTrips::Connections { min, max } => {
                Duration::from_nanos(min.nanos() + rng.below(max.nanos() - min.nanos() + 1))
            }
        }
    }

    /// `n` round-trip times spread evenly over `min..max` (the middle of every n-th part), in an
    /// order drawn by `rng`: every seed gives the same mean; our own choice, without a source.
    pub fn stratified(min: Duration, max: Duration, n: u32, rng: &mut Rng) -> Vec<Duration> {
        let span = u128::from((max - min).nanos());
        let part = |i: u32| span * (2 * u128::from(i) + 1) / (2 * u128::from(n));
        let value = |i: u32| min.nanos() + part(i) as u64; // a part of the span
        let mut values: Vec<Duration> = (0..n).map(|i| Duration::from_nanos(value(i))).collect();
        for i in (1..values.len()).rev() {
            values.swap(i, rng.below(i as u64 + 1) as usize);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_gives_the_49_pairs_the_same_mean() {
        let draw = |seed| {
            let mut rng = Rng::named(seed, "rtt");
            let (min, max) = (Duration::from_millis(14), Duration::from_millis(144));
            RoundTrips::stratified(min, max, 49, &mut rng)
        };
        let mean = |v: &[Duration]| v.iter().map(|d| d.nanos()).sum::<u64>() as f64 / 49e6;
        assert!((mean(&draw(1)) - 79.0).abs() < 1e-4);
        assert!((mean(&draw(2)) - 79.0).abs() < 1e-4);
        assert_ne!(draw(1), draw(2));
    }

    /// Mean, median, 90 % and 99 % quantile of 10^6 draws, ms.
    fn moments(of: &RoundTrips) -> [f64; 4] {
        let (n, mut rng) = (1_000_000, Rng::named(2012, "rtt"));
        let mut ms: Vec<f64> =
            (0..n).map(|i| of.draw(0, 0, i, &mut rng).secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        let at = |share: usize| ms[n as usize / 100 * share];
        [ms.iter().sum::<f64>() / f64::from(n), at(50), at(90), at(99)]
    }

    fn assert_moments(of: &RoundTrips, expected: [f64; 4], percent: [f64; 4]) {
        for ((met, expected), percent) in moments(of).into_iter().zip(expected).zip(percent) {
            assert!((met / expected - 1.0).abs() <= percent / 100.0, "{met} for {expected} ms");
        }
    }

    #[test]
    fn round_trips_have_their_expected_moments() {
        // traffic.md section 8; a tolerance is five standard errors of 10^6 draws.
        let nine = RoundTrips::OneOf(TCPEVAL_MS.map(Duration::from_millis).to_vec());
        assert_moments(&nine, [100.67, 98.0, 200.0, 200.0], [0.3, 0.0, 0.0, 0.0]);
        let (min, max) = (Duration::from_millis(14), Duration::from_millis(144));
        let uniform = RoundTrips::Connections { min, max };
        assert_moments(&uniform, [79.0, 79.0, 131.0, 142.7], [0.3, 0.4, 0.3, 0.2]);
    }

    #[test]
    fn machines_have_numbers_of_their_own() {
        let machines = Machines::new(1, 3, 2);
        let of = |side, n: u32| (0..n).map(|i| machines.number(side, i)).collect::<Vec<_>>();
        assert_eq!([of(Side::Clients, 3), of(Side::Servers, 2)], [vec![0, 2, 4], vec![1, 3]]);
        // Numbers beyond the last machine begin again at the first.
        assert_eq!([machines.number(Side::Clients, 4), machines.number(Side::Servers, 2)], [2, 1]);
    }

    #[test]
    fn the_clocks_of_a_host_start_together() {
        let machines = Machines::new(1, 7, 7);
        for i in 0..7 {
            let clock = machines.clock(Side::Clients, i);
            assert!(clock.slow.nanos() < 500_000_000 && clock.fast.nanos() < 200_000_000);
            // Both come from one boot instant, so they agree modulo 100 ms.
            assert_eq!(clock.slow.nanos() % 100_000_000, clock.fast.nanos() % 100_000_000);
        }
        assert_ne!(machines.clock(Side::Clients, 0), machines.clock(Side::Servers, 0));
    }

    #[test]
    fn a_delay_of_n_ticks_lasts_between_n_less_one_and_n() {
        let (tick, phase) = (Duration::from_millis(10), Duration::from_micros(3_000));
        let clocks = DelayClocks { tick, phases: vec![Duration::ZERO, phase] };
        let wait = |machine: u32, at_us: u64, delay_ms: u64| {
            let at = Instant::from_nanos(at_us * 1_000);
            clocks.end(machine, at, Duration::from_millis(delay_ms)).since(at).nanos() / 1_000
        };
        assert_eq!(wait(0, 20_000, 79), 70_000); // from a tick: seven whole ticks
        assert_eq!(wait(0, 29_999, 79), 60_001);
        assert_eq!(wait(0, 25_000, 79), 65_000);
        assert_eq!(wait(0, 25_000, 9), 0); // less than a tick is none
        assert_eq!(wait(1, 23_000, 79), 70_000); // from a tick of this machine
        assert_eq!(wait(1, 32_999, 79), 60_001);
        assert_eq!(wait(1, 1_000, 10), 2_000); // before its first tick
    }

    #[test]
    fn every_machine_delays_by_the_ticks_of_its_own_clock() {
        let tick = Duration::from_millis(10);
        let (clocks, machines) = (DelayClocks::new(1, 7, tick), Machines::new(1, 7, 7));
        for i in 0..7 {
            let own = machines.clock(Side::Clients, i).slow.nanos() % tick.nanos();
            assert_eq!(clocks.phases[i as usize].nanos(), own, "one boot instant");
            assert!(clocks.phases[..i as usize].iter().all(|other| other.nanos() != own));
        }
    }

    #[test]
    fn both_ends_of_a_range_are_drawn() {
        let (min, max) = (Duration::from_nanos(5), Duration::from_nanos(6));
        let (range, mut rng) = (RoundTrips::Connections { min, max }, Rng::named(1, "rtt"));
        let drawn: Vec<u64> = (0..50).map(|i| range.draw(0, 0, i, &mut rng).nanos()).collect();
        assert!(
            drawn.contains(&5) && drawn.contains(&6) && drawn.iter().all(|&ns| ns == 5 || ns == 6)
        );
    }
}
