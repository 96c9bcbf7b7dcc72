//! When a timeout is questioned, and what is put back if it was spurious: RFC 5682 (F-RTO), RFC 4015,
//! and the check of FreeBSD 4.x.

use crate::lab::one_end::{ack, burst, drain, hear, report, sacking};
use crate::lab::{profile, secs};
use aqmlab_tcp::{Endpoint, Segment};
use packet::Instant;
use packet::params::Raw;

const SEGMENT: u64 = 1_460;

/// A server with F-RTO whose window is four segments.
fn questioning(settings: &[(&str, Raw)]) -> Endpoint {
    let mut all = vec![
        ("f_rto", Raw::Bool(true)),
        ("limited_transmit", Raw::Bool(false)),
        ("initial_window", Raw::Number(4.0)),
    ];
    all.extend_from_slice(settings);
    sacking(&profile("plain", &all))
}

/// Lets the retransmission timer expire; when, and what goes out.
fn time_out(server: &mut Endpoint) -> (f64, Vec<Segment>) {
    let due = server.next_timeout().expect("a timeout").at;
    server.on_timeout(due);
    let at = due.since(Instant::ZERO).secs_f64();
    (at, drain(server, at))
}

/// After a timeout: whether the acknowledgement of one segment more lets new data go, which is the
/// question, or the next segment again.
fn is_questioned(server: &mut Endpoint) -> bool {
    let (first, new) = (server.snd_una(), server.snd_max());
    let (at, again) = time_out(server);
    assert_eq!((again.len(), again[0].seq), (1, first));
    let next = hear(server, ack(first + SEGMENT), at + 0.1)[0].seq;
    assert!([first + SEGMENT, new].contains(&next), "{next}");
    next == new
}

#[test]
fn a_timeout_is_questioned_once_the_one_before_is_repaired() {
    // RFC 5682 section 2.1, step 1: if all that was out then is acknowledged, and not before.
    for (acked, questioned) in [(2, false), (4, true)] {
        let mut server = questioning(&[("sack", Raw::Bool(false))]);
        assert_eq!(burst(&mut server, 0.2), 4);
        let (at, _) = time_out(&mut server);
        hear(&mut server, ack(1 + acked * SEGMENT), at + 0.1);
        assert_eq!(is_questioned(&mut server), questioned, "{acked}");
    }
}

#[test]
fn with_sack_no_timeout_is_questioned_while_a_loss_is_repaired() {
    // RFC 5682 section 3.1, step 1; without SACK a fast recovery is no hindrance (section 2.1).
    for sack in [true, false] {
        for repaired in [true, false] {
            let mut server = questioning(&[("sack", Raw::Bool(sack))]);
            assert_eq!(burst(&mut server, 0.2), 4);
            for to in 2..=4 {
                hear(&mut server, if sack { report(1, to) } else { ack(1) }, 0.3);
            }
            assert_eq!(server.counters().fast_retransmits, 1);
            if repaired {
                hear(&mut server, ack(1 + 4 * SEGMENT), 0.4);
            }
            assert_eq!(is_questioned(&mut server), repaired || !sack, "{sack} {repaired}");
        }
    }
}

#[test]
fn known_reports_decide_nothing_however_they_come() {
    // RFC 5682 section 3.1, step 3: of eight segments the fourth and the sixth are reported before the
    // timeout, and after it in three parts.
    let mut server = questioning(&[("initial_window", Raw::Number(8.0))]);
    assert_eq!(burst(&mut server, 0.2), 8);
    hear(&mut server, report(3, 4), 0.3);
    hear(&mut server, report(5, 6), 0.3);
    assert!(is_questioned(&mut server));
    let at = server.next_timeout().expect("a timeout").at.since(Instant::ZERO).secs_f64() - 0.5;
    for (from, to) in [(2_920, 3_000), (2_920, 4_380), (5_840, 7_300)] {
        let mut known = ack(1 + SEGMENT);
        known.sack.push(from, to);
        assert_eq!(hear(&mut server, known, at), []);
    }
    assert_eq!(server.counters().fast_retransmits, 0);
}

