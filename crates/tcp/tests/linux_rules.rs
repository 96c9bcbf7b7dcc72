//! Rules of Linux that packetdrill's scripts of the kernel check, in dialogues of our own.

use aqmlab_tcp::{AccEcn, Endpoint, Flags, HostClock, Segment};
use packet::Ecn;
use packet::params::Raw;

use crate::lab::one_end::{drain, drain_at, hear};
use crate::lab::{all, profile, secs};

const ACE: [Flags; 3] = [Flags::AE, Flags::CWR, Flags::ECE];

/// A server of `linux` with accurate ECN and the option.
fn accurate(name: &str) -> Endpoint {
    let settings = [
        ("ecn", Raw::Bool(true)),
        ("ecn_feedback", Raw::Text("accurate".into())),
        ("accecn_option", Raw::Bool(true)),
        ("timestamps", Raw::Bool(false)),
    ];
    Endpoint::new(&profile(name, &settings), HostClock::default())
}

fn syn(flags: &[Flags], ecn: Ecn) -> Segment {
    let mut syn = Segment { flags: Flags::SYN.with(all(flags)), ecn, ..Segment::default() };
    syn.sack.push(0, 0);
    syn
}

fn ack(ack: u64, flags: &[Flags]) -> Segment {
    Segment { seq: 1, ack, flags: Flags::ACK.with(all(flags)), ..Segment::default() }
}

fn data(seq: u64, len: u32, ecn: Ecn) -> Segment {
    Segment { seq, ack: 1, len, ecn, flags: Flags::ACK, ..Segment::default() }
}

/// One whose peer has sent the option with the handshake's ACK.
fn opened(name: &str) -> Endpoint {
    let mut server = accurate(name);
    hear(&mut server, syn(&ACE, Ecn::NotEct), 0.0);
    let mut third = ack(1, &[Flags::CWR]);
    third.report_bytes(AccEcn { ect1_first: false, fields: 3, counters: [1, 0, 1] });
    hear(&mut server, third, 0.1);
    server
}

fn fields(segment: &Segment) -> Option<(bool, Vec<u32>)> {
    let option = segment.accecn()?;
    Some((option.ect1_first, option.counters[..usize::from(option.fields)].to_vec()))
}

#[test]
fn with_accurate_ecn_all_that_follows_the_handshake_is_capable() {
    // tcp_ecn_send: INET_ECN_xmit for data, acknowledgements and what goes again.
    for name in ["linux", "linux-6.12"] {
        let mut server = accurate(name);
        assert_eq!(hear(&mut server, syn(&ACE, Ecn::NotEct), 0.0)[0].ecn, Ecn::NotEct);
        hear(&mut server, ack(1, &[Flags::CWR]), 0.1);
        assert_eq!(hear(&mut server, data(1, 1_000, Ecn::Ect0), 0.2)[0].ecn, Ecn::Ect0);
        server.write(1_000, secs(0.3));
        assert_eq!(drain(&mut server, 0.3)[0].ecn, Ecn::Ect0);
        let at = server.next_timeout().expect("it waits for an acknowledgement").at;
        server.on_timeout(at);
        assert_eq!(drain_at(&mut server, at)[0].ecn, Ecn::Ect0);
    }
}

#[test]
fn the_option_is_on_every_segment_once_the_peer_has_sent_one() {
    // tcp_options_fit_accecn: AccECN1, all three fields, and segments shorter by its 12 B.
    let mut server = accurate("linux");
    let syn_ack = hear(&mut server, syn(&ACE, Ecn::NotEct), 0.0);
    assert_eq!(fields(&syn_ack[0]), Some((true, vec![1, 0, 1])));
    hear(&mut server, ack(1, &[Flags::CWR]), 0.1);
    assert_eq!(fields(&hear(&mut server, data(1, 1_000, Ecn::Ect0), 0.2)[0]), None);

    let mut server = opened("linux");
    let answer = hear(&mut server, data(1, 1_000, Ecn::Ect0), 0.2);
    assert_eq!(fields(&answer[0]), Some((true, vec![1, 0, 1_001])));
    server.write(20_000, secs(0.3));
    let sent = drain(&mut server, 0.3);
    assert_eq!(sent.len(), 10);
    for segment in &sent {
        assert_eq!((segment.len, fields(segment).is_some()), (1_448, true));
        assert_eq!(segment.ip_bytes(), 1_500);
    }
}

