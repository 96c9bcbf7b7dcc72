//! The world: hosts, ports and wires in vectors, named by index, moved by one loop with one
//! match. A packet carries its route; there are no routing tables and no pointers between nodes.
//!
//! What the world does at an event stands in `forwarding` (packets between hosts, over the
//! `network`), `hosts` (the ends of connections) and `applications` (users and senders). What is
//! measured is reported to the [`Recorder`]. The fields of [`World`] are its parts' alone.

mod applications;
mod beginning;
pub mod connection;
mod control_samples;
mod effects;
mod event_order;
pub mod forwarding;
mod hosts;
pub(crate) mod in_flight;
mod look_ahead;
mod multiplex;
mod network;
pub(crate) mod payload;
mod programs;
mod quiet;
mod script;
mod source;
mod tcp_header;

use std::sync::Arc;

use packet::{Duration, Instant, Rng};
use record::Keep;
use tcp::{HostCache, Profile};
use traffic::{Action, App, Shown, Sources};

use self::connection::{Connection, Serial};
use self::effects::OddRoutes;
use self::forwarding::Stream;
use self::in_flight::InFlight;
use self::look_ahead::LookAhead;
pub use self::network::Network;
pub use self::script::Scripts;
use self::source::Source;
use crate::capture::Tap;
use crate::event_queue::EventQueue;
use crate::owners::Owners;
use crate::port::Port;
use crate::recorder::{Conservation, Ended, Outcome, Recorder, Reports};
use crate::scenario::Scenario;
use crate::slab::Slab;
use crate::topology::{Machines, RoundTrips, Routes, Side};

/// What can happen.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet reaches the next port of its route.
    Arrive(u32),
    /// A packet reaches its host: an end of a connection, or none of a datagram.
    Deliver { packet: u32, connection: u32, end: u8 },
    /// An explicit port finishes a transmission.
    Finish(u32),
    /// An explicit port's discipline has scheduled a tick.
    Tick(u32),
    /// A connection end's timer may be due.
    Timer { connection: u32, serial: Serial, end: u8 },
    /// A server program has finished an answer.
    Serve { connection: u32, serial: Serial },
    /// An application has scheduled a wake-up; it is a source of this group.
    Wake { source: u32, group: u16 },
    /// A group begins whose start is counted from another's.
    Begin(u16),
    /// An effect has held a packet for as long as it may.
    Release(u32),
}

/// A machine with this many sources has timers enough to keep those of one tick together.
const MANY: u32 = 16;

/// A group of users or senders that share their settings.
pub struct Group {
    /// Its name, and that of its random streams.
    pub name: String,
    /// On which side of the links they sit.
    pub side: Side,
    /// Both ends' TCP.
    pub profile: Arc<Profile>,
    /// What the group's machines send, what the other side sends.
    pub routes: [Routes; 2],
    /// Round-trip times of the group's connections.
    pub round_trips: RoundTrips,
    /// Number of its first source among all; set by `World::add_group`.
    pub first_member: u32,
    /// Whether many of its timers expire at one instant: 4.4BSD's at ticks of hosts that many
    /// sources share.
    pub shares_ticks: bool,
    /// Whether it begins only after another group's start.
    pub waits: bool,
    /// The groups that begin after its start, and how long; none once it has started.
    pub dependents: Vec<(u16, Duration)>,
    /// Differentiated services code point of its packets.
    pub dscp: u8,
}

impl Group {
    /// The round-trip time of a new connection of `source`, who has this machine, to the machine
    /// `peer`.
    pub fn draw_round_trip(&self, machine: u32, peer: u32, source: u32, rng: &mut Rng) -> Duration {
        self.round_trips.draw(machine, peer, source - self.first_member, rng)
    }

    /// Delay after the last port of what each end sends. The whole round trip lies at the
    /// clients' entrance (dummynet on the browser machines).
    pub fn tails(&self, round_trip: Duration) -> [Duration; 2] {
        match self.side {
            Side::Clients => [Duration::ZERO, round_trip],
            Side::Servers => [round_trip, Duration::ZERO],
        }
    }
}

