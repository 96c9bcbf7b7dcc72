//! The effective parameters of a discipline, with the defaults that its constructor chose: written
//! out in full they give the same discipline, packet by packet, as what the user wrote.

use aqmlab_aqm::{ALGORITHMS, Cx, Entry, Line, find};
use packet::params::{Field, Kind, Params, Raw, Value};
use packet::units::Unit;
use packet::{Ecn, Event, Instant, Packet, Rate, Rng};

type Written = Vec<(String, Raw)>;

fn line(bits_per_s: u64) -> Line {
    Line::of(Rate::from_bits_per_s(bits_per_s))
}

/// The value of a parameter as a user writes it.
fn written(field: &Field, value: Value) -> Option<(String, Raw)> {
    let raw = match (value, field.kind) {
        (Value::Unset, _) => return None,
        (Value::Switch(v), _) => Raw::Bool(v),
        (Value::Whole(v), _) => Raw::Number(v as f64),
        (Value::Real(v), Kind::Real { unit: Unit::Time, .. }) => Raw::Text(format!("{v} s")),
        (Value::Real(v), _) => Raw::Number(v),
        (Value::Choice(v), _) => Raw::Text(v.to_owned()),
        (Value::Written(_), _) => unreachable!("no discipline draws from a distribution"),
    };
    Some((field.name.to_owned(), raw))
}

fn effective(entry: &Entry, requested: &[(String, Raw)], line: &Line) -> Result<Written, String> {
    let params = Params::check(entry.about.fields, requested).map_err(|bad| bad.to_string())?;
    let values = entry.effective(&params, line).map_err(|bad| bad.to_string())?;
    Ok(values.into_iter().filter_map(|(field, value)| written(field, value)).collect())
}

/// What a discipline does with its first packets: its events, its departures (recorded as
/// [`Event::Queued`]), and the bits of its gauges.
fn behaviour(
    entry: &Entry,
    requested: &[(String, Raw)],
    line: &Line,
    packets: u32,
) -> (Vec<Event>, Vec<(&'static str, u64)>) {
    let params = Params::check(entry.about.fields, requested).unwrap();
    let mut queue = (entry.build)(&params, line).unwrap().into_discipline();
    let (mut dice, mut rng) = (Rng::named(1, "packets"), Rng::named(1, "queue"));
    let mut said = Vec::new();
    let mut now = Instant::ZERO;
    let mut free_at = Instant::ZERO;
    let mean = line.rate.time_for(700);
    for id in 0..packets {
        now += packet::Duration::from_nanos(dice.below(2 * mean.nanos()));
        let mut out = |event: Event| said.push(event);
        while let Some(due) = queue.next_tick().filter(|due| *due <= now) {
            queue.on_tick(&mut Cx { now: due, rng: &mut rng, out: &mut out });
        }
        while free_at <= now {
            let sent = queue.dequeue(&mut Cx { now: free_at, rng: &mut rng, out: &mut out });
            let Some(sent) = sent else { break };
            free_at += line.rate.time_for(u64::from(sent.bytes));
            out(Event::Queued { id: sent.id });
        }
        let packet = Packet {
            id,
            flow: dice.below(6),
            bytes: 40 + dice.below(1461) as u32,
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][dice.below(3) as usize],
            arrived: now,
            header: Default::default(),
        };
        free_at = free_at.max(now);
        queue.enqueue(packet, &mut Cx { now, rng: &mut rng, out: &mut out });
    }
    let mut gauges = Vec::new();
    queue.gauges(&mut |name, value| gauges.push((name, value.to_bits())));
    (said, gauges)
}

/// Values worth trying: every choice, both switches, two numbers within the range.
fn candidates(field: &Field) -> Vec<Raw> {
    let quantity = |unit: Unit, v: f64| match unit {
        Unit::Time => Raw::Text(format!("{} s", v / 1000.0)),
        _ => Raw::Number(v),
    };
    match field.kind {
        Kind::Variant(_) | Kind::Distribution { .. } | Kind::File => {
            unreachable!("no discipline draws from a distribution or reads a file")
        }
        Kind::Switch => vec![Raw::Bool(false), Raw::Bool(true)],
        Kind::Choice(names) => names.iter().map(|n| Raw::Text((*n).to_owned())).collect(),
        Kind::Whole { unit, min, max } => {
            [3, 20, 9000].map(|v: u64| quantity(unit, v.clamp(min, max) as f64)).into()
        }
        Kind::Real { unit, min, max, .. } => {
            let fits = |v: &f64| *v > min && *v <= max;
            [0.25, 4.0, 40.0].into_iter().filter(fits).map(|v| quantity(unit, v)).collect()
        }
    }
}

