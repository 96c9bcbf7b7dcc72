//! Calls, pulses and floods of datagrams.

use super::*;

/// What one call says in `seconds`: instants there and back.
fn said(raw: &[(&str, Raw)], source: u32, seconds: f64) -> [Vec<f64>; 2] {
    let at_once = [("start_within", text("0 s"))];
    let calls = build("voip", &[raw, &at_once].concat()).unwrap();
    let mut host = Host::new(calls.source(source), 1.0);
    host.run_until(seconds);
    let mut said = [Vec::new(), Vec::new()];
    for (at, action) in &host.said {
        let Action::SendDatagram { back, .. } = action else { panic!("{action:?}") };
        said[usize::from(*back)].push(*at);
    }
    said
}

#[test]
fn packets_leave_every_20_ms_and_both_talkers_are_apart() {
    let [there, back] = said(&[], 0, 60.0);
    assert_eq!((there.len(), there[0]), (3_001, 0.0));
    assert!((2_999..=3_000).contains(&back.len()) && back[0] > 0.0 && back[0] < 0.02);
    assert!(there.windows(2).all(|pair| (pair[1] - pair[0] - 0.02).abs() < 1e-9));
    let [_, nobody] = said(&[("both_ways", Raw::Bool(false))], 0, 60.0);
    assert!(nobody.is_empty());
    let [there, _] = said(&[("lasts", text("30 s"))], 0, 60.0);
    assert_eq!(there.len(), 1_500);
}

#[test]
fn spurts_and_pauses_have_their_means() {
    let raw = [("pauses", text("suppressed")), ("talk", text("2 s")), ("pause", text("1 s"))];
    let (mut spurts, mut packets, mut silences) = (0.0, 0.0, 0.0);
    for source in 0..4 {
        for said in said(&raw, source, 5_000.0) {
            packets += said.len() as f64;
            let gaps = said.windows(2).map(|pair| pair[1] - pair[0] - 0.02);
            for gap in gaps.filter(|gap| *gap > 0.001) {
                spurts += 1.0;
                silences += gap;
            }
        }
    }
    // About 13,300 spurts. A spurt of mean m lasts m and half a packet; five standard errors of
    // the mean of an exponential are 5 m / sqrt(13,300), 0.087 s and 0.043 s.
    assert!((packets * 0.02 / spurts - 2.01).abs() < 0.087, "{}", packets * 0.02 / spurts);
    assert!((silences / spurts - 1.01).abs() < 0.043, "{}", silences / spurts);
}

#[test]
fn what_nobody_delivers_is_lost_to_both() {
    let raw = [("start_within", text("0 s")), ("codec", text("g729a"))];
    let mut host = Host::new(build("voip", &raw).unwrap().source(1), 1.0);
    host.run_until(50.0);
    let listeners = host.listeners();
    assert_eq!(listeners.iter().map(|heard| heard.back).collect::<Vec<_>>(), [false, true]);
    for heard in listeners {
        // All but those of the last ten seconds, which may yet come.
        assert!(
            (heard.said as i64 - 2_000).abs() <= 2 && heard.lost == heard.said && heard.gaps == 1
        );
        assert_eq!((heard.codec.equipment, heard.codec.robustness), (11.0, 19.0));
    }
}

/// Instants of the datagrams of a sender in `seconds`.
fn datagrams(app: &str, raw: &[(&str, Raw)], seconds: f64) -> Vec<f64> {
    let mut host = Host::new(build(app, raw).unwrap().source(0), 1.0);
    host.run_until(seconds);
    host.said.iter().map(|(at, _)| *at).collect()
}

#[test]
fn a_pulse_fills_its_burst_and_rests_until_the_next_period() {
    // 1,000 B at 8 Mbit/s: one every ms, 50 in a burst, from 0.3 s on every 1.1 s.
    let raw = [
        ("rate", text("8 Mbit/s")),
        ("burst", text("50 ms")),
        ("period", text("1.1 s")),
        ("start", text("0.3 s")),
        ("lasts", text("2.5 s")),
    ];
    let sent = datagrams("pulse", &raw, 60.0);
    assert_eq!(sent.len(), 150);
    for (place, at) in sent.iter().enumerate() {
        let (burst, packet) = (place / 50, place % 50);
        let expected = 0.3 + 1.1 * burst as f64 + 0.001 * packet as f64;
        assert!((at - expected).abs() < 1e-9, "{place}: {at}");
    }
    let bad = [("burst", text("1 s")), ("period", text("1 s"))];
    assert_eq!(build("pulse", &bad).unwrap_err().field, "period");
}

#[test]
fn a_poisson_flood_has_exponential_gaps() {
    // 10 Mbit/s in 1,000 B: 1,250 a second, 125,000 gaps of mean and deviation 0.8 ms; five
    // standard errors are 0.0113 ms of the mean and, of the variance, sqrt(8 / n) * 5 = 4 %.
    let raw =
        [("preset", text("flood")), ("spacing", text("poisson")), ("start_within", text("0 s"))];
    let sent = datagrams("cbr", &raw, 100.0);
    let gaps: Vec<f64> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 0.8e-3).abs() < 1.13e-5, "{mean}");
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((variance / mean.powi(2) - 1.0).abs() < 0.04, "{variance}");
    let regular =
        datagrams("cbr", &[("preset", text("flood")), ("start_within", text("0 s"))], 1.0);
    assert_eq!(regular.len(), 1_251);
}
