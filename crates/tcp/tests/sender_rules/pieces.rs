//! Which segments a write becomes, and what a pause leaves.

use super::*;

#[test]
fn without_limited_transmit_a_report_lets_nothing_beyond_the_window() {
    // RFC 3042: a segment for each of the first two duplicates, beyond the window of ten.
    for (limited, more) in [(true, 1), (false, 0)] {
        let settings = [("limited_transmit", Raw::Bool(limited)), ("timestamps", Raw::Bool(false))];
        let mut server = sacking(&profile("linux", &settings));
        server.write(100_000, secs(0.2));
        assert_eq!(drain(&mut server, 0.2).len(), 10);
        assert_eq!(hear(&mut server, report(1, 2), 0.3).len(), more, "{limited}");
        assert_eq!(hear(&mut server, report(1, 3), 0.301).len(), more, "{limited}");
    }
    // Within the window new data goes out whatever is reported, up to its last byte.
    let settings = [("limited_transmit", Raw::Bool(false)), ("timestamps", Raw::Bool(false))];
    let mut server = sacking(&profile("linux", &settings));
    server.write(4 * 1_460, secs(0.2));
    assert_eq!(drain(&mut server, 0.2).len(), 4);
    assert_eq!(hear(&mut server, report(1, 2), 0.3), []);
    server.write(20 * 1_460, secs(0.3));
    assert_eq!(drain(&mut server, 0.3).len(), 6);
}

#[test]
fn without_limited_transmit_the_last_segment_takes_its_fin_along() {
    let settings = [("limited_transmit", Raw::Bool(false)), ("timestamps", Raw::Bool(false))];
    let mut server = sacking(&profile("linux", &settings));
    server.write(14_600, secs(0.2));
    server.close(secs(0.2));
    let sent = drain(&mut server, 0.2);
    assert_eq!((sent.len(), sent[9].flags.has(Flags::FIN)), (10, true), "the window is full");
}

#[test]
fn a_bsd_sender_with_sack_fills_the_holes_before_it_sends_on() {
    // RFC 6675: of eleven segments (the handshake's ACK opens the window by one) the first and the
    // sixth are lost; cwnd falls to five.
    let settings = [
        ("recovery", Raw::Text("sack".into())),
        ("initial_window", Raw::Number(10.0)),
        ("timestamps", Raw::Bool(false)),
    ];
    let mut server = sacking(&profile("freebsd-4.5", &settings));
    server.write(40_000, secs(0.2));
    assert_eq!(drain(&mut server, 0.2).len(), 11);
    let mut told = report(6, 11);
    told.sack.push(1_460, 5 * 1_460);
    let again = hear(&mut server, told, 0.3);
    assert_eq!((again.len(), again[0].seq), (1, 1));
    let hole = 1 + 5 * 1_460;
    let mut partial = ack(hole);
    partial.sack.push(1_460, 6 * 1_460);
    assert_eq!(hear(&mut server, partial, 0.4)[0].seq, hole);
}

#[test]
fn without_sack_a_duplicate_after_a_timeout_shows_that_it_was_needed() {
    // RFC 5682 section 2.1, step 2a: then the next acknowledgement lets the rest go again, where it
    // would else let new data go.
    let settings = [("sack", Raw::Bool(false)), ("f_rto", Raw::Bool(true))];
    for (duplicate, next) in [(false, 4_381), (true, 1_461)] {
        let mut server = serving(&profile("plain", &settings), 0.15);
        assert_eq!(burst(&mut server, 0.2), 3);
        let due = server.next_timeout().expect("a timeout").at;
        server.on_timeout(due);
        let at = due.since(Instant::ZERO).secs_f64();
        assert_eq!(drain(&mut server, at).iter().map(|s| s.seq).collect::<Vec<_>>(), [1]);
        if duplicate {
            assert_eq!(hear(&mut server, ack(1), at + 0.01), []);
        }
        let sent = hear(&mut server, ack(1_461), at + 0.1);
        assert_eq!(sent[0].seq, next);
    }
}

