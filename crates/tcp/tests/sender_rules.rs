//! Rules that need no second endpoint: pauses, and what Nagle's rule lets go.

mod pieces;

use crate::lab::one_end::{
    ack, burst, drain, hear, report, request, sacking, said, serving, ten_out_of,
};
use crate::lab::{S, Sent, World, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Segment, State};
use packet::Instant;
use packet::params::Raw;

#[test]
fn a_bsd_server_restarts_if_it_thinks_for_a_timeout() {
    let bsd = profile("freebsd-2.2.8", &[]);
    // RTO 3 ticks, counted from the request: 0.43, 0.93 and 1.43 are past at 1.44, not at 1.43
    // itself (the tick comes after). A request at 0.43 comes before the tick of that instant.
    for asked_at in [0.15, 0.43] {
        for (at, segments) in [(0.5, 2), (1.43, 2), (1.44, 1), (50.0, 1)] {
            assert_eq!(burst(&mut serving(&bsd, asked_at), at), segments, "{asked_at}, {at}");
        }
    }
}

#[test]
fn a_plain_sender_restarts_after_more_than_a_timeout_without_sending() {
    for (idle_restart, at, segments) in
        [(true, 1.25, 4), (true, 1.251, 3), (false, 9.0, 4), (true, 0.4, 4)]
    {
        let settings = [("idle_restart", Raw::Bool(idle_restart))];
        let mut server = serving(&profile("plain", &settings), 0.15);
        // One segment at 0.25 (RTO 1 s), acknowledged: the window is four.
        server.write(1_460, secs(0.25));
        assert_eq!(drain(&mut server, 0.25).len(), 1);
        hear(&mut server, ack(1_461), 0.35);
        assert_eq!(server.cwnd(), 5_840);
        assert_eq!(burst(&mut server, at), segments, "{idle_restart} at {at}");
    }
}

#[test]
fn an_owed_acknowledgement_takes_nagled_data_along() {
    let mut server = serving(&profile("freebsd-2.2.8", &[]), 0.15);
    server.write(100, secs(0.2));
    assert_eq!(drain(&mut server, 0.2).len(), 1, "nothing is outstanding");
    server.write(50, secs(0.21));
    assert_eq!(drain(&mut server, 0.21), [], "100 B are");
    // A repeated request is answered at once, and the answer is built by the same routine.
    let answer = hear(&mut server, request(), 0.22);
    assert_eq!(answer.len(), 1);
    assert_eq!((answer[0].seq, answer[0].len, answer[0].ack), (101, 50, 301));
}

#[test]
fn a_write_of_208_bytes_goes_to_one_buffer() {
    // `sosend` of FreeBSD: MINCLSIZE; less goes to small buffers of 100 B, each a call of its own.
    for (bytes, first) in [(207, 100), (208, 208)] {
        let split = [("small_write_split", Raw::Bool(true))];
        let mut server = serving(&profile("freebsd-2.2.8", &split), 0.15);
        server.write(bytes, secs(0.2));
        assert_eq!(server.poll_send(secs(0.2)).map(|segment| segment.len), Some(first));
    }
}

#[test]
fn plain_does_not_nagle() {
    let mut server = serving(&profile("plain", &[]), 0.15);
    for n in 0..3u64 {
        server.write(50, secs(0.2));
        let sent = drain(&mut server, 0.2);
        assert_eq!((sent.len(), sent[0].seq, sent[0].len), (1, 1 + 50 * n, 50));
    }
}

#[test]
fn who_listens_answers_a_syn_and_resets_what_acknowledges() {
    // RFC 9293 section 3.10.7.2: <SEQ=SEG.ACK><CTL=RST>.
    let plain = profile("plain", &[]);
    for flags in [Flags::NONE, Flags::ACK, Flags::FIN, Flags::SYN.with(Flags::ACK)] {
        let mut server = Endpoint::new(&plain, HostClock::default());
        let answer = hear(&mut server, Segment { flags, ack: 7, ..Segment::default() }, 0.05);
        let resets: Vec<_> = answer.iter().map(|s| (s.resets(), s.seq, s.flags)).collect();
        let expected = [(true, 7, Flags::NONE)];
        assert_eq!(resets, if flags.has(Flags::ACK) { &expected[..] } else { &[] }, "{flags:?}");
        assert_eq!(server.state(), State::Listen, "{flags:?}");
    }
}

