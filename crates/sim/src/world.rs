//! The simulated world: hosts, ports and lines in vectors, addressed by index, and one event loop
//! with one `match`. A packet carries its route; there are no routing tables and no pointers
//! between nodes.
//!
//! Events are handled in `forwarding` (packets between hosts, over the `network`), `hosts` (the
//! ends of connections) and `applications` (users and senders). Measurements are reported to the
//! [`Recorder`]. Only these modules access the fields of [`World`].

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

/// A future event.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet reaches the next port of its route.
    Arrive(u32),
    /// A packet reaches its host: an end of a connection, or the receiver of a datagram.
    Deliver { packet: u32, connection: u32, end: u8 },
    /// A port ends the transmission of a packet.
    Finish(u32),
    /// An update that the discipline or the channel of a port has requested is due.
    Tick(u32),
    /// A timer of an end of a connection may be due.
    Timer { connection: u32, serial: Serial, end: u8 },
    /// A server program has finished an answer.
    Serve { connection: u32, serial: Serial },
    /// A wake-up is due that an application, a source of this group, has scheduled.
    Wake { source: u32, group: u16 },
    /// A group starts whose start depends on that of another group.
    Begin(u16),
    /// The longest time has passed for which an effect may hold a packet back.
    Release(u32),
}

/// Number of sources per machine from which on the timers of one clock tick are stored together.
const MANY: u32 = 16;

/// A group of users or senders that share their settings.
pub struct Group {
    /// Name of the group, with which the names of its streams of random numbers begin.
    pub name: String,
    /// Side of the links on which the users or senders are.
    pub side: Side,
    /// TCP or QUIC profile of both ends.
    pub profile: Arc<Profile>,
    /// Routes of the packets that the group's machines send, and of those that the other side
    /// sends.
    pub routes: [Routes; 2],
    /// Round-trip times of the group's connections.
    pub round_trips: RoundTrips,
    /// Index of the group's first source among all sources; set by `World::add_group`.
    pub first_member: u32,
    /// Whether many timers of the group expire at one instant, as 4.4BSD's do at the ticks of a
    /// host that many sources share.
    pub shares_ticks: bool,
    /// Whether the group starts only after another group.
    pub waits: bool,
    /// Groups that start after this one, each with its delay; empty once this group has started.
    pub dependents: Vec<(u16, Duration)>,
    /// Differentiated services code point of the group's packets.
    pub dscp: u8,
}

impl Group {
    /// Draws the round-trip time of a new connection from `source`, which is on `machine`, to the
    /// machine `peer`.
    pub fn draw_round_trip(&self, machine: u32, peer: u32, source: u32, rng: &mut Rng) -> Duration {
        self.round_trips.draw(machine, peer, source - self.first_member, rng)
    }

    /// Propagation delay after the last port for the packets of each end. The whole round-trip time
    /// is added at the clients' entrance (dummynet on the browser machines).
    pub fn tails(&self, round_trip: Duration) -> [Duration; 2] {
        match self.side {
            Side::Clients => [Duration::ZERO, round_trip],
            Side::Servers => [round_trip, Duration::ZERO],
        }
    }
}

/// The state of the whole simulation.
pub struct World {
    events: EventQueue<Event>,
    now: Instant,
    /// Instant up to which events are being served.
    until: Instant,
    network: Network,
    /// Routes, which are lists of port indices.
    routes: Vec<Vec<u32>>,
    machines: Machines,
    groups: Vec<Group>,
    /// The applications of each group.
    apps: Vec<Box<dyn Sources>>,
    sources: Vec<Source>,
    connections: Slab<Connection>,
    streams: Vec<Stream>,
    in_flight: Slab<InFlight>,
    /// The hosts' cache of path metrics; `None` if no group's profile keeps any.
    host_cache: Option<Box<HostCache>>,
    /// The capture of packets, if there is one.
    tap: Option<Box<Tap>>,
    /// Scripts that drop or mark packets by their numbers, if there are any.
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
    /// A world before its first event; a route is a list of port indices.
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

    /// Adds a group and its applications, one for each source. Sources are spread in turn over the
    /// machines of the group's side.
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
        self.events.reserve(sources as usize); // each source will have a wake-up event
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

    /// Lets `tap` capture packets; must be called before the start.
    pub fn capture(&mut self, tap: Tap) {
        self.tap = Some(Box::new(tap));
        self.owners = Owners::new(Some(Keep::Everything));
    }

    /// The next event; timers of connections that have ended may be left out.
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
                self.network.check_touched();
                // To check all ports takes longer the more there are, and so does the interval.
                let all = 1024.max(32 * self.network.ports().len() as u64);
                if self.events.served().is_multiple_of(all) {
                    self.check();
                }
            }
        }
        self.now = until;
    }

    /// The instant up to which events were served.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Number of events served so far.
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

    /// Discards the values per second of all seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        self.recorder.forget_before(second);
        let ports = self.network.ports_mut();
        ports.iter_mut().for_each(|port| port.meter_mut().forget_before(second));
    }

    /// Sums of what each group's viewers were shown so far; `None` for a group that shows nothing.
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

    /// Ends the run at `end`: completes the measurements and returns them. `names` are the names of
    /// the ports.
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

    /// Asserts that packets are conserved at every port and, in debug builds, in every flow. Those
    /// also check, after every event, the ports that the event has changed.
    fn check(&mut self) {
        self.network.ports().iter().for_each(Port::check);
        if Conservation::ON {
            self.recorder.check_flows(self.in_flight.places());
        }
    }
}
