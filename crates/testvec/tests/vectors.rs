//! The vectors in the repository: fresh, repeatable from what they list, and showing what their
//! disciplines do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use aqm::{ALGORITHMS, Cx, Discipline, Entry};
use aqmlab_testvec::coverage::{longer, shown};
use aqmlab_testvec::{Case, build, document, packet, suite};
use flate2::read::GzDecoder;
use packet::{Event, Instant, Packet, Rate, Rng};
use serde_json::{Value as Json, json};

/// Kilobytes of vectors per discipline on average that a repository should have to carry.
const AVERAGE_KB: usize = 100;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn cases_file(entry: &Entry) -> Option<Json> {
    let text =
        fs::read_to_string(folder("cases").join(format!("{}.json", entry.about.name))).ok()?;
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("cases/{}: {e}", entry.about.name)))
}

fn committed(entry: &Entry) -> String {
    let path = folder("../../vectors").join(format!("{}.json.gz", entry.about.name));
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| GzDecoder::new(file).read_to_string(&mut text));
    read.unwrap_or_else(|why| {
        panic!("vectors/{}.json.gz: {why}: write it with `make vectors`", entry.about.name)
    });
    text
}

/// The names of the files in `folder` that end in `end`, without it.
fn names(folder: &Path, end: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name());
    let named = files.filter_map(|name| Some(name.to_str()?.strip_suffix(end)?.to_owned()));
    named.collect()
}

#[test]
fn there_is_a_file_for_every_discipline_and_they_are_short() {
    let known: BTreeSet<String> = ALGORITHMS.iter().map(|e| e.about.name.to_owned()).collect();
    assert_eq!(
        names(&folder("../../vectors"), ".json.gz"),
        known,
        "write them with `make vectors`"
    );
    let unknown: Vec<_> = names(&folder("cases"), ".json").difference(&known).cloned().collect();
    assert_eq!(unknown, Vec::<String>::new(), "cases of a discipline that is not in the registry");
    let bytes: usize = ALGORITHMS.iter().map(|entry| committed(entry).len()).sum();
    let most = AVERAGE_KB * 1000 * ALGORITHMS.len();
    assert!(bytes < most, "{bytes} bytes of vectors: give the cases fewer packets");
}

each_discipline!(its_file_is_what_the_program_writes_today);
fn its_file_is_what_the_program_writes_today(entry: &'static Entry) {
    let text = suite::vectors(entry, cases_file(entry).as_ref())
        .unwrap_or_else(|why| panic!("cases/{}.json: {why}", entry.about.name));
    let old = committed(entry);
    let differs = text.lines().zip(old.lines()).position(|(new, old)| new != old);
    let line = differs.unwrap_or(text.lines().count().min(old.lines().count())) + 1;
    assert!(
        text == old,
        "vectors/{}.json.gz is stale from line {line} on: if the change is meant, write it \
         again with `make vectors` and say in CHANGELOG.md what changed",
        entry.about.name
    );
}

/// A discipline driven by the listed calls alone.
struct Replay {
    discipline: Box<dyn Discipline>,
    rng: Rng,
    packets: BTreeMap<u64, Packet>,
    state: BTreeMap<String, f64>,
}

impl Replay {
    fn call(&mut self, call: &Json) -> (Option<Packet>, Vec<Json>) {
        let at = Instant::from_nanos(call["at_ns"].as_u64().unwrap());
        let mut events = Vec::new();
        let mut out = |event| {
            events.push(match event {
                Event::Queued { id } => json!(["queued", id]),
                Event::Marked { id, why } => json!(["marked", id, why.name()]),
                Event::Dropped { packet, why } => json!(["dropped", packet.id, why.name()]),
            });
        };
        let mut cx = Cx { now: at, rng: &mut self.rng, out: &mut out };
        let mut sent = None;
        match call["call"].as_str().unwrap() {
            "enqueue" => {
                let packet = packet(&call["packet"], "packet", u32::MAX, at).unwrap();
                self.packets.insert(packet.id.into(), packet.clone());
                self.discipline.enqueue(packet, &mut cx);
            }
            "dequeue" => sent = self.discipline.dequeue(&mut cx),
            "tick" => {
                assert_eq!(self.discipline.next_tick(), Some(at), "when the tick is due");
                self.discipline.on_tick(&mut cx);
            }
            other => panic!("unknown call {other}"),
        }
        (sent, events)
    }

