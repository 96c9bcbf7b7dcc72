//! What `tso_autosize` of profile `linux` sends at once.

use std::sync::Arc;

use aqmlab_tcp::{Endpoint, Flags, HostClock, Profile, Segment};
use packet::params::Raw;

use crate::lab::one_end::{ack, drain, drain_at, hear, request};
use crate::lab::{profile, secs};

const SEGMENT: u64 = 1_460;

fn bursts(settings: &[(&str, Raw)]) -> Arc<Profile> {
    let mut all = vec![
        ("congestion", Raw::Text("reno".into())),
        ("tso_autosize", Raw::Bool(true)),
        ("initial_window", Raw::Number(100.0)),
    ];
    all.extend(settings.iter().cloned());
    profile("linux", &all)
}

/// A server whose round trip is 10 ms; at 0.02 its program writes 1,000 segments.
fn writing(profile: &Arc<Profile>) -> (Endpoint, Vec<Segment>) {
    let mut server = Endpoint::new(profile, HostClock::default());
    let mut syn = Segment { flags: Flags::SYN, ..Segment::default() };
    syn.sack.push(0, 0);
    hear(&mut server, syn, 0.0);
    hear(&mut server, request(), 0.01);
    server.write(1_000 * SEGMENT, secs(0.02));
    let sent = drain(&mut server, 0.02);
    (server, sent)
}

/// At the ACK of the first `n` segments, at `ms` milliseconds: how many go.
fn at_ack(server: &mut Endpoint, n: u64, ms: f64) -> usize {
    hear(server, ack(1 + n * SEGMENT), ms * 1e-3).len()
}

#[test]
fn what_the_pace_makes_in_a_millisecond_ends_with_a_push() {
    // 2 x 100 x 1,460 B in 10 ms are 29.2 MB/s, 28,515 B in a 1,024th of a second: 19 segments. (The peer is
    // near: 65,215 B are halved 19 times.)
    let pushed = |settings: &[(&str, Raw)]| {
        let (_, sent) = writing(&bursts(settings));
        assert_eq!(sent.len(), 100);
        let numbers = sent.iter().enumerate().filter(|(_, segment)| segment.pushes());
        numbers.map(|(at, _)| at + 1).collect::<Vec<_>>()
    };
    assert_eq!(pushed(&[]), [19, 38, 57, 76, 95, 100]);
    assert_eq!(pushed(&[("gso_max_segs", Raw::Number(40.0))]), [19, 38, 57, 76, 95, 100]);
    let by = |n: f64| pushed(&[("gso_max_segs", Raw::Number(n))]);
    assert_eq!(by(16.0), [16, 32, 48, 64, 80, 96, 100]);
    assert_eq!(by(1.0), [0; 0]);
    // tcp_cwnd_test: half of the window at most.
    let (_, sent) = writing(&bursts(&[("initial_window", Raw::Number(30.0))]));
    let pushes: Vec<_> = (0..sent.len()).filter(|&at| sent[at].pushes()).collect();
    assert_eq!(pushes, [4, 9, 14, 19, 24, 29], "8,554 B are five segments");
    let (_, sent) = writing(&bursts(&[("initial_window", Raw::Number(3.0))]));
    assert!(sent.iter().all(|segment| !segment.pushes()), "half of three is one");
}

#[test]
fn room_for_few_waits_while_acknowledgements_come_fast() {
    // tcp_tso_should_defer. Each ACK of two segments lets four go in slow start.
    let (mut server, _) = writing(&bursts(&[]));
    assert_eq!(at_ack(&mut server, 2, 30.0), 4, "the last burst was 10 ms ago");
    for (n, ms) in [(4, 30.1), (6, 30.2), (8, 30.3), (10, 30.4), (12, 30.5)] {
        assert_eq!(at_ack(&mut server, n, ms), 0, "{n}");
    }
    // The window is 114 segments by then, and the smoothed round trip 10.21 ms: 31,826 B.
    assert_eq!(at_ack(&mut server, 14, 30.6), 21, "room for 24");
    assert_eq!(at_ack(&mut server, 16, 31.7), 7, "the last burst was more than 1 ms ago");
    assert_eq!(at_ack(&mut server, 18, 31.8), 0);
    // A window that waits for its own room was used: it goes on growing.
    assert_eq!(server.cwnd(), 118 * SEGMENT);
    // Without it, and with segments by ones, all goes at once.
    for off in [("tso_autosize", Raw::Bool(false)), ("gso_max_segs", Raw::Number(1.0))] {
        let (mut server, _) = writing(&bursts(&[off]));
        for (n, ms) in [(2, 30.0), (4, 30.1), (6, 30.2)] {
            assert_eq!(at_ack(&mut server, n, ms), 4);
        }
    }
}

#[test]
fn nothing_waits_for_an_acknowledgement_that_is_far() {
    // What was sent at once is acknowledged a round trip later. Where an old segment is still out, the
    // acknowledgement of that one is awaited: 23 go at once, and room for one waits.
    for (acked, sent) in [(60, 120), (58, 5 * 23)] {
        let (mut server, _) = writing(&bursts(&[("initial_window", Raw::Number(60.0))]));
        assert_eq!(at_ack(&mut server, acked, 30.0), sent);
    }
}

#[test]
fn lost_segments_go_again_as_they_went() {
    // A window of 100 goes in bursts of 19; 1 to 7 and 30 are lost, and paced repeats go in runs of what
    // went down as one: seven, then one.
    let settings = [("pacing", Raw::Bool(true)), ("comp_sack_nr", Raw::Number(0.0))];
    let (mut server, mut sent) = writing(&bursts(&settings));
    while let Some(due) = server.next_timeout().map(|timer| timer.at).filter(|at| *at < secs(0.03))
    {
        server.on_timeout(due);
        sent.extend(drain_at(&mut server, due));
    }
    assert_eq!(sent.len(), 100);
    let mut said = ack(1);
    let offset = |number: u64| ((number - 1) * SEGMENT) as u32;
    said.sack.push(offset(8), offset(30));
    said.sack.push(offset(31), offset(100));
    let numbers = |sent: &[Segment]| -> Vec<u64> {
        sent.iter().map(|segment| (segment.seq - 1) / SEGMENT + 1).collect()
    };
    let first = hear(&mut server, said, 0.03);
    assert_eq!(numbers(&first), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(first.iter().filter(|s| s.pushes()).count(), 1);
    let due = server.next_timeout().expect("the pace").at;
    server.on_timeout(due);
    assert!(due > secs(0.03));
    assert_eq!(numbers(&drain_at(&mut server, due)), [30]);
}
