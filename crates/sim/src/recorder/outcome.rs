//! The results of a run: a summary in numbers, and tables.

use std::borrow::Cow;
use std::collections::HashMap;

use record::{
    Copies, Figure, Fingerprint, Keep, Listed, Measure, Meter, Summary, Table, Unit, Window,
    figure, list, real, whole,
};

use super::reports::Reports;
use super::{Recorder, Scripted, channels};
use crate::port::{ChannelReport, EffectCounts};
use crate::scenario::{Link, Scenario};
use crate::topology::Direction;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The figures of the measured interval.
    pub summary: Summary,
    /// The recorded tables. Where rows belong to a group, their column `group` has its index in
    /// `groups`.
    pub tables: Vec<Table>,
    /// Names of the traffic groups, in the order of the scenario.
    pub groups: Vec<String>,
}

/// The state of the world at the end of a run.
pub struct Ended<'a> {
    /// The scenario that was simulated.
    pub scenario: &'a Scenario,
    /// Every port's name and meter.
    pub ports: Vec<(&'a str, &'a Meter)>,
    /// Every effect's name and counters.
    pub effects: Vec<(&'a str, EffectCounts)>,
    /// Every channel's counters, with the name of its port.
    pub channels: Vec<(&'a str, ChannelReport)>,
    /// Reports of the applications.
    pub reports: Reports,
    /// Number of users and flows of all groups.
    pub users: usize,
    /// Number of events of the whole run.
    pub events: u64,
    /// Number of requests that have no reply yet.
    pub open_requests: u64,
}

impl<'a> Ended<'a> {
    /// Meters of the ports in `record.queues`.
    fn studied(&self) -> Vec<(&'a str, &'a Meter)> {
        let meters: HashMap<&str, &'a Meter> = self.ports.iter().copied().collect();
        let of = |name: &'a String| {
            (name.as_str(), *meters.get(name.as_str()).expect("checked against the links"))
        };
        self.scenario.queues.iter().map(of).collect()
    }

    /// The ports of all links, forward before reverse; the copies of a link count as one. Results
    /// of a live run's end systems, which lack the router, have no ports.
    fn of_links(&self) -> Vec<LinkPort<'a>> {
        let meters: HashMap<&str, &'a Meter> = self.ports.iter().copied().collect();
        let of = |name: &str| meters.get(name).copied();
        let port = |link: &Link, direction: Direction| {
            let name = link.port(direction);
            if link.clients_per_link().is_none() {
                let meter = Cow::Borrowed(of(&name)?);
                return Some(LinkPort { name, meter, copies: None });
            }
            let numbers = 0..self.scenario.copies(link);
            let copies = numbers.map(|n| of(&format!("{}.{n}.{direction}", link.name)));
            let copies = copies.collect::<Option<Vec<&Meter>>>()?;
            let meter = Cow::Owned(Meter::together(&copies));
            Some(LinkPort { name, meter, copies: Some(Copies::of(&copies)) })
        };
        let links = &self.scenario.links;
        Direction::BOTH
            .iter()
            .flat_map(|&direction| links.iter().map(move |link| (link, direction)))
            .filter_map(|(link, direction)| port(link, direction))
            .collect()
    }
}

/// The port of one direction of a link.
struct LinkPort<'a> {
    name: String,
    meter: Cow<'a, Meter>,
    /// How values are spread over the copies of the link, if it has copies.
    copies: Option<Copies>,
}

/// Facts about a run as a whole.
struct RunFacts {
    window: Window,
    users: u64,
    data_packets: u64,
    data_packets_sent: u64,
    events: u64,
    studied_port: String,
    fingerprint: u64,
}

const PACKETS: Unit = Unit::of("packets");
const SECONDS: Unit = Unit::of("s");
const BARE: Unit = Unit::of("");

