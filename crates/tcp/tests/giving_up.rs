//! When a connection is given up, and how resent segments are counted.

use crate::lab::{C, S, World, ms, profile, secs};
use aqmlab_tcp::{HostClock, State};
use packet::Instant;

fn clocks() -> [HostClock; 2] {
    [HostClock { slow: ms(330), fast: ms(70) }, HostClock { slow: ms(430), fast: ms(170) }]
}

/// Loses all data of the server and returns the times at which it sent its first segment.
fn starve(name: &str) -> (World, Vec<Instant>) {
    let mut world = World::new(&profile(name, &[]), clocks(), 1_000);
    world.run(secs(3_000.0), &mut |s| s.side == S && s.data_number > 0);
    let times: Vec<_> =
        (world.sent.iter()).filter(|s| s.side == S && s.segment.len > 0).map(|s| s.at).collect();
    (world, times)
}

fn gaps(times: &[Instant]) -> Vec<f64> {
    times.windows(2).map(|w| w[1].since(w[0]).secs_f64()).collect()
}

#[test]
fn the_13th_timeout_ends_a_connection() {
    let (world, times) = starve("freebsd-2.2.8");
    // First sample 1: V = 3 for 3, 6, 12, 24, 48 ticks. After the fourth timeout the estimate is
    // dropped: V = (8 + 1) >> 2 = 2, so 64, then 128 ticks, the most there is.
    let mut expected = vec![1.28, 3.0, 6.0, 12.0, 24.0, 32.0];
    expected.resize(12, 64.0);
    assert_eq!(gaps(&times), expected);
    assert_eq!(world.failed[S].unwrap(), times[12] + ms(64_000));
    let counters = world.ends[S].counters();
    assert_eq!((counters.timeouts, counters.resent_data), (13, 12));
    assert_eq!(world.ends[S].next_timeout(), None);
    // The client never hears of it: there is no RST.
    assert_eq!(world.ends[C].state(), State::Established);
}

#[test]
fn the_13th_timeout_of_plain() {
    let (world, times) = starve("plain");
    let mut expected = vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    expected.resize(12, 60.0);
    assert_eq!(gaps(&times), expected);
    assert_eq!(world.failed[S].unwrap(), times[12] + ms(60_000));
}

#[test]
fn the_16th_timeout_of_linux() {
    // A tail loss probe, no later than the timeout of 100 + 200 ms; then that, doubled up to
    // TCP_RTO_MAX, and net.ipv4.tcp_retries2 = 15 send again.
    let (world, times) = starve("linux");
    let mut expected = vec![0.3, 0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 76.8];
    expected.resize(16, 120.0);
    assert_eq!(gaps(&times), expected);
    assert_eq!(world.failed[S].unwrap(), times[16] + ms(120_000));
    let counters = world.ends[S].counters();
    assert_eq!((counters.timeouts, counters.resent_data), (16, 16));
}

#[test]
fn a_server_left_alone_gives_up_after_75_s() {
    // The client's SYN arrives, nothing after it.
    for (name, at) in [("freebsd-2.2.8", 74.93), ("plain", 75.05)] {
        let mut world = World::new(&profile(name, &[]), clocks(), 1_000);
        world.run(secs(300.0), &mut |s| s.side == C && s.number > 1);
        assert_eq!(world.failed[S], Some(secs(at)), "{name}");
        assert_eq!(world.ends[S].state(), State::Failed);
    }
}

#[test]
fn classes_of_resent_segments_are_counted_per_kind() {
    // Lose the first SYN, the first SYN-ACK, the first data and the first bare FIN of the client.
    let mut world = World::new(&profile("freebsd-2.2.8", &[]), clocks(), 1_000);
    let mut fin = false;
    world.run(secs(300.0), &mut |s| {
        let bare_fin = s.side == C && s.segment.flags.has(aqmlab_tcp::Flags::FIN) && !fin;
        fin |= bare_fin;
        bare_fin || s.number == 1 || s.data_number == 1
    });
    let count = |side: usize| {
        let c = world.ends[side].counters();
        [u32::from(c.resent_syn), c.resent_data, u32::from(c.resent_fin)]
    };
    assert_eq!(count(C), [1, 1, 1]);
    assert_eq!(count(S), [1, 1, 0]);
    assert_eq!(world.ends[S].state(), State::Closed);
}
