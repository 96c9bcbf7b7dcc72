//! Disciplines in C, compiled and loaded: they do what ours do, packet by packet and draw by draw,
//! and what they do wrong is a sentence.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use aqm::{Entry, Registry};
use aqmlab_plugin::{Failed, Pulse, library};
use serde_json::{Value as Json, json};

/// The library of a file beside this one; nothing where there is no C compiler.
fn compiled(name: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let done = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"])
        .arg(here.join("include"))
        .arg(here.join(format!("tests/{name}.c")))
        .arg("-o")
        .arg(&out)
        .output();
    let Ok(done) = done else {
        println!("skipped: there is no C compiler");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(out)
}

fn loaded(name: &str) -> Option<(&'static Entry, Pulse)> {
    let pulse = Pulse::default();
    let entry = library::load(&compiled(name)?, &pulse).unwrap();
    Some((entry, pulse))
}

/// The calls of a trial of `name`.
fn calls(registry: &Registry, name: &str, parameters: &Json, seed: u64) -> Json {
    let request = json!({
        "discipline": name, "parameters": parameters, "packets": 4_000, "seed": seed, "load": 1.2,
    });
    let document = testvec::answer(&request.to_string(), registry).unwrap();
    serde_json::from_str::<Json>(&document).unwrap()["cases"][0]["calls"].clone()
}

#[test]
fn a_judge_in_c_decides_as_ours_does() {
    let Some((entry, pulse)) = loaded("blue") else { return };
    let registry = Registry::with(&[entry]).unwrap();
    let parameters = json!({"d1": 0.02, "d2": 0.002, "limit": 20, "ecn": true});
    for seed in 1..4 {
        let [ours, theirs] =
            ["blue", "c_blue"].map(|name| calls(&registry, name, &parameters, seed));
        assert_eq!(ours, theirs);
        let shown = theirs.to_string();
        assert!(shown.contains("marked") && shown.contains("overflow") && shown.contains("draws"));
    }
    assert!(pulse.count() > 20_000 && pulse.count().is_multiple_of(2), "every call came back");
}

#[test]
fn a_holder_in_c_serves_as_ours_does() {
    let Some((entry, _)) = loaded("fifo") else { return };
    let registry = Registry::with(&[entry]).unwrap();
    for seed in 1..4 {
        let ours = calls(&registry, "droptail", &json!({"limit": 83}), seed);
        assert_eq!(ours, calls(&registry, "c_fifo", &json!({}), seed));
    }
}

#[test]
fn what_it_does_wrong_is_a_sentence() {
    let Some((entry, _)) = loaded("fifo") else { return };
    let registry = Registry::with(&[entry]).unwrap();
    let twice = catch_unwind(AssertUnwindSafe(|| {
        calls(&registry, "c_fifo", &json!({"wrong": "twice"}), 1);
    }));
    let failed = twice.unwrap_err().downcast::<Failed>().unwrap();
    assert!(failed.0.contains("which does not wait: each packet leaves once"), "{failed:?}");
    let request = json!({"discipline": "c_fifo", "parameters": {"wrong": "refuse"}});
    let why = testvec::answer(&request.to_string(), &registry).unwrap_err();
    assert_eq!(why, "parameters.aqm: c_fifo refuses: as it was told");
}

#[test]
fn what_is_no_library_is_a_sentence() {
    let pulse = Pulse::default();
    let why = library::load(Path::new(file!()), &pulse).unwrap_err();
    assert!(why.starts_with("it cannot be loaded ("), "{why}");
}
