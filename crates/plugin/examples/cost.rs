//! Compares the cost of a packet in instructions: a built-in discipline, and its copy in a shared
//! library.
//!
//! `cargo run --release -p aqmlab-plugin --example cost` compares BLUE of `crates/aqm` with BLUE of
//! `tests/blue.c`, with equal parameters: in a whole simulation (50 CUBIC flows on 100 Mbit/s), and
//! alone with a line ([`Overload`]). Callgrind counts the instructions, which do not depend on
//! other load of the machine. The cost is the difference between a longer and a shorter run,
//! divided by the number of packets that arrive in between. Both BLUEs must give equal runs. Needs
//! a C compiler and valgrind.

use std::path::{Path, PathBuf};
use std::process::Command;

use aqm::{Entry, Overload, Registry};
use packet::params::{Params, Raw};
use serde_json::{Value as Json, json};

const BOTH: [&str; 2] = ["blue", "c_blue"];
/// Simulated seconds of the shorter and of the longer run.
const SECONDS: [u64; 2] = [20, 120];
const PACKETS: [u64; 2] = [160_000, 180_000];
const LIMIT: u64 = 250;

fn compiled() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = std::env::temp_dir().join(format!("aqmlab-cost-{}.so", std::process::id()));
    let done = Command::new("cc")
        .args(["-std=c99", "-O2", "-shared", "-fPIC", "-I"])
        .args([here.join("include"), here.join("tests/blue.c")])
        .arg("-o")
        .arg(&out)
        .status();
    assert!(done.is_ok_and(|status| status.success()), "a C compiler, cc, is needed");
    out
}

fn loaded(library: &str) -> &'static Entry {
    aqmlab_plugin::library::load(Path::new(library), &Default::default()).expect("it loads")
}

/// The queue's parameters, equal for both implementations.
fn parameters() -> Json {
    json!({"d1": 0.0025, "d2": 0.00025, "limit": LIMIT, "ecn": false})
}

fn scenario(name: &str, seconds: u64) -> String {
    let mut forward = parameters();
    forward["aqm"] = json!(name);
    json!({
        "name": "cost", "duration": format!("{seconds} s"), "seed": 1,
        "network": {"clients": 50, "servers": 50, "rtt": "100 ms"},
        "link": [{"rate": "100 Mbit/s", "framing": "none", "forward": forward}],
        "traffic": [{"app": "bulk", "flows": 50, "tcp": {"profile": "linux"}}],
        "record": {"samples": false},
    })
    .to_string()
}

/// Number of packets that arrived, and a text of results that must be equal in both runs.
fn simulate(name: &str, seconds: u64, registry: &Registry) -> (u64, String) {
    let scenario = sim::Scenario::read(&scenario(name, seconds), registry).expect("a scenario");
    let summary = sim::summary_json(&sim::run(scenario).expect("a run").summary);
    let told = |key: &str| summary[key].to_string();
    (
        summary["arrivals"].as_u64().expect("a number"),
        ["arrivals", "drops", "fingerprint"].map(told).join(" "),
    )
}

fn overload(name: &str, packets: u64, registry: &Registry) -> (u64, String) {
    let entry = registry.find(name).expect("it is there");
    let of = |key: &str| parameters()[key].as_f64().expect("a number");
    let raw = ["d1", "d2", "limit"].map(|key| (key.to_owned(), Raw::Number(of(key))));
    let params = Params::check(entry.about.fields, &raw).expect("its own values");
    let built = (entry.build)(&params, &Overload::LINE).expect("a queue");
    let mut load = Overload::new(built.into_discipline());
    load.run(packets as u32);
    (packets, format!("{:?}", load.happened()))
}

/// One run, in a process of its own: prints the number of packets and the results.
fn only_run(what: &str, name: &str, length: &str, library: &str) {
    let registry = Registry::with(&[loaded(library)]).expect("its name is free");
    let length = length.parse().expect("a number");
    let run = if what == "simulation" { simulate } else { overload };
    let (packets, happened) = run(name, length, &registry);
    println!("{packets} {happened}");
}

/// Number of instructions and of packets, and the results, of one run.
fn counted(what: &str, name: &str, length: u64, library: &Path) -> (f64, f64, String) {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("this program"))
        .args([what, name, &length.to_string()])
        .arg(library)
        .output()
        .expect("valgrind is needed");
    let (out, told) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{told}");
    let collected = told.lines().find(|line| line.contains("Collected")).expect("callgrind");
    let instructions = collected.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    let (packets, happened) = out.trim().split_once(' ').expect("two words");
    (instructions, packets.parse().expect("a number"), happened.to_owned())
}

fn compare(what: &str, lengths: [u64; 2], library: &Path) {
    let costs = BOTH.map(|name| {
        let [short, long] = lengths.map(|length| counted(what, name, length, library));
        ((long.0 - short.0) / (long.1 - short.1), long.1 - short.1, long.2)
    });
    let [(ours, packets, one), (theirs, _, other)] = &costs;
    assert_eq!(one, other, "the runs must be equal");
    println!(
        "{what}: {ours:.1} instructions a packet with ours, {theirs:.1} with the library's: \
         {:.3} times ({packets} packets)",
        theirs / ours
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, name, length, library] = &words[..] {
        return only_run(what, name, length, library);
    }
    let library = compiled();
    compare("alone", PACKETS, &library);
    compare("simulation", SECONDS, &library);
    // An error is ignored: the file is in the folder for temporary files.
    let _ = std::fs::remove_file(library);
}