#[test]
fn bytes_that_come_twice_are_counted_twice() {
    // RFC 9768 section 3.2.1: packets and bytes, whatever else they are; a repeat may be marked too.
    let mut server = opened("linux");
    hear(&mut server, data(1, 1_000, Ecn::Ect0), 0.2);
    hear(&mut server, data(1, 1_000, Ecn::Ce), 0.3);
    let answer = hear(&mut server, data(1_001, 1_000, Ecn::Ect0), 0.4);
    assert_eq!(fields(&answer[0]), Some((true, vec![1, 1_000, 2_001])));
    assert_eq!(answer[0].flags.ace_value(), 6);
}

#[test]
fn a_syn_requests_accurate_ecn_twice_and_a_syn_ack_answers_twice() {
    let mut client = accurate("linux");
    client.connect(secs(0.0));
    let flags = |end: &mut Endpoint| {
        let at = end.next_timeout().expect("a timer").at;
        end.on_timeout(at);
        drain_at(end, at)[0].flags.and(Flags::ACE)
    };
    assert_eq!(drain(&mut client, 0.0)[0].flags.and(Flags::ACE), Flags::ACE);
    assert_eq!([(); 2].map(|()| flags(&mut client)), [Flags::ACE, Flags::NONE]);

    let mut server = accurate("linux");
    let first = hear(&mut server, syn(&ACE, Ecn::Ect0), 0.0);
    assert_eq!(first[0].flags.and(Flags::ACE), Flags::AE);
    assert_eq!([(); 2].map(|()| flags(&mut server)), [Flags::AE, Flags::NONE]);
    // What then follows is not capable: the path may drop what is.
    hear(&mut server, ack(1, &[]), 8.0);
    server.write(1_000, secs(8.1));
    assert_eq!(drain(&mut server, 8.1)[0].ecn, Ecn::NotEct);
}

#[test]
fn a_syn_that_comes_again_is_answered_by_its_own_ecn_field() {
    let mut server = accurate("linux");
    hear(&mut server, syn(&ACE, Ecn::Ect0), 0.0);
    let again = hear(&mut server, syn(&ACE, Ecn::Ce), 0.5);
    assert_eq!(again[0].flags.and(Flags::ACE), Flags::AE.with(Flags::CWR));
}

#[test]
fn an_acknowledgement_without_the_flags_shows_a_path_that_clears_them() {
    for (flags, ecn) in [(&[Flags::CWR][..], Ecn::Ect0), (&[], Ecn::NotEct)] {
        let mut server = accurate("linux");
        hear(&mut server, syn(&ACE, Ecn::NotEct), 0.0);
        hear(&mut server, ack(1, flags), 0.1);
        server.write(1_000, secs(0.2));
        assert_eq!(drain(&mut server, 0.2)[0].ecn, ecn);
    }
}

/// A server of `linux` to which data may come.
fn receiver() -> Endpoint {
    let settings = [("timestamps", Raw::Bool(false))];
    let mut server = Endpoint::new(&profile("linux", &settings), HostClock::default());
    hear(&mut server, syn(&[], Ecn::NotEct), 0.0);
    hear(&mut server, ack(1, &[]), 0.1);
    server
}

fn reported(segments: &[Segment]) -> Vec<(u64, u64)> {
    segments[0].sack_numbers().collect()
}

#[test]
fn a_segment_that_covers_what_is_held_reports_it_as_a_duplicate() {
    // RFC 2883 section 4, tcp_ofo_queue: the first range that came twice.
    let mut server = receiver();
    for seq in [1_001, 4_001, 7_001] {
        hear(&mut server, data(seq, 1_000, Ecn::NotEct), 0.2);
    }
    let answer = hear(&mut server, data(1, 6_000, Ecn::NotEct), 0.3);
    assert_eq!((answer[0].ack, reported(&answer)), (6_001, vec![(1_001, 2_001), (7_001, 8_001)]));
    let answer = hear(&mut server, data(6_001, 2_000, Ecn::NotEct), 0.4);
    assert_eq!((answer[0].ack, reported(&answer)), (8_001, vec![(7_001, 8_001)]));
    // Beyond a hole: a part of what is held.
    hear(&mut server, data(10_001, 1_000, Ecn::NotEct), 0.5);
    let answer = hear(&mut server, data(9_501, 1_000, Ecn::NotEct), 0.6);
    assert_eq!(reported(&answer), [(10_001, 10_501), (9_501, 11_001)]);
}

