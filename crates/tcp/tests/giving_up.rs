//! When a connection is given up, and how resent segments are counted.

use crate::lab::one_end::{drain_at, hear};
use crate::lab::{C, S, World, ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Segment, State};
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
    // The client does not learn of it: no reset goes where nothing came.
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
        let bare_fin = s.side == C && s.segment.flags.has(Flags::FIN) && !fin;
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

#[test]
fn a_server_that_forgot_the_handshake_resets_who_goes_on() {
    // RFC 9293 section 3.10.7.2: <SEQ=SEG.ACK><CTL=RST>, and the client's connection is over.
    for (name, forgets) in [("linux", 63.05), ("freebsd-4.5", 45.05)] {
        let mut world = World::new(&profile(name, &[]), clocks(), 1_000);
        world.run(secs(900.0), &mut |s| s.side == C && s.number > 1 && s.at < secs(forgets));
        let resets: Vec<_> = world.sent.iter().filter(|s| s.segment.resets()).collect();
        let [reset] = resets[..] else { panic!("{name}: {resets:?}") };
        assert_eq!(
            (reset.side, reset.segment.seq, reset.segment.flags),
            (S, 1, Flags::NONE),
            "{name}"
        );
        let came = reset.at - ms(50);
        let request =
            world.sent.iter().find(|s| s.side == C && s.at == came).expect("what it answers");
        assert!(request.segment.len == 300 && came >= secs(forgets), "{name}: {request:?}");
        assert_eq!(world.failed, [Some(reset.at + ms(50)), None], "{name}");
        assert_eq!(world.ends.each_ref().map(|end| end.state()), [State::Failed, State::Listen]);
        assert_eq!((world.ends[C].next_timeout(), world.replied), (None, None), "{name}");
    }
}

#[test]
fn only_a_reset_of_the_expected_number_is_believed() {
    // RFC 5961 section 3.2: one elsewhere in the window is answered, every other is forged.
    let reset = |seq| {
        let mut segment = Segment::default();
        segment.refuse(&Segment { ack: seq, flags: Flags::ACK, ..Segment::default() });
        segment
    };
    let open = |name: &str| {
        let mut client = Endpoint::new(&profile(name, &[]), HostClock::default());
        client.connect(secs(0.0));
        drain_at(&mut client, secs(0.0));
        let flags = Flags::SYN.with(Flags::ACK);
        hear(&mut client, Segment { ack: 1, flags, ..Segment::default() }, 0.1);
        client
    };
    for name in ["linux", "plain", "freebsd-2.2.8"] {
        let mut client = open(name);
        let answer = hear(&mut client, reset(500), 0.2);
        assert_eq!((answer.len(), answer[0].flags, answer[0].ack), (1, Flags::ACK, 1), "{name}");
        assert!(hear(&mut client, reset(1 << 40), 0.3).is_empty(), "{name}");
        assert_eq!(client.state(), State::Established, "{name}");
        assert!(hear(&mut client, reset(1), 0.4).is_empty(), "{name}");
        assert_eq!(client.state(), State::Failed, "{name}");
    }
    // One that acknowledges the SYN refuses it (RFC 9293 section 3.10.7.3); one to a SYN-ACK lets its end listen again.
    let mut refused = Segment::default();
    refused.refuse(&Segment { flags: Flags::SYN, ..Segment::default() });
    let forged = Segment { ack: 2, ..refused };
    let mut client = Endpoint::new(&profile("linux", &[]), HostClock::default());
    client.connect(secs(0.0));
    drain_at(&mut client, secs(0.0));
    for (reset, state) in [(forged, State::SynSent), (refused, State::Failed)] {
        hear(&mut client, reset, 0.1);
        assert_eq!(client.state(), state);
    }
    let mut server = Endpoint::new(&profile("linux", &[]), HostClock::default());
    hear(&mut server, Segment { flags: Flags::SYN, ..Segment::default() }, 0.1);
    hear(&mut server, reset(1), 0.2);
    assert_eq!((server.state(), server.next_timeout()), (State::Listen, None));
}
