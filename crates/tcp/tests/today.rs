//! Rules of the `linux` sender that a scripted dialogue shows badly: what a lost retransmission, a
//! late report or a coarse clock leads to.

mod lab;

use lab::{S, Sent, World, ms, profile, secs};
use packet::params::Raw;
use tcp::{Flags, HostClock};

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
fn what_the_reordering_timer_finds_goes_out_in_a_recovery_too() {
    // Segment 15 comes 20 ms late and is sent again: reordering is seen, and a hole waits for half a
    // round trip. Segment 40 starts a recovery at 0.5 s. Of what goes out then, the resend too, only
    // segment 100 arrives, and what its report lets go at 0.65 s is lost as well: at 0.7 s the timer
    // finds most of what is out lost. No acknowledgement would come to let it go again.
    let mut world = world(400_000, &[]);
    world.fate = Box::new(|sent| (false, if data(sent, &[15]) { ms(20) } else { ms(0) }));
    world.run(secs(20.0), &mut |sent| {
        let silence = secs(0.5)..secs(0.66);
        let silenced = silence.contains(&sent.at) && sent.side == S && sent.data_number != 100;
        silenced || data(sent, &[40])
    });
    assert!(world.replied.is_some());
    let counters = world.ends[S].counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 2));
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
        let resend = sent.side == S && sent.segment.flags.has(Flags::AGAIN);
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
    for (losses, flight) in [(0, 10), (1, 10), (2, 1)] {
        let mut world = world(100_000, &[]);
        let mut lost = 0;
        world.run(secs(20.0), &mut |sent| {
            let lose = sent.side == S && sent.segment.flags.has(Flags::SYN) && lost < losses;
            lost += u32::from(lose);
            lose
        });
        let data: Vec<_> = world.sent.iter().filter(|sent| sent.data_number > 0).collect();
        let first = data.iter().find(|sent| sent.side == S).expect("a reply").at;
        let together = data.iter().filter(|sent| sent.side == S && sent.at == first).count();
        assert_eq!(together, flight, "{losses} lost");
    }
}

#[test]
fn a_timestamp_tells_the_round_trip_of_a_repeated_syn() {
    for (stamps, rto) in [(true, ms(300)), (false, ms(3_000))] {
        let mut world = world(1_000, &[("timestamps", Raw::Bool(stamps))]);
        world.run(secs(1.12), &mut |sent| sent.side != S && sent.number == 1);
        // The request went out at 1.1 s.
        assert_eq!(world.ends[1 - S].rto(), rto, "timestamps: {stamps}");
    }
}
