use super::*;
use crate::units::Unit;

const FIELDS: &[Field] = &[
    Field {
        name: "max_p",
        meaning: "Largest early probability.",
        kind: Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: true },
        default: Value::Real(0.1),
        source: "test",
    },
    Field {
        name: "limit",
        meaning: "Room.",
        kind: Kind::Whole { unit: Unit::Packets, min: 1, max: 1_000 },
        default: Value::Unset,
        source: "test",
    },
    Field {
        name: "mode",
        meaning: "Mode.",
        kind: Kind::Choice(&["packets", "bytes"]),
        default: Value::Choice("packets"),
        source: "test",
    },
    Field {
        name: "target",
        meaning: "A time.",
        kind: Kind::Real { unit: Unit::Time, min: 0.0, max: f64::MAX, open: true },
        default: Value::Real(0.005),
        source: "test",
    },
    Field {
        name: "size",
        meaning: "A drawn size.",
        kind: Kind::Distribution { unit: Unit::Bytes },
        default: Value::Unset,
        source: "test",
    },
];

const CUBIC: About = About {
    name: "cubic",
    summary: "A variant with a parameter of its own.",
    year: 2008,
    source: "test",
    deviations: "",
    fields: &[Field {
        name: "beta",
        meaning: "What is left.",
        kind: Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: true },
        default: Value::Real(0.7),
        source: "test",
    }],
};
const RENO: About = About { name: "reno", fields: &[], ..CUBIC };

#[test]
fn a_variant_is_a_name_or_a_table_with_parameters_of_its_own() {
    const CONTROL: &[Field] = &[Field {
        name: "congestion",
        meaning: "A variant.",
        kind: Kind::Variant(&[&CUBIC, &RENO]),
        default: Value::Choice("reno"),
        source: "test",
    }];
    let text = |text: &str| Raw::Text(text.into());
    let table = |fields: &[(&str, Raw)]| {
        Raw::Table(fields.iter().map(|(name, raw)| ((*name).into(), raw.clone())).collect())
    };
    let check = |raw: Raw| {
        let params = Params::check(CONTROL, &[("congestion".into(), raw)]);
        params.map_err(|bad| bad.to_string())
    };
    let beta = |params: &Params| params.variant("congestion").unwrap().1.real("beta");
    assert_eq!(Params::defaults(CONTROL).variant("congestion").unwrap().0.name, "reno");
    let bare = check(text("cubic")).unwrap();
    assert_eq!((beta(&bare), bare.variant_table("congestion").is_none()), (0.7, true));
    let written = check(table(&[("name", text("cubic")), ("beta", Raw::Number(0.5))])).unwrap();
    assert_eq!((beta(&written), written.choice("congestion")), (0.5, "cubic"));
    assert!(written.variant_table("congestion").unwrap().given("beta"));
    for (raw, why) in [
        (
            text("cubik"),
            "congestion: unknown value \"cubik\"; did you mean \"cubic\"? (known: cubic, reno)",
        ),
        (
            table(&[("beta", Raw::Number(0.5))]),
            "congestion: name is missing; write for example { name = \"cubic\" }",
        ),
        (
            table(&[("name", text("reno")), ("beta", Raw::Number(0.5))]),
            "congestion.beta: unknown field \"beta\" (known: none)",
        ),
        (
            table(&[("name", text("cubic")), ("beta", Raw::Number(2.0))]),
            "congestion.beta: 2 is out of range: it must be above 0 and at most 1 (what is left)",
        ),
        (Raw::Number(1.0), "congestion: 1 is not one of cubic, reno"),
    ] {
        assert_eq!(check(raw).unwrap_err(), why);
    }
}

fn check(name: &str, raw: Raw) -> Result<Params, String> {
    Params::check(FIELDS, &[(name.to_string(), raw)]).map_err(|e| e.to_string())
}

#[test]
fn values_are_read_with_their_units() {
    assert_eq!(check("max_p", Raw::Text("1/8".into())).unwrap().real("max_p"), 0.125);
    assert_eq!(check("limit", Raw::Text("480 packets".into())).unwrap().whole("limit"), 480);
    let params = check("target", Raw::Text("20 ms".into())).unwrap();
    assert_eq!(params.time("target"), Duration::from_millis(20));
    assert!(params.given("target") && !params.given("mode"));
    assert_eq!(params.whole_or("limit", 9), 9);
    assert_eq!(params.choice("mode"), "packets");
}

