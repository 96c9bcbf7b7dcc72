//! What a pause does to the window of a Linux sender (RFC 2861).

use crate::lab::one_end::{ack, drain, hear, sacking};
use crate::lab::{profile, secs};
use packet::params::Raw;

#[test]
fn a_window_that_decays_is_halved_once_for_each_timeout_down_to_the_first() {
    // RFC 2861: from 16 segments; the timeout is 0.3 s, and a pause of exactly three is not over.
    let settings = [
        ("initial_window", Raw::Number(2.0)),
        ("congestion", Raw::Text("reno".into())),
        ("timestamps", Raw::Bool(false)),
    ];
    for (pause, segments) in [(0.31, 8), (0.9, 4), (0.95, 2), (40.0, 2)] {
        let mut server = sacking(&profile("linux", &settings));
        let (mut at, mut una) = (0.2, 1);
        for flight in [2, 4, 8] {
            server.write(flight * 1_460, secs(at));
            assert_eq!(drain(&mut server, at).len() as u64, flight);
            at += 0.1;
            for _ in 0..flight {
                una += 1_460;
                hear(&mut server, ack(una), at);
            }
        }
        assert_eq!((server.cwnd(), server.acked(), server.outstanding()), (16 * 1_460, una - 1, 0));
        let sent = at - 0.1;
        server.write(100_000, secs(sent + pause));
        let flight = drain(&mut server, sent + pause).len();
        assert_eq!(
            (flight, server.outstanding()),
            (segments, segments as u64 * 1_460),
            "{pause} s"
        );
    }
}

#[test]
fn the_threshold_remembers_three_quarters_of_a_window_that_decays() {
    let settings = [
        ("initial_window", Raw::Number(16.0)),
        ("initial_ssthresh", Raw::Number(2_920.0)),
        ("timestamps", Raw::Bool(false)),
    ];
    let mut server = sacking(&profile("linux", &settings));
    server.write(1_460, secs(0.2));
    drain(&mut server, 0.2);
    hear(&mut server, ack(1_461), 0.3);
    assert_eq!(server.ssthresh(), 2_920);
    server.write(1_460, secs(0.6));
    drain(&mut server, 0.6);
    assert_eq!(server.ssthresh(), 12 * 1_460);
}

#[test]
fn to_fetch_an_endpoint_is_possible_at_any_time() {
    // A hundred and twenty segments: the numbers have gone round the ring of sixteen records.
    let mut server = sacking(&profile("linux", &[("timestamps", Raw::Bool(false))]));
    let mut una = 1;
    for round in 0..40 {
        let at = 0.2 + 0.1 * f64::from(round);
        server.write(3 * 1_460, secs(at));
        assert_eq!(drain(&mut server, at).len(), 3);
        server.fetch(round % 2 == 0);
        server.fetch_more();
        una += 3 * 1_460;
        hear(&mut server, ack(una), at + 0.09);
        server.fetch_more();
    }
    assert_eq!(server.acked(), 40 * 3 * 1_460);
}