#[test]
fn a_fin_is_no_payload() {
    let mut server = serving(&profile("plain", &[]), 0.15);
    server.write(1_000, secs(0.2));
    server.close(secs(0.2));
    drain(&mut server, 0.2);
    assert_eq!((server.acked(), server.outstanding()), (0, 1_001));
    hear(&mut server, ack(1_001), 0.3);
    assert_eq!((server.acked(), server.outstanding()), (1_000, 1));
    hear(&mut server, ack(1_002), 0.31);
    assert_eq!((server.acked(), server.outstanding()), (1_000, 0));
}

#[test]
fn every_write_goes_to_tcp_in_pieces_however_much_went_before() {
    // `sosend` hands over 2,048 B at a time. Nothing is out, so the first call sends all it has, 1,460 and
    // 588 B; Nagle's rule keeps what later calls find. A write without end is no different.
    let settings = [("write_chunk", Raw::Number(2_048.0)), ("window_bytes", Raw::Number(2_920.0))];
    let bsd = profile("freebsd-2.2.8", &settings);
    for bytes in [4_000, u64::MAX] {
        let mut server = serving(&bsd, 0.15);
        for (at, done) in [(0.2, 1_460), (0.3, 2_920), (0.4, 4_380)] {
            server.write(1_460, secs(at));
            assert_eq!(drain(&mut server, at).len(), 1);
            hear(&mut server, ack(1 + done), at + 0.05);
        }
        server.write(bytes, secs(0.5));
        let lens: Vec<u32> = drain(&mut server, 0.5).iter().map(|s| s.len).collect();
        assert_eq!(lens, [1_460, 588], "{bytes} B");
    }
}

#[test]
fn half_the_largest_window_goes_out_though_data_is_outstanding() {
    // tcp_output: "len >= tp->max_sndwnd / 2" (RFC 1122 section 4.2.3.4): 730 of 1,460 B.
    let bsd = profile("freebsd-2.2.8", &[("window_bytes", Raw::Number(1_460.0))]);
    for (bytes, goes) in [(729, false), (730, true)] {
        let mut server = serving(&bsd, 0.15);
        server.write(600, secs(0.2));
        assert_eq!(drain(&mut server, 0.2).len(), 1);
        server.write(bytes, secs(0.21));
        assert_eq!(!drain(&mut server, 0.21).is_empty(), goes, "{bytes} B");
    }
}

#[test]
fn a_bsd_sender_judges_a_pause_while_nothing_is_outstanding() {
    // tcp_output: idle = (snd_max == snd_una), and with it a timeout since the last arrival (at 0.15;
    // three ticks later, after 1.43) closes the window of two segments to one.
    let bsd = profile("freebsd-2.2.8", &[]);
    let mut paused = serving(&bsd, 0.15);
    paused.write(100, secs(1.44));
    assert_eq!((drain(&mut paused, 1.44).len(), paused.cwnd()), (1, 1_460));
    let mut busy = serving(&bsd, 0.15);
    busy.write(1_460, secs(1.43));
    assert_eq!(drain(&mut busy, 1.43).len(), 1);
    busy.write(1_460, secs(1.44));
    assert_eq!((drain(&mut busy, 1.44).len(), busy.cwnd()), (1, 2_920), "1,460 B are out");
}

#[test]
fn every_segment_with_payload_is_counted() {
    let mut server = serving(&profile("plain", &[]), 0.15);
    server.write(4_000, secs(0.2));
    server.close(secs(0.2));
    assert_eq!(drain(&mut server, 0.2).len(), 3);
    hear(&mut server, ack(4_002), 0.3);
    let counters = server.counters();
    // The SYN-ACK besides.
    assert_eq!((counters.data_sent, counters.segments_sent), (3, 4));
}

#[test]
fn a_fin_alone_is_not_pushed() {
    // tcp_send_fin: ACK and FIN are the flags; PSH is of what tcp_push marks, data.
    let mut server = serving(&profile("linux", &[]), 0.15);
    server.close(secs(0.2));
    let fin = drain(&mut server, 0.2)[0];
    assert!(fin.flags.has(Flags::FIN) && fin.len == 0 && !fin.pushes());
    let mut server = serving(&profile("linux", &[]), 0.15);
    server.write(100, secs(0.2));
    assert!(drain(&mut server, 0.2)[0].pushes(), "the end of a write");
}