/// Everything that moves.
pub struct World {
    events: EventQueue<Event>,
    now: Instant,
    /// Events up to here are being served.
    until: Instant,
    network: Network,
    /// Lists of ports.
    routes: Vec<Vec<u32>>,
    machines: Machines,
    groups: Vec<Group>,
    /// The applications of each group.
    apps: Vec<Box<dyn Sources>>,
    sources: Vec<Source>,
    connections: Slab<Connection>,
    streams: Vec<Stream>,
    in_flight: Slab<InFlight>,
    /// Only if a group's hosts remember anything.
    host_cache: Option<Box<HostCache>>,
    /// Only if packets are to be captured.
    tap: Option<Box<Tap>>,
    /// Only if packets are dropped or marked by their numbers.
    scripts: Option<Box<Scripts>>,
    serials_given: u32,
    owners: Owners,
    actions: Vec<Action>,
    /// Round-trip time that an application has set for the connection it opens next.
    next_round_trip: Option<Duration>,
    recorder: Recorder,
    look_ahead: LookAhead,
    /// Routes of packets that effects corrupted or duplicated.
    odd_routes: OddRoutes,
}

impl World {
    /// A world at rest; a route is a list of ports.
    pub fn new(
        network: Network,
        routes: Vec<Vec<u32>>,
        machines: Machines,
        scripts: Option<Box<Scripts>>,
        recorder: Recorder,
    ) -> Self {
        let watched = network.ports().iter().any(|port| port.meter().watches());
        let owners = Owners::new(watched.then(|| recorder.keep()));
        let ports = network.ports().len() as u32;
        let mut world = World {
            events: EventQueue::with_lanes(network.keeps_order(&routes)),
            now: Instant::ZERO,
            until: Instant::ZERO,
            network,
            routes,
            machines,
            groups: Vec::new(),
            apps: Vec::new(),
            sources: Vec::new(),
            connections: Slab::default(),
            streams: Vec::new(),
            in_flight: Slab::default(),
            host_cache: None,
            tap: None,
            scripts,
            serials_given: 0,
            owners,
            actions: Vec::new(),
            next_round_trip: None,
            recorder,
            look_ahead: LookAhead::default(),
            odd_routes: OddRoutes::default(),
        };
        (0..ports).for_each(|port| world.schedule_tick(port));
        world
    }

    /// Adds a group and its applications, one for each source; its side's machines take turns.
    pub fn add_group(&mut self, mut group: Group, seed: u64, sources: u32, apps: Box<dyn Sources>) {
        let index = u16::try_from(self.groups.len()).expect("a scenario has few enough groups");
        group.first_member = self.sources.len() as u32;
        let machines = self.machines.count(group.side);
        group.shares_ticks = group.profile.timers_tick() && sources >= machines * MANY;
        let stream = format!("{}.rtt", group.name);
        if group.profile.remembers() {
            self.host_cache.get_or_insert_default();
        }
        self.groups.push(group);
        self.apps.push(apps);
        self.sources.reserve_exact(sources as usize);
        prefetch::huge_pages(&self.sources);
        self.events.reserve(sources as usize); // each will wait to be woken
        self.sources.extend(
            (0..sources).map(|i| {
                Source::new(index, i % machines, Rng::indexed(seed, &stream, u64::from(i)))
            }),
        );
    }

    /// The application of a source.
    fn app(&mut self, source: u32) -> &mut dyn App {
        let group = usize::from(self.sources[source as usize].group);
        self.apps[group].at(source - self.groups[group].first_member)
    }

    /// From here on `tap` looks at packets. Call before the start.
    pub fn capture(&mut self, tap: Tap) {
        self.tap = Some(Box::new(tap));
        self.owners = Owners::new(Some(Keep::Everything));
    }

    /// The next event; timers of connections that are over may be left out.
    #[inline]
    fn next_event(&mut self, until: Instant) -> Option<(Instant, Event)> {
        let connections = &self.connections;
        self.events.next_wanted(until, |event| match event {
            Event::Timer { connection, serial, .. } => {
                connections.get(*connection).is_some_and(|it| it.serial == Some(*serial))
            }
            _ => true,
        })
    }

