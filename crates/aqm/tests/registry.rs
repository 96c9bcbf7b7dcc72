//! The list of disciplines is complete, documented, and the only place that names all of them.

use std::fs;
use std::path::{Path, PathBuf};

use aqmlab_aqm::{ALGORITHMS, find};
use packet::params::{Kind, Params, Value};
use packet::units::Unit;

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

/// Names of the modules in algorithms/, from its files.
fn modules() -> Vec<String> {
    let files = fs::read_dir(source("algorithms")).unwrap().map(|f| f.unwrap().path());
    let rust = files.filter(|f| f.extension().is_some_and(|e| e == "rs"));
    let mut stems: Vec<_> =
        rust.map(|f| f.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    stems.retain(|stem| stem != "mod");
    stems.sort();
    stems
}

/// Appends every file below `folder` with the extension `kind`: its path from `top`, and its text.
fn files(folder: &Path, top: &Path, kind: &str, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, top, kind, found);
        } else if path.extension().is_some_and(|e| e == kind) {
            let name = path.strip_prefix(top).unwrap().to_string_lossy().replace('\\', "/");
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Whether a line of code, comments aside, contains `word` as an identifier or a string.
fn mentions(text: &str, word: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    let part = |c: char| !(c.is_alphanumeric() || c == '_');
    code.flat_map(|line| line.split(part).collect::<Vec<_>>()).any(|found| found == word)
}

#[test]
fn every_file_in_algorithms_is_listed() {
    let registry = fs::read_to_string(source("registry.rs")).unwrap();
    let modules = modules();
    assert!(modules.len() >= 2, "{modules:?}");
    for module in &modules {
        assert!(
            registry.contains(&format!("{module}::ENTRY")),
            "list {module}::ENTRY in ALGORITHMS (registry.rs)"
        );
    }
    assert!(ALGORITHMS.len() >= modules.len());
}

#[test]
fn an_algorithm_is_named_in_its_own_file_and_two_lists() {
    let mut all = Vec::new();
    files(&source(""), &source(""), "rs", &mut all);
    for module in modules() {
        let own = |name: &str| {
            name == format!("algorithms/{module}.rs")
                || name.starts_with(&format!("algorithms/{module}/"))
        };
        let elsewhere: Vec<_> = all
            .iter()
            .filter(|(name, text)| !own(name) && mentions(text, &module))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            elsewhere,
            ["algorithms/mod.rs", "registry.rs"],
            "{module} is named elsewhere: what others need of it belongs into a file of its own beside lib.rs"
        );
    }
}

/// Files of the product outside this crate that name a discipline, the name, and why they may.
const NAMED: &[(&str, &str, &str)] = &[
    (
        "crates/sim/src/scenario/schema/link.rs",
        "droptail",
        "the queue that a scenario does not speak of",
    ),
    ("python/aqmlab/lab/link.py", "droptail", "the queue of a link that a file does not speak of"),
    (
        "python/aqmlab/bench/simulator.py",
        "droptail",
        "the benchmark's scenarios, data, are written there",
    ),
    ("python/aqmlab/bench/simulator.py", "red", "the queue that ns-2 runs beside ours"),
    (
        "python/aqmlab/bench/scale.py",
        "droptail",
        "the scenarios that grow, data, are written there",
    ),
    (
        "python/aqmlab/bench/scale.py",
        "fq_codel",
        "the scenarios that grow: one has a queue for each flow",
    ),
    ("python/aqmlab/runs/calibrate.py", "droptail", "loads are calibrated where nothing is lost"),
    (
        "python/aqmlab/learn/scenario.py",
        "droptail",
        "the scenario that it writes, for people to change",
    ),
    ("python/aqmlab/figures/colours.py", "droptail", "its pen, which no other family shares"),
    ("python/aqmlab/report/wording.py", "droptail", "the field writes it with a hyphen"),
    (
        "python/aqmlab/experiment/examples.py",
        "red",
        "the name of a shipped example, not a discipline",
    ),
    ("python/aqmlab/experiment/sweep.py", "droptail", "the example of a sweep at its head"),
    ("python/aqmlab/experiment/sweep.py", "red", "the example of a sweep at its head"),
    ("crates/testvec/src/laws/mod.rs", "cobalt", "a law that it breaks as ns-3 does"),
    ("crates/testvec/src/laws/rig.rs", "docsis_lld", "a law that it breaks as RFC 9957 does"),
    ("crates/testvec/src/laws/rig.rs", "hhf", "a law that it breaks as Linux does"),
    ("crates/testvec/src/random_calls.rs", "cake", "a law that it breaks as Linux does"),
    ("crates/testvec/src/random_calls.rs", "docsis_lld", "as in rig.rs"),
    ("crates/testvec/src/random_calls.rs", "hhf", "a law that it breaks as Linux does"),
    (
        "python/aqmlab/adversary/genome.py",
        "droptail",
        "where a control is attacked: room, no queue",
    ),
];

/// The texts in quotes of a source, Rust's or Python's, outside its unit tests.
fn quoted(text: &str) -> Vec<String> {
    let product = text.split("#[cfg(test)]").next().unwrap_or("");
    let plain = product.replace("\\\"", "\"").replace('\'', "\"");
    plain.split('"').map(str::to_owned).collect()
}

