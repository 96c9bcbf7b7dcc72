//! Property tests of congestion controls: laws that must hold under random calls, without end
//! systems. Laws over whole connections are tested with scenarios.

use std::panic::{AssertUnwindSafe, catch_unwind};

use packet::params::{Field, Kind, Params, Raw};
use packet::{Duration, Instant, Rng};
use serde_json::{Value as Json, json};
use tcp::{AckSample, CaState, Cause, Control, Controls, Flight, Lost, RateSample, Window};

use crate::Failed;

/// Number of random connections for each set of parameters, and number of calls of each connection.
const CONNECTIONS: u64 = 20;
const CALLS: usize = 600;
/// Segment size, bytes.
const MSS: u64 = 1_448;
/// How much later the connection begins in the second trace of the law of time.
const SHIFT: Duration = Duration::from_secs(1 << 20);

/// A law: its name, the property in words, and its test on the random connection with a given seed.
struct Law {
    name: &'static str,
    says: &'static str,
    check: fn(&Maker, u64) -> Result<(), String>,
}

const LAWS: &[Law] = &[
    Law {
        name: "window",
        says: "whatever happens, cwnd and ssthresh are never below one segment",
        check: |make, seed| traced(make, seed, Duration::ZERO).map(drop),
    },
    Law {
        name: "determinism",
        says: "equal calls give equal windows",
        check: |make, seed| {
            let first = traced(make, seed, Duration::ZERO)?;
            let again = traced(make, seed, Duration::ZERO)?;
            equal(&first, &again, "the same calls")
        },
    },
    Law {
        name: "time",
        says: "only differences of time matter",
        check: |make, seed| {
            let first = traced(make, seed, Duration::ZERO)?;
            equal(&first, &traced(make, seed, SHIFT)?, "the same calls 2^20 s later")
        },
    },
    Law {
        name: "response",
        says: "a loss, and a timeout, leave less than a window of 100 segments",
        check: |make, _| response(make),
    },
];

type Maker<'a> = dyn Fn() -> Result<Box<dyn Control>, String> + 'a;

/// Checks the control called `name` over random calls; `notify` is called with the name of each
/// law. Returns JSON: `name`, `sets`, the number of parameter sets, and `checks`, for each law its
/// name, its words, and how it is broken or null.
///
/// # Errors
/// A sentence, if there is no such control.
pub fn check(
    controls: &Controls,
    name: &str,
    notify: &mut dyn FnMut(&str),
) -> Result<Json, String> {
    let known: Vec<&str> = controls.all().map(|about| about.name).collect();
    let about = controls
        .all()
        .find(|about| about.name == name)
        .ok_or_else(|| packet::params::unknown("congestion control", name, &known))?;
    let tried = sets(about.fields);
    let checks: Vec<Json> = LAWS
        .iter()
        .map(|law| {
            notify(law.name);
            let broken = tried.iter().find_map(|set| {
                let why = broken(law, controls, name, about.fields, set)?;
                Some(json!({"why": why, "parameters": written(set)}))
            });
            json!({"name": law.name, "says": law.says, "broken": broken})
        })
        .collect();
    Ok(json!({"name": name, "sets": tried.len(), "checks": checks}))
}

type Written = Vec<(String, Raw)>;

/// Sets of parameters that a control is checked with: its defaults, then the defaults with each
/// value of each choice and switch.
fn sets(fields: &[Field]) -> Vec<Written> {
    let mut sets = vec![Vec::new()];
    for field in fields {
        let one = |raw: Raw| vec![(field.name.to_owned(), raw)];
        match field.kind {
            Kind::Switch => sets.extend([true, false].map(|v| one(Raw::Bool(v)))),
            Kind::Choice(names) => {
                sets.extend(names.iter().map(|name| one(Raw::Text((*name).to_owned()))));
            }
            _ => {}
        }
    }
    sets
}

fn written(set: &Written) -> Json {
    let shown = set.iter().map(|(name, raw)| (name.clone(), json!(raw.to_string())));
    Json::Object(shown.collect())
}

/// How a law is broken with a set of parameters; `None` if it holds.
fn broken(
    law: &Law,
    controls: &Controls,
    name: &str,
    fields: &'static [Field],
    set: &Written,
) -> Option<String> {
    let params = match Params::check(fields, set) {
        Ok(params) => params,
        Err(bad) => return Some(bad.to_string()),
    };
    let make = || controls.make(name, &params).map_err(|bad| bad.why);
    (0..CONNECTIONS).find_map(|seed| {
        let done = catch_unwind(AssertUnwindSafe(|| (law.check)(&make, seed)));
        done.unwrap_or_else(|payload| match payload.downcast::<Failed>() {
            Ok(failed) => Err(failed.0),
            Err(other) => std::panic::resume_unwind(other),
        })
        .err()
    })
}

fn equal(first: &[(u64, u64)], other: &[(u64, u64)], what: &str) -> Result<(), String> {
    match first.iter().zip(other).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!(
            "at call {at}, {what} give a window of {} bytes and then one of {}",
            first[at].0, other[at].0
        )),
    }
}

/// Values of (cwnd, ssthresh) after each of the random calls of a connection.
fn traced(make: &Maker, seed: u64, shift: Duration) -> Result<Vec<(u64, u64)>, String> {
    let mut path = Path::new(make()?, seed, shift);
    (0..CALLS)
        .map(|_| {
            path.step();
            let Window { cwnd, ssthresh, .. } = path.win;
            if cwnd < MSS || ssthresh < MSS {
                return Err(format!("cwnd is {cwnd} bytes and ssthresh {ssthresh}"));
            }
            Ok((cwnd, ssthresh))
        })
        .collect()
}

