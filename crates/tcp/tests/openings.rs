//! What sets the newer profiles apart where one end alone shows it: the SYN cache, giving up, pauses,
//! options.

use std::sync::Arc;

use crate::lab::one_end::{drain, drain_at, hear};
use crate::lab::{C, S, World, ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Profile, Segment, State};
use packet::Instant;
use packet::params::Raw;

const OFF: Raw = Raw::Bool(false);
const ON: Raw = Raw::Bool(true);

fn syn() -> Segment {
    Segment { flags: Flags::SYN, ..Segment::default() }
}

/// Serves the endpoint's timers until `end` and returns when it sent something.
fn alone(server: &mut Endpoint, end: f64) -> Vec<f64> {
    let mut times = Vec::new();
    while let Some(due) = server.next_timeout().filter(|due| due.at <= secs(end)) {
        server.on_timeout(due.at);
        times.extend(drain_at(server, due.at).iter().map(|_| due.at.secs_f64()));
    }
    times
}

#[test]
fn the_syn_cache_waits_3_6_12_and_24_seconds_and_forgets() {
    let bsd = profile("freebsd-4.5", &[("timestamps", OFF)]);
    let mut server = Endpoint::new(&bsd, HostClock::default());
    assert_eq!(hear(&mut server, syn(), 0.05).len(), 1);
    assert_eq!(alone(&mut server, 45.049), [3.05, 9.05, 21.05]);
    assert_eq!(server.state(), State::SynReceived);
    assert_eq!(alone(&mut server, 1_000.0), []);
    assert_eq!((server.state(), server.next_timeout()), (State::Listen, None));
    assert_eq!(server.counters().resent_syn, 3);
    // A new SYN begins anew.
    let answer = hear(&mut server, syn(), 57.05);
    assert!(answer[0].flags.has(Flags::SYN.with(Flags::ACK)));
    assert_eq!(alone(&mut server, 61.0), [60.05]);
}

#[test]
fn a_request_socket_of_linux_waits_1_2_4_8_16_and_32_seconds_and_forgets() {
    // net.ipv4.tcp_synack_retries = 5: SYN-ACKs double from the first timeout (reqsk_timer_handler).
    let linux = profile("linux", &[]);
    let mut server = Endpoint::new(&linux, HostClock::default());
    assert_eq!(hear(&mut server, syn(), 0.05).len(), 1);
    assert_eq!(alone(&mut server, 63.049), [1.05, 3.05, 7.05, 15.05, 31.05]);
    assert_eq!(server.state(), State::SynReceived);
    assert_eq!(alone(&mut server, 1_000.0), []);
    assert_eq!((server.state(), server.next_timeout()), (State::Listen, None));
}

#[test]
fn a_repeated_syn_gets_the_syn_ack_of_linux_again() {
    // tcp_check_req: and the current wait begins anew. Elsewhere a bare ACK answers.
    for (name, flags, next) in
        [("linux", Flags::SYN.with(Flags::ACK), 1.8), ("plain", Flags::ACK, 1.05)]
    {
        let mut server = Endpoint::new(&profile(name, &[]), HostClock::default());
        hear(&mut server, syn(), 0.05);
        let answer = hear(&mut server, syn(), 0.8);
        assert_eq!((answer.len(), answer[0].flags.and(flags)), (1, flags), "{name}");
        assert_eq!(answer[0].flags.has(Flags::SYN), flags.has(Flags::SYN), "{name}");
        assert_eq!(alone(&mut server, 2.0), [next], "{name}");
    }
}

#[test]
fn a_syn_ack_is_repeated_as_often_as_the_profile_says() {
    let settings =
        [("synack_retries", Raw::Number(1.0)), ("rto_initial", Raw::Text("0.2 s".into()))];
    let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
    hear(&mut server, syn(), 0.0);
    assert_eq!(alone(&mut server, 0.599), [0.2]);
    assert_eq!(alone(&mut server, 100.0), []);
    assert_eq!(server.state(), State::Failed);
}

#[test]
fn a_repeated_syn_ack_leaves_no_trace_in_freebsd_4_5() {
    let settings = [("timestamps", OFF), ("initial_window", Raw::Number(3.0))];
    let bsd = profile("freebsd-4.5", &settings);
    let mut server = Endpoint::new(&bsd, HostClock::default());
    hear(&mut server, syn(), 0.05);
    alone(&mut server, 10.0);
    let request = Segment { seq: 1, ack: 1, len: 300, flags: Flags::ACK, ..Segment::default() };
    hear(&mut server, request, 10.05);
    // The initial window and a segment for the handshake's ACK, a threshold without bound, and the
    // timeout of a connection without a sample.
    assert_eq!((server.cwnd(), server.ssthresh()), (4 * 1_460, 65_535 << 14));
    assert_eq!(server.rto(), ms(3_000));
}