#[test]
fn the_rest_of_the_product_knows_no_discipline_by_name() {
    let top = source("../../..");
    let mut all = Vec::new();
    let mut crates: Vec<_> =
        fs::read_dir(top.join("crates")).unwrap().map(|f| f.unwrap().path()).collect();
    crates.sort();
    for folder in crates.iter().filter(|folder| !folder.ends_with("aqm")) {
        files(&folder.join("src"), &top, "rs", &mut all);
    }
    files(&top.join("python/aqmlab"), &top, "py", &mut all);
    // Files that hold only unit tests are not read.
    all.retain(|(file, _)| !file.ends_with("_tests.rs") && !file.ends_with("/tests.rs"));
    // The packages that know routers' own names of disciplines are not read.
    all.retain(|(file, _)| {
        !["targets", "advise"].iter().any(|at| file.starts_with(&format!("python/aqmlab/{at}/")))
    });
    assert!(all.len() > 50, "{} files: too few to be the product", all.len());
    let modules = modules();
    let mut found = Vec::new();
    for (file, text) in &all {
        let texts = quoted(text);
        for entry in ALGORITHMS {
            if texts.iter().any(|text| text == entry.about.name) {
                found.push((file.as_str(), entry.about.name));
            }
        }
        for module in &modules {
            assert!(!text.contains(&format!("algorithms::{module}")), "{file} reaches {module}");
        }
    }
    let mut allowed: Vec<_> = NAMED.iter().map(|(file, name, _)| (*file, *name)).collect();
    allowed.sort_unstable();
    found.sort_unstable();
    assert_eq!(
        found, allowed,
        "a discipline is named in its own file and two lists: read the list there, or say in NAMED why it may"
    );
}

#[test]
fn names_are_unique_and_found() {
    for (i, entry) in ALGORITHMS.iter().enumerate() {
        assert!(std::ptr::eq(find(entry.about.name).unwrap(), entry), "{}", entry.about.name);
        assert!(ALGORITHMS[..i].iter().all(|other| other.about.name != entry.about.name));
    }
    assert!(find("no such thing").is_none());
}

#[test]
fn entries_and_fields_are_documented_and_consistent() {
    for entry in ALGORITHMS {
        let texts = [
            entry.about.summary,
            entry.about.source,
            entry.ecn,
            entry.units,
            entry.about.deviations,
        ];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", entry.about.name);
        assert!(entry.about.year > 1960);
        let counted = ["packets", "bytes", "packets or bytes", "time", "rate"];
        let first = entry.units.split(';').next().unwrap();
        assert!(counted.contains(&first), "{}: {}", entry.about.name, entry.units);
        for (i, field) in entry.about.fields.iter().enumerate() {
            let name = format!("{}.{}", entry.about.name, field.name);
            assert!(entry.about.fields[..i].iter().all(|f| f.name != field.name), "{name} twice");
            assert!(field.meaning.ends_with('.') && !field.source.is_empty(), "{name}");
            for text in [field.meaning, field.source] {
                assert!(!text.contains("  "), "{name}: a lost line break in {text:?}");
            }
            let fits = match (field.kind, field.default) {
                (_, Value::Unset) | (Kind::Switch, Value::Switch(_)) => true,
                (Kind::Whole { min, max, .. }, Value::Whole(v)) => (min..=max).contains(&v),
                (Kind::Real { min, max, open, .. }, Value::Real(v)) => {
                    v <= max && (v > min || (!open && v == min))
                }
                (Kind::Choice(names), Value::Choice(v)) => names.contains(&v),
                _ => false,
            };
            assert!(fits, "{name}: its default is not one of its values");
        }
        let defaults = Params::defaults(entry.about.fields);
        let line = aqmlab_aqm::Line::of(packet::Rate::from_bits_per_s(10_000_000));
        assert!((entry.build)(&defaults, &line).is_ok(), "{} has no defaults", entry.about.name);
    }
}

/// Constructors store them in 32 bits; only numbers of bytes and seeds may be larger.
#[test]
fn numbers_of_packets_and_things_fit_into_32_bits() {
    for entry in ALGORITHMS {
        for field in entry.about.fields {
            if let Kind::Whole { unit, max, .. } = field.kind
                && unit != Unit::Bytes
                && field.name != "hash_seed"
            {
                assert!(max <= u64::from(u32::MAX), "{}.{}: {max}", entry.about.name, field.name);
            }
        }
    }
}

#[test]
fn the_page_of_the_algorithms_says_what_their_tables_say() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms.md");
    let page = fs::read_to_string(page).unwrap();
    for entry in ALGORITHMS {
        let name = entry.about.name;
        let (_, section) = page
            .split_once(&format!("\n## `{name}`\n"))
            .unwrap_or_else(|| panic!("docs/algorithms.md has no section `{name}`: run make docs"));
        let section = section.split("\n## ").next().unwrap();
        for field in entry.about.fields {
            let row = format!("| `{}` | {} | ", field.name, field.meaning);
            let source = format!(" | {} |", field.source);
            let told = |line: &&str| line.starts_with(&row) && line.ends_with(&source);
            let line = section
                .lines()
                .find(told)
                .unwrap_or_else(|| panic!("{name}: no line {row}…{source}: run make docs"));
            let mut cells = line.strip_suffix(&source).unwrap().rsplit(" | ");
            let (default, range) = (cells.next().unwrap(), cells.next().unwrap());
            if let Value::Whole(number) = field.default {
                assert_eq!(default, format!("`{number}`"), "{name}.{}", field.name);
            }
            // Bounds from 10^12 on are written with an exponent.
            if let Kind::Whole { min, max, .. } = field.kind
                && max < 1_000_000_000_000
            {
                assert_eq!(range, format!("{min} to {max}"), "{name}.{}", field.name);
            }
        }
    }
}