/// Tests that a loss, and in another connection a timeout, reduces a window of 100 segments.
fn response(make: &Maker) -> Result<(), String> {
    for cause in [Cause::Loss, Cause::Timeout] {
        let mut path = Path::new(make()?, 1, Duration::ZERO);
        path.open();
        path.win.cwnd = 100 * MSS;
        path.win.ssthresh = 100 * MSS;
        for _ in 0..10 {
            path.ack(10, CaState::Open);
        }
        let before = path.win.cwnd;
        path.congestion(cause);
        let left = path.win.ssthresh.min(path.win.cwnd);
        if left >= before && !path.control.flags().own_window {
            return Err(format!("{cause:?} leaves {left} of {before} bytes"));
        }
    }
    Ok(())
}

/// A random connection: makes the calls that a sender would make.
struct Path {
    control: Box<dyn Control>,
    win: Window,
    rng: Rng,
    now: Instant,
    una: u64,
    delivered: u64,
    lost: u64,
    round_end: u64,
}

impl Path {
    fn new(control: Box<dyn Control>, seed: u64, shift: Duration) -> Self {
        let win =
            Window { cwnd: 10 * MSS, ssthresh: u64::MAX / 2, mss: MSS as u16, ..Window::default() };
        let mut path = Path {
            control,
            win,
            rng: Rng::indexed(1, "random calls of a congestion control", seed),
            now: Instant::from_nanos(1_000_000_000) + shift,
            una: 1,
            delivered: 0,
            lost: 0,
            round_end: 1,
        };
        path.open();
        path
    }

    fn open(&mut self) {
        self.control.on_open(&mut self.win, Duration::from_millis(40), self.now);
    }

    fn flight(&self) -> Flight {
        Flight { una: self.una, max: self.una + self.win.cwnd.min(1 << 30), window: 1 << 30 }
    }

    fn step(&mut self) {
        match self.rng.below(60) {
            0 => self.congestion(Cause::Loss),
            1 if !self.control.flags().own_marks => self.congestion(Cause::Mark),
            2 => self.congestion(Cause::Timeout),
            3 => self.control.undo(&mut self.win, false),
            4 => {
                let last = self.now;
                self.now += Duration::from_millis(self.rng.below(3_000));
                self.control.on_tx_start(&mut self.win, last, true, self.now);
            }
            what => {
                let segments = self.segments();
                self.ack(
                    segments,
                    match what {
                        5..10 => CaState::Recovery,
                        10..14 => CaState::Cwr,
                        _ => CaState::Open,
                    },
                );
            }
        }
    }

    fn segments(&mut self) -> u64 {
        self.rng.below(8)
    }

    /// Reports congestion as a sender does: first the lost segment, then the event; after a timeout
    /// it sets cwnd to one segment.
    fn congestion(&mut self, cause: Cause) {
        let flight = self.flight();
        if cause != Cause::Mark {
            self.lost += MSS;
            let lost = Lost {
                now: self.now,
                bytes: MSS,
                sent_in_flight: flight.outstanding(),
                lost: MSS,
                total_delivered: self.delivered,
                app_limited: false,
            };
            self.control.on_lost(&self.win, &lost);
        }
        self.control.on_congestion(&mut self.win, &flight, cause, self.now);
        if cause == Cause::Timeout {
            self.control.on_timeout(&self.win, &flight, self.now);
            self.win.cwnd = MSS;
        }
    }

    fn ack(&mut self, segments: u64, ca_state: CaState) {
        self.now += Duration::from_micros(100 + self.rng.below(20_000));
        let rtt = Duration::from_micros(20_000 + self.rng.below(80_000));
        let bytes = (segments * MSS).min(self.flight().outstanding());
        let before = self.flight().outstanding();
        let prior = self.delivered.saturating_sub(before);
        self.delivered += bytes;
        self.una += bytes;
        let round = self.una >= self.round_end;
        if round {
            self.round_end = self.una + before;
        }
        let marked = if self.rng.below(10) == 0 { bytes } else { 0 };
        let ack = AckSample {
            now: self.now,
            flight: self.flight(),
            delivered: bytes,
            acked: bytes,
            segments: segments as u32,
            lost: 0,
            marked,
            in_flight_before: before,
            in_flight: before.saturating_sub(bytes),
            rtt: (bytes > 0).then_some(rtt),
            srtt: Duration::from_millis(60),
            min_rtt: Duration::from_millis(20),
            rate: (bytes > 0).then(|| RateSample {
                delivered: self.delivered - prior,
                interval: rtt,
                prior_delivered: prior,
                total_delivered: self.delivered,
                sent_in_flight: before,
                lost: 0,
                app_limited: false,
            }),
            round,
            window_limited: self.rng.below(4) > 0,
            next_send: self.now,
            ca_state,
            paced: true,
        };
        self.control.on_ack(&mut self.win, &ack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_keep_every_law_but_one_by_one_of_them() {
        for about in tcp::controls() {
            let report = check(&Controls::ours(), about.name, &mut |_| {}).unwrap();
            for check in report["checks"].as_array().unwrap() {
                // bbr3 takes the time of its next probe from the clock; Linux draws it at random.
                let excused = about.name == "bbr3" && check["name"] == "time";
                assert!(check["broken"].is_null() != excused, "{}: {check}", about.name);
            }
        }
    }
}
