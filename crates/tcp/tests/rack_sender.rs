//! Rules of the `linux` sender that a scripted dialogue shows badly: what a lost retransmission, a
//! late report or a coarse clock leads to.

use crate::lab::one_end::{ack, drain, hear, sacking};
use crate::lab::{S, Sent, World, ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostClock, Segment, State};
use packet::params::Raw;

fn text(value: &str) -> Raw {
    Raw::Text(value.into())
}

/// A reply of so many bytes from a `linux` server with Reno.
fn world(reply: u64, settings: &[(&str, Raw)]) -> World {
    let mut all = vec![("congestion", text("reno"))];
    all.extend(settings.iter().cloned());
    World::new(&profile("linux", &all), [HostClock::default(); 2], reply)
}

/// Whether this is the server's data segment of that number.
fn data(sent: &Sent, numbers: &[u32]) -> bool {
    sent.side == S && numbers.contains(&sent.data_number)
}

#[test]
fn a_coarse_clock_takes_no_recovery_back() {
    // Timestamps then count ticks: an echo is compared with a count of ticks, too.
    let mut world = world(200_000, &[("tick", text("10 ms"))]);
    world.run(secs(20.0), &mut |sent| data(sent, &[15]));
    assert!(world.replied.is_some());
    let counters = world.ends[S].counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
    assert!(world.ends[S].ssthresh() < 30 * 1_448, "{}", world.ends[S].ssthresh());
}

#[test]
fn without_reports_one_loss_is_one_repeat() {
    // Its acknowledgement covers what was out when the recovery began, and says nothing of the rest.
    let mut world = world(200_000, &[("recovery", text("newreno"))]);
    world.run(secs(20.0), &mut |sent| data(sent, &[15]));
    let counters = world.ends[S].counters();
    assert_eq!((counters.fast_retransmits, counters.resent_data), (1, 1));
}

#[test]
fn what_the_reordering_timer_finds_goes_out_in_a_recovery_too() {
    // Segment 15 comes 30 ms late and is sent again after 25: reordering is seen, and a hole waits for half
    // a round trip. (With a threshold of 100 nothing grows the window out of order.) Segment 40 starts a recovery at 0.5 s. Of what goes out then, the resend too, only
    // segment 100 arrives, and what its report lets go at 0.65 s is lost as well: at 0.7 s the timer
    // finds most of what is out lost. No acknowledgement would come to let it go again. What of it is
    // beyond that recovery's point makes a third one, as in Linux (`tcp_time_to_recover`).
    let mut world = world(400_000, &[("dupack_threshold", Raw::Number(100.0))]);
    world.fate = Box::new(|sent| (false, if data(sent, &[15]) { ms(30) } else { ms(0) }));
    world.run(secs(20.0), &mut |sent| {
        let silence = secs(0.5)..secs(0.66);
        let silenced = silence.contains(&sent.at) && sent.side == S && sent.data_number != 100;
        silenced || data(sent, &[40])
    });
    assert!(world.replied.is_some());
    let counters = world.ends[S].counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 3));
}

#[test]
fn a_recovery_that_follows_another_keeps_the_stamp_of_its_first_repeat() {
    // Segment 15 is lost twice; 44, sent after that was noticed, once, and what tells of it comes 30 ms
    // late: it goes again at 0.48 s, and the first recovery ends at 0.55 s, when 50 is found lost, too.
    // What acknowledges the repeat of 44 at 0.58 s answers a segment that is older than the repeat of 50,
    // but not than Linux's `retrans_stamp`: nothing was spurious, no reordering was seen, and 300 goes
    // again at the third report, a round trip after it was sent. Each arrival is reported at once.
    let every = ("comp_sack_nr", Raw::Number(0.0));
    let mut world = world(800_000, &[("congestion", text("reno")), every]);
    world.fate = Box::new(|sent| (false, if data(sent, &[45, 46, 47]) { ms(30) } else { ms(0) }));
    let mut copies = 0;
    world.run(secs(20.0), &mut |sent| {
        let fifteenth = sent.side == S && sent.segment.seq == 14 * 1_448 + 1;
        copies += u32::from(fifteenth);
        fifteenth && copies <= 2 || data(sent, &[44, 50, 300])
    });
    let sent: Vec<&Sent> = world.sent.iter().filter(|s| s.side == S && s.segment.len > 0).collect();
    let again: Vec<&&Sent> =
        sent.iter().filter(|s| s.segment.flags.has(Flags::RETRANSMISSION)).collect();
    let times: Vec<u64> = again.iter().map(|s| s.at.nanos() / 1_000_000).collect();
    assert_eq!(times[..4], [350, 450, 480, 550]);
    let lost = sent.iter().find(|s| s.data_number == 300).expect("it was sent");
    assert_eq!(again[4].segment.seq, lost.segment.seq);
    assert_eq!(again[4].at.since(lost.at), ms(100));
}