/// A server of `profile` with 20,000 B written at `at`, asked at 0.15: segments it lets go.
fn burst(profile: &Arc<Profile>, at: f64) -> usize {
    let mut server = Endpoint::new(profile, HostClock::default());
    hear(&mut server, syn(), 0.05);
    let request = Segment { seq: 1, ack: 1, len: 300, flags: Flags::ACK, ..Segment::default() };
    hear(&mut server, request, 0.15);
    server.write(20_000, secs(at));
    drain(&mut server, at).iter().filter(|s| s.len > 0).count()
}

#[test]
fn freebsd_4_5_restarts_a_timeout_after_the_last_arrival_exactly() {
    // RTO 3 s without a sample, from 0.15 on, not counted in ticks.
    let bsd = profile("freebsd-4.5", &[("timestamps", OFF)]);
    assert_eq!([3.149, 3.15, 9.0].map(|at| burst(&bsd, at)), [2, 1, 1]);
    let never = profile("freebsd-4.5", &[("timestamps", OFF), ("idle_restart", OFF)]);
    assert_eq!(burst(&never, 9.0), 2);
    // A larger initial window is also what a pause leaves.
    let three = [("timestamps", OFF), ("initial_window", Raw::Number(3.0))];
    assert_eq!([3.149, 3.15].map(|at| burst(&profile("freebsd-4.5", &three), at)), [4, 3]);
}

/// Loses all data of the server; gaps between its attempts, and when it gave up.
fn starve(name: &str, end: f64) -> (Vec<f64>, Option<f64>) {
    let mut world = World::new(&profile(name, &[]), [HostClock::default(); 2], 500);
    world.run(secs(end), &mut |s| s.side == S && s.data_number > 0);
    let data = world.sent.iter().filter(|s| s.side == S && s.segment.len > 0);
    let times: Vec<Instant> = data.map(|s| s.at).collect();
    let gaps = times.windows(2).map(|w| w[1].since(w[0]).secs_f64()).collect();
    (gaps, world.failed[S].map(|at| at.since(times[times.len() - 1]).secs_f64()))
}

#[test]
fn windows_nt4_gives_up_after_five_retransmissions() {
    // The handshake's sample is one tick of 100 ms: RTO 300 ms.
    assert_eq!(starve("windows-nt4", 100.0), (vec![0.3, 0.6, 1.2, 2.4, 4.8], Some(9.6)));
}

#[test]
fn one_way_agents_of_ns2_never_give_up() {
    // No sample: 3 s, then doubled to the maximum of 60 s.
    let (gaps, failed) = starve("ns2", 30_000.0);
    assert_eq!(gaps[..7], [3.0, 6.0, 12.0, 24.0, 48.0, 60.0, 60.0]);
    assert_eq!((gaps.len() > 400, failed), (true, None));
}

#[test]
fn a_timeout_within_a_sack_recovery_is_not_questioned() {
    // RFC 5682 section 3.1 step 1. Ten segments; of those, either one is reported before the timer
    // expires, or four, which begin a recovery. Afterwards an ACK reaches to segment 6: where the
    // timeout is questioned new data goes out, else segment 6 goes again.
    let settings = [("f_rto", ON), ("initial_window", Raw::Number(10.0))];
    let plain = profile("plain", &settings);
    for (reported, questioned) in [(1, true), (4, false)] {
        let mut server = Endpoint::new(&plain, HostClock::default());
        let mut asks = syn();
        asks.sack.push(0, 0);
        hear(&mut server, asks, 0.05);
        let ack = |ack| Segment { seq: 1, ack, flags: Flags::ACK, ..Segment::default() };
        hear(&mut server, ack(1), 0.15);
        server.write(100_000, secs(0.15));
        assert_eq!(drain(&mut server, 0.15).len(), 10);
        let mut report = ack(1);
        report.sack.push(1_460, 1_460 * (1 + reported));
        hear(&mut server, report, 0.25);
        assert_eq!(server.counters().fast_retransmits, u32::from(!questioned));
        let due = server.next_timeout().unwrap().at;
        server.on_timeout(due);
        let again = drain_at(&mut server, due);
        assert_eq!((again.len(), again[0].seq), (1, 1));
        let then = hear(&mut server, ack(7_301), due.secs_f64() + 0.1);
        assert_eq!(then[0].seq > 14_600, questioned, "{reported} reported: {then:?}");
    }
}

