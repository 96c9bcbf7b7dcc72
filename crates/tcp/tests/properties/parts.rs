//! Profiles with a part of another, and endpoints that are used again.

use super::*;

/// Settings drawn for `seed`: about half of the parts exchanged.
fn exchanged(seed: u64) -> Vec<(&'static str, Raw)> {
    let mut rng = Rng::indexed(seed, "parts", 0);
    let mut settings = Vec::new();
    let mut offer = |name, values: &[Raw]| {
        if rng.below(2) == 0 {
            settings.push((name, values[rng.below(values.len() as u64) as usize].clone()));
        }
    };
    let text = |t: &str| Raw::Text(t.into());
    let (on, off) = (Raw::Bool(true), Raw::Bool(false));
    offer("recovery", &["tahoe", "reno", "newreno", "sack"].map(text));
    offer("initial_window", &[1.0, 2.0, 4.0, 10.0].map(Raw::Number));
    offer("window_bytes", &[4_000.0, 20_001.0, 65_535.0].map(Raw::Number));
    offer("mss", &[100.0, 536.0, 1_460.0].map(Raw::Number));
    offer("dupack_threshold", &[1.0, 2.0, 3.0, 4.0].map(Raw::Number));
    offer("rto_min", &["30 ms", "0.2 s", "1 s"].map(text));
    offer("tick", &["5 ms", "10 ms", "100 ms", "0.5 s"].map(text));
    offer("delayed_ack", &["40 ms", "0.2 s"].map(text));
    offer("ack_every", &[1.0, 2.0, 4.0].map(Raw::Number));
    offer("delayed_ack_clock", &["connection", "host", "common"].map(text));
    for switch in ["limited_transmit", "timestamps", "f_rto", "ecn", "idle_restart"] {
        offer(switch, &[on.clone(), off.clone()]);
    }
    settings
}

#[test]
fn every_profile_delivers_whatever_its_parts() {
    let (mut marks, mut reductions, mut needless) = (0, 0, 0);
    // Parts and numbers of TCP: QUIC has others.
    let of_tcp = aqmlab_tcp::PROFILES.iter().filter(|entry| entry.about.name != "quic");
    for entry in of_tcp {
        for seed in 0..3_000 {
            let settings = if seed < 500 { Vec::new() } else { exchanged(seed) };
            let run = std::panic::catch_unwind(|| {
                let mut case = Case::new(&profile(entry.about.name, &settings), seed);
                case.run();
                case.check();
                let counters = case.ends.each_ref().map(|end| *end.counters());
                (case.marks, counters)
            });
            let (marked, counters) =
                run.unwrap_or_else(|_| panic!("{} {settings:?}: seed {seed}", entry.about.name));
            marks += marked;
            for counted in counters {
                reductions += counted.ecn_reductions;
                needless += counted.spurious_timeouts;
            }
        }
    }
    // Worth it only if these things happen.
    assert!(marks > 10_000 && reductions > 1_000, "{marks} marks, {reductions} reductions");
    assert!(needless > 100, "{needless} needless timeouts");
}

#[test]
fn a_reused_endpoint_is_as_new() {
    let (plain, bsd) = (profile("plain", &[]), profile("freebsd-2.2.8", &[]));
    for seed in 0..50 {
        let mut first = Case::new(&plain, seed);
        first.run();
        let mut fresh = Case::new(&bsd, seed + 1);
        let mut used = Case::new(&bsd, seed + 1);
        for side in [C, S] {
            let mut end = first.ends[side].clone();
            // Back and forth, so that buffers of both recoveries have been through it.
            end.reset(&plain, HostClock::default());
            end.reset(&bsd, used.clocks[side]);
            used.ends[side] = end;
        }
        fresh.run();
        used.run();
        for side in [C, S] {
            assert_eq!(fresh.ends[side].counters(), used.ends[side].counters());
        }
        assert_eq!(fresh.order, used.order);
    }
}
