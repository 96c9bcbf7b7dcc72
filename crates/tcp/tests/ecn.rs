//! ECN at one end: what an arrival makes a receiver echo, and how long a sender waits.

use crate::lab::one_end::{drain, drain_at, hear, said, ten_out, ten_out_of};
use crate::lab::{C, S, World, all, ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Segment, State};
use packet::Ecn;
use packet::params::Raw;

/// A server with ECN that acknowledges every segment, after the handshake.
fn server() -> Endpoint {
    let at_once = ("delayed_ack", Raw::Text("0 s".into()));
    let plain = profile("plain", &[("ecn", Raw::Bool(true)), at_once]);
    let mut server = Endpoint::new(&plain, HostClock::default());
    let asks = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
    let answer = drain(&mut server, 0.0);
    assert!(answer[0].flags == Flags::SYN.with(Flags::ACK).with(Flags::ECE));
    server
}

/// Gives it 100 B from `seq` on; whether the answer echoes.
fn echoes(server: &mut Endpoint, seq: u64, ecn: Ecn, flags: Flags) -> bool {
    let flags = flags.with(Flags::ACK);
    let segment = Segment { seq, ack: 1, len: 100, flags, ecn, ..Segment::default() };
    server.on_segment(&segment, secs(0.1));
    let answer = drain(server, 0.1);
    assert_eq!(answer.len(), 1);
    assert_eq!(answer[0].ecn, Ecn::NotEct, "a pure ACK is not ECN-capable");
    answer[0].flags.has(Flags::ECE)
}

#[test]
fn the_echo_lasts_from_a_mark_to_cwr_whatever_comes_between() {
    let mut server = server();
    assert!(!echoes(&mut server, 1, Ecn::Ect0, Flags::NONE));
    assert!(echoes(&mut server, 101, Ecn::Ce, Flags::NONE));
    assert!(echoes(&mut server, 201, Ecn::Ect0, Flags::NONE));
    assert!(echoes(&mut server, 501, Ecn::NotEct, Flags::NONE), "out of order");
    assert!(echoes(&mut server, 1, Ecn::NotEct, Flags::NONE), "a duplicate");
    assert!(!echoes(&mut server, 301, Ecn::Ect0, Flags::CWR));
    // What has arrived before tells nothing (RFC 3168 section 6.1.5), neither mark nor CWR.
    assert!(!echoes(&mut server, 101, Ecn::Ce, Flags::NONE));
    assert!(echoes(&mut server, 401, Ecn::Ce, Flags::CWR), "CWR first, then the mark");
    assert!(echoes(&mut server, 301, Ecn::Ect0, Flags::CWR));
}

#[test]
fn cwr_beside_a_mark_that_waits_ends_the_echo_but_not_at_a_sink_of_ns2() {
    for (name, goes_on) in [("plain", false), ("ns2", true)] {
        let every_second = ("ack_every", Raw::Number(2.0));
        let profile = profile(name, &[("ecn", Raw::Bool(true)), every_second]);
        let mut server = Endpoint::new(&profile, HostClock::default());
        let asks = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
        server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
        drain(&mut server, 0.0);
        let mut seq = 1;
        let mut pair = |first: (Ecn, Flags), second: (Ecn, Flags)| {
            let answers = [first, second].map(|(ecn, flags)| {
                let flags = flags.with(Flags::ACK);
                let segment = Segment { seq, ack: 1, len: 1_000, flags, ecn, ..Segment::default() };
                seq += 1_000;
                server.on_segment(&segment, secs(0.1));
                drain(&mut server, 0.1)
            });
            assert!(answers[0].is_empty(), "{name}: waits for a second");
            answers[1][0].flags.has(Flags::ECE)
        };
        let (mark, cwr) = ((Ecn::Ce, Flags::NONE), (Ecn::Ect0, Flags::CWR));
        let clean = (Ecn::Ect0, Flags::NONE);
        assert!(pair(clean, mark), "{name}");
        assert_eq!(pair(mark, cwr), goes_on, "{name}: of the two CWR counts first in ns-2");
        assert!(pair(cwr, mark), "{name}");
        assert!(!pair(cwr, clean), "{name}: the mark before has been told");
    }
}