#[test]
fn what_came_out_of_order_is_reported_if_both_can() {
    for (mine, theirs) in [(true, true), (true, false), (false, true)] {
        let server = profile("plain", &[("sack", Raw::Bool(mine))]);
        let mut server = Endpoint::new(&server, HostClock::default());
        let mut syn = Segment { flags: Flags::SYN, ..Segment::default() };
        if theirs {
            syn.sack.push(0, 0);
        }
        hear(&mut server, syn, 0.05);
        hear(&mut server, request(), 0.15);
        let answer = hear(&mut server, Segment { seq: 1_001, ..request() }, 0.16);
        let reported = answer[0].sack.as_slice();
        assert_eq!(reported, if mine && theirs { &[(700, 1_000)][..] } else { &[] });
    }
}

#[test]
fn calls_without_cause_are_harmless() {
    for name in ["freebsd-2.2.8", "plain"] {
        let profile = profile(name, &[]);
        let mut fresh = Endpoint::new(&profile, HostClock::default());
        fresh.on_timeout(secs(1.0));
        assert_eq!((drain(&mut fresh, 1.0), fresh.next_timeout()), (vec![], None));
        let mut half_open = Endpoint::new(&profile, HostClock::default());
        hear(&mut half_open, Segment { flags: Flags::SYN, ..Segment::default() }, 0.05);
        hear(&mut half_open, ack(5_000), 0.06);
        assert_eq!(half_open.state(), State::SynReceived, "an ACK of what was never sent");
        let mut server = serving(&profile, 0.15);
        let due = server.next_timeout().expect("a delayed ACK");
        assert_eq!(due.order, 1);
        server.on_timeout(Instant::from_nanos(due.at.nanos() - 1));
        assert_eq!(drain(&mut server, 0.15), []);
        assert_eq!(server.next_timeout(), Some(due));
        // An ACK of what was never sent is answered (RFC 9293 section 3.10.7.4; dropafterack of 4.4BSD), and a
        // close in one breath with the write.
        let answer = hear(&mut server, ack(5_000), 0.16);
        assert_eq!((answer.len(), answer[0].ack, answer[0].len), (1, 301, 0));
        server.write(10, secs(0.17));
        server.close(secs(0.17));
        let sent = drain(&mut server, 0.17);
        let fins: Vec<_> = sent.iter().map(|s| s.flags.has(Flags::FIN)).collect();
        let expected = if name == "plain" { vec![true] } else { vec![false, true] };
        assert_eq!(fins, expected, "{name}");
    }
}

#[test]
fn onlookers_can_see_what_was_sent_before() {
    let mut server = serving(&profile("plain", &[]), 0.15);
    server.write(4_380, secs(0.2));
    let first = drain(&mut server, 0.2);
    assert_eq!(first.len(), 3);
    assert!(first.iter().all(|s| !s.flags.has(Flags::RETRANSMISSION)));
    assert_eq!((server.snd_una(), server.snd_max()), (1, 4_381));
    hear(&mut server, ack(1_461), 0.3);
    let due = server.next_timeout().unwrap().at;
    server.on_timeout(due);
    let again = server.poll_send(due).expect("the first unacknowledged segment");
    assert_eq!((again.seq, again.flags.has(Flags::RETRANSMISSION)), (1_461, true));
    assert_eq!((server.snd_una(), server.snd_max()), (1_461, 4_381), "it does not fall back");
}

#[test]
fn a_linux_sender_halves_its_window_for_each_timeout_of_a_pause() {
    // RFC 2861 in Linux's tcp_cwnd_restart. Ten segments acknowledged one by one leave cwnd 20; the
    // timeout is 0.3 s (srtt 0.1 s and Linux's least margin of 0.2 s).
    for (idle_restart, pause, segments) in
        [(true, 0.3, 20), (true, 0.301, 10), (true, 9.0, 10), (false, 9.0, 20)]
    {
        let settings =
            [("idle_restart", Raw::Bool(idle_restart)), ("timestamps", Raw::Bool(false))];
        let mut server = sacking(&profile("linux", &settings));
        server.write(14_600, secs(0.2));
        assert_eq!(drain(&mut server, 0.2).len(), 10);
        for n in 1..=10 {
            hear(&mut server, ack(1 + 1_460 * n), 0.3);
        }
        assert_eq!(server.cwnd(), 29_200);
        server.write(100_000, secs(0.2 + pause));
        let sent = drain(&mut server, 0.2 + pause).len();
        assert_eq!(sent, segments, "{idle_restart} after {pause} s");
    }
}