/// Sets of parameters to try: none, each value alone, and each value together with each choice.
fn questions(entry: &Entry) -> Vec<Written> {
    let alone: Vec<(String, Raw)> = entry
        .about
        .fields
        .iter()
        .flat_map(|f| candidates(f).into_iter().map(|raw| (f.name.to_owned(), raw)))
        .collect();
    let mut all = vec![Vec::new()];
    all.extend(alone.iter().map(|one| vec![one.clone()]));
    let choices = alone.iter().filter(|(_, raw)| matches!(raw, Raw::Text(t) if !t.ends_with(" s")));
    for choice in choices {
        let others = alone.iter().filter(|(name, _)| *name != choice.0);
        all.extend(others.map(|other| vec![choice.clone(), other.clone()]));
    }
    all
}

#[test]
fn effective_values_written_out_give_the_same_discipline() {
    for entry in ALGORITHMS {
        let (mut tried, mut accepted) = (0, 0);
        for bits_per_s in [300_000, 10_000_000, 1_000_000_000] {
            let line = line(bits_per_s);
            for requested in questions(entry) {
                tried += 1;
                let Ok(full) = effective(entry, &requested, &line) else { continue };
                accepted += 1;
                let what = format!("{} {requested:?} at {bits_per_s} bit/s", entry.about.name);
                let again = effective(entry, &full, &line)
                    .unwrap_or_else(|why| panic!("{what}: {why}\n{full:?}"));
                assert_eq!(again, full, "{what}: not the same written out");
                // Most sets have two parameters; these get fewer packets.
                let packets = if requested.len() > 1 { 200 } else { 500 };
                assert_eq!(
                    behaviour(entry, &full, &line, packets),
                    behaviour(entry, &requested, &line, packets),
                    "{what} behaves otherwise written out: {full:?}"
                );
            }
        }
        assert!(accepted * 3 > tried, "{}: {accepted} of {tried} accepted", entry.about.name);
    }
}

/// Parameters that stay unset by default: there is no such limit, class or rule until the user
/// writes one, or other parameters take its place.
const UNSET: &[(&str, &[&str])] = &[
    ("droptail", &["limit_bytes"]),
    ("red", &["preset", "idle_packet_time", "limit_bytes"]),
    ("ared", &["target_delay", "automatic_w_q", "max_packet_bytes", "limit_bytes", "use_mark_p"]),
    ("wred", &["period"]), // and the parameters of single classes
    ("gred", &["default_vq"]),
    ("rio", &["medium_classes", "medium_min_th", "medium_max_th", "medium_max_p"]),
    ("dctcp_step", &["rtt"]),
    ("pi", &["n_min", "r_max", "limit_bytes"]),
    ("rem", &["limit_bytes"]),
    ("blue", &["trigger", "limit_bytes"]),
    ("dcn", &["mean_packet_bytes", "limit_bytes"]),
    ("afd", &["limit_bytes"]),
    ("green", &["limit_bytes"]),
    ("csfq", &["limit_bytes"]),
    ("curvy_red", &["limit"]),
    ("codel", &["limit_bytes", "ce_threshold"]),
    ("cobalt", &["blue_threshold", "limit_bytes"]),
    ("cake", &["rate"]),
    ("drr", &["limit"]),
    (
        "sfq",
        &[
            "depth",
            "flows",
            "perturb",
            "red_min_th",
            "red_max_th",
            "red_w_q",
            "red_max_p",
            "red_mean_packet_bytes",
            "red_ecn",
            "red_harddrop",
        ],
    ),
    ("fq_codel", &["ce_threshold"]),
    ("fq_pie", &["limit_bytes"]),
    ("pie", &["mark_ecnth", "limit_bytes"]),
    ("pi2", &["limit_bytes"]),
    (
        "dualpi2",
        &["step", "step_packets", "min_qlen_step", "any_ect", "drop_enqueue", "limit_bytes"],
    ),
];

#[test]
fn a_default_that_depends_on_others_is_shown() {
    for entry in ALGORITHMS {
        let shown = effective(entry, &[], &line(10_000_000)).unwrap();
        let of_one_class =
            |name: &str| entry.about.name == "wred" && name.ends_with(char::is_numeric);
        let unset: Vec<&str> = entry
            .about
            .fields
            .iter()
            .filter(|f| f.default == Value::Unset && !of_one_class(f.name))
            .map(|f| f.name)
            .filter(|name| shown.iter().all(|(other, _)| other != name))
            .collect();
        let expected = UNSET.iter().find(|(name, _)| *name == entry.about.name);
        let name = entry.about.name;
        let expected = expected.map_or(&[][..], |(_, fields)| *fields);
        assert_eq!(
            unset, expected,
            "{name}: its fields without effective defaults belong into UNSET"
        );
    }
}