#[test]
fn a_fin_in_order_leaves_nothing_to_report() {
    // tcp_fin resets the reports: the answer to data that comes again with a FIN has none.
    let mut server = receiver();
    hear(&mut server, data(1, 1_000, Ecn::NotEct), 0.2);
    let again = Segment { flags: Flags::ACK.with(Flags::FIN), ..data(1, 1_000, Ecn::NotEct) };
    let answer = hear(&mut server, again, 0.3);
    assert_eq!((answer[0].ack, reported(&answer)), (1_002, vec![]));
}

#[test]
fn what_acknowledges_unsent_data_is_answered_and_not_taken() {
    // RFC 9293 section 3.10.7.4.
    let mut server = receiver();
    let answer = hear(&mut server, Segment { ack: 2, ..data(1, 1_000, Ecn::NotEct) }, 0.2);
    assert_eq!((answer.len(), answer[0].ack), (1, 1));
    assert_eq!(hear(&mut server, data(1, 1_000, Ecn::NotEct), 0.3)[0].ack, 1_001);
}

#[test]
fn the_window_that_a_peer_offers_bounds_what_is_out() {
    let mut server = receiver();
    server.on_window(3_000, secs(0.2));
    server.write(20_000, secs(0.2));
    let sent = drain(&mut server, 0.2);
    assert_eq!(sent.iter().map(|segment| segment.len).sum::<u32>(), 2 * 1_460);
    let info = server.tcp_info().expect("of TCP");
    assert_eq!((info.unacked, info.snd_cwnd, info.snd_mss), (2, 10, 1_460));
    server.on_window(6_000, secs(0.3));
    assert_eq!(drain(&mut server, 0.3).len(), 2);
}

#[test]
fn a_sender_obeys_the_window_that_segments_offer() {
    // RFC 9293 section 3.8.6; tcp_may_update_window: of an older acknowledgement none is taken, of the last
    // number a larger one.
    let mut server = receiver();
    let offers = |ack: u64, bytes: u64| {
        let mut segment = Segment { ack, ..data(1, 0, Ecn::NotEct) };
        segment.offer(bytes, 0);
        segment
    };
    assert!(hear(&mut server, offers(1, 3_000), 0.2).is_empty(), "no smaller one");
    server.write(200_000, secs(0.2));
    let first = drain(&mut server, 0.2).len() as u64;
    assert_eq!(first, 10, "the profile's own window is larger");
    assert_eq!(
        hear(&mut server, offers(10 * 1_460 + 1, 3_000), 0.3).len(),
        2,
        "3,000 B from there"
    );
    assert!(hear(&mut server, offers(1, 1 << 20), 0.3).is_empty(), "an older acknowledgement");
    assert_eq!(hear(&mut server, offers(10 * 1_460 + 1, 6_000), 0.3).len(), 2);
}

#[test]
fn every_segment_of_a_linux_host_offers_a_window() {
    let mut client = Endpoint::new(&profile("linux", &[]), HostClock::default());
    client.connect(secs(0.0));
    let syn = drain(&mut client, 0.0);
    // 64 KiB in whole segments (tcp_select_initial_window), not shifted.
    assert_eq!(syn[0].window(), Some(65_160));
    let mut server = receiver();
    let answer = hear(&mut server, data(1, 1_000, Ecn::NotEct), 0.2);
    assert!(answer.iter().all(|segment| segment.window().is_some_and(|bytes| bytes > 60_000)));
}

