//! Rules that need no second endpoint: pauses, and what Nagle's rule lets go.

use std::sync::Arc;

use crate::lab::{ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Profile, Segment, State};
use packet::Instant;
use packet::params::Raw;

fn drain(end: &mut Endpoint, at: f64) -> Vec<Segment> {
    std::iter::from_fn(|| end.poll_send(secs(at))).collect()
}

fn hear(end: &mut Endpoint, segment: Segment, at: f64) -> Vec<Segment> {
    end.on_segment(&segment, secs(at));
    drain(end, at)
}

/// A server that got the SYN at 0.05 and the handshake's ACK with a request of 300 B at `at`.
fn asked(profile: &Arc<Profile>, at: f64) -> Endpoint {
    let clock = HostClock { slow: ms(430), fast: ms(170) };
    let mut server = Endpoint::new(profile, clock);
    hear(&mut server, Segment { flags: Flags::SYN, ..Segment::default() }, 0.05);
    hear(&mut server, request(), at);
    server
}

fn request() -> Segment {
    Segment { seq: 1, ack: 1, len: 300, flags: Flags::ACK, ..Segment::default() }
}

fn ack(ack: u64) -> Segment {
    Segment { seq: 301, ack, flags: Flags::ACK, ..Segment::default() }
}

/// Data segments that a write of 20,000 B at `at` lets go.
fn burst(server: &mut Endpoint, at: f64) -> usize {
    server.write(20_000, secs(at));
    drain(server, at).iter().filter(|s| s.len > 0).count()
}

#[test]
fn a_bsd_server_restarts_if_it_thinks_for_a_timeout() {
    let bsd = profile("freebsd-2.2.8", &[]);
    // RTO 3 ticks, counted from the request: 0.43, 0.93 and 1.43 are past at 1.44, not at 1.43
    // itself (the tick comes after). A request at 0.43 comes before the tick of that instant.
    for asked_at in [0.15, 0.43] {
        for (at, segments) in [(0.5, 2), (1.43, 2), (1.44, 1), (50.0, 1)] {
            assert_eq!(burst(&mut asked(&bsd, asked_at), at), segments, "{asked_at}, {at}");
        }
    }
}

#[test]
fn a_plain_sender_restarts_after_more_than_a_timeout_without_sending() {
    for (idle_restart, at, segments) in
        [(true, 1.25, 4), (true, 1.251, 3), (false, 9.0, 4), (true, 0.4, 4)]
    {
        let settings = [("idle_restart", Raw::Bool(idle_restart))];
        let mut server = asked(&profile("plain", &settings), 0.15);
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
    let mut server = asked(&profile("freebsd-2.2.8", &[]), 0.15);
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
fn plain_does_not_nagle() {
    let mut server = asked(&profile("plain", &[]), 0.15);
    for n in 0..3u64 {
        server.write(50, secs(0.2));
        let sent = drain(&mut server, 0.2);
        assert_eq!((sent.len(), sent[0].seq, sent[0].len), (1, 1 + 50 * n, 50));
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
        let mut server = asked(&profile, 0.15);
        let due = server.next_timeout().expect("a delayed ACK");
        assert_eq!(due.order, 1);
        server.on_timeout(Instant::from_nanos(due.at.nanos() - 1));
        assert_eq!(drain(&mut server, 0.15), []);
        assert_eq!(server.next_timeout(), Some(due));
        // An ACK of what was never sent, and a close in one breath with the write.
        assert_eq!(hear(&mut server, ack(5_000), 0.16), []);
        server.write(10, secs(0.17));
        server.close(secs(0.17));
        let sent = drain(&mut server, 0.17);
        let fins: Vec<_> = sent.iter().map(|s| s.flags.has(Flags::FIN)).collect();
        let expected = if name == "plain" { vec![true] } else { vec![false, true] };
        assert_eq!(fins, expected, "{name}");
    }
}

#[test]
fn onlookers_can_tell_what_was_sent_before() {
    let mut server = asked(&profile("plain", &[]), 0.15);
    server.write(4_380, secs(0.2));
    let first = drain(&mut server, 0.2);
    assert_eq!(first.len(), 3);
    assert!(first.iter().all(|s| !s.flags.has(Flags::AGAIN)));
    assert_eq!((server.snd_una(), server.snd_max()), (1, 4_381));
    hear(&mut server, ack(1_461), 0.3);
    let due = server.next_timeout().unwrap().at;
    server.on_timeout(due);
    let again = server.poll_send(due).expect("the first unacknowledged segment");
    assert_eq!((again.seq, again.flags.has(Flags::AGAIN)), (1_461, true));
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

/// A Linux server whose peer understands selective acknowledgements: its round trip is 0.1 s.
fn sacking(profile: &Arc<Profile>) -> Endpoint {
    let mut server = Endpoint::new(profile, HostClock::default());
    let mut syn = Segment { flags: Flags::SYN, ..Segment::default() };
    syn.sack.push(0, 0);
    hear(&mut server, syn, 0.05);
    hear(&mut server, request(), 0.15);
    server
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