#[rustfmt::skip]
static RUN: &[Measure<RunFacts>] = &[
    real("simulated_s", SECONDS, "simulated", |r: &RunFacts| r.window.to.secs_f64(), "length of the run")
        .whole_run(),
    real("measured_s", SECONDS, "measured", |r| r.window.seconds(),
        "length of its measured interval"),
    whole("users", BARE, "users and flows", |r| r.users, "users and flows of all groups"),
    whole("data_packets", PACKETS, "data packets", |r: &RunFacts| r.data_packets,
        "with payload that reached the studied port, retransmissions included (`arrivals` counts all \
         packets, measured)").whole_run(),
    whole("data_packets_sent", PACKETS, "data packets sent", |r: &RunFacts| r.data_packets_sent,
        "with payload sent by all ends").whole_run(),
    whole("events", Unit::of("events"), "events", |r: &RunFacts| r.events, "of the simulation")
        .whole_run(),
    figure("studied_port", BARE, "studied port", |r| Some(Figure::Text(r.studied_port.clone())),
        "the first port in `record.queues`, see above"),
    figure("fingerprint", BARE, "fingerprint",
        |r: &RunFacts| Some(Figure::Text(format!("{:016x}", r.fingerprint))),
        "hash of every departure, request and transfer; equal for equal runs on any machine")
        .whole_run(),
];

#[rustfmt::skip]
static SCRIPTED: &[Measure<Scripted>] = &[
    whole("drops_scripted", PACKETS, "drops by script", |s| s.dropped,
        "dropped because a group's `script` names them, as they left their host; only where there is a \
         script. They belong to no port: `drops` does not count them"),
    whole("marks_scripted", PACKETS, "marks by script", |s| s.marked,
        "marked by a script; `marks` does not count them"),
];

#[rustfmt::skip]
static EFFECT: &[Measure<EffectCounts>] = &[
    whole("packets", PACKETS, "packets", |e| e.packets, "that came to an effect of a link"),
    whole("lost", PACKETS, "lost", |e| e.lost,
        "packets that the effect lost, or its policer dropped; `drops` does not count them"),
    whole("marked", PACKETS, "marked", |e| e.marked, "packets to which its policer gave CE; `marks` does not count them"),
    whole("copied", PACKETS, "copied", |e| e.copied, "copies that it sent"),
    whole("corrupted", PACKETS, "corrupted", |e| e.corrupted, "packets that it corrupted, so that their hosts discard them"),
    whole("held", PACKETS, "held back", |e| e.held, "packets that it held back until others had passed"),
    real("delay_mean_s", SECONDS, "mean delay", EffectCounts::delay_mean_s,
        "by which it delayed packets, those that it held back for others not counted"),
];

/// Descriptions of all measures, the numbers of a summary.
pub fn measures() -> Vec<Listed> {
    let effect = list(&["effects.<effect>."], "", EFFECT);
    let own =
        [list(&[""], "", SCRIPTED), list(&[""], "", RUN), effect, channels::measures()].concat();
    record::measures().into_iter().chain(own).collect()
}

impl Recorder {
    /// Makes the results from all measurements and the state at the end.
    pub fn outcome(mut self, ended: &Ended) -> Outcome {
        self.flows.sort();
        let seconds = self.window.seconds();
        let links = ended.of_links();
        let (summary, groups) = (self.summary(ended, &links), ended.scenario.group_names());
        if self.keep == Keep::Bounded {
            return Outcome { summary, tables: Vec::new(), groups };
        }
        let mut tables = self.port_tables(ended, &links);
        tables.extend(self.flows.table(seconds));
        tables.extend(self.controls.map(record::Controls::table));
        tables.extend(self.sources.map(|sources| sources.table(seconds)));
        tables.push(self.requests.histogram());
        tables.push(self.requests.by_size());
        tables.extend(self.requests.into_log());
        tables.extend(self.pages.into_log());
        if !self.datagrams.is_empty() {
            tables.push(self.datagrams.table());
            tables.extend(self.datagrams.into_log());
        }
        tables.extend(self.transfers.into_log());
        tables.extend(ended.reports.tables());
        Outcome { summary, tables, groups }
    }