#[test]
fn timestamps_take_12_bytes_if_both_ends_have_them() {
    let with = profile("plain", &[("timestamps", ON)]);
    let without = profile("plain", &[]);
    for (profiles, syn_ack, data, payload) in
        [([&with, &with], 56, 1_500, 1_448), ([&with, &without], 44, 1_500, 1_460)]
    {
        let mut world = World::pair(profiles, [HostClock::default(); 2], 10_000);
        world.run(secs(100.0), &mut |_| false);
        let of = |side, wanted: fn(&Segment) -> bool| {
            let all = world.sent.iter().filter(|s| s.side == side && wanted(&s.segment));
            let first = all.map(|s| s.segment).next().unwrap();
            (first.ip_bytes(), first.len)
        };
        let opens: fn(&Segment) -> bool = |s| s.flags.has(Flags::SYN);
        let carries: fn(&Segment) -> bool = |s| s.len > 0;
        assert_eq!(of(C, opens), (56, 0), "the SYN offers them");
        assert_eq!((of(S, opens).0, of(S, carries)), (syn_ack, (data, payload)));
        assert_eq!(world.ends[S].state(), State::Closed);
    }
}

#[test]
fn timestamps_measure_a_round_trip_across_a_retransmission() {
    // First sample 100 ms: RTO 0.3 s; resent at 0.45, acknowledged at 0.55. The echo gives a second
    // sample of 100 ms: rttvar 37.5 ms, RTO 0.25 s. Without it Karn's rule leaves the doubled 0.6 s.
    for (timestamps, rto) in [(ON, 0.25), (OFF, 0.6)] {
        let settings = [("timestamps", timestamps), ("rto_min", Raw::Text("0.2 s".into()))];
        let clocks = [HostClock::default(); 2];
        let mut world = World::new(&profile("plain", &settings), clocks, 1_000);
        world.run(secs(100.0), &mut |s| s.data_number == 1 && s.side == S);
        let after = world.probes.iter().rfind(|p| p.side == S && p.at <= secs(0.6)).unwrap();
        assert_eq!((after.at, after.rto.secs_f64()), (secs(0.55), rto));
    }
}

#[test]
fn freebsd_4_5_counts_one_tick_more_by_timestamps() {
    // 100 ms are 10 ticks. By the timestamps of the handshake m = 11: srtt 352, rttvar 88: V = (44 +
    // 88) / 4 = 33 ticks. Timed, the first data gives m = 10: (40 + 80) / 4 = 30 ticks.
    for (timestamps, at, rto) in [(ON, 0.15, 0.33), (OFF, 0.25, 0.3)] {
        let settings = [("timestamps", timestamps), ("rto_min", Raw::Text("0.1 s".into()))];
        let mut world =
            World::new(&profile("freebsd-4.5", &settings), [HostClock::default(); 2], 20_000);
        world.run(secs(100.0), &mut |_| false);
        let then = world.probes.iter().find(|p| p.side == S && p.at == secs(at)).unwrap();
        assert_eq!(then.rto.secs_f64(), rto);
    }
}

#[test]
fn the_ticks_of_ns2_begin_at_time_0_on_every_host() {
    // 104 ms from 0.156 to 0.260 cross the ten ticks of 0.16 to 0.25. Ticks at 7 ms and every 10
    // ms from there would be eleven.
    let clock = HostClock { slow: ms(7), fast: ms(3) };
    let mut world = World::new(&profile("ns2", &[]), [clock; 2], 20_000);
    world.delay = ms(52);
    world.run(secs(100.0), &mut |_| false);
    let then = world.probes.iter().find(|p| p.side == S && p.at == secs(0.26)).unwrap();
    assert_eq!(then.rto.secs_f64(), 0.3);
}

#[test]
fn an_ack_echoes_the_stamp_of_the_first_segment_it_covers() {
    let settings = [("timestamps", ON)];
    let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
    let stamped = |seq: u64, len, stamp| {
        let flags = if len == 0 { Flags::SYN } else { Flags::ACK };
        let flags = flags.with(Flags::STAMPED);
        Segment { seq, ack: u64::from(len > 0), len, flags, stamp, ..Segment::default() }
    };
    let answer = hear(&mut server, stamped(0, 0, 5), 0.05);
    assert_eq!((answer[0].echo, answer[0].stamp), (5, 50));
    assert_eq!(hear(&mut server, stamped(1, 100, 100), 0.1), []);
    // The wait of the first is part of the round trip (RFC 7323 section 4.3).
    let answer = hear(&mut server, stamped(101, 100, 150), 0.15);
    assert_eq!((answer[0].ack, answer[0].echo), (201, 100));
    assert_eq!(hear(&mut server, stamped(201, 100, 160), 0.16), []);
    // A late copy with an older stamp does not set it back.
    let answer = hear(&mut server, stamped(1, 100, 90), 0.17);
    assert_eq!((answer[0].ack, answer[0].echo), (301, 160));
}

