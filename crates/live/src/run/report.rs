//! The results of a live run: its measures, and the conditions that show how far to trust them.

use packet::{Duration, Instant};
use serde_json::{Value, json};
use sim::Outcome;

use super::drive::Drive;
use super::{Programs, Spec};
use crate::device::Tun;
use crate::fault::{Fault, doing};
use crate::netns::Counters;
use crate::router::replay::replay;
use crate::router::{Finished, UserReports};
use crate::users::{Collected, collect};

/// Limit of the 99th percentile of the lateness, in seconds. Above it the run's report has a
/// warning: round-trip times are no longer those of the scenario.
const LATE_S: f64 = 0.000_5;

/// Conditions of a run that show how far to trust it, as JSON: `lateness_p50_s`, `lateness_p99_s`,
/// `lateness_max_s` of packets handed to the devices; `gap_p99_s`, `gap_max_s`, how late the
/// router's loop was at its steps, without sleep; `cpu_share`, the router's share of one processor,
/// and `users_cpu_share`, that of the users' programs on each side (`clients`, `servers`; `null`
/// without users); `scheduling`, see [`Precedence::account`](crate::priority::Precedence::account);
/// `packets`, those received from the devices; `dropped_elsewhere`, those dropped by devices;
/// `foreign`, those of other addresses; `replayed`, arrivals replayed through the simulator;
/// `connects`, how many connections of users were established and how long `connect()` took
/// (quantiles `p50_s`, `p90_s`, `p99_s` and `max_s`; a retransmitted SYN shows in the last three);
/// `commands` (name and exit code); `cut_s`, the time if a program ended the run early; `missing`,
/// properties of the end systems that the kernel cannot imitate; and `flags`, a warning sentence
/// for each condition that is not met.
#[derive(Clone, Debug)]
pub struct Honesty(pub Value);

/// Replays the logs, and makes the outcome and the report of a run that ended at `end`. `busy` is
/// the processor time that the router used.
pub fn finish(
    spec: &Spec,
    mut drive: Drive<Tun, Programs>,
    end: Instant,
    counters: [Counters; 2],
    busy: Duration,
) -> Result<(Outcome, Honesty), Fault> {
    let cut = end < Instant::ZERO + spec.scenario.params.time("duration");
    let account = drive.bridge.account();
    let [p50, p99] = [0.5, 0.99].map(|p| drive.bridge.lateness().quantile_s(p));
    let latest = drive.bridge.lateness().longest_s();
    let dropped: u64 = counters.iter().map(|c| c.received[1] + c.sent[1]).sum();
    let elsewhere = dropped + account.refused;
    let users_cut = cut && !spec.facts.is_empty();
    let mut flags = doubts(elsewhere, p99, users_cut);
    flags.extend(drive.precedence.doubt());
    let commands: Vec<Value> = drive
        .programs
        .running
        .iter()
        .filter(|part| part.part.pair.is_none())
        .map(|part| json!({"name": part.part.name, "code": part.code}))
        .collect();
    let gaps = std::mem::take(&mut drive.gaps);
    let scheduling = drive.precedence.account();
    let finished = drive.bridge.into_router().finish(end);
    let replayed = check(spec, &finished, &mut flags)?;
    let (outcome, users) = gather(spec, &finished, Some(end).filter(|_| cut))?;
    let share = |used: Duration| used.secs_f64() / end.secs_f64().max(1e-9);
    let side = |place: usize| users.as_ref().map(|users| share(users.worked[place]));
    let honesty = json!({
        "lateness_p50_s": p50, "lateness_p99_s": p99, "lateness_max_s": latest,
        "gap_p99_s": gaps.quantile_s(0.99), "gap_max_s": gaps.longest_s(),
        "cpu_share": share(busy),
        "users_cpu_share": { "clients": side(0), "servers": side(1) },
        "scheduling": scheduling,
        "packets": account.received, "foreign": account.foreign,
        "dropped_elsewhere": elsewhere,
        "connects": connects(users.as_ref().map_or(&[], |users| &users.connect_s)),
        "replayed": replayed, "commands": commands,
        "cut_s": if cut { Some(end.secs_f64()) } else { None },
        "missing": spec.end_system.missing,
        "flags": flags,
    });
    Ok((outcome, Honesty(honesty)))
}

/// Warning sentences about drops by devices, lateness, and users that were stopped early.
fn doubts(elsewhere: u64, p99_s: f64, users_cut: bool) -> Vec<String> {
    let mut out = Vec::new();
    if elsewhere > 0 {
        out.push(format!("{elsewhere} packets were dropped by devices, not by queues: use a faster machine or a slower line"));
    }
    if p99_s > LATE_S {
        let ms = p99_s * 1e3;
        out.push(format!("one packet in a hundred was {ms:.1} ms late or more: let nothing else run on this machine"));
    }
    if users_cut {
        out.push(
            "users were stopped with the program, before their time: only queues were measured"
                .into(),
        );
    }
    out
}

/// Replays the log of every port through the simulator; a difference adds a warning to `flags`.
/// Returns the number of arrivals replayed.
fn check(spec: &Spec, finished: &Finished, flags: &mut Vec<String>) -> Result<usize, Fault> {
    let mut arrivals = 0;
    for (name, log) in finished.logs().filter(|(name, _)| !name.starts_with("access")) {
        let replayed = replay(&spec.scenario, name, log).map_err(|e| Fault(e.0))?;
        arrivals += replayed.arrivals;
        if let Some((row, live, again)) = replayed.differs {
            flags.push(format!("arrival {row} at {name} met {live:?}, in the simulator {again:?}: please report it with the scenario"));
        }
    }
    Ok(arrivals)
}

/// What the run's report says of users: handshake times in seconds, and the processor time of the
/// users' programs on each side.
struct Beside {
    connect_s: Vec<f64>,
    worked: [Duration; 2],
}

/// The outcome with measurements of ports and users; only of ports, if the run has no users or was
/// cut short at `end`.
fn gather(
    spec: &Spec,
    finished: &Finished,
    end: Option<Instant>,
) -> Result<(Outcome, Option<Beside>), Fault> {
    let shorter = end.map(|end| spec.until(end)).transpose()?;
    let scenario = shorter.as_ref().unwrap_or(&spec.scenario);
    if spec.facts.is_empty() || end.is_some() {
        return Ok((finished.of_ports(scenario), None));
    }
    let Collected { recorder, reports, users, open_requests, connect_s, worked } =
        collect(scenario, &spec.facts).map_err(doing("read what users measured"))?;
    let reported = UserReports { reports, users, open_requests };
    Ok((finished.outcome(scenario, recorder, reported), Some(Beside { connect_s, worked })))
}

/// Number and quantiles of handshake times: from the call of `connect()` until the connection was
/// established.
fn connects(seconds: &[f64]) -> Value {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |p: f64| {
        let place = (p * sorted.len() as f64).ceil() as usize;
        sorted.get(place.saturating_sub(1)).copied()
    };
    let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(quantile);
    json!({ "count": sorted.len(), "p50_s": p50, "p90_s": p90, "p99_s": p99, "max_s": max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_connects_are_times_that_were_seen() {
        let seconds: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let reported = connects(&seconds);
        assert_eq!(
            reported,
            json!({"count": 200, "p50_s": 100.0, "p90_s": 180.0, "p99_s": 198.0, "max_s": 200.0})
        );
        assert_eq!(connects(&[])["p50_s"], Value::Null);
    }
}
