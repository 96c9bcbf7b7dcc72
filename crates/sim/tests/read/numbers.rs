//! Every field of a scenario that takes a quantity, and every way to write a number.

use std::sync::LazyLock;

use serde_json::{Value as Json, json};

/// A field that takes a quantity, and a scenario that is complete except for this field.
pub struct Place {
    /// Name of the field in the message of a failed test: `aqm.red.max_p`.
    pub name: String,
    /// The kind of quantity, as the catalogue names it.
    pub unit: String,
    /// The ends of the field's range, as far as the catalogue states them.
    pub ends: [Option<f64>; 2],
    scenario: Json,
    pointer: String,
    field: String,
}

impl Place {
    /// The scenario with this value in the field.
    pub fn with(&self, value: Json) -> Json {
        let mut scenario = self.scenario.clone();
        let table = scenario.pointer_mut(&self.pointer).expect("the place is in the scenario");
        match table {
            Json::Array(items) => items[self.field.parse::<usize>().expect("an index")] = value,
            table => table[&self.field] = value,
        }
        scenario
    }

    /// Every way to write this number there.
    pub fn written(&self, number: &str) -> Vec<Json> {
        let units: &[&str] = match self.unit.as_str() {
            "time" => &[" s", " ns", "h", " min", ""],
            "rate" => &[" bit/s", " Gbps", "kb/s", ""],
            "bytes" => &["", " B", " MiB"],
            "packets" => &["", " packets"],
            _ => &["", "%"],
        };
        let texts = units.iter().map(|unit| json!(format!("{number}{unit}")));
        let bare = serde_json::from_str(number).ok().filter(Json::is_number);
        texts.chain(bare).collect()
    }

    /// This number of base units.
    pub fn plain(&self, number: f64) -> Json {
        match self.unit.as_str() {
            "time" => json!(format!("{number} s")),
            "rate" => json!(format!("{number} bit/s")),
            _ => json!(number),
        }
    }
}

/// Huge, tiny, negative, fractional, at the ends of machine words, with and without exponent; no numbers as well.
pub const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "+7",
    "0.5",
    ".5e1",
    "5.",
    "1/3",
    "1e2/-3",
    "1e+2",
    "1E-2",
    "3e0",
    "1e-308",
    "5e-324",
    "1e300",
    "-1e300",
    "1e308",
    "1e309",
    "1/1e-308",
    "1e-308/1e308",
    "127",
    "128",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "65537",
    "16777217",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740991",
    "9007199254740993",
    "18446744073",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "1e15",
    "1000000001",
    "1e16",
    "-18446744073709551616",
    "0x10",
    "1_000",
    "1e",
    "1e1e1",
    "--1",
    "nan",
    "inf",
    "1/0",
    "1/2/3",
];