#[test]
fn the_window_of_freebsd_4_5_is_whole_segments_of_payload() {
    assert_eq!(profile("freebsd-4.5", &[]).window(), 12 * 1_448);
    assert_eq!(profile("freebsd-4.5", &[("timestamps", OFF)]).window(), 12 * 1_460);
}

#[test]
fn the_answer_to_a_repeated_syn_ack_echoes_its_stamp() {
    // tcp_input.c of FreeBSD 4.x takes the stamp of every segment that begins at or below what was last
    // acknowledged, as RFC 7323 section 4.3 has it.
    let mut client = Endpoint::new(&profile("freebsd-4.5", &[]), HostClock::default());
    client.connect(secs(0.0));
    drain(&mut client, 0.0);
    let flags = Flags::SYN.with(Flags::ACK).with(Flags::STAMPED);
    for (stamp, at) in [(7, 0.1), (9, 0.2)] {
        let answer = hear(&mut client, Segment { flags, ack: 1, stamp, ..Segment::default() }, at);
        assert_eq!((answer.len(), answer[0].ack, answer[0].echo), (1, 1, stamp));
    }
}

#[test]
fn the_syn_of_linux_has_twenty_bytes_of_options() {
    // tcp_syn_options: segment size 4, window scale 4 with its padding, timestamps with the permission
    // of selective acknowledgements 12.
    let mut client = Endpoint::new(&profile("linux", &[]), HostClock::default());
    client.connect(secs(0.0));
    assert_eq!(drain(&mut client, 0.0)[0].ip_bytes(), 60);
}

#[test]
fn timestamps_of_a_coarse_clock_count_its_ticks() {
    // Two ticks of 100 ms are a round trip of 200 ms: 200 + 4 x 100 (RFC 6298 section 2.2).
    let settings = [
        ("timestamps", Raw::Bool(true)),
        ("tick", Raw::Text("100 ms".into())),
        ("rto_min", Raw::Text("10 ms".into())),
    ];
    let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
    let syn = Segment { flags: Flags::SYN.with(Flags::STAMPED), stamp: 5, ..Segment::default() };
    let syn_ack = hear(&mut server, syn, 0.05)[0];
    let echo = syn_ack.stamp;
    let flags = Flags::ACK.with(Flags::STAMPED);
    hear(
        &mut server,
        Segment { seq: 1, ack: 1, flags, stamp: 6, echo, ..Segment::default() },
        0.25,
    );
    assert_eq!(server.rto(), ms(600));
}

#[test]
fn the_first_threshold_of_ns2_is_its_window() {
    // ssthresh_ = 0 of ns-default.tcl: TcpAgent::reset takes wnd_, twenty packets.
    for (name, threshold) in [("ns2", 20_000), ("ns2-full", 10_720)] {
        let end = Endpoint::new(&profile(name, &[]), HostClock::default());
        assert_eq!(end.ssthresh(), threshold);
    }
}

#[test]
fn a_repeated_syn_ack_draws_an_ack_and_is_one_itself_where_programs_count_it() {
    // RFC 5681 section 2 wants the SYN bit off in a duplicate, and Linux drops the segment unread
    // (`tcp_validate_incoming`). 4.4BSD takes the SYN off and counts the rest (`tcp_input`), so does
    // FullTcp; `TcpAgent::recv` of ns-2 knows no SYN-ACK, acknowledges nothing and counts it. What is
    // counted lets a segment beyond the window of one out (RFC 3042).
    for (name, limited, sends) in [
        ("plain", ON, &[0][..]),
        ("plain", OFF, &[0]),
        ("linux", ON, &[0]),
        ("windows-nt4", ON, &[0]),
        ("freebsd-2.2.8", ON, &[1_460]),
        ("freebsd-2.2.8", OFF, &[0]),
        ("ns2-full", ON, &[536]),
        ("ns2", ON, &[1_000]),
        ("ns2", OFF, &[]),
    ] {
        let newreno = ("recovery", Raw::Text("newreno".into()));
        let fields = [newreno, ("limited_transmit", limited)];
        let mut client = Endpoint::new(&profile(name, &fields), HostClock::default());
        client.connect(secs(0.0));
        client.write(50_000, secs(0.0));
        assert!(drain(&mut client, 0.0)[0].flags.has(Flags::SYN));
        let syn_ack = Segment { ack: 1, flags: Flags::SYN.with(Flags::ACK), ..Segment::default() };
        assert!(!hear(&mut client, syn_ack, 0.1).is_empty(), "{name}: opens");
        let lengths: Vec<u32> = hear(&mut client, syn_ack, 0.2).iter().map(|s| s.len).collect();
        assert_eq!(lengths, sends, "{name}");
    }
}
