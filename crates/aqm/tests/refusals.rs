//! Wrong parameters are refused with one sentence: the field, the value, what is allowed, and why.
//! This is tested for every field of every discipline.

mod bounds;

use aqmlab_aqm::{ALGORITHMS, Entry, Line, find};
use packet::Rate;
use packet::params::{Field, Kind, Params, Raw, Value};
use packet::units::Unit;

const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));

/// The sentence with which these parameters are refused; `None` if they are accepted.
fn refusal(entry: &Entry, requested: &[(String, Raw)]) -> Option<String> {
    let params = match Params::check(entry.about.fields, requested) {
        Err(bad) => return Some(bad.to_string()),
        Ok(params) => params,
    };
    (entry.build)(&params, &LINE).err().map(|bad| bad.to_string())
}

/// The sentence that refuses `raw` for the field `name`; it must have the common form.
fn sentence(entry: &Entry, name: &str, raw: Raw) -> String {
    let what = format!("{}.{name} = {raw}", entry.about.name);
    let why = refusal(entry, &[(name.to_owned(), raw)]).unwrap_or_else(|| panic!("{what} passes"));
    assert_form(&what, &why);
    assert!(why.starts_with(&format!("{name}: ")), "{what}: {why}");
    why
}

fn assert_form(what: &str, why: &str) {
    let one_sentence = !why.contains(['\n', '\t']) && !why.contains("  ") && !why.ends_with('.');
    assert!(one_sentence && !why.contains(". "), "{what}: {why:?}");
}

fn quantity(unit: Unit, value: f64) -> Raw {
    match unit {
        Unit::Time | Unit::Rate => Raw::Text(format!("{value}{}", unit.suffix())),
        _ => Raw::Number(value),
    }
}

/// Values just outside the range, with both bounds as the sentence must give them.
fn outside(field: &Field) -> Option<(Vec<Raw>, [String; 2])> {
    match field.kind {
        Kind::Variant(_) | Kind::Distribution { .. } | Kind::File => {
            unreachable!("no discipline draws from a distribution or reads a file")
        }
        Kind::Whole { unit, min, max } => {
            let (below, above) = (min as f64 - 1.0, max as f64 * 2.0);
            let raws = [below, above].map(|v| quantity(unit, v)).into();
            Some((raws, [min.to_string(), max.to_string()]))
        }
        Kind::Real { unit, min, max, open } => {
            let below = if open { min } else { min - 0.5 };
            let raws = [below, max * 1.001].map(|v| quantity(unit, v)).into();
            Some((raws, [min, max].map(|v| format!("{v}{}", unit.suffix()))))
        }
        Kind::Switch | Kind::Choice(_) => None,
    }
}

fn every_field() -> impl Iterator<Item = (&'static Entry, &'static Field)> {
    ALGORITHMS.iter().flat_map(|entry| entry.about.fields.iter().map(move |field| (entry, field)))
}

#[test]
fn below_and_above_the_range() {
    for (entry, field) in every_field() {
        let Some((raws, bounds)) = outside(field) else { continue };
        for raw in raws {
            let why = sentence(entry, field.name, raw.clone());
            let said = format!("{}: {raw} is out of range: it must ", field.name);
            assert!(why.starts_with(&said), "{why}");
            let range = &why[said.len()..];
            let bounds =
                bounds.each_ref().map(|b| range.split(' ').any(|w| w == b) || range.contains(b));
            assert_eq!(bounds, [true; 2], "{}: {why}", entry.about.name);
        }
    }
}

#[test]
fn of_the_wrong_type_or_unit() {
    for (entry, field) in every_field() {
        let say = |raw| sentence(entry, field.name, raw);
        let list = say(Raw::Other("a list"));
        assert!(list.contains("a list is n"), "{list}");
        match field.kind {
            Kind::Variant(_) | Kind::Distribution { .. } | Kind::File => {
                unreachable!("no discipline draws from a distribution or reads a file")
            }
            Kind::Switch => {
                let said = format!("{}: 1 is neither true nor false", field.name);
                assert_eq!(say(Raw::Number(1.0)), said);
                assert!(say(Raw::Text("yes".into())).contains("\"yes\" is neither true nor false"));
            }
            Kind::Choice(names) => {
                let why = say(Raw::Number(3.0));
                assert!(
                    why.contains("3 is not one of") && why.ends_with(&names.join(", ")),
                    "{why}"
                );
            }
            Kind::Whole { unit, min, max } => {
                let why = say(quantity(unit, min as f64 + 0.5));
                let range = format!("is not a whole number between {min} and {max}");
                assert!(why.ends_with(&range), "{why}");
                numbers(entry, field, unit);
            }
            Kind::Real { unit, .. } => numbers(entry, field, unit),
        }
    }
}

