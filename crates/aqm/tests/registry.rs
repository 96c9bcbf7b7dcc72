//! The list of disciplines is complete, documented, and the only place that knows them.

use std::fs;
use std::path::{Path, PathBuf};

use aqm::{ALGORITHMS, find};
use packet::params::{Kind, Params, Value};

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

/// The modules in algorithms/, by file.
fn modules() -> Vec<String> {
    let files = fs::read_dir(source("algorithms")).unwrap().map(|f| f.unwrap().path());
    let rust = files.filter(|f| f.extension().is_some_and(|e| e == "rs"));
    let mut stems: Vec<_> =
        rust.map(|f| f.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    stems.retain(|stem| stem != "mod");
    stems.sort();
    stems
}

/// Every source file of the crate, with its path from `src`.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            let name = path.strip_prefix(source("")).unwrap().to_string_lossy().into_owned();
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
        assert!(registry.contains(&format!("{module}::ENTRY")), "{module} is not in the registry");
    }
    assert!(ALGORITHMS.len() >= modules.len());
}

#[test]
fn an_algorithm_is_named_in_its_own_file_and_two_lists() {
    let mut all = Vec::new();
    files(&source(""), &mut all);
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
        assert_eq!(elsewhere, ["algorithms/mod.rs", "registry.rs"], "{module}");
    }
}

#[test]
fn names_are_unique_and_found() {
    for (i, entry) in ALGORITHMS.iter().enumerate() {
        assert!(std::ptr::eq(find(entry.name).unwrap(), entry), "{}", entry.name);
        assert!(ALGORITHMS[..i].iter().all(|other| other.name != entry.name));
    }
    assert!(find("no such thing").is_none());
}

#[test]
fn entries_and_fields_are_documented_and_consistent() {
    for entry in ALGORITHMS {
        let texts = [entry.summary, entry.source, entry.ecn, entry.units, entry.deviations];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", entry.name);
        assert!(entry.year > 1960);
        let counted = ["packets", "bytes", "packets or bytes", "time"];
        let first = entry.units.split(';').next().unwrap();
        assert!(counted.contains(&first), "{}: {}", entry.name, entry.units);
        for (i, field) in entry.fields.iter().enumerate() {
            let name = format!("{}.{}", entry.name, field.name);
            assert!(entry.fields[..i].iter().all(|f| f.name != field.name), "{name} twice");
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
        let defaults = Params::defaults(entry.fields);
        let line = aqm::Line { rate: packet::Rate::from_bits_per_s(10_000_000) };
        assert!((entry.build)(&defaults, &line).is_ok(), "{} has no defaults", entry.name);
    }
}
