//! A look into a run that is under way: what happened at the watched ports and to requests since
//! the last look. Looking changes nothing of a run's results, and what waits for a look is bounded.

use packet::{Duration, Instant, Why};
use record::{Binned, Column, Requests, Second, Seen, WatchSettings};
use serde_json::{Value as Json, json};

use crate::port::Port;
use crate::world::World;

/// Which ports are watched, and how finely.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub settings: WatchSettings,
    /// The queues of the scenario, and the way back of the first: its packets are watched only.
    pub ports: Vec<String>,
}

impl Watch {
    /// Of a scenario whose studied ports are `queues`.
    pub fn new(bin: Duration, queues: &[String]) -> Watch {
        let mut ports = queues.to_vec();
        let (link, direction) = queues[0].rsplit_once('.').expect("a port is <link>.<direction>");
        let back = if direction == "forward" { "reverse" } else { "forward" };
        let back = format!("{link}.{back}");
        if !ports.contains(&back) {
            ports.push(back);
        }
        Watch { settings: WatchSettings { bin }, ports }
    }
}

/// Bins of response times: so many in each decade, from a millisecond on.
pub const BINS_A_DECADE: u32 = 20;
/// Decades, up to 1000 s; what takes longer or fails falls into the last bin.
const DECADES: u32 = 6;

/// What was looked at already.
#[derive(Clone, Debug)]
pub(crate) struct Watcher {
    /// Place and name of each watched port.
    ports: Vec<(usize, String)>,
    /// Whole seconds that were looked at.
    seconds: usize,
    /// Response times that were looked at, by group.
    answers: Vec<usize>,
    responses: Responses,
}

/// Response times of the measured interval so far.
#[derive(Clone, Debug)]
struct Responses {
    counts: Vec<u64>,
    total: u64,
    within_a_second: u64,
    failed: u64,
}

impl Responses {
    fn add(&mut self, ns: u64) {
        let failed = ns == u64::MAX;
        let ms = ns as f64 / 1e6;
        let bin = (packet::math::ln(ms.max(1.0)) / std::f64::consts::LN_10
            * f64::from(BINS_A_DECADE)) as usize;
        let last = self.counts.len() - 1;
        self.counts[if failed { last } else { bin.min(last) }] += 1;
        self.total += 1;
        self.failed += u64::from(failed);
        self.within_a_second += u64::from(ns <= 1_000_000_000);
    }
}

impl Watcher {
    /// Nothing looked at yet of these ports, out of all of a world.
    pub fn new(watched: Vec<String>, all: &[String]) -> Watcher {
        let place = |name: String| Some((all.iter().position(|known| *known == name)?, name));
        let counts = vec![0; (BINS_A_DECADE * DECADES) as usize];
        Watcher {
            ports: watched.into_iter().filter_map(place).collect(),
            seconds: 0,
            answers: Vec::new(),
            responses: Responses { counts, total: 0, within_a_second: 0, failed: 0 },
        }
    }

    /// What has happened since the last look, as JSON.
    pub fn look(&mut self, world: &mut World, over: bool) -> Json {
        let now = world.now();
        let until = match over {
            true => now.nanos().div_ceil(SECOND),
            false => now.nanos() / SECOND,
        } as usize;
        let seconds = self.seconds..until.max(self.seconds);
        self.seconds = seconds.end;
        let ports: Vec<Json> = self
            .ports
            .iter()
            .map(|(place, name)| port(world.port(*place), name, now, seconds.clone()))
            .collect();
        self.answered(world.recorder().requests());
        let series = world.recorder().per_second(seconds.end).into_iter();
        let series: serde_json::Map<String, Json> =
            series.map(|(name, column)| (name, tail(&column, seconds.start))).collect();
        json!({
            "now_s": now.secs_f64(), "over": over, "from_s": seconds.start,
            "events": world.events_served(), "ports": ports, "seconds": series,
            "responses": {
                "counts": self.responses.counts, "bins_a_decade": BINS_A_DECADE,
                "total": self.responses.total, "failed": self.responses.failed,
                "within_1s": self.responses.within_a_second,
            },
        })
    }