#[test]
fn a_connection_that_was_given_up_receives_nothing_more() {
    let mut server = Endpoint::new(&profile("plain", &[]), HostClock::default());
    hear(&mut server, Segment { flags: Flags::SYN, ..Segment::default() }, 0.05);
    while let Some(due) = server.next_timeout() {
        server.on_timeout(due.at);
        std::iter::from_fn(|| server.poll_send(due.at)).for_each(drop);
    }
    assert_eq!(server.state(), State::Failed);
    assert_eq!(hear(&mut server, request(), 100.0), []);
    assert_eq!((server.delivered(), server.next_timeout()), (0, None));
}

#[test]
fn a_window_that_a_pause_leaves_alone_keeps_what_was_measured() {
    // Vegas forgets the smallest round trip where the window is closed (CA_EVENT_CWND_RESTART). Here it was
    // the initial one: a round of 100 ms adds a segment, and of the eleven at 200 ms five and a half are
    // queued, more than four, so one goes.
    let settings = [
        ("congestion", Raw::Text("vegas".into())),
        ("initial_window", Raw::Number(10.0)),
        ("initial_ssthresh", Raw::Number(14_600.0)),
    ];
    let mut server = serving(&profile("plain", &settings), 0.15);
    let mut una = 1;
    for (at, trip, segments, window) in [(0.2, 0.1, 5, 10), (3.0, 0.2, 10, 11), (3.2, 0.2, 10, 10)]
    {
        server.write(1_460 * segments, secs(at));
        assert_eq!(drain(&mut server, at).len() as u64, segments);
        for _ in 0..segments {
            una += 1_460;
            hear(&mut server, ack(una), at + trip);
        }
        assert_eq!(server.cwnd(), 1_460 * window, "at {at}");
    }
}

#[test]
fn without_offload_only_the_end_of_a_write_is_pushed() {
    for (segments, pushed) in [(2, vec![2, 4, 5]), (1, vec![5])] {
        let settings = [("gso_max_segs", Raw::Number(f64::from(segments)))];
        let mut server = serving(&profile("linux", &settings), 0.15);
        server.write(5 * 1_460, secs(0.2));
        let sent = drain(&mut server, 0.2);
        let numbers = sent.iter().enumerate().filter(|(_, s)| s.pushes());
        assert_eq!(numbers.map(|(i, _)| i + 1).collect::<Vec<_>>(), pushed, "{segments}");
    }
}

#[test]
fn what_goes_again_is_not_pushed_in_pairs() {
    // tcp_retransmit_skb sends one segment at a time; tcp_tso_segs makes pairs of what is new.
    let linux = profile("linux", &[]);
    let mut world = World::new(&linux, [HostClock::default(); 2], 200_000);
    // A flight is lost, and what the probe brings: after the timeout each ACK lets two go at once.
    world.run(secs(10.0), &mut |sent| sent.side == S && (secs(0.2)..secs(0.6)).contains(&sent.at));
    let data = |s: &&Sent| s.side == S && s.segment.len > 0;
    let again: Vec<_> = world
        .sent
        .iter()
        .filter(data)
        .filter(|s| s.segment.flags.has(Flags::RETRANSMISSION))
        .collect();
    let at_once = again.windows(2).filter(|two| two[0].at == two[1].at).count();
    assert!(at_once > 0 && again.iter().all(|s| !s.segment.pushes()), "{at_once}");
    assert!(world.sent.iter().filter(data).filter(|s| s.segment.pushes()).count() > 30);
}

#[test]
fn with_sack_the_impatient_timer_starts_anew_at_the_first_partial_acknowledgement_alone() {
    // Segments 0, 4 and 6 of ten are lost; two partial acknowledgements come at 0.5 and 0.9 s.
    for (impatient, started) in [(false, 0.9), (true, 0.5)] {
        let mut server = ten_out_of("ns3", &[("impatient", Raw::Bool(impatient))]);
        hear(&mut server, said(1, &[(7, 10), (5, 6), (1, 4)]), 0.2);
        hear(&mut server, said(4_001, &[(7, 10), (5, 6)]), 0.5);
        hear(&mut server, said(6_001, &[(7, 10)]), 0.9);
        let due = server.next_timeout().expect("the timer runs").at;
        assert_eq!(due, secs(started) + server.rto(), "{impatient}");
    }
}
