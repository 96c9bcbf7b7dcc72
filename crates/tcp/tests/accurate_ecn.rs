//! Accurate ECN (RFC 9768) at one end: the handshake's answers, counts of marks, the option.

use std::sync::Arc;

use crate::lab;
use crate::lab::one_end::{drain, drain_at};
use crate::lab::{C, S, World, all, ms, profile, secs};
use aqmlab_tcp::{AccEcn, Endpoint, Flags, HostClock, Profile, Segment};
use packet::Ecn;
use packet::params::Raw;

const AE: Flags = Flags::AE;
const CWR: Flags = Flags::CWR;
const ECE: Flags = Flags::ECE;

/// The profile `name` with accurate feedback and these settings.
fn accurate_as(name: &str, settings: &[(&str, Raw)]) -> Arc<Profile> {
    let feedback = ("ecn_feedback", Raw::Text("accurate".into()));
    profile(name, &[&[("ecn", Raw::Bool(true)), feedback], settings].concat())
}

fn accurate() -> Arc<Profile> {
    accurate_as("plain", &[])
}

/// With the option, and without delayed acknowledgements if `at_once`.
fn with_option(name: &str, at_once: bool) -> Arc<Profile> {
    let settings = [("accecn_option", Raw::Bool(true)), ("delayed_ack", Raw::Text("0 s".into()))];
    accurate_as(name, &settings[..1 + usize::from(at_once)])
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
        let answer = drain(&mut server, 0.0)[0];
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
        drain(&mut client, 0.0);
        let flags = all(&[Flags::SYN, Flags::ACK, answers]);
        client.on_segment(&Segment { ack: 1, flags, ecn, ..Segment::default() }, secs(0.1));
        let out = drain(&mut client, 0.1);
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
        let mut server = Endpoint::new(&accurate_as(name, &[]), HostClock::default());
        let asks = all(&[Flags::SYN, AE, CWR, ECE]);
        server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
        drain(&mut server, 0.0);
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
        let sent = drain(&mut server, 0.1);
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
    drain(&mut server, 0.0);
    let five = all(&[Flags::ACK, AE, ECE]);
    let ack = Segment { seq: 1, ack: 1, flags: five, ecn: Ecn::Ce, ..Segment::default() };
    server.on_segment(&Segment { flags: Flags::ACK.with(CWR), ecn: Ecn::NotEct, ..ack }, secs(0.1));
    for (seen, answered) in [(1, false), (2, false), (3, true), (4, false)] {
        server.on_segment(&ack, secs(0.1));
        let out = drain(&mut server, 0.1);
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
    assert_eq!(data.iter().filter(|s| s.segment.flags.has(Flags::RETRANSMISSION)).count(), 2);
    assert!(data.iter().all(|s| s.segment.ecn == Ecn::Ect1));
}

/// Delivers data with this sequence number and ECN codepoint to `server`. Returns the AccECN option
/// of the acknowledgement, if it has one.
fn option_after(server: &mut Endpoint, seq: u64, ecn: Ecn) -> Option<(bool, Vec<u32>)> {
    let segment = Segment { seq, ack: 1, len: 100, flags: Flags::ACK, ecn, ..Segment::default() };
    server.on_segment(&segment, secs(0.2));
    let answer = drain(server, 0.2);
    assert_eq!(answer.len(), 1);
    let option = answer[0].accecn()?;
    let fields = usize::from(option.fields);
    assert_eq!(answer[0].ip_bytes(), 40 + (2 + 3 * fields as u32).next_multiple_of(4));
    Some((option.ect1_first, option.counters[..fields].to_vec()))
}

#[test]
fn the_option_counts_bytes_by_codepoint() {
    // RFC 9768 section 3.2.3: all three on the SYN-ACK, then what ever grew.
    let mut server = Endpoint::new(&with_option("plain", true), HostClock::default());
    let asks = all(&[Flags::SYN, AE, CWR, ECE]);
    server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
    let syn_ack = drain(&mut server, 0.0)[0];
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
fn every_acknowledgement_of_data_reports_the_bytes() {
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
    assert!(last.ect1_first && last.fields == 3, "Linux: all that there is room for");
    let marked = world.sent.iter().filter(|sent| marks(sent)).map(|sent| sent.segment.len).sum();
    assert_eq!(last.counters[1], marked);
}

#[test]
fn what_goes_again_has_no_option_unless_it_is_a_fin_alone() {
    let opened = || {
        let mut server = Endpoint::new(&with_option("plain", false), HostClock::default());
        let asks = all(&[Flags::SYN, AE, CWR, ECE]);
        server.on_segment(&Segment { flags: asks, ..Segment::default() }, secs(0.0));
        drain(&mut server, 0.0);
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
        assert_eq!(drain(&mut server, 0.2).len(), 1);
    }
    server.on_segment(&capable, secs(0.3));
    assert_eq!(drain(&mut server, 0.3), []);
    (0..3).for_each(|_| server.on_segment(&bare, secs(0.31)));
    let again = drain(&mut server, 0.31);
    assert_eq!((again[0].seq, again[0].len, again[0].accecn()), (1, 400, None));
    let mut server = opened();
    server.on_segment(&Segment { seq: 1, ..bare }, secs(0.1));
    server.close(secs(0.2));
    assert!(drain(&mut server, 0.2)[0].flags.has(Flags::FIN));
    let due = server.next_timeout().expect("a timeout").at;
    server.on_segment(&capable, due - ms(10));
    assert_eq!(drain_at(&mut server, due - ms(10)), []);
    server.on_timeout(due);
    let again = drain_at(&mut server, due);
    assert!(again[0].flags.has(Flags::FIN) && again[0].accecn().is_some());
}

/// A server of this profile whose client asked for accurate ECN, after the handshake.
fn accurate_server(profile: &Arc<Profile>, syn: Segment) -> Endpoint {
    let mut server = Endpoint::new(profile, HostClock::default());
    let flags = all(&[Flags::SYN, AE, CWR, ECE]).with(syn.flags);
    server.on_segment(&Segment { flags, ..syn }, secs(0.0));
    drain(&mut server, 0.0);
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
            assert_eq!(!drain(&mut server, 0.2).is_empty(), answered, "{segment:?}");
        }
    }
}