#[test]
fn what_a_constructor_decides_is_noted_beside_what_was_written() {
    let params = check("target", Raw::Text("20 ms".into())).unwrap();
    let shown = |params: &Params| -> Vec<String> {
        params.effective().map(|(field, value)| format!("{} {value}", field.name)).collect()
    };
    assert_eq!(shown(&params), ["max_p 0.1", "limit -", "mode packets", "target 0.02", "size -"]);
    assert_eq!(params.whole("limit"), u64::MAX);
    assert_eq!(shown(&params)[1], "limit -");
    assert_eq!(params.whole_or("limit", 9), 9);
    params.settle("max_p", Value::Real(0.5));
    params.ignore("mode");
    assert_eq!(shown(&params), ["max_p 0.5", "limit 9", "mode -", "target 0.02", "size -"]);
    assert_eq!((params.real("max_p"), params.value("limit")), (0.1, Value::Unset));
    assert_eq!(shown(&params.without_notes())[..2], ["max_p 0.1", "limit -"]);
}

#[test]
fn every_mistake_is_one_sentence_with_the_remedy() {
    let why = |name: &str, raw| check(name, raw).unwrap_err();
    assert_eq!(
        why("max_pp", Raw::Number(0.1)),
        "max_pp: unknown field \"max_pp\"; did you mean \"max_p\"? (known: max_p, limit, mode, target, size)"
    );
    assert_eq!(
        why("max_p", Raw::Number(1.5)),
        "max_p: 1.5 is out of range: it must be above 0 and at most 1 (largest early probability)"
    );
    assert_eq!(
        why("limit", Raw::Number(0.0)),
        "limit: 0 is out of range: it must lie between 1 and 1000 (room)"
    );
    assert_eq!(
        why("limit", Raw::Number(1.5)),
        "limit: 1.5 is not a whole number between 1 and 1000"
    );
    assert!(why("limit", Raw::Text("5 ms".into())).contains("its unit measures time"));
    assert!(why("mode", Raw::Text("byte".into())).contains("did you mean \"bytes\""));
    assert!(why("target", Raw::Number(5.0)).contains("has no unit"));
    assert!(why("max_p", Raw::Other("a list")).contains("not a number"));
}

#[test]
fn no_number_is_longer_than_a_line() {
    let shown = |v: f64| Raw::Number(v).to_string();
    assert_eq!([1e300, -1e-300, 0.0].map(shown), ["1e300", "-1e-300", "0"]);
    assert_eq!([1e20, 0.001].map(shown), ["100000000000000000000", "0.001"]);
    assert_eq!(
        check("target", Raw::Text("1e300 s".into())).unwrap_err(),
        "target: \"1e300 s\" is out of range: it must be above 0 s and at most 1000000000 s (a time)"
    );
}

#[test]
fn a_distribution_is_kept_as_it_was_written() {
    let table = Raw::Table(alloc::vec![("dist".into(), Raw::Text("uniform".into()))]);
    for raw in [Raw::Number(5.0), Raw::Text("60 kB".into()), table] {
        let params = check("size", raw.clone()).unwrap();
        assert_eq!(params.distribution("size"), Some(&raw));
        assert!(params.given("size"));
    }
    assert_eq!(Params::defaults(FIELDS).distribution("size"), None);
    let why = check("size", Raw::List(Vec::new())).unwrap_err();
    assert_eq!(
        why,
        "size: a list is not a distribution; write one value (60000 or \"60 kB\"), the name of a \
         shipped table, or { dist = \"exponential\", mean = … }"
    );
}

#[test]
fn quantities_are_read_alone() {
    assert_eq!(quantity("x", &Raw::Text("60 kB".into()), Unit::Bytes), Ok(60_000.0));
    assert_eq!(quantity("x", &Raw::Number(7.0), Unit::Count), Ok(7.0));
    let why = quantity("a.b", &Raw::Number(7.0), Unit::Time).unwrap_err().to_string();
    assert_eq!(why, "a.b: 7 has no unit; write for example \"20 ms\"");
    let why = quantity("a.b", &Raw::Number(1e300), Unit::Bytes).unwrap_err().to_string();
    assert_eq!(why, "a.b: 1e300 is out of range: a number of bytes is at most 9007199254740992");
}