#[test]
fn the_timeout_starts_anew_when_the_first_segment_is_sent_again() {
    // A round trip of a second. Segment 15 is lost at 2.5 s, and so is its resend a round trip
    // later; the next goes out at 4.5 s, 1 s after the last acknowledgement that advanced. The
    // timeout is 1.2 s.
    let mut world = world(100_000, &[]);
    world.delay = ms(500);
    let mut lost = 0;
    world.run(secs(60.0), &mut |sent| {
        let lose = sent.side == S && sent.segment.seq == 20_273 && lost < 2;
        lost += u32::from(lose);
        lose
    });
    assert!(world.replied.is_some());
    let counters = world.ends[S].counters();
    assert_eq!((lost, counters.resent_data, counters.timeouts), (2, 2, 0));
}

#[test]
fn a_lost_retransmission_after_a_timeout_reduces_once_more() {
    // The flights from 0.25 s on are lost, with the probe: the timeout halves the threshold. Of what
    // goes out again one segment is lost; what was sent after it shows that.
    let mut world = world(100_000, &[]);
    let mut again = 0;
    world.run(secs(20.0), &mut |sent| {
        let resend = sent.side == S && sent.segment.flags.has(Flags::RETRANSMISSION);
        again += u32::from(resend);
        sent.side == S && (secs(0.24)..secs(0.7)).contains(&sent.at) || resend && again == 6
    });
    assert!(world.replied.is_some());
    let counters = world.ends[S].counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (1, 1));
    let thresholds = world.probes.iter().filter(|p| p.side == S).map(|p| p.ssthresh / 1_448);
    let mut thresholds: Vec<u64> = thresholds.collect();
    thresholds.dedup();
    assert_eq!(thresholds.len(), 3, "{thresholds:?}");
    assert!(thresholds[2] < thresholds[1] && thresholds[2] <= 4, "{thresholds:?}");
}

#[test]
fn one_repeated_syn_is_forgiven() {
    // How many segments the first flight of a reply has after so many lost SYN-ACKs.
    let recoveries = ["rack", "sack", "newreno"];
    let cases = [(0, 10), (1, 10), (2, 1)];
    for (recovery, (losses, flight)) in recoveries.iter().flat_map(|r| cases.map(|c| (r, c))) {
        let mut world = world(100_000, &[("recovery", text(recovery))]);
        let mut lost = 0;
        world.run(secs(20.0), &mut |sent| {
            let lose = sent.side == S && sent.segment.flags.has(Flags::SYN) && lost < losses;
            lost += u32::from(lose);
            lose
        });
        let data: Vec<_> = world.sent.iter().filter(|sent| sent.data_number > 0).collect();
        let first = data.iter().find(|sent| sent.side == S).expect("a reply").at;
        let together = data.iter().filter(|sent| sent.side == S && sent.at == first).count();
        assert_eq!(together, flight, "{recovery}: {losses} lost");
    }
}

#[test]
fn a_timestamp_reports_the_round_trip_of_a_repeated_syn() {
    for (stamps, rto) in [(true, ms(300)), (false, ms(3_000))] {
        let mut world = world(1_000, &[("timestamps", Raw::Bool(stamps))]);
        world.run(secs(1.12), &mut |sent| sent.side != S && sent.number == 1);
        // The request went out at 1.1 s.
        assert_eq!(world.ends[1 - S].rto(), rto, "timestamps: {stamps}");
    }
}