#[test]
fn a_syn_ack_that_reflects_both_flags_agrees_to_nothing() {
    let plain = profile("plain", &[("ecn", Raw::Bool(true))]);
    for (flags, agrees) in [
        (Flags::ECE, true),
        (Flags::ECE.with(Flags::CWR), false),
        (Flags::CWR, false),
        (Flags::NONE, false),
    ] {
        let mut client = Endpoint::new(&plain, HostClock::default());
        client.connect(secs(0.0));
        client.write(100, secs(0.0));
        drain(&mut client, 0.0);
        let flags = flags.with(Flags::SYN).with(Flags::ACK);
        client.on_segment(&Segment { ack: 1, flags, ..Segment::default() }, secs(0.1));
        let data = drain(&mut client, 0.1).into_iter().find(|s| s.len > 0).unwrap();
        assert_eq!(data.ecn == Ecn::Ect0, agrees, "{flags:?}");
    }
}

#[test]
fn a_flow_marked_on_every_packet_sends_one_segment_per_timeout() {
    // Every window of one segment waits for the timer: segments go 1 s + 100 ms apart, the 20th
    // arrives 19 x 1.1 s after the first, at 21.1 s. Of three segments the first echo leaves one and a
    // half: the fourth goes at 0.25 s, the fifth waits until 1.35 s, the 20th goes 15 x 1.1 s later. As
    // after a loss, two segments are as far as halving goes: about 20 / 2 round trips.
    for (initial, cut, least, most) in
        [(1.0, "rfc3168", 21.1, 21.1), (3.0, "rfc3168", 17.9, 17.9), (3.0, "rfc5681", 1.0, 1.3)]
    {
        let settings = [
            ("ecn", Raw::Bool(true)),
            ("ecn_cut", Raw::Text(cut.into())),
            ("initial_window", Raw::Number(initial)),
            ("delayed_ack", Raw::Text("0 s".into())),
        ];
        let mut world = World::new(&profile("plain", &settings), [HostClock::default(); 2], 29_200);
        world.fate = Box::new(|sent| (sent.segment.ecn == Ecn::Ect0, ms(0)));
        world.run(secs(1_000.0), &mut |_| false);
        let took = world.replied.unwrap().secs_f64();
        assert!((least..=most).contains(&took), "from {initial}, {cut}: {took} s");
        assert_eq!(world.ends.each_ref().map(Endpoint::state), [State::Closed; 2]);
        let [client, server] = [C, S].map(|side| *world.ends[side].counters());
        assert_eq!((server.timeouts, server.fast_retransmits, client.timeouts), (0, 0, 0));
        assert!(server.ecn_reductions > 5, "{server:?}");
    }
}

/// Thresholds of a server one of whose segments is marked, in the order in which it had them.
fn thresholds(name: &str, settings: &[(&str, Raw)]) -> (u64, Vec<u64>) {
    let mut all = vec![("ecn", Raw::Bool(true)), ("initial_window", Raw::Number(10.0))];
    all.extend(settings.iter().cloned());
    let mut world = World::new(&profile(name, &all), [HostClock::default(); 2], 200_000);
    world.fate = Box::new(|sent| (sent.side == S && sent.data_number == 30, ms(0)));
    world.run(secs(20.0), &mut |_| false);
    assert_eq!(world.ends[S].counters().ecn_reductions, 1);
    let server: Vec<_> = world.probes.iter().filter(|probe| probe.side == S).collect();
    let cut = server.windows(2).find(|two| two[0].ssthresh != two[1].ssthresh).expect("a cut");
    let mut seen: Vec<u64> = server.iter().map(|probe| probe.ssthresh).collect();
    seen.dedup();
    (cut[0].cwnd, seen)
}

#[test]
fn an_alternative_back_off_leaves_more() {
    // RFC 8511 section 3: 0.8 of what is out, where RFC 5681 halves; CUBIC's is 0.85 for 0.7.
    let beta = |beta| ("beta_ecn", Raw::Number(beta));
    let (cwnd, seen) = thresholds("plain", &[beta(0.8), ("window_bytes", Raw::Number(1e6))]);
    assert_eq!(seen[1..], [cwnd * 4 / 5]);
    // A window of 40 segments, which both leave a whole number of.
    let fixed = ("autotuning", Raw::Bool(false));
    let (cwnd, seen) = thresholds("linux", &[beta(0.85), fixed.clone()]);
    assert_eq!(seen[1..], [cwnd * 85 / 100]);
    let (cwnd, seen) = thresholds("linux", &[fixed]);
    assert!((0.69..=0.7).contains(&(seen[1] as f64 / cwnd as f64)), "{cwnd} {seen:?}");
}

