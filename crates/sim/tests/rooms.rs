//! The way of the data through the rooms of this crate: scenario → setup → world → recorder, ports
//! below. Nobody leans on a room above his own.

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms, and above each those that it must not know.
const ABOVE: &[(&str, &[&str])] = &[
    ("event_queue", &["port", "scenario", "setup", "world", "recorder", "run", "capture"]),
    ("slab", &["port", "scenario", "setup", "world", "recorder", "run", "capture"]),
    ("topology", &["port", "scenario", "setup", "world", "recorder", "run", "capture"]),
    ("effect", &["port", "scenario", "setup", "world", "recorder", "run", "capture"]),
    ("port", &["scenario", "setup", "world", "recorder", "run", "capture"]),
    ("memory", &["setup", "world", "recorder", "run", "capture"]),
    ("scenario", &["setup", "world", "recorder", "run", "capture"]),
    ("recorder", &["setup", "run"]),
    ("capture", &["setup", "run"]),
    ("world", &["setup", "run"]),
    ("setup", &["run"]),
];

/// `room.rs` and all that lies in `room/`.
fn files(room: &str) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut found, mut folders) =
        (vec![source.join(room).with_extension("rs")], vec![source.join(room)]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.retain(|path| path.exists());
    found
}

#[test]
fn arrows_point_down() {
    let mut wrong = Vec::new();
    for (room, above) in ABOVE {
        let files = files(room);
        assert!(!files.is_empty(), "there is no room {room}");
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            // What only tests use does not lean.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let leans = |other: &&&str| line.contains(&format!("crate::{other}"));
                wrong.extend(
                    above.iter().find(leans).map(|other| format!("{}: {other}", path.display())),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
