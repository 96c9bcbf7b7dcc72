//! Passes the origin of a build to the binding: a hash of the simulator's sources, by which results
//! of one version are recognized, and the git commit, for people.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Adds every source file below `folder` to `found`, in a fixed order, without tests and examples.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the crates are readable");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if !["tests", "benches", "examples", "target"].iter().any(|n| path.ends_with(n)) {
                sources(&path, found);
            }
        } else if path
            .extension()
            .is_some_and(|e| ["rs", "csv", "json", "toml"].iter().any(|known| e == *known))
        {
            found.push(path);
        }
    }
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
fn hash(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn main() {
    let crates = Path::new("..");
    // These two files hold the versions of dependencies and the compiler's settings.
    let mut found = vec![PathBuf::from("../../Cargo.lock"), PathBuf::from("../../Cargo.toml")];
    sources(crates, &mut found);
    let build = found.iter().fold(0xcbf2_9ce4_8422_2325, |h, path| {
        let name = path.to_string_lossy().replace('\\', "/");
        hash(&std::fs::read(path).expect("a source is readable"), hash(name.as_bytes(), h))
    });
    println!("cargo::rustc-env=AQMLAB_BUILD={:012x}", build >> 16);
    for path in ["..", "../../Cargo.lock", "../../Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }

    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
        Some(String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=AQMLAB_COMMIT={commit}");
    }
}