#[test]
fn a_change_of_marks_is_acknowledged_at_once() {
    // RFC 9768 section 3.2.2.5.1: marked data after any packet that was not; else every second is due.
    let (ce, ect, bare) = ((true, Ecn::Ce), (true, Ecn::Ect1), (false, Ecn::NotEct));
    for (arrivals, expected) in [
        ([ce, ect, ect, ce, ect, ect], [true, false, true, true, false, true]),
        ([ce, ce, ce, ect, ce, ect], [true, false, true, false, true, false]),
        // One without data is a packet, too.
        ([ce, bare, ce, ce, bare, ect], [true, false, true, false, false, true]),
    ] {
        let (mut server, mut seq) = (accurate_server(&accurate(), Segment::default()), 1);
        let at_once = arrivals.map(|(data, ecn)| {
            let (len, flags) = (1_000 * u32::from(data), all(&[Flags::ACK, AE, ECE]));
            let segment = Segment { seq, ack: 1, len, ecn, flags, ..Segment::default() };
            server.on_segment(&segment, secs(0.2));
            seq += u64::from(len);
            !drain(&mut server, 0.2).is_empty()
        });
        assert_eq!(at_once, expected, "{arrivals:?}");
    }
}

#[test]
fn a_receiver_that_ignores_marks_counts_none_on_acknowledgements_either() {
    let ignores = [("ecn_receiver", Raw::Text("ignores".into()))];
    let mut server = accurate_server(&accurate_as("plain", &ignores), Segment::default());
    let marked = Segment { seq: 1, ack: 1, flags: Flags::ACK, ecn: Ecn::Ce, ..Segment::default() };
    (0..3).for_each(|_| server.on_segment(&marked, secs(0.2)));
    assert_eq!(drain(&mut server, 0.2), []);
    server.write(100, secs(0.3));
    assert_eq!(drain(&mut server, 0.3)[0].flags, all(&[Flags::ACK, AE, ECE]), "still 5");
}