    fn summary(&mut self, ended: &Ended, links: &[LinkPort]) -> Summary {
        let (name, studied) = ended.studied()[0];
        let mut summary = Summary::default();
        let groups = ended.scenario.traffic.iter().map(|group| group.name.as_str());
        let groups: Vec<&str> = groups.collect();
        studied.summarise(&mut summary);
        studied.summarise_delays(&groups, &mut summary);
        self.requests.summarise(ended.open_requests, &mut summary);
        self.pages.summarise(&mut summary);
        self.flows.summarise(self.window.seconds(), &mut summary);
        self.round_trips.summarise(&groups, &mut summary);
        self.losses.summarise(&mut summary);
        if let Some(scripted) = &self.scripted {
            summary.write(SCRIPTED, scripted);
        }
        self.concurrency.summarise(&mut summary);
        if let Some(sources) = &self.sources {
            sources.summarise(self.window.seconds(), &mut summary);
        }
        summary.write(
            RUN,
            &RunFacts {
                window: self.window,
                users: ended.users as u64,
                data_packets: studied.data_packets(),
                data_packets_sent: self.data_sent,
                events: ended.events,
                studied_port: name.to_owned(),
                fingerprint: self.fingerprint(ended),
            },
        );
        if !self.datagrams.is_empty() {
            self.datagrams.summarise(&mut summary);
        }
        ended.reports.summarise(&groups, &mut summary);
        summarise_ports(links, &groups, &mut summary);
        if !ended.effects.is_empty() {
            let mut effects = Summary::default();
            for (name, counts) in &ended.effects {
                let mut effect = Summary::default();
                effect.write(EFFECT, counts);
                effects.group(name, effect);
            }
            summary.group("effects", effects);
        }
        channels::summarise(&ended.channels, self.window.seconds(), &mut summary);
        let transfers = (0..).zip(&groups).filter_map(|(index, name)| {
            Some(((*name).to_owned(), Figure::Group(self.transfers.summarise(index)?)))
        });
        let transfers = Summary(transfers.collect());
        if !transfers.0.is_empty() {
            summary.group("transfers", transfers);
        }
        summary
    }

    /// A hash over every departure at every port and every request: equal for equal runs,
    /// whatever the engine, the machine or the number of threads.
    fn fingerprint(&self, ended: &Ended) -> u64 {
        let parts = ended.ports.iter().map(|(_, meter)| meter.fingerprint());
        let parts = parts.chain([self.requests.fingerprint()]);
        let mut all = Fingerprint::default();
        parts.chain(self.transfers.fingerprint()).for_each(|part| all.add(part));
        all.value()
    }

    fn port_tables(&self, ended: &Ended, links: &[LinkPort]) -> Vec<Table> {
        let (mut tables, studied) = (Vec::new(), ended.studied());
        let record = &ended.scenario.record;
        if record.switch("samples") {
            let columns = studied.iter().flat_map(|(name, meter)| meter.samples(name)).collect();
            let every_s = Some((0.0, record.real("queue_every")));
            tables.push(Table { name: "queue", columns, every_s });
        }
        tables.push(Meter::delays_table(links.iter().map(|port| port.meter.as_ref())));
        let copies = (0..).zip(links).filter_map(|(i, port)| Some((i, port.copies.as_ref()?)));
        tables.extend(Copies::table(copies));
        tables.extend(Meter::trace(studied.iter().map(|(_, meter)| *meter)));
        // A last, partial second has a row too.
        let seconds = self.window.to.nanos().div_ceil(1_000_000_000) as usize;
        let single = links.iter().filter(|port| port.copies.is_none());
        let ports = single.flat_map(|port| port.meter.per_second(&port.name, 0..seconds));
        let mut columns: Vec<_> = ports.collect();
        columns.extend(self.per_second(0..seconds));
        tables.push(Table { name: "seconds", columns, every_s: Some((0.0, 1.0)) });
        tables
    }
}

/// Adds the measures of every port to a summary and, for links with copies, how they are spread
/// over the copies.
fn summarise_ports(links: &[LinkPort], groups: &[&str], out: &mut Summary) {
    let (mut ports, mut copies) = (Summary::default(), Summary::default());
    for of in links {
        let mut port = Summary::default();
        of.meter.summarise(&mut port);
        of.meter.summarise_delays(groups, &mut port);
        ports.group(&of.name, port);
        if let Some(own) = &of.copies {
            let mut spread = Summary::default();
            own.summarise(&mut spread);
            copies.group(&of.name, spread);
        }
    }
    out.group("ports", ports);
    if !copies.0.is_empty() {
        out.group("copies", copies);
    }
}

/// A summary as JSON. Numbers that JSON cannot express (such as the response time of a failed
/// request) are null.
pub fn summary_json(summary: &Summary) -> serde_json::Value {
    let pairs = summary.0.iter().map(|(name, figure)| {
        let value = match figure {
            Figure::Whole(v) => serde_json::json!(v),
            Figure::Real(v) => serde_json::json!(v),
            Figure::Text(v) => serde_json::json!(v),
            Figure::Group(v) => summary_json(v),
        };
        (name.clone(), value)
    });
    serde_json::Value::Object(pairs.collect())
}
