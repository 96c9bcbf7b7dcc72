//! Senders of datagrams: rates, periods and lives.

use aqmlab_traffic::{Action, AppCx, Input};
use aqmlab_traffic::{Group, Population, find};
use packet::params::{Params, Raw};
use packet::{Duration, Instant};

fn group(sources: u32) -> Group {
    Group { seed: 2, name: "g".to_owned(), peers: 3, sources, machines: 2 }
}

fn build(app: &str, raw: &[(&str, Raw)], sources: u32) -> Population {
    let entry = find(app).unwrap();
    let raw: Vec<_> = raw.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
    (entry.build)(&Params::check(entry.about.fields, &raw).unwrap(), &group(sources)).unwrap()
}

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

/// The datagrams (time in seconds, bytes) one source sends in the first `seconds`.
fn datagrams(population: &Population, source: u32, seconds: f64) -> Vec<(f64, u32)> {
    let mut app = population.source(source);
    let (mut sent, mut now, mut input) = (Vec::new(), Instant::ZERO, Input::Start);
    let end = Instant::ZERO + Duration::from_secs_f64(seconds);
    loop {
        let mut wake = None;
        let mut act = |action| match action {
            Action::Datagram { bytes, peer } => {
                assert!(peer < 3);
                sent.push((now.secs_f64(), bytes));
            }
            Action::WakeAt(at) => wake = Some(at),
            other => panic!("{other:?}"),
        };
        app.on(input, &mut AppCx { now, act: &mut act });
        match wake {
            Some(at) if at <= end => (now, input) = (at, Input::Woke),
            _ => return sent,
        }
    }
}

#[test]
fn presets_and_what_overrides_them() {
    let rate = |raw: &[(&str, Raw)]| {
        let sent = datagrams(&build("cbr", raw, 4), 1, 60.0);
        let (first, last) = (sent[0], sent[sent.len() - 1]);
        let bits: f64 = sent[1..].iter().map(|(_, b)| f64::from(*b) * 8.0).sum();
        ((bits / (last.0 - first.0)).round(), first.1)
    };
    assert_eq!(rate(&[("preset", text("audio"))]), (64_000.0, 200));
    assert_eq!(rate(&[("preset", text("video"))]), (300_000.0, 1_000));
    assert_eq!(rate(&[("preset", text("edge"))]), (16_000.0, 40)); // one every 20 ms
    assert_eq!(rate(&[("preset", text("hspa"))]), (64_000.0, 160));
    assert_eq!(rate(&[]), (1_000_000.0, 1_000));
    let own = [("rate", text("2 Mbit/s")), ("packet", Raw::Number(500.0))];
    assert_eq!(rate(&own), (2_000_000.0, 500));
}

#[test]
fn a_sender_begins_in_its_window_and_ends_after_its_time() {
    let raw = [("start", text("5 s")), ("start_within", text("2 s")), ("lasts", text("15 s"))];
    let senders = build("cbr", &raw, 40);
    let mut begins: Vec<f64> = Vec::new();
    for source in 0..40 {
        let sent = datagrams(&senders, source, 100.0);
        assert_eq!(sent.len(), 1_875); // 15 s of one every 8 ms
        begins.push(sent[0].0);
    }
    begins.sort_by(f64::total_cmp);
    assert!(begins[0] >= 5.0 && begins[39] < 7.0 && begins[39] - begins[0] > 1.0, "{begins:?}");
}

/// The mean over `sources` of the share of time on, measured by datagrams sent in `seconds`.
fn share_on(raw: &[(&str, Raw)], sources: u32, seconds: f64) -> f64 {
    let whole = [("rate", text("100 kbit/s")), ("packet", Raw::Number(125.0))];
    let senders = build("on-off", &[&whole[..], raw].concat(), sources);
    let sent: usize = (0..sources).map(|m| datagrams(&senders, m, seconds).len()).sum();
    sent as f64 / (100.0 * seconds * f64::from(sources))
}

#[test]
fn an_on_off_source_is_on_for_its_share_of_time() {
    // Each on period sends its first datagram at once, so periods of mean m with gap g hold
    // about m/g + 1/2. 200 sources for 1,000 s: five standard errors are 0.005 for exponential
    // periods (a source's share has a deviation of about 0.014).
    let at = |on: &str, off: &str, periods: &str, start: &str| {
        let raw = [
            ("on", text(on)),
            ("off", text(off)),
            ("periods", text(periods)),
            ("shape", Raw::Number(1.9)),
            ("start_within", text(start)),
        ];
        share_on(&raw, 200, 1_000.0)
    };
    let share = at("0.5 s", "1.5 s", "exponential", "0 s");
    assert!((share - (0.505 / 2.0)).abs() < 0.005, "{share}");
    // Pareto periods of index 1.9 have no variance: the mean settles slowly, so wider.
    let share = at("0.5 s", "0.5 s", "pareto", "0 s");
    assert!((share - 0.505).abs() < 0.03, "{share}");
}

