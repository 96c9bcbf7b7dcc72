//! Laws of every profile with every congestion control: a transfer ends, loses and invents nothing,
//! and repeats itself to the bit.

use std::sync::Arc;

use aqmlab_tcp::{HostClock, PROFILES, Profile, State, controls};
use packet::params::Raw;
use packet::{Duration, Ecn, Rng};

use crate::lab::{C, S, World, ms, profile, secs};

fn with(profile_name: &str, control: &str, more: &[(&str, Raw)]) -> Arc<Profile> {
    let mut settings = vec![("congestion", Raw::Text(control.into()))];
    settings.extend_from_slice(more);
    profile(profile_name, &settings)
}

/// A reply of so many bytes over a path of 100 ms that loses by `loss`, and marks where the sender
/// is capable.
fn transfer(profile: &Arc<Profile>, bytes: u64, loss: f64, seed: u64) -> World {
    let clocks =
        [HostClock { slow: ms(130), fast: ms(70) }, HostClock { slow: ms(410), fast: ms(20) }];
    let mut world = World::new(profile, clocks, bytes);
    let mut marks = Rng::named(seed, "marks");
    world.fate = Box::new(move |sent| {
        let marked = marks.uniform() < 0.02 && sent.segment.ecn != Ecn::NotEct;
        (marked, Duration::ZERO)
    });
    let mut losses = Rng::named(seed, "losses");
    world.run(secs(4_000.0), &mut |sent| sent.segment.len > 0 && losses.uniform() < loss);
    world
}

/// Everything that was sent: when, which numbers, with what acknowledgement.
fn trace(world: &World) -> Vec<(u64, usize, u64, u64, u32)> {
    let of =
        |s: &crate::lab::Sent| (s.at.nanos(), s.side, s.segment.seq, s.segment.ack, s.segment.len);
    world.sent.iter().map(of).collect()
}

#[test]
fn every_transfer_ends_conserves_and_repeats() {
    for entry in PROFILES {
        for about in controls() {
            for (loss, seed) in [(0.0, 1), (0.03, 2), (0.15, 3)] {
                let name = format!("{} with {} at {loss}", entry.about.name, about.name);
                let profile = with(entry.about.name, about.name, &[]);
                let world = transfer(&profile, 120_000, loss, seed);
                let (client, server) = (&world.ends[C], &world.ends[S]);
                assert_eq!(world.failed, [None, None], "{name}: gave up");
                assert!(world.replied.is_some(), "{name}: the reply never arrived");
                assert_eq!(client.delivered(), 120_000, "{name}");
                assert_eq!((server.acked(), server.outstanding()), (120_000, 0), "{name}");
                assert!(!matches!(server.state(), State::Established | State::SynSent), "{name}");
                // Nothing beyond what the program wrote, and every byte at least once.
                let data = || world.sent.iter().filter(|s| s.side == S && s.segment.len > 0);
                let most = data().map(|s| s.segment.seq + u64::from(s.segment.len)).max();
                assert_eq!(most, Some(120_001), "{name}");
                if loss == 0.0 {
                    assert_eq!(server.counters().resent_data, 0, "{name}: sent again without loss");
                }
                let again = transfer(&profile, 120_000, loss, seed);
                assert_eq!(trace(&world), trace(&again), "{name}: not the same twice");
            }
        }
    }
}

#[test]
fn a_used_endpoint_is_as_good_as_a_new_one() {
    for entry in PROFILES {
        for about in controls() {
            let name = format!("{} with {}", entry.about.name, about.name);
            let profile = with(entry.about.name, about.name, &[]);
            let clocks = [HostClock { slow: ms(130), fast: ms(70) }; 2];
            let run = |world: &mut World| {
                let mut losses = Rng::named(7, "losses");
                world.run(secs(4_000.0), &mut |s| s.segment.len > 0 && losses.uniform() < 0.05);
            };
            let mut fresh = World::new(&profile, clocks, 60_000);
            run(&mut fresh);
            let mut used = World::new(&profile, clocks, 60_000);
            let mut spent = transfer(&profile, 90_000, 0.1, 5);
            for end in [C, S] {
                spent.ends[end].reset(&profile, clocks[end]);
                std::mem::swap(&mut used.ends[end], &mut spent.ends[end]);
            }
            run(&mut used);
            assert_eq!(trace(&fresh), trace(&used), "{name}");
        }
    }
}

/// What the loss of one segment leaves of the window.
fn left_by_a_loss(profile: &Arc<Profile>) -> f64 {
    let mut world = World::new(profile, [HostClock { slow: ms(130), fast: ms(70) }; 2], 3_000_000);
    let mut lost = false;
    world.run(secs(300.0), &mut |sent| {
        let hit = !lost && sent.side == S && sent.data_number == 400;
        lost |= hit;
        hit
    });
    let probes: Vec<_> = world.probes.iter().filter(|p| p.side == S).collect();
    let cut = probes.windows(2).find(|p| p[1].ssthresh != p[0].ssthresh).expect("a reduction");
    cut[1].ssthresh as f64 / cut[0].cwnd as f64
}

#[test]
fn cubic_behaves_by_its_law_in_every_recovery() {
    let number = |v: f64| Raw::Number(v);
    for name in ["freebsd-2.2.8", "freebsd-4.5", "windows-nt4", "plain", "ns2", "ns2-full", "linux"]
    {
        // A window of 60 kB; of Linux's buffer it is 164/256.
        let bytes = if name == "linux" { 93_660.0 } else { 60_000.0 };
        let more = [("window_bytes", number(bytes)), ("initial_ssthresh", number(29_200.0))];
        for (control, share) in [("cubic", 0.7), ("rfc9438", 0.7), ("reno", 0.5)] {
            let left = left_by_a_loss(&with(name, control, &more));
            assert!((left - share).abs() < 0.03, "{name} with {control}: {left}");
        }
        let table = Raw::Table(vec![
            ("name".into(), Raw::Text("cubic".into())),
            ("beta".into(), number(0.9)),
        ]);
        let mut settings = more.to_vec();
        settings.push(("congestion", table));
        let left = left_by_a_loss(&profile(name, &settings));
        assert!((left - 0.9).abs() < 0.03, "{name} with beta = 0.9: {left}");
    }
}
