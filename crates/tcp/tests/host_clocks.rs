//! FreeBSD 2.2.8 over random phases of the hosts' clocks: what a loss costs, how long an ACK
//! waits, and the shares of timeouts that follow from the tick arithmetic.

use std::sync::Arc;

use crate::lab::{C, S, Sent, World, ms, profile, secs};
use aqmlab_tcp::{Endpoint, HostClock, Profile, Segment};
use packet::{Duration, Instant, Rng};

const CASES: u64 = 2_000;

fn phases(rng: &mut Rng) -> [HostClock; 2] {
    [0, 1].map(|_| HostClock {
        slow: Duration::from_nanos(rng.below(500_000_000)),
        fast: Duration::from_nanos(rng.below(200_000_000)),
    })
}

/// Runs a reply of `bytes` under random phases, losing what `lose` says.
fn play(seed: u64, bytes: u64, lose: &mut dyn FnMut(&Sent) -> bool) -> World {
    let profile = profile("freebsd-2.2.8", &[]);
    let clocks = phases(&mut Rng::indexed(seed, "phases", bytes));
    let mut world = World::new(&profile, clocks, bytes);
    world.run(secs(300.0), lose);
    world
}

fn sent_at(world: &World, side: usize, what: impl Fn(&Sent) -> bool) -> Vec<Instant> {
    world.sent.iter().filter(|s| s.side == side && what(s)).map(|s| s.at).collect()
}

#[test]
fn a_lost_syn_costs_3_9_21_45_seconds() {
    for seed in 0..CASES {
        for lost in 1..=4 {
            let world = play(seed, 1_000, &mut |s| s.side == C && s.number <= lost);
            let times = sent_at(&world, C, |s| s.number <= lost + 1);
            let first = times[1].nanos();
            assert!((2_500_000_000..=3_000_000_000).contains(&first), "{first}");
            for (n, seconds) in [(2, 6), (3, 18), (4, 42)] {
                if n <= lost as usize {
                    assert_eq!(times[n].nanos(), first + seconds * 1_000_000_000);
                }
            }
            let response = world.replied.unwrap();
            assert_eq!(response, times[lost as usize] + ms(200));
        }
    }
}

#[test]
fn a_lost_segment_of_two_costs_a_timeout_of_3_or_6_ticks() {
    let mut slow = 0;
    for seed in 0..CASES {
        let world = play(seed, 2_000, &mut |s| s.side == S && s.number == 2);
        let first = sent_at(&world, S, |s| s.number == 2)[0];
        let again = sent_at(&world, S, |s| s.segment.seq == 1 && s.segment.len > 0)[1];
        let cost = again.since(first);
        // The sample is 2 if the 100 ms of the handshake cross a tick: one time in five.
        let rto = (world.probes.iter()).find(|p| p.side == S && p.at == first).unwrap().rto;
        let ticks = rto.nanos() / 500_000_000;
        assert!(ticks == 3 || ticks == 6, "{ticks} ticks");
        slow += u64::from(ticks == 6);
        assert!(cost <= rto && cost >= rto - ms(500), "{cost:?} of {rto:?}");
        assert_eq!(world.replied.unwrap(), again + ms(50));
    }
    // p = 0.2: five standard errors of 2,000 draws are 0.045 (false alarm below 1e-6).
    assert!((slow as f64 / CASES as f64 - 0.2).abs() < 0.045, "{slow}");
}

#[test]
fn the_window_of_12_segments_caps_a_flow() {
    for seed in 0..100 {
        let world = play(seed, 1_000_000, &mut |_| false);
        let data: Vec<_> = world.sent.iter().filter(|s| s.side == S && s.segment.len > 0).collect();
        for (n, sent) in data.iter().enumerate() {
            let since = sent.at.since(Instant::ZERO).nanos().saturating_sub(99_999_999);
            let recent = data[..=n].iter().rev().take_while(|s| s.at.nanos() >= since);
            let bytes: u32 = recent.map(|s| s.segment.len).sum();
            assert!(bytes <= 17_520, "{bytes} B within a round trip");
        }
        // ... and is reached: 1 MB takes 57.1 windows, a few round trips more for the start and
        // the ACKs that wait for the fast clock.
        let rounds = world.replied.unwrap().since(secs(0.2)).nanos() as f64 / 1e8;
        assert!((57.0..66.0).contains(&rounds), "{rounds} round trips");
    }
}

#[test]
fn a_lone_segment_is_acknowledged_up_to_200_ms_late() {
    let mut sum = 0;
    for seed in 0..CASES {
        // The bare FIN is lost, so nothing but the fast clock calls for an ACK.
        let world = play(seed, 1_000, &mut |s| s.side == S && s.number == 3);
        let ack = sent_at(&world, C, |s| s.segment.ack == 1_001)[0];
        let wait = ack.since(world.replied.unwrap());
        assert!(wait <= ms(200), "{wait:?}");
        sum += wait.nanos();
    }
    // Uniform: mean 100 ms, standard error 57.7 ms / sqrt(2,000) = 1.3 ms; five of them.
    let mean = sum as f64 / CASES as f64 / 1e6;
    assert!((mean - 100.0).abs() < 6.5, "{mean} ms");
}

