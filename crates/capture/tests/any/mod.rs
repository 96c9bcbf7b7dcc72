//! Any bytes as a capture: what a fuzzer reads (`fuzz/`), and `tests/mutations.rs` with damaged
//! captures.

use aqmlab_capture::{Learner, Limits};
use serde_json::Value;

/// Limits so tight that small captures reach them.
fn tight() -> Limits {
    Limits { open: 4, vectors: 256, vector: 64, hosts: 3, ..Limits::default() }
}

/// Reads `data`, whose first byte says in how large pieces and with which limits.
///
/// # Panics
/// If reading does, if a refusal is no sentence, or if what comes out is no model.
pub fn read(data: &[u8]) {
    let Some((&how, bytes)) = data.split_first() else { return };
    let limits = if how & 1 == 0 { Limits::default() } else { tight() };
    let piece = [1 << 20, 4096, 61, 1][usize::from(how >> 1 & 3)];
    let mut learner = Learner::new(limits, Vec::new());
    let mut payload = [0; 2];
    let mut connections = 0;
    for piece in bytes.chunks(piece) {
        if let Err(why) = learner.feed(piece) {
            return sentence(&why.0);
        }
        connections += check(&mut learner, &mut payload);
    }
    let report = match learner.finish() {
        Ok(report) => report,
        Err(why) => return sentence(&why.0),
    };
    connections += check(&mut learner, &mut payload);
    assert_eq!(report["connections"], connections);
    assert_eq!(report["bytes"], serde_json::json!(payload));
    for warning in report["warnings"].as_array().unwrap() {
        sentence(warning.as_str().unwrap());
    }
}

/// Every line is a connection; how many there are.
fn check(learner: &mut Learner, payload: &mut [u64; 2]) -> u64 {
    let (lines, finished) = learner.take();
    let mut at = 0;
    for one in &finished {
        let line = &lines[at..at + one.length];
        at += one.length;
        let line: Value = serde_json::from_slice(line).expect("a line is JSON");
        let numbers = |list: &Value, which: usize| -> u64 {
            let units = list.as_array().map_or(&[][..], Vec::as_slice);
            units.iter().map(|unit| unit[which].as_u64().expect("a whole number")).sum()
        };
        assert_eq!(line["at_us"], one.at_us);
        payload[0] += numbers(&line["epochs"], 1) + numbers(&line["opener"], 1);
        payload[1] += numbers(&line["epochs"], 3) + numbers(&line["acceptor"], 1);
    }
    assert_eq!(at, lines.len(), "lines that no connection owns");
    finished.len() as u64
}

fn sentence(text: &str) {
    assert!(!text.is_empty() && !text.contains('\n'), "not one sentence: {text:?}");
}
