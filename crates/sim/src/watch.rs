//! Observation of a run while it goes on: events at the watched ports and of requests since the
//! last snapshot. Observing does not change the results, and the memory for events that wait for a
//! snapshot is bounded.

mod pictures;

use packet::{DropReason, Duration, Instant};
use record::{Binned, Column, Keep, Second, TracedPacket, WatchSettings, WatchedResponses};
use serde_json::{Value as Json, json};

use self::pictures::Pictures;
use crate::port::Port;
use crate::world::World;

/// The ports to watch, and the time resolution.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub settings: WatchSettings,
    pub keep: Keep,
    /// Names of the scenario's recorded queues, and of the opposite direction of the first one,
    /// which is not sampled: only its packets are observed.
    pub ports: Vec<String>,
}

impl Watch {
    /// The watch for a scenario whose studied ports are `queues`.
    pub fn new(bin: Duration, keep: Keep, queues: &[String]) -> Watch {
        let mut ports = queues.to_vec();
        let (link, direction) = queues[0].rsplit_once('.').expect("a port is <link>.<direction>");
        let back = if direction == "forward" { "reverse" } else { "forward" };
        let back = format!("{link}.{back}");
        if !ports.contains(&back) {
            ports.push(back);
        }
        Watch { settings: WatchSettings { bin }, keep, ports }
    }
}

/// An observer of a run: the watched ports, and how far they have been read.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    keep: Keep,
    /// Index and name of each watched port.
    ports: Vec<(usize, String)>,
    /// Number of whole seconds that have been read.
    seconds: usize,
    pictures: Pictures,
}

impl Observer {
    /// An observer that has read nothing yet. `all` are the names of all ports of the world,
    /// `groups` those of its groups.
    pub fn new(watch: Watch, all: &[String], groups: Vec<String>) -> Observer {
        let place = |name: String| Some((all.iter().position(|known| *known == name)?, name));
        Observer {
            keep: watch.keep,
            ports: watch.ports.into_iter().filter_map(place).collect(),
            seconds: 0,
            pictures: Pictures::new(groups),
        }
    }

    /// Must be called before the world moves to `until`: it stops the world at the end of every
    /// second on the way, and reads which pictures viewers are shown.
    pub fn follow(&mut self, world: &mut World, until: Instant) {
        while self.pictures.next_second() <= until {
            world.run_until(self.pictures.next_second());
            self.pictures.second(&world.shown());
        }
    }

    /// The measured interval begins: pictures shown until now do not count.
    pub fn begin_measuring(&mut self) {
        self.pictures.begin_measuring();
    }

    /// What has happened since the last snapshot, as JSON.
    pub fn snapshot(&mut self, world: &mut World, over: bool) -> Json {
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
        let recorder = world.recorder();
        let series = recorder.per_second(seconds.clone()).into_iter();
        let series = series.chain(recorder.watched_per_second(seconds.clone()));
        let series: serde_json::Map<String, Json> = series
            .map(|(name, column)| (name, values(&column)))
            .chain(self.pictures.per_second(&seconds))
            .collect();
        let responses = recorder.requests().watched().map(responses);
        if self.keep == Keep::Bounded {
            world.forget_before(seconds.end);
            self.pictures.forget_before(seconds.end);
        }
        json!({
            "now_s": now.secs_f64(), "over": over, "from_s": seconds.start,
            "events": world.events_served(), "ports": ports, "seconds": series,
            "responses": responses,
        })
    }

    /// Appends the packet events since the last call to `out`: [`PACKET_NUMBERS`] numbers for each
    /// event, port by port.
    pub fn packets(&mut self, world: &mut World, out: &mut Vec<f64>) {
        for (number, (place, _)) in self.ports.iter().enumerate() {
            if let Some(trace) = world.port(*place).meter_mut().packet_trace() {
                trace.drain().iter().for_each(|seen| out.extend(row(number, seen)));
            }
        }
    }

    /// Switches the packet trace of the watched ports on or off.
    pub fn watch_packets(&mut self, world: &mut World, on: bool) {
        for (place, _) in &self.ports {
            if let Some(trace) = world.port(*place).meter_mut().packet_trace() {
                trace.watch(on);
            }
        }
    }
}

const SECOND: u64 = 1_000_000_000;

/// Number of values that describe a packet event: index of the watched port, time in seconds, event
/// (0 arrival, 1 begin of transmission, 2 drop, 3 mark), reason (255 for none), kind of packet,
/// whether it is a retransmission, group, user, IP bytes, and the handle of the packet while it is
/// in flight.
pub const PACKET_NUMBERS: usize = 10;

fn row(port: usize, seen: &TracedPacket) -> [f64; PACKET_NUMBERS] {
    let who = seen.who;
    [
        port as f64,
        seen.at.secs_f64(),
        seen.what.into(),
        seen.why.into(),
        who.class.kind().into(),
        u8::from(who.class.is_retransmission()).into(),
        who.class.group().into(),
        who.user.into(),
        who.bytes.into(),
        seen.id.into(),
    ]
}

fn port(port: &mut Port, name: &str, now: Instant, seconds: std::ops::Range<usize>) -> Json {
    let samples = port.snapshot(now);
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

/// For every reason, its name and a series of counts, one per second.
fn by_cause(rows: &[Second], of: fn(&Second) -> [u64; DropReason::ALL.len()]) -> Json {
    let series = |cause: usize| rows.iter().map(|row| of(row)[cause]).collect::<Json>();
    let named = |(cause, why): (usize, &DropReason)| (why.name().to_owned(), series(cause));
    Json::Object(DropReason::ALL.iter().enumerate().map(named).collect())
}

fn values(column: &Column) -> Json {
    match column {
        Column::U64(counts) => json!(counts),
        Column::F64(means) => json!(means),
        _ => unreachable!("series per second are counts or means"),
    }
}

fn responses(of: &WatchedResponses) -> Json {
    json!({
        "counts": of.counts, "bins_a_decade": WatchedResponses::BINS_A_DECADE,
        "total": of.total, "failed": of.failed, "within_1s": of.within_a_second,
    })
}

fn binned(of: &Binned) -> Json {
    let side = |which: usize| of.bins.iter().map(|bin| bin[which]).collect::<Json>();
    json!({"from_s": of.from_s, "width_s": of.width_s, "least": side(0), "most": side(1)})
}
