//! ECN at one end: what an arrival makes a receiver echo, and how long a sender waits.

use crate::lab;
use crate::lab::{C, S, World, ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Segment, State};
use packet::params::Raw;
use packet::{Ecn, Instant};

fn drain(end: &mut Endpoint, at: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| end.poll_send(at)).collect()
}

/// A server with ECN that acknowledges every segment, after the handshake.
fn server() -> Endpoint {
    let at_once = ("delayed_ack", Raw::Text("0 s".into()));
    let plain = profile("plain", &[("ecn", Raw::Bool(true)), at_once]);
    let mut server = Endpoint::new(&plain, HostClock::default());
    let asks = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
    let answer = drain(&mut server, secs(0.0));
    assert!(answer[0].flags == Flags::SYN.with(Flags::ACK).with(Flags::ECE));
    server
}

/// Gives it 100 B from `seq` on; whether the answer echoes.
fn echoes(server: &mut Endpoint, seq: u64, ecn: Ecn, flags: Flags) -> bool {
    let flags = flags.with(Flags::ACK);
    let segment = Segment { seq, ack: 1, len: 100, flags, ecn, ..Segment::default() };
    server.on_segment(&segment, secs(0.1));
    let answer = drain(server, secs(0.1));
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
        drain(&mut client, secs(0.0));
        let flags = flags.with(Flags::SYN).with(Flags::ACK);
        client.on_segment(&Segment { ack: 1, flags, ..Segment::default() }, secs(0.1));
        let data = drain(&mut client, secs(0.1)).into_iter().find(|s| s.len > 0).unwrap();
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
    (entry.build)(&params).map(drop).map_err(|why| why.to_string())
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

const AE: Flags = Flags::AE;
const CWR: Flags = Flags::CWR;
const ECE: Flags = Flags::ECE;

/// All of them.
fn all(flags: &[Flags]) -> Flags {
    flags.iter().fold(Flags::NONE, |sum, &flag| sum.with(flag))
}

fn accurate() -> std::sync::Arc<aqmlab_tcp::Profile> {
    accurate_as("plain")
}

fn accurate_as(name: &str) -> std::sync::Arc<aqmlab_tcp::Profile> {
    let feedback = ("ecn_feedback", Raw::Text("accurate".into()));
    profile(name, &[("ecn", Raw::Bool(true)), feedback])
}

#[test]
fn a_syn_is_answered_by_what_its_ecn_field_was() {
    // RFC 9768 sections 3.1.1 to 3.1.3: flags of the SYN, its ECN field, flags of the SYN-ACK.
    for (asks, ecn, answers) in [
        (all(&[AE, CWR, ECE]), Ecn::NotEct, CWR),
        (all(&[AE, CWR, ECE]), Ecn::Ect1, all(&[CWR, ECE])),
        (all(&[AE, CWR, ECE]), Ecn::Ect0, AE),
        (all(&[AE, CWR, ECE]), Ecn::Ce, all(&[AE, CWR])),
        (AE, Ecn::NotEct, CWR),
        (all(&[AE, ECE]), Ecn::NotEct, CWR),
        (all(&[CWR, ECE]), Ecn::NotEct, ECE),
        (Flags::NONE, Ecn::NotEct, Flags::NONE),
    ] {
        let mut server = Endpoint::new(&accurate(), HostClock::default());
        let flags = Flags::SYN.with(asks);
        server.on_segment(&Segment { flags, ecn, ..Segment::default() }, secs(0.0));
        let answer = drain(&mut server, secs(0.0))[0];
        assert_eq!(answer.flags, all(&[Flags::SYN, Flags::ACK, answers]), "{asks:?} {ecn:?}");
        assert_eq!(answer.ecn, Ecn::NotEct);
    }
}

#[test]
fn a_syn_ack_is_answered_by_what_its_ecn_field_was() {
    // RFC 9768 tables 2 and 3: flags of the SYN-ACK, its ECN field, then the flags of the pure ACK
    // and of the first data. None: not ECN-capable.
    let five = all(&[AE, ECE]);
    for (answers, ecn, pure, data) in [
        (CWR, Ecn::NotEct, CWR, Some(five)),
        (CWR, Ecn::Ect1, all(&[CWR, ECE]), Some(five)),
        (all(&[CWR, ECE]), Ecn::Ect0, AE, Some(five)),
        (AE, Ecn::Ce, all(&[AE, CWR]), Some(all(&[AE, CWR]))),
        (all(&[AE, CWR]), Ecn::NotEct, CWR, Some(five)),
        (all(&[AE, ECE]), Ecn::NotEct, CWR, Some(five)),
        (ECE, Ecn::NotEct, Flags::NONE, Some(Flags::NONE)),
        (Flags::NONE, Ecn::NotEct, Flags::NONE, None),
        (all(&[AE, CWR, ECE]), Ecn::NotEct, Flags::NONE, None),
    ] {
        let mut client = Endpoint::new(&accurate(), HostClock::default());
        client.connect(secs(0.0));
        client.write(100, secs(0.0));
        drain(&mut client, secs(0.0));
        let flags = all(&[Flags::SYN, Flags::ACK, answers]);
        client.on_segment(&Segment { ack: 1, flags, ecn, ..Segment::default() }, secs(0.1));
        let out = drain(&mut client, secs(0.1));
        assert_eq!(out.len(), 2, "{answers:?}");
        assert_eq!(out[0].flags, Flags::ACK.with(pure), "{answers:?} {ecn:?}");
        assert_eq!(out[1].flags, Flags::ACK.with(data.unwrap_or_default()), "{answers:?} {ecn:?}");
        assert_eq!(out[1].ecn == Ecn::Ect0, data.is_some(), "{answers:?}");
    }
}

#[test]
fn a_marked_syn_ack_is_answered_by_a_reduction() {
    // RFC 9768 section 3.2.2.2: once, by the pure ACK or by the count on what comes instead of it.
    let answers = [(0, all(&[AE, CWR])), (100, all(&[AE, CWR])), (0, CWR), (100, all(&[AE, ECE]))];
    for (name, (len, flags)) in ["plain", "linux"].iter().flat_map(|n| answers.map(|a| (n, a))) {
        let mut server = Endpoint::new(&accurate_as(name), HostClock::default());
        let asks = all(&[Flags::SYN, AE, CWR, ECE]);
        server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
        drain(&mut server, secs(0.0));
        let marked = flags == all(&[AE, CWR]);
        let flags = Flags::ACK.with(flags);
        let first = Segment { seq: 1, ack: 1, len, flags, ..Segment::default() };
        server.on_segment(&first, secs(0.1));
        if len == 0 {
            let counted = server.counters().ecn_reductions;
            assert_eq!(counted, u32::from(marked), "{name}: by the pure ACK");
        }
        let six = Flags::ACK.with(if marked { all(&[AE, CWR]) } else { all(&[AE, ECE]) });
        server.write(1_000, secs(0.1));
        let sent = drain(&mut server, secs(0.1));
        let ack = sent.last().unwrap().seq + 1_000;
        let next =
            Segment { seq: 1 + u64::from(len), ack, len: 1, flags: six, ..Segment::default() };
        server.on_segment(&next, secs(0.2));
        assert_eq!(server.counters().ecn_reductions, u32::from(marked), "{name} {first:?}");
    }
}

#[test]
fn a_receiver_without_data_to_acknowledge_reports_every_third_mark() {
    // RFC 9768 section 3.2.2.5.1: marks on pure ACKs, which only a peer with ECN-capable ones sees.
    let mut server = Endpoint::new(&accurate(), HostClock::default());
    let asks = all(&[Flags::SYN, AE, CWR, ECE]);
    server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
    drain(&mut server, secs(0.0));
    let five = all(&[Flags::ACK, AE, ECE]);
    let ack = Segment { seq: 1, ack: 1, flags: five, ecn: Ecn::Ce, ..Segment::default() };
    server.on_segment(&Segment { flags: Flags::ACK.with(CWR), ecn: Ecn::NotEct, ..ack }, secs(0.1));
    for (seen, answered) in [(1, false), (2, false), (3, true), (4, false)] {
        server.on_segment(&ack, secs(0.1));
        let out = drain(&mut server, secs(0.1));
        assert_eq!(!out.is_empty(), answered, "mark {seen}");
        assert!(out.iter().all(|s| s.flags == Flags::ACK), "5 + 3 is 0");
    }
}

#[test]
fn all_that_prague_sends_again_is_scalable_too() {
    // As in Linux: else it would wait in the classic queue of a DualPI2.
    let prague = profile("linux", &[("congestion", Raw::Text("prague".into()))]);
    let mut world = World::new(&prague, [HostClock::default(); 2], 100_000);
    world.run(secs(10.0), &mut |sent| sent.side == S && [3, 9].contains(&sent.data_number));
    let data: Vec<_> = world.sent.iter().filter(|s| s.side == S && s.segment.len > 0).collect();
    assert_eq!(data.iter().filter(|s| s.segment.flags.has(Flags::AGAIN)).count(), 2);
    assert!(data.iter().all(|s| s.segment.ecn == Ecn::Ect1));
}

/// Data of this number and codepoint in its place, and the option of what answers it.
fn option_after(server: &mut Endpoint, seq: u64, ecn: Ecn) -> Option<(bool, Vec<u32>)> {
    let segment = Segment { seq, ack: 1, len: 100, flags: Flags::ACK, ecn, ..Segment::default() };
    server.on_segment(&segment, secs(0.2));
    let answer = drain(server, secs(0.2));
    assert_eq!(answer.len(), 1);
    let option = answer[0].accecn()?;
    let fields = usize::from(option.fields);
    assert_eq!(answer[0].ip_bytes(), 40 + (2 + 3 * fields as u32).next_multiple_of(4));
    Some((option.ect1_first, option.counters[..fields].to_vec()))
}

#[test]
fn the_option_counts_bytes_by_codepoint() {
    // RFC 9768 section 3.2.3: all three on the SYN-ACK, then what ever grew.
    let settings = [
        ("ecn", Raw::Bool(true)),
        ("ecn_feedback", Raw::Text("accurate".into())),
        ("accecn_option", Raw::Bool(true)),
        ("delayed_ack", Raw::Text("0 s".into())),
    ];
    let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
    let asks = all(&[Flags::SYN, AE, CWR, ECE]);
    server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
    let syn_ack = drain(&mut server, secs(0.0))[0];
    let option = syn_ack.accecn().expect("an option on the SYN-ACK");
    assert_eq!((option.ect1_first, option.fields, option.counters), (false, 3, [1, 0, 1]));
    assert_eq!(syn_ack.ip_bytes(), 40 + 4 + 12);
    assert_eq!(option_after(&mut server, 1, Ecn::Ect0), Some((false, vec![101])));
    assert_eq!(option_after(&mut server, 101, Ecn::Ce), Some((false, vec![101, 100])));
    assert_eq!(option_after(&mut server, 201, Ecn::Ect0), Some((false, vec![201, 100])));
    assert_eq!(option_after(&mut server, 301, Ecn::NotEct), None, "no counter grew");
    assert_eq!(option_after(&mut server, 501, Ecn::Ect1), Some((false, vec![201, 100, 101])));
}

#[test]
fn every_acknowledgement_of_data_tells_the_bytes() {
    // Every third segment of a Prague sender is marked.
    let settings = [("congestion", Raw::Text("prague".into())), ("accecn_option", Raw::Bool(true))];
    let profile = profile("linux", &settings);
    let mut world = World::new(&profile, [HostClock::default(); 2], 400_000);
    let marks = |sent: &lab::Sent| sent.side == S && sent.data_number % 3 == 2;
    world.fate = Box::new(move |sent| (marks(sent) && sent.segment.ecn != Ecn::NotEct, ms(0)));
    world.run(secs(60.0), &mut |_| false);
    assert!(world.replied.is_some());
    let acks: Vec<&Segment> =
        world.sent.iter().filter(|sent| sent.side == C).map(|s| &s.segment).collect();
    let acks: Vec<&Segment> = acks.into_iter().filter(|s| s.len == 0 && s.ack > 1).collect();
    let options: Vec<_> = acks.iter().filter_map(|segment| segment.accecn()).collect();
    // All but those of the handshake's end and of the FIN.
    assert!(
        acks.len() > 100 && options.len() + 3 >= acks.len(),
        "{} {}",
        acks.len(),
        options.len()
    );
    let last = options.last().expect("an option");
    assert!(last.ect1_first && last.fields == 2);
    let marked = world.sent.iter().filter(|sent| marks(sent)).map(|sent| sent.segment.len).sum();
    assert_eq!(last.counters[1], marked);
}

#[test]
fn what_goes_again_has_no_option_unless_it_is_a_fin_alone() {
    let settings = [
        ("ecn", Raw::Bool(true)),
        ("ecn_feedback", Raw::Text("accurate".into())),
        ("accecn_option", Raw::Bool(true)),
    ];
    let opened = || {
        let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
        let asks = all(&[Flags::SYN, AE, CWR, ECE]);
        server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
        drain(&mut server, secs(0.0));
        server
    };
    // Data that waits for its acknowledgement makes an option due.
    let capable = Segment {
        seq: 1,
        ack: 1,
        len: 100,
        flags: Flags::ACK,
        ecn: Ecn::Ect0,
        ..Segment::default()
    };
    let bare = Segment { seq: 101, ack: 1, flags: Flags::ACK, ..Segment::default() };
    let mut server = opened();
    server.on_segment(&bare, secs(0.1));
    for _ in 0..4 {
        server.write(100, secs(0.2));
        assert_eq!(drain(&mut server, secs(0.2)).len(), 1);
    }
    server.on_segment(&capable, secs(0.3));
    assert_eq!(drain(&mut server, secs(0.3)), []);
    (0..3).for_each(|_| server.on_segment(&bare, secs(0.31)));
    let again = drain(&mut server, secs(0.31));
    assert_eq!((again[0].seq, again[0].len, again[0].accecn()), (1, 400, None));
    let mut server = opened();
    server.on_segment(&Segment { seq: 1, ..bare }, secs(0.1));
    server.close(secs(0.2));
    assert!(drain(&mut server, secs(0.2))[0].flags.has(Flags::FIN));
    let due = server.next_timeout().expect("a timeout").at;
    server.on_segment(&capable, due - ms(10));
    assert_eq!(drain(&mut server, due - ms(10)), []);
    server.on_timeout(due);
    let again = drain(&mut server, due);
    assert!(again[0].flags.has(Flags::FIN) && again[0].accecn().is_some());
}

#[test]
fn data_lost_in_a_hold_is_repaired_by_a_timeout() {
    // The ACK of the first of three small segments says ECE while the window is one segment: nothing new
    // goes out before the timer expires. The other two were lost, so that is a timeout (RFC 6298 section 5).
    let settings = [("ecn", Raw::Bool(true)), ("initial_window", Raw::Number(1.0))];
    let mut server = Endpoint::new(&profile("plain", &settings), HostClock::default());
    server.on_segment(
        &Segment { flags: all(&[Flags::SYN, ECE, CWR]), ..Segment::default() },
        secs(0.0),
    );
    drain(&mut server, secs(0.0));
    let ack = Segment { seq: 1, ack: 1, flags: Flags::ACK, ..Segment::default() };
    server.on_segment(&ack, secs(0.1));
    for _ in 0..3 {
        server.write(400, secs(0.2));
        assert_eq!(drain(&mut server, secs(0.2)).len(), 1);
    }
    let echo = Segment { ack: 401, flags: Flags::ACK.with(ECE), ..ack };
    server.on_segment(&echo, secs(0.3));
    server.write(400, secs(0.3));
    assert_eq!(drain(&mut server, secs(0.3)), [], "held");
    let due = server.next_timeout().expect("the timer runs").at;
    server.on_timeout(due);
    let again = drain(&mut server, due);
    assert_eq!((again[0].seq, server.counters().timeouts), (401, 1));
}

/// A server of this profile whose client asked for accurate ECN, after the handshake.
fn accurate_server(profile: &std::sync::Arc<aqmlab_tcp::Profile>, syn: Segment) -> Endpoint {
    let mut server = Endpoint::new(profile, HostClock::default());
    let flags = all(&[Flags::SYN, AE, CWR, ECE]).with(syn.flags);
    server.on_segment(&Segment { flags, ..syn }, secs(0.0));
    drain(&mut server, secs(0.0));
    let flags = all(&[Flags::ACK, CWR]);
    server.on_segment(&Segment { seq: 1, ack: 1, flags, ..Segment::default() }, secs(0.1));
    server
}

#[test]
fn a_receiver_with_data_to_acknowledge_reports_every_second_mark() {
    // RFC 9768 section 3.2.2.5.1: data waits, or comes with the second mark.
    let arrival = |seq, len, ecn| {
        let flags = all(&[Flags::ACK, AE, ECE]);
        Segment { seq, ack: 1, len, ecn, flags, ..Segment::default() }
    };
    let (ce, capable) = (Ecn::Ce, Ecn::Ect0);
    for (arrivals, answered) in [
        (
            [arrival(1, 100, capable), arrival(101, 0, ce), arrival(101, 0, ce)],
            [false, false, true],
        ),
        ([arrival(1, 0, ce), arrival(1, 100, ce), arrival(101, 0, ce)], [false, true, false]),
    ] {
        let mut server = accurate_server(&accurate(), Segment::default());
        for (segment, answered) in arrivals.iter().zip(answered) {
            server.on_segment(segment, secs(0.2));
            assert_eq!(!drain(&mut server, secs(0.2)).is_empty(), answered, "{segment:?}");
        }
    }
}

#[test]
fn a_receiver_that_ignores_marks_counts_none_on_acknowledgements_either() {
    let settings = [
        ("ecn", Raw::Bool(true)),
        ("ecn_feedback", Raw::Text("accurate".into())),
        ("ecn_receiver", Raw::Text("ignores".into())),
    ];
    let mut server = accurate_server(&profile("plain", &settings), Segment::default());
    let marked = Segment { seq: 1, ack: 1, flags: Flags::ACK, ecn: Ecn::Ce, ..Segment::default() };
    (0..3).for_each(|_| server.on_segment(&marked, secs(0.2)));
    assert_eq!(drain(&mut server, secs(0.2)), []);
    server.write(100, secs(0.3));
    assert_eq!(drain(&mut server, secs(0.3))[0].flags, all(&[Flags::ACK, AE, ECE]), "still 5");
}

#[test]
fn the_option_takes_the_room_that_timestamps_and_reports_leave() {
    // 40 B of options: 12 for timestamps, 12 for one block and 20 for two, 8 for two counters and 12
    // for three (RFC 9768 section 3.2.3.3). No option goes beside a report of a duplicate.
    let settings = [
        ("ecn", Raw::Bool(true)),
        ("ecn_feedback", Raw::Text("accurate".into())),
        ("accecn_option", Raw::Bool(true)),
        ("delayed_ack", Raw::Text("0 s".into())),
    ];
    let mut syn = Segment { flags: Flags::STAMPED, ..Segment::default() };
    syn.sack.push(0, 0);
    let mut server = accurate_server(&profile("linux", &settings), syn);
    for (seq, ecn, blocks, fields) in [
        (1, Ecn::Ect0, 0, 1),
        (101, Ecn::Ce, 0, 2),
        (201, Ecn::Ect1, 0, 3),
        (401, Ecn::Ect0, 1, 3),
        (601, Ecn::Ect0, 2, 2),
        (801, Ecn::Ect1, 3, 0),
        (401, Ecn::Ect0, 2, 0),
    ] {
        let flags = Flags::ACK.with(Flags::STAMPED);
        let data = Segment { seq, ack: 1, len: 100, ecn, flags, ..Segment::default() };
        server.on_segment(&data, secs(0.2));
        let answer = drain(&mut server, secs(0.2))[0];
        let option = answer.accecn().map_or(0, |option| option.fields);
        assert_eq!((answer.sack.as_slice().len(), option), (blocks, fields), "{seq} {ecn:?}");
    }
}

#[test]
fn the_openers_first_data_has_the_option_if_the_segment_has_room() {
    // RFC 9768 section 3.2.3.2.1: the first ACK and the first data test the path; no segment is longer
    // than the segment size for it.
    let settings = [
        ("ecn", Raw::Bool(true)),
        ("ecn_feedback", Raw::Text("accurate".into())),
        ("accecn_option", Raw::Bool(true)),
    ];
    let fields = |segment: &Segment| segment.accecn().map_or(0, |option| option.fields);
    for (len, has) in [(100, 3), (1_448, 3), (1_452, 2), (1_460, 0)] {
        let mut client = Endpoint::new(&profile("plain", &settings), HostClock::default());
        client.connect(secs(0.0));
        client.write(len, secs(0.0));
        drain(&mut client, secs(0.0));
        let flags = all(&[Flags::SYN, Flags::ACK, CWR]);
        client.on_segment(&Segment { ack: 1, flags, ..Segment::default() }, secs(0.1));
        let out: Vec<_> = drain(&mut client, secs(0.1)).iter().map(fields).collect();
        assert_eq!(out, [3, has], "{len} B");
        client.write(100, secs(0.2));
        assert_eq!(drain(&mut client, secs(0.2)).iter().map(fields).collect::<Vec<_>>(), [0]);
    }
}