    fn answered(&mut self, requests: &Requests) {
        for (group, durations) in requests.durations().enumerate() {
            if self.answers.len() == group {
                self.answers.push(0);
            }
            durations[self.answers[group]..].iter().for_each(|&ns| self.responses.add(ns));
            self.answers[group] = durations.len();
        }
    }

    /// What happened to packets since the last look: [`PACKET_NUMBERS`] numbers for each event,
    /// port by port.
    pub fn packets(&mut self, world: &mut World, out: &mut Vec<f64>) {
        for (number, (place, _)) in self.ports.iter().enumerate() {
            if let Some(trace) = world.port(*place).meter_mut().packet_trace() {
                trace.look().iter().for_each(|seen| out.extend(row(number, seen)));
            }
        }
    }

    /// Whether packets are to be seen from now on.
    pub fn watch_packets(&mut self, world: &mut World, on: bool) {
        for (place, _) in &self.ports {
            if let Some(trace) = world.port(*place).meter_mut().packet_trace() {
                trace.watch(on);
            }
        }
    }
}

const SECOND: u64 = 1_000_000_000;

/// Numbers that say what happened to a packet: the watched port's place, time in seconds, what (0
/// arrived, 1 its transmission began, 2 dropped, 3 marked), cause (255 none), kind and whether it
/// was sent before, group, user, IP bytes, number while it is on its way, packets waiting.
pub const PACKET_NUMBERS: usize = 10;

fn row(port: usize, seen: &Seen) -> [f64; PACKET_NUMBERS] {
    let who = seen.who;
    [
        port as f64,
        seen.at.secs_f64(),
        seen.what.into(),
        seen.why.into(),
        who.class.kind().into(),
        u8::from(who.class.again()).into(),
        who.group.into(),
        who.user.into(),
        who.bytes.into(),
        seen.id.into(),
    ]
}

fn port(port: &mut Port, name: &str, now: Instant, seconds: std::ops::Range<usize>) -> Json {
    let samples = port.look(now);
    let gauges: serde_json::Map<String, Json> =
        samples.gauges.iter().map(|(name, bins)| ((*name).to_owned(), binned(bins))).collect();
    let meter = port.meter();
    let rows: Vec<Second> = seconds.map(|second| meter.second(second)).collect();
    let of_departures =
        |which: usize| rows.iter().map(|row| row.departures[which]).collect::<Json>();
    json!({
        "name": name, "packets": meter.backlog().packets, "bytes": meter.backlog().bytes,
        "queue": binned(&samples.queue), "gauges": gauges,
        "departures": of_departures(0), "ip_bytes": of_departures(1), "queue_delay_ns": of_departures(2),
        "drops": by_cause(&rows, |row| row.drops), "marks": by_cause(&rows, |row| row.marks),
    })
}

/// A series of a second each for every cause.
fn by_cause(rows: &[Second], of: fn(&Second) -> [u64; Why::ALL.len()]) -> Json {
    let series = |cause: usize| rows.iter().map(|row| of(row)[cause]).collect::<Json>();
    let named = |(cause, why): (usize, &Why)| (why.name().to_owned(), series(cause));
    Json::Object(Why::ALL.iter().enumerate().map(named).collect())
}

/// A series of a second each, from second `from` on.
fn tail(column: &Column, from: usize) -> Json {
    match column {
        Column::U64(counts) => json!(counts[from..]),
        Column::F64(means) => json!(means[from..]),
        _ => unreachable!("series per second are counts or means"),
    }
}

fn binned(of: &Binned) -> Json {
    let side = |which: usize| of.bins.iter().map(|bin| bin[which]).collect::<Json>();
    json!({"from_s": of.from_s, "width_s": of.width_s, "least": side(0), "most": side(1)})
}
