//! Tells the binding which commit it was built from.

use std::process::Command;

fn main() {
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
        Some(String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=AQMLAB_COMMIT={commit}");
    }
    if let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
}