/// A profile with this control, this setting and ECN on or left alone: built, or why not.
fn built(name: &str, control: &str, setting: (&str, Raw), ecn: bool) -> Result<(), String> {
    let mut raw = vec![
        (setting.0.to_string(), setting.1),
        ("congestion".to_string(), Raw::Text(control.into())),
    ];
    raw.extend(ecn.then(|| ("ecn".to_string(), Raw::Bool(true))));
    let entry = aqmlab_tcp::find(name).expect("a listed profile");
    let params = packet::params::Params::check(entry.about.fields, &raw).expect("in range");
    (entry.build)(&params, &aqmlab_tcp::Controls::ours()).map(drop).map_err(|why| why.to_string())
}

#[test]
fn beta_ecn_is_refused_where_it_means_nothing() {
    for (control, ecn) in [("cubic", false), ("prague", true), ("dctcp", true), ("bbr", true)] {
        let why = built("linux", control, ("beta_ecn", Raw::Number(0.8)), ecn).expect_err(control);
        assert!(why.starts_with("beta_ecn"), "{why}");
    }
}

#[test]
fn ecn_cut_is_refused_of_controls_that_answer_echoes_in_their_own_way() {
    let taken = ["reno-bsd", "rfc5681", "reno-ns2"];
    let listed: Vec<_> = aqmlab_tcp::controls().map(|about| about.name).collect();
    assert!(taken.iter().all(|name| listed.contains(name)), "{listed:?}");
    for about in aqmlab_tcp::controls() {
        let classic = taken.contains(&about.name);
        for cut in ["rfc3168", "rfc5681"] {
            let built = built("plain", about.name, ("ecn_cut", Raw::Text(cut.into())), true);
            assert_eq!(built.is_ok(), classic, "{} {cut}: {built:?}", about.name);
            assert!(built.err().is_none_or(|why| why.starts_with("ecn_cut")));
        }
    }
}

#[test]
fn what_goes_again_is_ecn_capable_in_ns2_alone() {
    // RFC 3168 section 6.1.5 forbids it; `TcpAgent::output` of ns-2.35 asks for all but the SYN.
    for (name, capable) in [("plain", Ecn::NotEct), ("linux", Ecn::NotEct), ("ns2", Ecn::Ect0)] {
        let ends = profile(name, &[("ecn", Raw::Bool(true))]);
        let mut world = World::new(&ends, [HostClock::default(); 2], 100_000);
        world.run(secs(10.0), &mut |sent| sent.side == S && [3, 9].contains(&sent.data_number));
        let data = world.sent.iter().filter(|sent| sent.side == S && sent.segment.len > 0);
        let (again, first): (Vec<_>, Vec<_>) = data
            .map(|sent| sent.segment)
            .partition(|segment| segment.flags.has(Flags::RETRANSMISSION));
        assert!(again.len() >= 2 && again.iter().all(|segment| segment.ecn == capable), "{name}");
        assert!(first.iter().all(|segment| segment.ecn == Ecn::Ect0), "{name}");
    }
}

#[test]
fn data_lost_in_a_hold_is_repaired_by_a_timeout() {
    // The ACK of the first of three small segments says ECE while the window is one segment: nothing new
    // goes out before the timer expires. The other two were lost, so that is a timeout (RFC 6298 section 5).
    let settings = [("ecn", Raw::Bool(true)), ("initial_window", Raw::Number(1.0))];
    let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
    server.on_segment(
        &Segment { flags: all(&[Flags::SYN, Flags::ECE, Flags::CWR]), ..Segment::default() },
        secs(0.0),
    );
    drain(&mut server, 0.0);
    let ack = Segment { seq: 1, ack: 1, flags: Flags::ACK, ..Segment::default() };
    server.on_segment(&ack, secs(0.1));
    for _ in 0..3 {
        server.write(400, secs(0.2));
        assert_eq!(drain(&mut server, 0.2).len(), 1);
    }
    let echo = Segment { ack: 401, flags: Flags::ACK.with(Flags::ECE), ..ack };
    server.on_segment(&echo, secs(0.3));
    server.write(400, secs(0.3));
    assert_eq!(drain(&mut server, 0.3), [], "held");
    let due = server.next_timeout().expect("the timer runs").at;
    server.on_timeout(due);
    let again = drain_at(&mut server, due);
    assert_eq!((again[0].seq, server.counters().timeouts), (401, 1));
}

