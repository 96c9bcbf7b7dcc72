//! The log of a run, replayed through the simulator's own ports.

use aqmlab_live::router::Router;
use aqmlab_live::router::log::{Fate, Log};
use aqmlab_live::router::replay::replay;
use packet::Instant;
use serde_json::{Value, json};

use crate::simulated::{arrivals, offer, scenario};

fn run(queue: &str) -> (Value, Vec<(String, Log)>) {
    let json = json!({
        "duration": "6 s",
        "link": [{"rate": "5 Mbit/s", "forward": {"aqm": queue}, "reverse": queue}],
        "traffic": [{"app": "bulk", "flows": 9, "tcp": "plain"}],
    });
    let (_, packets) = arrivals(&json);
    let scenario = scenario(&json);
    let mut router = Router::new(&scenario, usize::MAX).expect("a router");
    // Looked at every 3 ms, as if the machine were slow: the link's own time does not mind.
    offer(&mut router, &packets, 3_000_000);
    let end = Instant::ZERO + scenario.params.time("duration");
    let finished = router.finish(end);
    (json, finished.logs().map(|(name, log)| (name.to_owned(), log.clone())).collect())
}

#[test]
fn a_log_replays_to_the_same_decisions() {
    for entry in aqm::ALGORITHMS {
        let (json, logs) = run(entry.about.name);
        for (name, log) in &logs {
            let replayed = replay(&scenario(&json), name, log).expect("a port");
            assert_eq!(replayed.differs, None, "{}, {name}", entry.about.name);
            assert!(replayed.arrivals > 500, "{name}: {}", replayed.arrivals);
        }
    }
}

#[test]
fn a_decision_that_was_not_the_queue_s_is_found() {
    let (json, logs) = run("red");
    let (name, log) = &logs[0];
    let mut forged = Log::new(usize::MAX);
    let later = |at: Instant| Instant::from_nanos(at.nanos() + 1);
    for row in log.rows() {
        let number = forged.arrived(&row.packet, row.tcp, row.class);
        let fate = match row.fate {
            Fate::Left { at, marked } if number == 700 => Fate::Left { at: later(at), marked },
            fate => fate,
        };
        forged.became(number, fate);
    }
    let replayed = replay(&scenario(&json), name, &forged).expect("a port");
    assert_eq!(replayed.differs.map(|(row, ..)| row), Some(700));
}