#[test]
fn exponential_periods_have_their_distribution() {
    let raw = [("on", text("1 s")), ("off", text("2 s")), ("start_within", text("0 s"))];
    let own = [("rate", text("1 Mbit/s")), ("packet", Raw::Number(125.0))]; // 1 ms apart
    let senders = build("on-off", &[&own[..], &raw].concat(), 1);
    let sent = datagrams(&senders, 0, 20_000.0);
    let gaps = sent.windows(2).map(|w| w[1].0 - w[0].0);
    let offs: Vec<f64> = gaps.filter(|gap| *gap > 0.0011).collect();
    // About 6,600 silences; the median of an exponential is ln 2 of its mean. Five standard
    // errors of the median are 5 * 2 / sqrt(6600) = 0.12 s.
    assert!((6_000..7_300).contains(&offs.len()), "{}", offs.len());
    let mut sorted = offs.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    assert!((median - 2.0 * std::f64::consts::LN_2).abs() < 0.12, "{median}");
}

#[test]
fn a_pareto_index_without_a_mean_is_refused() {
    let entry = find("on-off").unwrap();
    let raw = [("shape".to_owned(), Raw::Number(1.0))];
    let error = Params::check(entry.about.fields, &raw).unwrap_err();
    assert_eq!(
        error.to_string(),
        "shape: 1 is out of range: it must be above 1 and at most 100 (index of the Pareto distribution)"
    );
}

#[test]
fn jitter_is_uniform_about_the_mean_distance_and_bounded() {
    let plain = [("rate", text("1 Mbit/s")), ("packet", Raw::Number(1250.0))]; // 10 ms apart
    let gaps = |jitter: f64| {
        let raw = [&plain[..], &[("jitter", Raw::Number(jitter))]].concat();
        let sent = datagrams(&build("cbr", &raw, 2), 1, 400.0);
        let gaps = sent.windows(2).map(|w| (w[1].0 - w[0].0) * 1e3);
        gaps.collect::<Vec<f64>>()
    };
    assert!(gaps(0.0).iter().all(|gap| (gap - 10.0).abs() < 1e-5));
    let drawn = gaps(0.5);
    assert!(drawn.iter().all(|gap| (5.0 - 1e-5..=15.0 + 1e-5).contains(gap)));
    // Some 39,000 gaps, uniform over 5 to 15 ms: five standard errors of the mean are 0.073 ms, of
    // the share of a quarter 0.011.
    let n = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / n;
    assert!((mean - 10.0).abs() < 0.073, "{mean}");
    for quarter in 0..4 {
        let from = 5.0 + 2.5 * f64::from(quarter);
        let share = drawn.iter().filter(|gap| (from..from + 2.5).contains(*gap)).count() as f64 / n;
        assert!((share - 0.25).abs() < 0.011, "{share} from {from} ms");
    }
}

#[test]
fn jitter_beside_a_poisson_process_is_refused() {
    let entry = find("cbr").unwrap();
    let raw = [("spacing", text("poisson")), ("jitter", Raw::Number(0.5))];
    let raw: Vec<_> = raw.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
    let error =
        (entry.build)(&Params::check(entry.about.fields, &raw).unwrap(), &group(2)).unwrap_err();
    assert_eq!(error.field, "jitter");
}

#[test]
fn a_burst_leaves_at_one_instant_and_the_rate_stays() {
    let own = [("rate", text("400 kbit/s")), ("packet", Raw::Number(1_000.0))];
    let sent =
        datagrams(&build("cbr", &[&own[..], &[("burst", Raw::Number(5.0))]].concat(), 1), 0, 30.0);
    let instants: Vec<f64> = sent.iter().step_by(5).map(|(at, _)| *at).collect();
    for (i, (at, _)) in sent.iter().enumerate() {
        assert_eq!(*at, instants[i / 5]);
    }
    // 5,000 bytes at 400 kbit/s
    assert!(instants.windows(2).all(|pair| (pair[1] - pair[0] - 0.1).abs() < 1e-9));
}

#[test]
fn pareto_periods_begin_at_their_smallest_value() {
    // Mean 2 s and index 3: nothing below 4/3 s, half below 4/3 * 2^(1/3) s.
    let raw = [
        ("on", text("1 s")),
        ("off", text("2 s")),
        ("periods", text("pareto")),
        ("shape", Raw::Number(3.0)),
        ("start_within", text("0 s")),
    ];
    let own = [("rate", text("100 kbit/s")), ("packet", Raw::Number(125.0))]; // 10 ms apart
    let sent = datagrams(&build("on-off", &[&own[..], &raw].concat(), 1), 0, 20_000.0);
    let gaps = sent.windows(2).map(|w| w[1].0 - w[0].0);
    // The off period begins up to a gap after the last datagram.
    let mut offs: Vec<f64> = gaps.filter(|gap| *gap > 0.011).collect();
    offs.sort_by(f64::total_cmp);
    assert!((6_000..7_300).contains(&offs.len()), "{}", offs.len());
    assert!(offs[0] >= 4.0 / 3.0 && offs[0] < 1.36, "{}", offs[0]);
    // Five standard errors of the median, whose density is 3 / (2 * 1.68): 0.035 s.
    let median = offs[offs.len() / 2];
    assert!((median - 4.0 / 3.0 * 2_f64.powf(1.0 / 3.0) - 0.005).abs() < 0.035, "{median}");
}