    /// Serves every event up to and including `until`.
    pub fn run_until(&mut self, until: Instant) {
        self.until = until;
        while let Some((now, event)) = self.next_event(until) {
            self.now = now;
            if self.is_large() {
                self.look_ahead();
            }
            match event {
                Event::Deliver { packet, .. } => self.deliver(packet),
                Event::Arrive(inflight) => self.forward(inflight),
                Event::Timer { connection, serial, end } => {
                    self.timer(connection, serial, usize::from(end));
                }
                Event::Finish(port) => self.finish_transmission(port),
                Event::Tick(port) => self.tick(port),
                Event::Serve { connection, serial } => self.served(connection, serial),
                Event::Wake { source, group } => self.wake(source, group),
                Event::Begin(group) => self.begin(group),
                Event::Release(port) => self.release(port),
            }
            if Conservation::ON {
                self.check();
            }
        }
        self.now = until;
    }

    /// The instant up to which events were served.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Events served so far.
    pub fn events_served(&self) -> u64 {
        self.events.served()
    }

    /// A port, for an observer.
    pub fn port(&mut self, place: usize) -> &mut Port {
        &mut self.network.ports_mut()[place]
    }

    /// The recorder, for an observer.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Discards what was kept of the seconds before this one.
    pub fn forget_before(&mut self, second: usize) {
        self.recorder.forget_before(second);
        let ports = self.network.ports_mut();
        ports.iter_mut().for_each(|port| port.meter_mut().forget_before(second));
    }

    /// What each group's viewers were shown so far; none where nothing is shown.
    pub fn shown(&mut self) -> Vec<Option<Shown>> {
        let mut groups = vec![None; self.groups.len()];
        let now = self.now;
        for source in 0..self.sources.len() as u32 {
            if let Some(shown) = self.app(source).shown(now) {
                let group: &mut Option<Shown> =
                    &mut groups[usize::from(self.sources[source as usize].group)];
                *group = Some(group.unwrap_or_default().and(shown));
            }
        }
        groups
    }

    /// The measured interval begins: what open connections and applications did until
    /// now is not measured.
    pub fn begin_measuring(&mut self) {
        self.connections.places_mut().iter_mut().for_each(Connection::begin_measuring);
        let now = self.now;
        (0..self.sources.len() as u32).for_each(|source| self.app(source).measure(now));
    }

    /// Ends the run at `end`: brings measurements up to date and hands them out. The ports have
    /// these names.
    pub fn outcome(mut self, end: Instant, scenario: &Scenario, names: &[String]) -> Outcome {
        self.network.ports_mut().iter_mut().for_each(|port| port.finish(end));
        if let Some(tap) = &mut self.tap {
            tap.flush();
        }
        let mut open_requests = 0;
        for connection in self.connections.places().iter().filter(|c| c.serial.is_some()) {
            let group = self.sources[connection.source as usize].group;
            self.recorder.still_open(connection, group);
            let requested = connection.exchanges.iter().filter(|e| !e.is_unrequested());
            open_requests += requested.count() as u64;
        }
        self.check();
        self.check_flows();
        let reports = Reports::new((0..self.sources.len() as u32).filter_map(|user| {
            let group = self.sources[user as usize].group;
            self.app(user).report(end).map(|report| (group, user, report))
        }));
        let ports = self.network.ports();
        let ports = || names.iter().map(String::as_str).zip(ports);
        self.recorder.outcome(&Ended {
            scenario,
            ports: ports().filter_map(|(name, port)| Some((name, port.queue_meter()?))).collect(),
            effects: ports()
                .filter_map(|(name, port)| Some((name, *port.effect_counts()?)))
                .collect(),
            channels: ports()
                .filter_map(|(name, port)| Some((name, port.channel_report()?)))
                .collect(),
            reports,
            users: self.sources.len(),
            events: self.events.served(),
            open_requests,
        })
    }

    /// Asserts the laws that must hold at any instant: at every port after every event, and for
    /// every flow now and then.
    fn check(&mut self) {
        self.network.ports().iter().for_each(Port::check);
        if self.events.served().is_multiple_of(1024) {
            self.check_flows();
        }
    }

    fn check_flows(&mut self) {
        if Conservation::ON {
            self.recorder.check_flows(self.in_flight.places());
        }
    }
}
