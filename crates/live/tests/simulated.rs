//! A simulated run's packets, with the headers of its own capture.

use std::sync::{Arc, Mutex};

use aqmlab_live::addresses;
use aqmlab_live::header::Facts;
use aqmlab_live::router::{Departed, Router, is_copy};
use packet::Instant;
use serde_json::Value;
use sim::topology::Side;
use sim::{Capture, CapturedAt, Outcome, Run, Scenario};

/// A packet as it reached the first link.
pub struct Arrival {
    pub at: Instant,
    pub from: Side,
    pub facts: Facts,
}

pub fn scenario(json: &Value) -> Scenario {
    Scenario::from_json(&json.to_string()).expect("a scenario")
}

/// Runs a scenario: its outcome, and what arrived at either port of its link.
pub fn arrivals(json: &Value) -> (Outcome, Vec<Arrival>) {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&bytes);
    let sink = Box::new(move |piece: &[u8]| taken.lock().unwrap().extend_from_slice(piece));
    let capture = Capture { ports: Vec::new(), at: CapturedAt::Arrival, sink };
    let run = Run::capturing(scenario(json), capture).expect("a run");
    let outcome = run.complete(&mut |_| true).expect("nobody stops it");
    let bytes = bytes.lock().unwrap();
    (outcome, records(&bytes))
}

/// The records of a capture file with time stamps in nanoseconds (draft-ietf-opsawg-pcap).
fn records(mut file: &[u8]) -> Vec<Arrival> {
    let word = |bytes: &[u8], at: usize| {
        u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
    };
    let mut out = Vec::new();
    file = &file[24..];
    while !file.is_empty() {
        let (stored, full) = (word(file, 8) as usize, word(file, 12) as usize);
        let at = Instant::from_nanos(word(file, 0) * 1_000_000_000 + word(file, 4));
        let mut packet = file[16..16 + stored].to_vec();
        packet.resize(full, 0); // payload is not stored
        let facts = Facts::read(&packet).expect("a packet of IP");
        let (from, _) = addresses::machine(facts.from.ip()).expect("a machine's address");
        out.push(Arrival { at, from, facts });
        file = &file[16 + stored..];
    }
    out
}

/// Offers arrivals to a router in turn, which may be looked at `late` by that many nanoseconds;
/// all that became of packets, and how many handles were in use at most.
pub fn offer(router: &mut Router, arrivals: &[Arrival], late_ns: u64) -> Vec<Departed> {
    let (mut all, mut done, mut free, mut used) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for arrival in arrivals {
        if late_ns > 0 {
            // A driver that sleeps in steps: what is due in between happens all the same.
            let ns = arrival.at.nanos();
            router.advance(Instant::from_nanos(ns - ns % late_ns));
        }
        let id = free.pop().unwrap_or_else(|| {
            used += 1;
            used - 1
        });
        router.arrive(arrival.at, id, arrival.from, &arrival.facts);
        done.clear();
        router.take_done(&mut done);
        free.extend(done.iter().filter_map(|done| match done {
            Departed::Delivered { id, .. } | Departed::Dropped { id } => {
                Some(*id).filter(|id| !is_copy(*id))
            }
            Departed::Copied { .. } => None,
        }));
        all.extend(&done);
    }
    all
}