#[test]
fn one_loss_in_a_full_window_is_repaired_fast_two_mostly_time_out() {
    // By 0.85 s the window of 12 is full; 49 is the first packet of a flight (see the script
    // window-limited).
    let flight = |s: &Sent| s.side == S && s.at >= secs(1.0);
    let mut timeouts = 0;
    for seed in 0..CASES {
        let mut seen = 0;
        let world = play(seed, 200_000, &mut |s| {
            seen += u32::from(flight(s));
            flight(s) && seen == 1
        });
        let counters = *world.ends[S].counters();
        assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 1), "seed {seed}");
        let mut seen = 0;
        let world = play(seed, 200_000, &mut |s| {
            seen += u32::from(flight(s));
            flight(s) && (seen == 1 || seen == 4)
        });
        timeouts += u64::from(world.ends[S].counters().timeouts > 0);
    }
    assert!(timeouts > CASES * 9 / 10, "only {timeouts} of {CASES} time out");
}

/// A server that has had `samples` + 1 round trips of U(14, 144) ms, each in one segment.
fn server_after(profile: &Arc<Profile>, rng: &mut Rng, samples: u32) -> (Endpoint, Instant) {
    let [clock, _] = phases(rng);
    let mut now = Instant::from_nanos(rng.below(1_000_000_000));
    let trip = Duration::from_nanos(14_000_000 + rng.below(130_000_001));
    let mut server = Endpoint::new(profile, clock);
    let hear = |server: &mut Endpoint, segment: Segment, now| {
        server.on_segment(&segment, now);
        while server.poll_send(now).is_some() {}
    };
    hear(&mut server, Segment { flags: aqmlab_tcp::Flags::SYN, ..Segment::default() }, now);
    now += trip;
    let ack = |ack| Segment { seq: 1, ack, flags: aqmlab_tcp::Flags::ACK, ..Segment::default() };
    hear(&mut server, ack(1), now);
    for n in 1..=samples {
        now += Duration::from_nanos(rng.below(500_000_000));
        server.write(1, now);
        while server.poll_send(now).is_some() {}
        now += trip;
        hear(&mut server, ack(1 + u64::from(n)), now);
    }
    (server, now)
}

#[test]
fn shares_of_the_first_timeouts() {
    let profile = profile("freebsd-2.2.8", &[]);
    let mut rng = Rng::named(1, "first timeout");
    let draws = 20_000;
    let mut elapsed = Vec::new();
    let mut fast = 0;
    for _ in 0..draws {
        let (mut server, now) = server_after(&profile, &mut rng, 0);
        let ticks = server.rto().nanos() / 500_000_000;
        assert!(ticks == 3 || ticks == 6);
        fast += u64::from(ticks == 3);
        // The published times take the start of the timer as independent of the sample. A reply
        // in the very instant of the handshake's ACK is not: a sample of 1 means that no tick
        // has just passed, so the timer runs shorter (median 1.25 s), after a sample of 2 longer.
        let now = now + Duration::from_nanos(rng.below(500_000_000));
        server.write(2_000, now);
        while server.poll_send(now).is_some() {}
        elapsed.push(server.next_timeout().unwrap().at.since(now));
    }
    elapsed.sort();
    // Mean round trip 79 ms: 84.2 %. Five standard errors are 1.3 %.
    let share = fast as f64 / draws as f64;
    assert!((share - 0.842).abs() < 0.013, "{share}");
    // There is no timeout under 1 s; median 1.30 s and 90 % point 2.7 s, each to the digit given.
    assert!(elapsed[0] >= ms(1_000));
    let point = |q: f64| elapsed[(q * draws as f64) as usize].secs_f64();
    assert!((point(0.5) - 1.30).abs() < 0.02, "median {}", point(0.5));
    assert!((point(0.9) - 2.7).abs() < 0.05, "90 % {}", point(0.9));
}

#[test]
fn shares_of_the_timeouts_after_ten_samples() {
    let profile = profile("freebsd-2.2.8", &[]);
    let mut rng = Rng::named(1, "tenth timeout");
    let draws = 20_000;
    let mut shares = [0u32; 16];
    let mut v_is_two = 0;
    for _ in 0..draws {
        let (mut server, now) = server_after(&profile, &mut rng, 9);
        let ticks = server.rto().nanos() / 500_000_000;
        shares[ticks.min(15) as usize] += 1;
        server.write(1, now);
        while server.poll_send(now).is_some() {}
        let due = server.next_timeout().unwrap().at;
        server.on_timeout(due);
        // The first timeout doubles V: 4 ticks if V is 2 (or less, floored).
        v_is_two += u32::from(server.rto() == ms(2_000));
    }
    // Ten samples in all, the handshake's included. Five standard errors are 1.6 %, and the
    // published shares are rounded to 1 %.
    let share = |n: usize| f64::from(shares[n]) / draws as f64;
    assert!((share(3) - 0.72).abs() < 0.022, "3 ticks: {}", share(3));
    assert!((share(4) - 0.27).abs() < 0.022, "4 ticks: {}", share(4));
    let two = f64::from(v_is_two) / draws as f64;
    assert!((two - 0.39).abs() < 0.023, "V = 2: {two}");
}