#[test]
fn after_a_spurious_timeout_the_threshold_is_at_least_what_was_out() {
    // RFC 4015 step 1 (pipe_prev): four segments were out, the threshold was three.
    let three = Raw::Number(3.0 * SEGMENT as f64);
    let mut server = questioning(&[("sack", Raw::Bool(false)), ("initial_ssthresh", three)]);
    assert_eq!(burst(&mut server, 0.2), 4);
    let (at, _) = time_out(&mut server);
    hear(&mut server, ack(1 + SEGMENT), at + 0.1);
    hear(&mut server, ack(1 + 2 * SEGMENT), at + 0.1);
    assert_eq!((server.counters().spurious_timeouts, server.ssthresh()), (1, 4 * SEGMENT));
}

/// A FreeBSD 4.5 server with this threshold after so many timeouts, and when the last one was. Of its
/// first segment it has measured a round trip of 0.1 s.
fn bsd_timed_out(ssthresh: u64, timeouts: u32) -> (Endpoint, f64) {
    let settings = [
        ("timestamps", Raw::Bool(false)),
        ("initial_window", Raw::Number(4.0)),
        ("initial_ssthresh", Raw::Number(ssthresh as f64)),
    ];
    let mut server = sacking(&profile("freebsd-4.5", &settings));
    server.write(SEGMENT, secs(0.2));
    drain(&mut server, 0.2);
    hear(&mut server, ack(1 + SEGMENT), 0.3);
    server.write(20_000, secs(0.3));
    drain(&mut server, 0.3);
    let mut at = 0.0;
    (0..timeouts).for_each(|_| at = time_out(&mut server).0);
    (server, at)
}

#[test]
fn bsd_forgives_a_first_timeout_that_is_acknowledged_within_half_a_round_trip() {
    // `tcp_timer_rexmt` and `tcp_input`: t_badrxtwin, here 50 ms, is not reached. A duplicate
    // acknowledges nothing.
    for (timeouts, after, acked, forgiven) in [
        (1, 0.01, 1, true),
        (1, 0.05 - 0.001, 1, true),
        (1, 0.05, 1, false),
        (1, 0.01, 0, false),
        (2, 0.01, 1, false),
    ] {
        let (mut server, at) = bsd_timed_out(1 << 20, timeouts);
        hear(&mut server, ack(1 + (1 + acked) * SEGMENT), at + after);
        let counted = server.counters().spurious_timeouts;
        assert_eq!(counted, u32::from(forgiven), "{timeouts} {after} {acked}");
    }
}

#[test]
fn bsd_puts_back_the_very_threshold_that_was() {
    // `snd_ssthresh_prev`, whatever was out.
    let (mut server, at) = bsd_timed_out(2 * SEGMENT, 1);
    assert!(server.outstanding() > 2 * SEGMENT);
    hear(&mut server, ack(1 + 2 * SEGMENT), at + 0.01);
    assert_eq!((server.counters().spurious_timeouts, server.ssthresh()), (1, 2 * SEGMENT));
}

#[test]
fn two_new_segments_go_out_whatever_the_control() {
    // RFC 5682 section 2.1, step 2b: the window is opened for these and not grown besides.
    for control in ["rfc5681", "reno", "cubic", "rfc9438"] {
        let control = Raw::Text(control.into());
        let mut server =
            questioning(&[("sack", Raw::Bool(false)), ("congestion", control.clone())]);
        assert_eq!(burst(&mut server, 0.2), 4);
        let (at, _) = time_out(&mut server);
        let new = hear(&mut server, ack(1 + SEGMENT), at + 0.1);
        assert_eq!((new.len(), server.cwnd()), (2, 5 * SEGMENT), "{control:?}");
    }
}