#[test]
fn a_probe_that_repairs_a_loss_is_answered_like_one() {
    // RFC 8985 section 7.4.2: of five segments the last is lost and sent again as a probe; the
    // program writes on before the probe is acknowledged. The ACK beyond the probe halves the
    // window; a duplicate report says that nothing was lost.
    for lost in [true, false] {
        let settings = [("timestamps", Raw::Bool(false))];
        let mut server = sacking(&profile("linux", &settings));
        server.write(7_300, secs(0.2));
        assert_eq!(drain(&mut server, 0.2).len(), 5);
        hear(&mut server, ack(5_841), 0.3);
        let due = server.next_timeout().expect("a probe").at;
        // One segment is out: 2 round trips and 0.2 s, but not after the timeout of 0.3 s.
        assert_eq!(due, secs(0.6));
        server.on_timeout(due);
        let probe = drain(&mut server, 0.6);
        assert_eq!((probe.len(), probe[0].seq, server.counters().timeouts), (1, 5_841, 0));
        let cwnd = server.cwnd();
        server.write(1_460, secs(0.65));
        assert_eq!(drain(&mut server, 0.65).len(), 1);
        if !lost {
            let mut twice = ack(7_301);
            twice.report_duplicate(5_841, 7_301);
            hear(&mut server, twice, 0.7);
        }
        hear(&mut server, ack(8_761), 0.75);
        assert_eq!(server.cwnd() < cwnd, lost, "{} after {cwnd}", server.cwnd());
        assert_eq!(server.ssthresh() == u64::MAX, !lost);
    }
}

#[test]
fn who_has_nothing_to_send_says_so_beforehand() {
    // Each cause by itself: a SYN that is due, a write, the rest of a burst.
    let plain = profile("plain", &[]);
    let mut client = Endpoint::new(&plain, HostClock::default());
    assert!(!client.may_send());
    client.connect(secs(0.0));
    assert!(client.may_send(), "a SYN");
    drain(&mut client, 0.0);
    assert!(!client.may_send());
    let mut server = serving(&plain, 0.15);
    assert!(!server.may_send(), "its acknowledgement waits");
    server.write(4_380, secs(0.2));
    assert!(server.may_send(), "a write");
    assert!(server.poll_send(secs(0.2)).is_some());
    assert!(server.may_send(), "the rest of it");
    assert_eq!(drain(&mut server, 0.2).len(), 2);
    assert!(!server.may_send());
}

#[test]
fn who_stops_writing_has_written_what_was_sent() {
    let mut server = serving(&profile("plain", &[]), 0.15);
    assert_eq!(burst(&mut server, 0.2), 3);
    assert_eq!(server.stop_writing(secs(0.21)), 4_380);
    server.close(secs(0.22));
    let fin = drain(&mut server, 0.22);
    assert_eq!((fin.len(), fin[0].seq, fin[0].len), (1, 4_381, 0));
    assert!(fin[0].flags.has(Flags::FIN));
    let mut silent = serving(&profile("plain", &[]), 0.15);
    assert_eq!(silent.stop_writing(secs(0.2)), 0);
}

#[test]
fn both_close_at_once_and_both_wait() {
    // RFC 9293 section 3.6, case 3, and figure 13: FIN-WAIT-1, CLOSING, TIME-WAIT.
    for name in ["plain", "freebsd-2.2.8", "linux"] {
        let mut server = serving(&profile(name, &[]), 0.15);
        server.close(secs(0.2));
        let fin = drain(&mut server, 0.2);
        assert!(fin.len() == 1 && fin[0].flags.has(Flags::FIN), "{name}");
        assert_eq!(server.state(), State::FinWait1, "{name}");
        let theirs = Segment { flags: Flags::FIN.with(Flags::ACK), ..ack(1) };
        let answer = hear(&mut server, theirs, 0.21);
        assert_eq!((answer.len(), answer[0].ack), (1, 302), "{name}");
        assert_eq!(server.state(), State::Closing, "{name}: its own FIN is not acknowledged");
        hear(&mut server, Segment { seq: 302, ..ack(2) }, 0.3);
        assert_eq!(server.state(), State::TimeWait, "{name}");
    }
}

#[test]
fn acknowledgements_that_never_wait_answer_every_segment() {
    // With a time to wait, one segment's bytes are waited for: a short one does not fill them.
    for (delayed_ack, answers) in [("0 s", 1), ("200 ms", 0)] {
        let settings =
            [("delayed_ack", Raw::Text(delayed_ack.into())), ("ack_every", Raw::Number(1.0))];
        let mut server = Endpoint::new(&profile("freebsd-2.2.8", &settings), HostClock::default());
        hear(&mut server, Segment { flags: Flags::SYN, ..Segment::default() }, 0.05);
        let answered = hear(&mut server, request(), 0.15);
        assert_eq!(answered.len(), answers, "{delayed_ack}");
        let full = Segment { seq: 301, len: 1_460, ..request() };
        assert_eq!(hear(&mut server, full, 0.16).len(), 1, "{delayed_ack}");
    }
}