/// A server with DCTCP and ECN, of this profile and with these settings besides.
fn dctcp(name: &str, more: &[(&str, Raw)]) -> Endpoint {
    let mut settings = vec![
        ("congestion", Raw::Text("dctcp".into())),
        ("ecn", Raw::Bool(true)),
        ("timestamps", Raw::Bool(false)),
    ];
    settings.extend_from_slice(more);
    let mut server = Endpoint::new(&profile(name, &settings), HostClock::default());
    hear(&mut server, syn(&[Flags::ECE, Flags::CWR], Ecn::Ect0), 0.0);
    hear(&mut server, ack(1, &[]), 0.1);
    server
}

#[test]
fn a_dctcp_sender_counts_the_marks_of_an_acknowledgement_before_it_answers_them() {
    // tcp_ack: tcp_in_ack_event (dctcp_update_alpha) comes before tcp_fastretrans_alert (dctcp_ssthresh). The first
    // acknowledgement leaves alpha 960/1024, the twentieth, which ends the window and reports the only mark of
    // 19 segments, 960 - 60 + 64/19 = 903; then 39 - (39 x 903 >> 11) = 22 of 39 segments are left (960: 21).
    for name in ["linux", "linux-6.12", "plain"] {
        let mut server = dctcp(name, &[("initial_window", Raw::Number(20.0))]);
        server.write(200_000, secs(0.1));
        assert_eq!(drain(&mut server, 0.1).len(), 20);
        for segment in 1..20 {
            hear(&mut server, ack(1 + 1_460 * segment, &[]), 0.2);
        }
        assert_eq!(server.tcp_info().expect("of TCP").snd_cwnd, 39, "{name}");
        hear(&mut server, ack(1 + 1_460 * 20, &[Flags::ECE]), 0.2);
        assert_eq!(server.tcp_info().expect("of TCP").snd_ssthresh, 22, "{name}");
    }
}

#[test]
fn all_that_a_dctcp_host_sends_is_capable() {
    // tcp_ecn_send clears the field of bare acknowledgements only for controls that do not need ECN.
    for (name, bare) in [("linux", Ecn::Ect0), ("linux-6.12", Ecn::Ect0), ("plain", Ecn::NotEct)] {
        let mut server = dctcp(name, &[]);
        let acks = [0, 1].map(|i| hear(&mut server, data(1 + 1_460 * i, 1_460, Ecn::Ect0), 0.2));
        let sent: Vec<_> = acks.concat();
        assert!(!sent.is_empty() && sent.iter().all(|ack| ack.ecn == bare), "{name}: {sent:?}");
        server.write(1_000, secs(0.3));
        assert_eq!(drain(&mut server, 0.3)[0].ecn, Ecn::Ect0, "{name}");
    }
}

#[test]
fn a_dctcp_receiver_acknowledges_cwr_at_once() {
    // tcp_ecn_accept_cwr. Marks make no acknowledgement quick (tcp_data_ecn_check), for dctcp_ece_ack_update has
    // begun the echo before.
    // The window does not grow: sixteen quick ones in all.
    let fixed = [("scaling_ratio", Raw::Number(0.4)), ("autotuning", Raw::Bool(false))];
    let mut server = dctcp("linux", &fixed);
    let (mut at, mut next) = (0.2, 1);
    let mut full = |ecn: Ecn, cwr: bool| {
        at += 0.000_1;
        let mut segment = data(next, 1_460, ecn);
        segment.flags = if cwr { segment.flags.with(Flags::CWR) } else { segment.flags };
        next += 1_460;
        hear(&mut server, segment, at).len()
    };
    // Past the acknowledgements of the beginning: one of each two.
    (0..60).for_each(|_| _ = full(Ecn::Ect0, false));
    if full(Ecn::Ect0, false) == 0 {
        assert_eq!(full(Ecn::Ect0, false), 1);
    }
    assert_eq!(full(Ecn::Ect0, false), 0, "one waits");
    assert_eq!(full(Ecn::Ce, false), 2, "what waited, and this");
    assert_eq!(full(Ecn::Ce, false), 0, "no other is quick");
    assert_eq!(full(Ecn::Ce, false), 1);
    assert_eq!(full(Ecn::Ce, true), 1, "CWR");
    assert_eq!(full(Ecn::Ce, false), 0);
    assert_eq!(full(Ecn::Ect0, false), 2, "the change back");
    assert_eq!(full(Ecn::Ect0, true), 1, "CWR alone");
    assert_eq!(full(Ecn::Ect0, false), 0);
}