#[test]
fn a_hole_waits_for_the_last_round_trip_also_where_that_was_not_of_the_newest() {
    // Linux's tcp_rack_advance sets the round trip before it asks what was sent later (RFC 8985
    // section 6.2, step 2, has the same order). Segment 3 comes late, so reordering is known and
    // holes wait for a round trip and, since its second copy was reported, two quarters: 150 ms. Of a
    // later flight 41 comes after 120 ms, so 42, which comes after 160, may take 170.
    let late = |sent: &Sent| match sent.segment.seq / 1_448 + 1 {
        3 | 41 => ms(20),
        42 => ms(60),
        _ => ms(0),
    };
    let mut world = world(200_000, &[]);
    world.fate = Box::new(move |sent| (false, if sent.side == S { late(sent) } else { ms(0) }));
    world.run(secs(20.0), &mut |_| false);
    assert!(world.replied.is_some());
    let again = world.sent.iter().filter(|sent| sent.segment.flags.has(Flags::RETRANSMISSION));
    let again: Vec<u64> = again.map(|sent| sent.segment.seq / 1_448 + 1).collect();
    assert_eq!(again, [3]);
}

#[test]
fn every_second_full_segment_of_a_burst_has_psh_and_the_end_of_a_write() {
    // Ten at once; the acknowledgement of the first lets the last two go, one full, one of 100 B.
    let mut world = world(11 * 1_448 + 100, &[]);
    world.run(secs(5.0), &mut |_| false);
    let data = world.sent.iter().filter(|sent| sent.side == S && sent.data_number > 0);
    let pushes: Vec<bool> = data.map(|sent| sent.segment.pushes()).collect();
    let [no, yes] = [false, true];
    assert_eq!(pushes, [no, yes, no, yes, no, yes, no, yes, no, yes, no, yes]);
}

#[test]
fn timeouts_are_counted_until_new_data_is_acknowledged() {
    // `tcp_retries2` is 15; a duplicate after each timeout does not put off the end.
    let mut server = sacking(&profile("linux", &[("timestamps", Raw::Bool(false))]));
    server.write(14_600, secs(0.2));
    drain(&mut server, 0.2);
    while let Some(due) = server.next_timeout().filter(|_| server.counters().timeouts < 30) {
        server.on_timeout(due.at);
        hear(&mut server, ack(1), due.at.secs_f64() + 0.01);
    }
    assert_eq!((server.counters().timeouts, server.state()), (16, State::Failed));
}

#[test]
fn hystart_judges_rounds_from_the_first_on() {
    // The acknowledgements of packetdrill's cubic-bulk-166k.pkt: every 100 ms two segments of the first
    // ten, so that round trips grow from 100 to 500 ms. Since Linux 6.14 (25c1a9ca53db; in the stable kernels of that month too)
    // rounds end at 1, 10 and 30 segments, the ninth of the third comes at a window of 36. Before, rounds
    // began with a window of 16, so that the script says 48.
    let settings = [("mss", Raw::Number(1_000.0)), ("timestamps", Raw::Bool(false))];
    let mut server = Endpoint::new(&profile("linux", &settings), HostClock::default());
    let mut syn = Segment { flags: Flags::SYN, ..Segment::default() };
    syn.sack.push(0, 0);
    hear(&mut server, syn, 0.0);
    hear(&mut server, Segment { seq: 1, ack: 1, flags: Flags::ACK, ..Segment::default() }, 0.1);
    server.write(400_000, secs(0.1));
    assert_eq!(drain(&mut server, 0.1).len(), 10);
    let mut window = |acked: u32| {
        let ack = Segment {
            seq: 1,
            ack: 2_000 * u64::from(acked) + 1,
            flags: Flags::ACK,
            ..Segment::default()
        };
        hear(&mut server, ack, 0.1 * f64::from(acked + 1));
        server.cwnd() / 1_000
    };
    let windows: Vec<_> = (1..=20).map(&mut window).collect();
    assert_eq!([windows[4], windows[9], windows[12]], [20, 30, 36]);
    assert_eq!(windows[13..], [36; 7]);
}