    fn check(&mut self, call: &Json) {
        let mut listed = self.rng.clone();
        let (sent, events) = self.call(call);
        assert_eq!(json!(events), *call.get("events").unwrap_or(&json!([])));
        for u in call.get("draws").and_then(Json::as_array).into_iter().flatten() {
            assert_eq!(listed.uniform().to_bits(), u.as_f64().unwrap().to_bits());
        }
        assert_eq!(listed, self.rng, "the listed draws are all draws");
        if call["call"] == "dequeue" {
            assert_eq!(sent.as_ref().map(|p| json!(p.id)), call["sent"].get("id").cloned());
        }
        if let Some(sent) = sent {
            let ecn = call["sent"].get("ecn").cloned().unwrap_or(json!("not-ect"));
            let mut expected = self.packets.remove(&sent.id.into()).unwrap();
            let words = json!({"bytes": 1, "ecn": ecn});
            expected.ecn = packet(&words, "sent", 0, Instant::ZERO).unwrap().ecn;
            assert_eq!(sent, expected, "only the ECN field changes on the way");
        }
        let changes = call.get("state").and_then(Json::as_object).into_iter().flatten();
        self.state.extend(changes.map(|(k, v)| (k.clone(), v.as_f64().unwrap())));
        self.discipline.gauges(&mut |name, value| {
            assert_eq!(self.state[name].to_bits(), value.to_bits(), "{name}");
        });
    }
}

each_discipline!(the_listed_calls_and_draws_give_the_listed_answers);
fn the_listed_calls_and_draws_give_the_listed_answers(entry: &Entry) {
    let mut calls = 0;
    let json = document::read(&committed(entry)).unwrap();
    for case in json["cases"].as_array().unwrap() {
        let rate = Rate::from_bits_per_s(case["line_bits_per_s"].as_u64().unwrap());
        let first = case.get("state").and_then(Json::as_object).into_iter().flatten();
        let mut replay = Replay {
            discipline: build(entry.about.name, &case["parameters"], rate).unwrap(),
            rng: Rng::named(case["seed"].as_u64().unwrap(), "draws"),
            packets: BTreeMap::new(),
            state: first.map(|(k, v)| (k.clone(), v.as_f64().unwrap())).collect(),
        };
        for call in case["calls"].as_array().unwrap() {
            println!("{}, {}: {call}", entry.about.name, case["title"]);
            replay.check(call);
            calls += 1;
        }
    }
    assert!(calls > 50);
}

each_discipline!(the_vectors_show_what_it_does);
fn the_vectors_show_what_it_does(entry: &'static Entry) {
    let cases = suite::cases(entry, cases_file(entry).as_ref()).unwrap();
    let all = |cases: &[Case]| -> BTreeSet<String> {
        cases.iter().flat_map(|case| shown(&case.run().unwrap())).collect()
    };
    let short = all(&cases);
    let any = |what: &str| short.iter().any(|shown| shown.contains(what));
    assert!(any("dropped"), "some drop");
    let never = entry.ecn == "never marks";
    assert!(any("marked") != never, "marks, or none, as its text on ECN says");
    // What much longer runs of the same cases do, the cases do.
    let long = all(&cases.iter().map(longer).collect::<Vec<_>>());
    let missing: Vec<_> = long.difference(&short).collect();
    assert!(
        missing.is_empty(),
        "not shown by any case: {missing:?}; give crates/testvec/cases/{}.json a regime that shows \
         it (crates/testvec/examples/seeds.rs looks for seeds)",
        entry.about.name
    );
}

/// The page promises that a whole number below n is floor(u n) of a listed u.
#[test]
fn whole_numbers_follow_from_uniform_ones() {
    let mut rng = Rng::named(1, "draws");
    for _ in 0..2_000 {
        let u = rng.clone().uniform();
        for n in (1..=2_000).chain([1 << 16, 1 << 24, 1 << 32]) {
            assert_eq!((u * n as f64) as u64, rng.clone().below(n), "{u} {n}");
        }
        assert_eq!((u * 65_536.0) as u64, rng.clone().next_u64() >> 48);
        assert_eq!((u * 4_294_967_296.0) as u64, rng.next_u64() >> 32);
    }
}
