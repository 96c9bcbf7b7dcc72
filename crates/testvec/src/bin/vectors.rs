//! Writes `vectors/<name>.json` for every discipline of the registry (`make vectors`), and removes
//! files of disciplines that no longer exist.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value as Json;

fn one(entry: &'static aqm::Entry, cases: &Path, out: &Path) -> Result<(), String> {
    let file = match fs::read_to_string(cases.join(format!("{}.json", entry.about.name))) {
        Err(_) => None,
        Ok(text) => Some(serde_json::from_str::<Json>(&text).map_err(|e| e.to_string())?),
    };
    let text = aqmlab_testvec::suite::vectors(entry, file.as_ref())?;
    fs::write(out.join(format!("{}.json", entry.about.name)), text).map_err(|e| e.to_string())
}

fn all() -> Result<(), String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (cases, out) = (here.join("cases"), here.join("../../vectors"));
    fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    for file in fs::read_dir(&out).map_err(|e| e.to_string())? {
        let path = file.map_err(|e| e.to_string())?.path();
        if path.extension().is_some_and(|e| e == "json") {
            fs::remove_file(path).map_err(|e| e.to_string())?;
        }
    }
    let why = |entry: &'static aqm::Entry| {
        one(entry, &cases, &out).err().map(|why| format!("{}: {why}", entry.about.name))
    };
    let mistakes: Vec<String> = aqm::ALGORITHMS.iter().filter_map(why).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
}

fn main() -> ExitCode {
    match all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