/// A server that asks for ECN, of whose ten segments none is acknowledged.
fn marked_with(cut: &str) -> Endpoint {
    let ecn = ("ecn", Raw::Bool(true));
    match cut {
        "ns3" => ten_out_of("ns3", &[ecn]),
        _ => ten_out(&[ecn, ("ecn_cut", Raw::Text(cut.into()))]),
    }
}

fn echoed(segment: Segment) -> Segment {
    Segment { flags: segment.flags.with(Flags::ECE), ..segment }
}

/// Window and threshold after it has heard these, in segments.
fn windows(server: &mut Endpoint, heard: &[Segment]) -> (u64, u64) {
    heard.iter().for_each(|&segment| drop(hear(server, segment, 0.2)));
    (server.cwnd() / 1_000, server.ssthresh() / 1_000)
}

#[test]
fn an_echo_in_a_recovery_is_one_reduction_with_its_loss_but_not_in_ns3() {
    // Segments 0 and 5 of ten are lost. The repair of the first is acknowledged with an echo.
    let lost = [(1, 4)].map(|all| said(1, &[all]));
    for (cut, after) in [("rfc3168", 5), ("rfc5681", 5), ("ns3", 2)] {
        let mut server = marked_with(cut);
        assert_eq!(windows(&mut server, &lost), (5, 5), "{cut}");
        // One that acknowledges nothing new tells ns-3 nothing, nor, in a recovery, the RFCs.
        assert_eq!(windows(&mut server, &[echoed(said(1, &[(1, 5)]))]), (5, 5), "{cut}");
        let partial = echoed(said(5_001, &[(6, 7)]));
        assert_eq!(windows(&mut server, &[partial]), (after, after), "{cut}");
    }
}

#[test]
fn an_echo_on_a_duplicate_means_nothing_to_ns3() {
    for (cut, after) in [("rfc3168", 5), ("rfc5681", 5), ("ns3", 10)] {
        let mut server = marked_with(cut);
        assert_eq!(windows(&mut server, &[echoed(said(1, &[(1, 2)]))]).0, after, "{cut}");
    }
}

#[test]
fn a_loss_after_an_echo_ends_ns3s_state_no_sooner() {
    // An echo is heard while ten segments are out, the eleventh goes, and then the seventh turns out to be
    // lost. What was out at the echo is passed before what was out at the loss.
    for (cut, after) in [("rfc3168", 5), ("rfc5681", 5), ("ns3", 2)] {
        let mut server = marked_with(cut);
        let lost = [echoed(said(6_001, &[])), said(6_001, &[(7, 10)])];
        assert_eq!(windows(&mut server, &lost), (5, 5), "{cut}");
        assert_eq!(windows(&mut server, &[echoed(said(10_001, &[]))]), (5, 5), "{cut}");
        assert_eq!(windows(&mut server, &[echoed(said(11_001, &[]))]), (after, after), "{cut}");
    }
}

#[test]
fn after_a_timeout_an_echo_raises_ns3s_window_to_its_threshold() {
    for (cut, after) in [("rfc3168", (1, 5)), ("rfc5681", (1, 5)), ("ns3", (2, 2))] {
        let mut server = marked_with(cut);
        let due = server.next_timeout().expect("the timer runs").at;
        server.on_timeout(due);
        assert_eq!(windows(&mut server, &[]), (1, 5), "{cut}");
        drain_at(&mut server, due);
        assert_eq!(windows(&mut server, &[echoed(said(1_001, &[]))]), after, "{cut}");
    }
}

#[test]
fn a_timeout_after_an_echo_halves_ns3s_threshold_once_more() {
    for (cut, after) in [("rfc3168", 5), ("rfc5681", 5), ("ns3", 2)] {
        let mut server = marked_with(cut);
        assert_eq!(windows(&mut server, &[echoed(said(1_001, &[]))]), (5, 5), "{cut}");
        let due = server.next_timeout().expect("the timer runs").at;
        server.on_timeout(due);
        assert_eq!(windows(&mut server, &[]), (1, after), "{cut}");
    }
}