/// Tests what is wrong for every number: no number, not a finite one, another unit, or no unit
/// where one is needed. The sentence must offer an example.
fn numbers(entry: &Entry, field: &Field, unit: Unit) {
    let other = if unit == Unit::Time { "5 packets" } else { "5 ms" };
    for raw in [
        Raw::Bool(true),
        Raw::Text("many".into()),
        Raw::Text("5 parsec".into()),
        Raw::Text(other.into()),
        Raw::Number(f64::NAN),
        Raw::Number(f64::INFINITY),
    ] {
        let why = sentence(entry, field.name, raw.clone());
        let value = raw.to_string();
        assert!(why.contains(&value) && why.contains("write for example "), "{value}: {why}");
        assert!(why.ends_with(unit.example()), "{why}");
    }
    if matches!(unit, Unit::Time | Unit::Rate) {
        let why = sentence(entry, field.name, Raw::Number(5.0));
        assert!(why.contains("5 has no unit; write for example \""), "{why}");
    }
}

#[test]
fn names_that_do_not_exist() {
    for (entry, field) in every_field() {
        // The field's name with its last letter doubled must bring the suggestion of the field.
        let slip = format!("{}{}", field.name, field.name.chars().last().unwrap());
        if entry.about.fields.iter().all(|f| f.name != slip) {
            let why = sentence(entry, &slip, Raw::Number(1.0));
            let said = format!("unknown field \"{slip}\"; did you mean \"{}\"?", field.name);
            assert!(why.contains(&said), "{}: {why}", entry.about.name);
        }
        let Kind::Choice(names) = field.kind else { continue };
        for name in names {
            let slip = format!("{name}{}", name.chars().last().unwrap());
            let why = sentence(entry, field.name, Raw::Text(slip.clone()));
            assert!(
                why.contains(&format!("unknown value \"{slip}\"; did you mean \"{name}\"?")),
                "{why}"
            );
        }
        let why = sentence(entry, field.name, Raw::Text("nonsense-of-mine".into()));
        assert!(why.contains(&names.join(", ")) && !why.contains("did you mean"), "{why}");
    }
    for entry in ALGORITHMS {
        let why = sentence(entry, "nonsense_of_mine", Raw::Number(1.0));
        let all: Vec<&str> = entry.about.fields.iter().map(|f| f.name).collect();
        assert!(why.contains(&all.join(", ")) && !why.contains("did you mean"), "{why}");
    }
}

/// Values of a field that are worth combining with those of others.
fn candidates(field: &Field) -> Vec<Raw> {
    match field.kind {
        Kind::Variant(_) | Kind::Distribution { .. } | Kind::File => {
            unreachable!("no discipline draws from a distribution or reads a file")
        }
        Kind::Switch => vec![Raw::Bool(false), Raw::Bool(true)],
        Kind::Choice(names) => names.iter().map(|n| Raw::Text((*n).to_owned())).collect(),
        Kind::Whole { unit, min, max } => {
            [1, 3, 20, 9000, 200_000].map(|v: u64| quantity(unit, v.clamp(min, max) as f64)).into()
        }
        Kind::Real { unit, min, max, .. } => {
            let scale = if unit == Unit::Time { 1e-3 } else { 1.0 };
            let values = [0.25, 0.3, 4.0, 40.0, 1e6].map(|v| v * scale);
            values
                .into_iter()
                .filter(|v| *v > min && *v <= max)
                .map(|v| quantity(unit, v))
                .collect()
        }
    }
}

/// Words with which a sentence says what to do, or what is allowed.
const REMEDIES: &[&str] = &[
    "leave",
    "write",
    "give",
    "make",
    "take",
    "use ",
    "must be",
    "must lie",
    "at most",
    "beside it",
];

/// Every pair of values that is refused, with the sentence that refuses it.
fn contradictions(entry: &Entry) -> Vec<(Vec<(String, Raw)>, String)> {
    let alone: Vec<(String, Raw)> = entry
        .about
        .fields
        .iter()
        .flat_map(|f| candidates(f).into_iter().map(|raw| (f.name.to_owned(), raw)))
        .collect();
    let mut found = Vec::new();
    for (i, one) in alone.iter().enumerate() {
        for other in alone[i..].iter().filter(|other| other.0 != one.0 || *other == one) {
            let mut requested = vec![one.clone(), other.clone()];
            requested.dedup();
            if let Some(why) = refusal(entry, &requested) {
                found.push((requested, why));
            }
        }
    }
    found
}