/// A scenario of a third of a second.
fn base() -> Json {
    json!({
        "duration": "0.3 s",
        "network": {"rtt": "10 ms"},
        "link": [{"rate": "10 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 2}],
        "record": {},
    })
}

/// The fields of a table that take quantities; the table is at `pointer` of `scenario`.
fn collect(room: &str, fields: &Json, scenario: &Json, pointer: &str, all: &mut Vec<Place>) {
    for field in fields.as_array().expect("a list of fields") {
        let text = |key: &str| field[key].as_str().unwrap_or_default();
        if !["whole", "real", "distribution"].contains(&text("type")) {
            continue;
        }
        let (name, mut scenario) = (text("name"), scenario.clone());
        if ["users", "load", "connections_per_s"].contains(&name) {
            // How many there are is said in one way.
            let table = scenario.pointer_mut(pointer).and_then(Json::as_object_mut);
            table
                .expect("a table")
                .retain(|key, _| !["flows", "connections_per_s"].contains(&&**key));
        }
        all.push(Place {
            name: format!("{room}.{name}"),
            unit: text("unit").to_owned(),
            ends: [field["min"].as_f64(), field["max"].as_f64()],
            scenario,
            pointer: pointer.to_owned(),
            field: name.to_owned(),
        });
    }
}

/// The base with `table` at `pointer`.
fn based(pointer: &str, table: Json) -> Json {
    let (parent, field) = pointer.rsplit_once('/').expect("not the whole");
    let place = Place {
        name: String::new(),
        unit: String::new(),
        ends: [None; 2],
        scenario: base(),
        pointer: parent.to_owned(),
        field: field.to_owned(),
    };
    place.with(table)
}

/// The fields of every entry of a registry.
fn collect_entries(kind: &str, catalogue: &Json, pointer: &str, all: &mut Vec<Place>) {
    for entry in catalogue[kind].as_array().expect("a list of entries") {
        let name = entry["name"].as_str().expect("a name");
        let table = match kind {
            "aqm" => json!({"aqm": name}),
            "tcp" => json!({"profile": name}),
            _ if entry["open_loop"] == true => json!({"app": name, "connections_per_s": 9}),
            _ => json!({"app": name, "flows": 2}),
        };
        collect(&format!("{kind}.{name}"), &entry["fields"], &based(pointer, table), pointer, all);
    }
}

/// Places that no table of fields has: lists and the parameters of distributions.
fn collect_others(all: &mut Vec<Place>) {
    let user = |think: Json| json!({"app": "web", "flows": 2, "think": think});
    let steps = json!({"rate_steps": [["0 s", "1 Mbit/s"], ["0.1 s", "2 Mbit/s"]]});
    let mut repeated = steps.clone();
    repeated["rate_repeat"] = json!("0.2 s");
    let others = [
        ("network", "rtt", "time", json!({})),
        ("network/rtt", "0", "time", json!(["10 ms", "20 ms"])),
        ("link/0", "rate_repeat", "time", repeated),
        ("link/0/rate_steps/1", "0", "time", steps.clone()),
        ("link/0/rate_steps/1", "1", "rate", steps),
        ("traffic/0", "rtt", "time", json!({"app": "bulk", "flows": 2})),
        ("traffic/0/think", "mean", "time", user(json!({"dist": "exponential"}))),
        ("traffic/0/think", "max", "time", user(json!({"dist": "uniform", "min": "0 s"}))),
        ("traffic/0/think", "plus", "time", user(json!({"dist": "constant", "value": "1 s"}))),
        ("traffic/0/think", "times", "", user(json!({"dist": "constant", "value": "1 s"}))),
        ("traffic/0/think", "shape", "", user(json!({"dist": "weibull", "mean": "1 s"}))),
        ("traffic/0/think", "sigma", "", user(json!({"dist": "lognormal", "median": "1 s"}))),
        (
            "traffic/0/think/values",
            "1",
            "time",
            user(json!({"dist": "discrete", "values": ["0 s", "1 s"], "probs": [0.5, 0.5]})),
        ),
    ];
    for (pointer, field, unit, table) in others {
        // The table stands at the first two steps of the path, or at a section's name.
        let steps: Vec<&str> = pointer.split('/').collect();
        let at = match steps[0] {
            "network" => format!("/{pointer}"),
            _ => format!("/{}", steps[..2].join("/")),
        };
        all.push(Place {
            name: format!("{pointer}/{field}"),
            unit: unit.to_owned(),
            ends: [None; 2],
            scenario: based(&at, table),
            pointer: format!("/{pointer}"),
            field: field.to_owned(),
        });
    }
}

/// All fields that take a quantity.
pub fn places() -> Vec<Place> {
    let (catalogue, mut all) = (aqmlab_sim::catalogue(), Vec::new());
    let sections = &catalogue["scenario"];
    let table = json!({"min": "1 ms", "max": "9 ms"});
    let trace = json!({"model": "sprout"});
    for (section, pointer, scenario) in [
        ("", "", base()),
        ("network", "/network", base()),
        ("network.rtt", "/network/rtt", based("/network/rtt", table)),
        ("link", "/link/0", base()),
        ("trace", "/link/0/rate_trace", based("/link/0/rate_trace", trace)),
        ("traffic", "/traffic/0", base()),
        ("record", "/record", base()),
    ] {
        collect(section, &sections[section], &scenario, pointer, &mut all);
    }
    collect_entries("aqm", &catalogue, "/link/0/forward", &mut all);
    collect_entries("tcp", &catalogue, "/traffic/0/tcp", &mut all);
    collect_entries("traffic", &catalogue, "/traffic/0", &mut all);
    collect_others(&mut all);
    all
}

/// Reads scenarios with `text` as a number in a field that follows from a hash of the text: a
/// fuzzer's second way to call the reader, next to whole scenarios.
///
/// # Panics
/// As [`read`](super::read).
pub fn read_as_number(text: &str) {
    static PLACES: LazyLock<Vec<Place>> = LazyLock::new(places);
    let hash = text.bytes().fold(0_usize, |h, byte| h.wrapping_mul(31) ^ usize::from(byte));
    let place = &PLACES[hash % PLACES.len()];
    for value in place.written(text) {
        super::read(&place.with(value).to_string());
    }
}