#[test]
fn the_option_takes_the_room_that_timestamps_and_reports_leave() {
    // 40 B of options: 12 for timestamps, 12 for one block and 20 for two, 8 for two counters and 12
    // for three (RFC 9768 section 3.2.3.3; Linux's tcp_options_fit_accecn). No option goes without a counter
    // that has grown (here ECT(0)'s, the third).
    let mut syn = Segment { flags: Flags::STAMPED, ..Segment::default() };
    syn.sack.push(0, 0);
    let mut server = accurate_server(&with_option("linux", true), syn);
    let flags = all(&[Flags::ACK, Flags::STAMPED, AE, ECE]);
    let mut seen = Segment { seq: 1, ack: 1, flags, ..Segment::default() };
    seen.report_bytes(AccEcn { ect1_first: false, fields: 3, counters: [1, 0, 1] });
    server.on_segment(&seen, secs(0.1));
    for (seq, ecn, blocks, fields) in [
        (1, Ecn::Ect0, 0, 3),
        (101, Ecn::Ce, 0, 3),
        (201, Ecn::Ect1, 0, 3),
        (401, Ecn::Ect0, 1, 3),
        (601, Ecn::Ce, 2, 2),
        (701, Ecn::Ect0, 2, 0),
        (901, Ecn::Ect1, 3, 0),
        (401, Ecn::Ect0, 2, 0),
    ] {
        let flags = Flags::ACK.with(Flags::STAMPED);
        let data = Segment { seq, ack: 1, len: 100, ecn, flags, ..Segment::default() };
        server.on_segment(&data, secs(0.2));
        let answer = drain(&mut server, 0.2)[0];
        let option = answer.accecn().map_or(0, |option| option.fields);
        assert_eq!((answer.sack.as_slice().len(), option), (blocks, fields), "{seq} {ecn:?}");
    }
}

#[test]
fn the_openers_first_data_has_the_option_if_the_segment_has_room() {
    // RFC 9768 section 3.2.3.2.1: the first ACK and the first data test the path; no segment is longer
    // than the segment size for it.
    let fields = |segment: &Segment| segment.accecn().map_or(0, |option| option.fields);
    for (len, has) in [(100, 3), (1_448, 3), (1_452, 2), (1_460, 0)] {
        let mut client = Endpoint::new(&with_option("plain", false), HostClock::default());
        client.connect(secs(0.0));
        client.write(len, secs(0.0));
        drain(&mut client, 0.0);
        let flags = all(&[Flags::SYN, Flags::ACK, CWR]);
        client.on_segment(&Segment { ack: 1, flags, ..Segment::default() }, secs(0.1));
        let out: Vec<_> = drain(&mut client, 0.1).iter().map(fields).collect();
        assert_eq!(out, [3, has], "{len} B");
        client.write(100, secs(0.2));
        assert_eq!(drain(&mut client, 0.2).iter().map(fields).collect::<Vec<_>>(), [0]);
    }
}

#[test]
fn a_path_that_thins_acknowledgements_out_looks_like_one_without_marks() {
    // Of ten acknowledgements one comes through, from the first window on, and no segment is marked: Linux's
    // sender believes that; by RFC 9768 appendix A.2.1 each acknowledgement reports eight marks or more.
    let mut world = World::new(&accurate_as("linux", &[]), [HostClock::default(); 2], 2_000_000);
    let (mut acks, mut stretch, mut before) = (0, 0, 0);
    world.run(secs(20.0), &mut |sent| {
        let bare = sent.side == C && sent.segment.len == 0 && sent.number > 3;
        acks += u32::from(bare);
        let lost = bare && acks % 10 != 0 && sent.segment.ack < 1_900_000;
        if bare && !lost {
            stretch += u32::from(sent.segment.ack >= before + 8 * 1_448);
            before = sent.segment.ack;
        }
        lost
    });
    assert!(world.replied.is_some() && stretch > 20, "{stretch}");
    assert_eq!(world.ends[S].counters().ecn_reductions, 0);
}
