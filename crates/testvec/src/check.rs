//! Checks a discipline, including one that a user supplies: the laws, random calls and its test
//! vectors, with a report.

use aqm::Entry;
use packet::Rng;
use packet::params::Raw;
use serde_json::{Map, Value as Json, json};

use crate::laws::{LAWS, Law, Written, caught, sets};
use crate::parameters::unread;
use crate::random_calls::{Done, drive};
use crate::suite;

/// Number of random byte strings that are turned into calls.
const STRINGS: u64 = 200;

/// Checks a discipline; `notify` is called with the name of each step. Returns JSON: `name`;
/// `sets`, the number of parameter sets that were tried; `checks`, each with `name`, `says` (the
/// property in words) and `broken` (null, or a sentence and the `parameters` with which it fails);
/// `happened` (numbers of packets sent, dropped and marked in the random calls); and `vectors`, the
/// document of its test vectors, or null if they cannot be made.
pub fn check(entry: &'static Entry, notify: &mut dyn FnMut(&str)) -> Json {
    let tried = sets(entry);
    let mut checks = Vec::new();
    if tried.is_empty() {
        let says = "it accepts parameters of its own table";
        checks.push(row("parameters", says, Some(("it refuses its own defaults".into(), None))));
    }
    for law in LAWS {
        notify(law.name);
        checks.push(row(law.name, law.says, broken(law, entry, &tried)));
    }
    notify("random calls");
    let (done, why) = random(entry);
    let says = "whatever calls come, with any parameters, the books balance";
    checks.push(row("random calls", says, why.map(|why| (why, None))));
    notify("vectors");
    let vectors = caught(|| suite::vectors(entry, None)).and_then(|made| made);
    let again = caught(|| suite::vectors(entry, None)).and_then(|made| made);
    let why = match &vectors {
        Err(why) => Some(why.clone()),
        Ok(_) if vectors != again => Some("they differ when they are made again".to_owned()),
        Ok(_) => None,
    };
    let says = "its test vectors can be written, twice the same";
    checks.push(row("vectors", says, why.map(|why| (why, None))));
    json!({
        "name": entry.about.name,
        "sets": tried.len(),
        "checks": checks,
        "happened": {"sent": done.sent, "dropped": done.dropped, "marked": done.marked},
        "vectors": vectors.ok(),
    })
}

fn row(name: &str, says: &str, broken: Option<(String, Option<&Written>)>) -> Json {
    let broken = broken.map(|(why, set)| {
        let written = |set: &Written| -> Map<String, Json> {
            set.iter().map(|(name, raw): &(String, Raw)| (name.clone(), unread(raw))).collect()
        };
        json!({"why": why, "parameters": set.map(written)})
    });
    json!({"name": name, "says": says, "broken": broken})
}

/// The first set of parameters with which a law is broken, and a sentence on how.
fn broken<'a>(
    law: &Law,
    entry: &Entry,
    tried: &'a [Written],
) -> Option<(String, Option<&'a Written>)> {
    tried.iter().find_map(|set| Some((law.check(entry, set).err()?, Some(set))))
}

/// Drives the discipline by random calls. Returns counts, and a sentence on the first property that
/// was broken, if any.
fn random(entry: &'static Entry) -> (Done, Option<String>) {
    let mut all = Done::default();
    for n in 0..STRINGS {
        let mut rng = Rng::indexed(1, "random bytes", n);
        let length = 20 + rng.below(1_500);
        let data: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
        match caught(|| drive(&data, &[entry])) {
            Ok(None) => {}
            Ok(Some((_, done))) => {
                all.sent += done.sent;
                all.dropped += done.dropped;
                all.marked += done.marked;
            }
            Err(why) => return (all, Some(why)),
        }
    }
    (all, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_ours_passes_every_check() {
        let mut notes = Vec::new();
        let report = check(aqm::find("red").unwrap(), &mut |what| notes.push(what.to_owned()));
        let checks = report["checks"].as_array().unwrap();
        assert!(checks.iter().all(|check| check["broken"].is_null()), "{checks:?}");
        assert_eq!(notes.len(), checks.len());
        assert!(report["sets"].as_u64().unwrap() > 10);
        assert!(report["vectors"].as_str().unwrap().contains("aqmlab vectors 1"));
    }
}
