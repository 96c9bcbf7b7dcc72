//! The disciplines can be built into anything: they need no standard library, and no dependency but
//! `packet` and, through it, `libm`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "thumbv7em-none-eabi";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names under `[dependencies]` in the manifest of crate `name`: the first word of each line.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("[target."), "{name} has dependencies of one target");
    assert!(!manifest.contains("[build-dependencies]"), "{name} has build dependencies");
    let section = manifest.split("[dependencies]").nth(1).expect("a section").lines();
    section
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', ' ', '=']).next().filter(|word| !word.is_empty()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn nothing_is_needed_but_packet_and_libm() {
    assert_eq!(dependencies("aqm"), ["packet"]);
    assert_eq!(dependencies("packet"), ["libm"]);
    for name in ["aqm", "packet"] {
        let lib = fs::read_to_string(crates().join(name).join("src/lib.rs")).unwrap();
        assert!(lib.contains("#![cfg_attr(not(test), no_std)]"), "{name}");
        assert!(!lib.contains("extern crate std"), "{name}");
    }
}

/// Builds the crate for a microcontroller without an operating system; skipped if the compiler
/// lacks that target.
#[test]
fn a_target_without_an_operating_system_builds() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let found = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .is_ok_and(|o| Path::new(String::from_utf8_lossy(&o.stdout).trim()).is_dir());
    if !found {
        println!("skipped: `rustup target add {TARGET}` lets this test build for it");
        return;
    }
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--package", "aqmlab-aqm", "--target", TARGET])
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone"))
        .current_dir(crates())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}