#[test]
fn a_third_block_gives_way_to_counters_that_have_grown() {
    // tcp_options_fit_accecn. Header of 40 B; a report of a duplicate, as of the last segment here, counts as a block.
    for (stamps, fields_and_blocks) in
        [(true, [(3, 1), (2, 2), (2, 2), (2, 2)]), (false, [(3, 1), (3, 2), (3, 3), (3, 3)])]
    {
        let settings = [
            ("ecn", Raw::Bool(true)),
            ("ecn_feedback", Raw::Text("accurate".into())),
            ("accecn_option", Raw::Bool(true)),
            ("timestamps", Raw::Bool(stamps)),
        ];
        let mut server = Endpoint::new(&profile("linux", &settings), HostClock::default());
        let stamped = if stamps { Flags::STAMPED } else { Flags::NONE };
        let mut first = syn(&ACE, Ecn::NotEct);
        first.flags = first.flags.with(stamped);
        hear(&mut server, first, 0.0);
        let mut third = ack(1, &[Flags::CWR, stamped]);
        third.report_bytes(AccEcn { ect1_first: false, fields: 3, counters: [1, 0, 1] });
        hear(&mut server, third, 0.1);
        let mut came = Vec::new();
        for (step, seq) in [1_001, 3_001, 5_001, 5_001].into_iter().enumerate() {
            let mut next = data(seq, 1_000, Ecn::Ect1);
            next.flags = next.flags.with(stamped);
            let at = 0.2 + 0.1 * step as f64;
            server.on_segment(&next, secs(at));
            // Linux holds later reports back for a while (SACK compression).
            server.on_timeout(secs(at + 0.01));
            let answer = drain(&mut server, at + 0.01)[0];
            let (option, blocks) = (answer.accecn(), answer.sack_numbers().count());
            let all_there = option.is_none_or(|option| {
                option.ect1_first && option.counters[..2] == [1_000 * step as u32 + 1_001, 0]
            });
            assert!(all_there, "{stamps} {step}: {option:?}");
            came.push((option.map_or(0, |option| option.fields), blocks));
        }
        assert_eq!(came, fields_and_blocks, "timestamps: {stamps}");
    }
}

#[test]
fn an_answer_from_time_wait_knows_of_no_marks() {
    // tcp_time_wait takes the socket's place in FIN_WAIT_2; a FIN that comes with the acknowledgement of ours is
    // answered by the socket. Two marks came before.
    for (at_once, flags) in [(false, Flags::ACK), (true, Flags::ACK.with(all(&ACE)))] {
        let mut server = opened("linux");
        for _ in 0..2 {
            hear(&mut server, Segment { ecn: Ecn::Ce, ..ack(1, &[Flags::AE, Flags::ECE]) }, 0.2);
        }
        server.close(secs(0.3));
        assert!(drain(&mut server, 0.3)[0].flags.has(Flags::FIN));
        if !at_once {
            hear(&mut server, ack(2, &[Flags::AE, Flags::ECE]), 0.4);
        }
        let fin = ack(2, &[Flags::AE, Flags::ECE, Flags::FIN]);
        assert_eq!(hear(&mut server, fin, 0.5)[0].flags, flags, "{at_once}");
        assert_eq!(hear(&mut server, fin, 0.6)[0].flags, Flags::ACK, "and again");
    }
}

#[test]
fn a_duplicate_that_comes_again_after_its_report_beside_an_option_stops_the_option() {
    // tcp_rcv_spurious_retrans: acknowledgements with the option are lost on the way.
    let mut server = opened("linux");
    let mut comes = |seq, at| {
        let answer = hear(&mut server, data(seq, 1_000, Ecn::Ect0), at)[0];
        (answer.sack_numbers().count(), answer.accecn().map_or(0, |option| option.fields))
    };
    let came = [(1, 0.2), (1, 0.3), (1, 0.4), (1_001, 0.5)].map(|(seq, at)| comes(seq, at));
    assert_eq!(came, [(0, 3), (1, 3), (1, 0), (0, 0)]);
}