#[test]
fn profiles_and_the_line_decide() {
    let value = |name: &str, requested: &[(&str, &str)], field: &str, rate: u64| {
        let requested: Written =
            requested.iter().map(|(n, v)| (n.to_string(), Raw::Text(v.to_string()))).collect();
        let shown = effective(find(name).unwrap(), &requested, &line(rate)).unwrap();
        shown.into_iter().find(|(n, _)| n == field).map(|(_, raw)| raw.to_string())
    };
    let red = |requested: &[(&str, &str)], field| value("red", requested, field, 10_000_000);
    assert_eq!(red(&[], "min_th").unwrap(), "5");
    assert_eq!(red(&[("profile", "ns2")], "min_th").unwrap(), "6.25");
    assert_eq!(value("red", &[("profile", "ns2")], "min_th", 100_000_000).unwrap(), "62.5");
    assert_eq!(red(&[("profile", "ns2"), ("min_th", "30")], "max_th").unwrap(), "90");
    assert_eq!(red(&[("preset", "edge-hred")], "profile").unwrap(), "\"ns2-fixed\"");
    assert_eq!(red(&[("preset", "edge-hred")], "limit").unwrap(), "240");
    assert_eq!(red(&[("profile", "altq")], "idle_packet_time").unwrap(), "\"0.0008 s\"");
    assert_eq!(red(&[], "mark_p"), None);
    assert_eq!(red(&[("profile", "ns2")], "mark_p").unwrap(), "0.1");
    let step = value("dctcp_step", &[("rtt", "1 ms")], "K", 1_000_000_000).unwrap();
    assert_eq!(step, "12"); // 125000 bytes in 1 ms, divided by 7 x 1500 and rounded up
    assert_eq!(value("codel", &[("profile", "ns3")], "limit", 10_000_000), None);
    for (profile, limit) in [("rfc8289", "1000"), ("linux", "1000"), ("ns2", "50")] {
        let shown = value("codel", &[("profile", profile)], "limit", 10_000_000);
        assert_eq!(shown.as_deref(), Some(limit), "{profile}");
    }
    assert_eq!(value("codel", &[("profile", "ns3")], "limit_bytes", 1).unwrap(), "1500000");
}

/// No buffer is unbounded: with every choice of every discipline a limit is shown.
#[test]
fn the_size_of_the_buffer_is_shown() {
    for entry in ALGORITHMS {
        let choices = entry.about.fields.iter().filter_map(|field| match field.kind {
            Kind::Choice(names) => Some(names.iter().map(|name| (field.name, *name))),
            _ => None,
        });
        let mut sets: Vec<Written> = vec![Vec::new()];
        sets.extend(
            choices.flatten().map(|(f, name)| vec![(f.to_owned(), Raw::Text(name.into()))]),
        );
        for requested in sets {
            // A choice may be impossible with the default profile.
            let Ok(values) = effective(entry, &requested, &line(10_000_000)) else { continue };
            let shown = values.iter().any(|(name, _)| name.contains("limit"));
            assert!(shown, "{} {requested:?}: {values:?}", entry.about.name);
        }
    }
}

#[test]
fn linux_spares_less_than_two_of_its_largest_packets_as_it_counts_them() {
    // Linux takes the device's MTU with the header that sizes include. Two such packets are 3,000
    // or 3,028 bytes, which is not below twice that.
    for name in ["pie", "fq_pie"] {
        let entry = find(name).unwrap();
        for header_bytes in [0, 14] {
            let line = Line { header_bytes, ..line(10_000_000) };
            let of = |profile: &str| {
                let requested = [("profile".to_owned(), Raw::Text(profile.to_owned()))];
                let values = effective(entry, &requested, &line).unwrap();
                values.into_iter().find(|(name, _)| name == "mean_packet_bytes").unwrap().1
            };
            assert_eq!(of("linux"), Raw::Number(1_500.0 + f64::from(header_bytes)), "{name}");
            assert_eq!(of("rfc8033"), Raw::Number(1_000.0), "{name}");
        }
    }
}

/// Effective value of `field` in discipline `name` with these parameters.
fn taken(name: &str, requested: &[(&str, Raw)], field: &str) -> Option<Raw> {
    let requested: Vec<_> = requested.iter().map(|(n, raw)| (n.to_string(), raw.clone())).collect();
    let all = effective(find(name).unwrap(), &requested, &line(10_000_000)).unwrap();
    all.into_iter().find(|(of, _)| of == field).map(|(_, raw)| raw)
}

#[test]
fn what_has_no_effect_is_not_among_what_is_taken() {
    let (on, text) = (Raw::Bool(true), |word: &str| Raw::Text(word.into()));
    let mean = |requested: &[(&str, Raw)]| taken("dcn", requested, "mean_packet_bytes").is_some();
    assert!(!mean(&[("probability", text("uniform"))]), "packets of all sizes are alike");
    assert!(mean(&[("probability", text("uniform")), ("queue_in_bytes", on.clone())]));
    assert!(mean(&[("probability", text("bytes"))]));
    let coupling = |ecn| taken("pi2", &[("ecn", Raw::Bool(ecn))], "k").is_some();
    assert_eq!((coupling(true), coupling(false)), (true, false), "it is of scalable senders");
    // With one class in all, which is In, no medium class is left.
    let one = [("profile", text("altq")), ("classes", Raw::Number(1.0))];
    assert_eq!(taken("rio", &one, "medium_classes"), Some(Raw::Number(0.0)));
}