/// Disciplines whose fields never contradict each other.
const PEACEFUL: &[&str] = &[
    "avq",
    "rem",
    "fq_codel",
    "fq_pie",
    "sred",
    "bred",
    "droptail",
    "green",
    "csfq",
    "hhf",
    "curvy_red",
    "docsis_lld",
];

#[test]
fn values_that_contradict_each_other() {
    for entry in ALGORITHMS {
        let found = contradictions(entry);
        let peaceful = PEACEFUL.contains(&entry.about.name);
        let what = format!(
            "{}: {} refusals, PEACEFUL {peaceful}: list it there if and only if none of its values exclude each other",
            entry.about.name,
            found.len()
        );
        assert_eq!(found.is_empty(), peaceful, "{what}");
        for (requested, why) in found {
            let what = format!("{} {requested:?}", entry.about.name);
            assert_form(&what, &why);
            let (name, rest) = why.split_once(": ").unwrap();
            let field = entry.about.fields.iter().find(|f| f.name == name);
            let field = field.unwrap_or_else(|| panic!("{what}: {why} begins with no field"));
            // The sentence names what was written, with its value, or a default that follows.
            let said = |(name, raw): &(String, Raw)| {
                let value = match raw {
                    Raw::Text(text) if text.ends_with(" s") => text.clone(),
                    _ => raw.to_string(),
                };
                why.contains(name.as_str()) && why.contains(&value)
            };
            let written = requested.iter().any(said);
            let follows = field.default == Value::Unset && requested.iter().all(|(n, _)| n != name);
            let spread = why.contains("virtual queue");
            assert!(written || follows || spread, "{what}: {why}");
            assert!(
                rest.starts_with(|c: char| c.is_ascii_digit() || c == '"')
                    || rest.starts_with("true ")
                    || rest.starts_with("false ")
                    || why.contains(" = "),
                "{what}: {why} names no value"
            );
            assert!(REMEDIES.iter().any(|word| rest.contains(word)), "{what}: {why} has no remedy");
        }
    }
}

/// Discipline, parameters, and the whole sentence.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

#[test]
fn sentences_of_contradictions() {
    let cases: &[Case] = &[
        (
            "droptail",
            &[("profile", "ns2"), ("limit", "9"), ("limit_bytes", "9000")],
            "limit_bytes: 9000 cannot be combined with limit = 9 in profile \"ns2\": ns-2 measures \
             a queue in packets or in bytes, never in both; leave one out",
        ),
        (
            "droptail",
            &[("flavour", "ns2")],
            "flavour: unknown field \"flavour\"; it is called \"profile\" now (known: limit, \
             limit_bytes, profile, from_front)",
        ),
        (
            "red",
            &[("min_th", "90"), ("max_th", "30")],
            "min_th: 90 is not below max_th = 30: RED needs a band between its thresholds; give \
             both, min_th the smaller",
        ),
        (
            "ared",
            &[("min_th", "9"), ("target_delay", "5 ms")],
            "target_delay: 0.005 s is not possible with profile \"floyd\": it only sets min_th, \
             which is given; leave out one",
        ),
        (
            "rio",
            &[("classes", "2"), ("in_classes", "3")],
            "in_classes: 3 and medium_classes = 0 are more than classes = 2: each class is In, \
             medium or Out; make their sum at most 2",
        ),
        (
            "codel",
            &[("profile", "ns2"), ("ce_threshold", "1 ms")],
            "ce_threshold: 0.001 s is not possible with profile \"ns2\": ns-2's CoDel never marks; \
             leave it out",
        ),
        (
            "pie",
            &[("profile", "docsis"), ("delay", "rate")],
            "delay: \"rate\" is not possible with profile \"docsis\": a modem knows its rate and \
             divides the backlog by it; write \"line\" or leave it out",
        ),
        (
            "red_pd",
            &[("K", "6")],
            "K: 6 is more than N = 5, the lists that are kept: give K at most N",
        ),
    ];
    for (name, requested, expected) in cases {
        let requested: Vec<_> =
            requested.iter().map(|(n, v)| (n.to_string(), Raw::Text(v.to_string()))).collect();
        assert_eq!(refusal(find(name).unwrap(), &requested).as_deref(), Some(*expected));
    }
}

/// The sentence with which discipline `name` refuses these parameters; `None` if it accepts them.
fn told(name: &str, requested: &[(&str, Raw)]) -> Option<String> {
    let requested: Vec<_> = requested.iter().map(|(n, raw)| (n.to_string(), raw.clone())).collect();
    refusal(find(name).expect("a discipline"), &requested)
}
