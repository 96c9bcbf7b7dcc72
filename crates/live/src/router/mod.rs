//! The core of the router: header fields of packets and their arrival times go in; drops,
//! departures with their times, and marks come out. It has no clock and no I/O: a driver passes the
//! time, keeps the packets' bytes, and carries out the decisions.
//!
//! The ports, their order at one instant and the delays are the simulator's ([`sim::Network`]). The
//! transmission of a packet of `L` bytes at `R` bit/s begins when the previous one has ended or
//! when the packet has arrived, whichever is later:
//! `departure = max(arrival, departure before) + 8 L / R`. These are computed times: a driver that
//! wakes up late sends packets late, but changes no departure.

mod effects;
mod finished;
mod flows;
mod future;
pub mod log;
mod packets;
pub mod replay;

use packet::{Duration, Ecn, Header, Instant, Packet, Rng, TcpHeader};
use record::{PacketClass, Who};
use sim::port::{Offered, Port};
use sim::topology::Side;
use sim::{Group, Network, Parts, Scenario, ScenarioError};

use self::effects::refuse_channels;
pub use self::finished::{Finished, UserReports};
pub use self::flows::{Flow, Owner};
use self::flows::{Flows, is_split};
use self::future::{Event, Future};
use self::log::{Fate, Log};
pub use self::packets::is_copy;
use self::packets::{Packets, handle, number};
use crate::addresses;
use crate::control::Announcement;
use crate::header::Facts;

/// What the core did with a packet, for the driver to carry out; in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departed {
    /// An effect copied the packet; the copy has the bytes that arrived. The fates of both are
    /// reported later.
    Copied {
        /// The packet that was copied.
        id: u32,
        /// The handle of the copy, allocated by the router ([`is_copy`]) until it is delivered or
        /// dropped.
        copy: u32,
    },
    /// The packet goes to its host now.
    Delivered {
        /// The driver's handle of the packet, or the router's handle of a copy.
        id: u32,
        /// Time when the packet arrives at its host.
        at: Instant,
        /// The side of the packet's host.
        to: Side,
        /// Whether a queue marked the packet on its way.
        marked: bool,
        /// Whether an effect corrupted the packet, so that its checksum must be wrong.
        corrupted: bool,
    },
    /// The packet was dropped; the handle is free.
    Dropped {
        /// The driver's handle of the packet, or the router's handle of a copy.
        id: u32,
    },
}

/// State of a packet in the router.
#[derive(Clone, Copy)]
struct InFlight {
    flow: u64,
    bytes: u32,
    ecn: Ecn,
    marked: bool,
    corrupted: bool,
    header: Header,
    /// The TCP header fields that an ACK filter reads, if the packet is a TCP segment.
    tcp: Option<TcpHeader>,
    class: PacketClass,
    owner: (u16, u32),
    to: Side,
    client: u32,
    /// Propagation delay of the packet after its last port.
    last_hop_delay: Duration,
    route: u32,
    hop: u16,
    /// Row of the packet in the log of the port where it is.
    row: u32,
}

/// The core of the router.
pub struct Router {
    network: Network,
    names: Vec<String>,
    routes: Vec<Vec<u32>>,
    groups: Vec<Group>,
    /// Number of machines on the clients' and on the servers' side.
    machines: [u32; 2],
    seed: u64,
    future: Future,
    now: Instant,
    flows: Flows,
    in_flight: Packets,
    done: Vec<Departed>,
    logs: Vec<Log>,
}

impl Router {
    /// The router of a scenario, at time zero. Each port keeps a log of its first `logged`
    /// arrivals.
    ///
    /// # Errors
    /// A sentence, if the scenario contradicts itself or has features that only a simulation has.
    pub fn new(scenario: &Scenario, logged: usize) -> Result<Router, ScenarioError> {
        if let Some(group) = scenario.traffic.iter().find(|group| !group.script.is_empty()) {
            return Err(ScenarioError(format!(
                "traffic {}.script: a live run drops and marks by its queues alone; leave the script out or simulate",
                group.name
            )));
        }
        refuse_channels(scenario)?;
        let Parts { network, names, routes, groups } = sim::parts(scenario)?;
        let machines = ["clients", "servers"].map(|side| scenario.network.whole(side) as u32);
        let ports = network.ports().len();
        let mut router = Router {
            network,
            names,
            routes,
            groups: groups.into_iter().map(|(group, _)| group).collect(),
            machines,
            seed: scenario.params.whole("seed"),
            future: Future::default(),
            now: Instant::ZERO,
            flows: Flows::default(),
            in_flight: Packets::default(),
            done: Vec::new(),
            logs: (0..ports).map(|_| Log::new(logged)).collect(),
        };
        (0..ports as u32).for_each(|port| router.schedule_tick(port));
        Ok(router)
    }

    /// Registers a connection or stream before its first packet.
    pub fn announce(&mut self, of: &Announcement) {
        let known = usize::from(of.group) < self.groups.len();
        if known {
            self.flows.announce(self.now, of);
        }
    }

    /// Whether the flow of this packet is known. If not, the driver reads new announcements first.
    pub fn knows(&self, from: Side, facts: &Facts) -> bool {
        self.flows.knows(from, facts)
    }

    /// A packet with the driver's handle `id` arrives at `at` from a host of side `from`. Times
    /// must not decrease from call to call. Events up to `at` are served first.
    pub fn arrive(&mut self, at: Instant, id: u32, from: Side, facts: &Facts) {
        self.advance(at);
        let in_flight = self.enter(at, from, facts);
        let id = number(id);
        self.in_flight.place(id, in_flight);
        self.forward(id);
    }

    /// Serves all events up to and including `now`.
    pub fn advance(&mut self, now: Instant) {
        while let Some((at, event)) = self.future.next(now) {
            self.now = at;
            match event {
                Event::Arrive(id) => self.forward(id),
                Event::Finish(port) => self.finish_transmission(port),
                Event::Tick(port) => {
                    if let Some(finish) = self.network.tick(port, at) {
                        self.after_explicit(port, finish);
                    }
                }
                Event::Release(port) => self.release(port),
                Event::Deliver(id) => {
                    let InFlight { to, marked, corrupted, .. } = self.in_flight.take(id);
                    let id = handle(id);
                    self.done.push(Departed::Delivered { id, at, to, marked, corrupted });
                }
            }
        }
        self.now = self.now.max(now);
    }

    /// Time of the next event that [`Router::advance`] serves.
    pub fn next(&self) -> Option<Instant> {
        self.future.first()
    }

    /// Moves the reports on packets since the last call into `into`.
    pub fn take_done(&mut self, into: &mut Vec<Departed>) {
        into.append(&mut self.done);
    }

    /// Number of flows in the table of flows.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Ends the run at `end`.
    pub fn finish(mut self, end: Instant) -> Finished {
        self.advance(end);
        self.network.ports_mut().iter_mut().for_each(|port| port.finish(end));
        Finished { network: self.network, names: self.names, logs: self.logs }
    }

    /// The state of a packet that has just arrived: its flow, class, route and delay.
    fn enter(&mut self, at: Instant, from: Side, facts: &Facts) -> InFlight {
        let (groups, seed, machines) = (&self.groups, self.seed, self.machines);
        let unknown =
            |serial, opener, ends| unannounced(groups, seed, machines, serial, opener, ends);
        let flow = self.flows.of(at, from, facts, unknown);
        let (class, ack) = flow.judge(from, facts);
        let group = &groups[usize::from(flow.owner.group)];
        // A group has two sets of routes: for packets from its own side, and for those from the
        // other.
        let opened = from == flow.opener;
        let routes = &group.routes[usize::from(from != group.side)];
        let [client, server] = flow.machines;
        let [source, destination] = match from {
            Side::Clients => [client, server],
            Side::Servers => [server, client],
        };
        let tail = if is_split(facts.protocol) {
            Duration::from_nanos(flow.owner.round_trip.nanos() / 2)
        } else {
            // All of the round-trip time is a delay of the packets to the clients.
            if from == Side::Servers { flow.owner.round_trip } else { Duration::ZERO }
        };
        InFlight {
            flow: u64::from(flow.serial) << 1 | u64::from(!opened),
            bytes: facts.bytes,
            ecn: facts.ecn,
            marked: false,
            corrupted: false,
            header: Header { dscp: facts.dscp, ack, source, destination },
            tcp: facts.segment.map(|segment| segment.queue_header),
            class: class.of_group(flow.owner.group).with_dscp(facts.dscp),
            owner: (flow.owner.group, flow.owner.source),
            to: from.other(),
            client: u32::from(client) % machines[0],
            last_hop_delay: tail,
            route: routes.of(u32::from(source), u32::from(destination)),
            hop: 0,
            row: 0,
        }
    }

    /// Forwards a packet that is now at the entrance of a port, or past its last port.
    fn forward(&mut self, id: u32) {
        let mut at = self.now;
        while at == self.now {
            let in_flight = self.in_flight.of(id);
            let Some(&port) = self.routes[in_flight.route as usize].get(usize::from(in_flight.hop))
            else {
                return self.deliver(id, at);
            };
            in_flight.hop += 1;
            let mut packet = in_flight.at_port(id, at);
            let reads = matches!(self.network.port(port), Port::Explicit(it) if it.reads_tcp());
            let tcp = in_flight.tcp.filter(|_| reads);
            in_flight.row = self.logs[port as usize].arrived(&packet, tcp, in_flight.class);
            let (owner, class) = (in_flight.owner, in_flight.class);
            match self.network.port(port) {
                Port::Folded(folded) => match folded.offer(&mut packet, class) {
                    Offered::Leaves { at: leaves, .. } => at = leaves + self.network.after(port),
                    _ => return self.on_drop(id, port, at),
                },
                Port::Explicit(explicit) => {
                    if let Some(trace) = explicit.packet_trace() {
                        let (_, user) = owner;
                        trace.arrived(at, id, Who { class, user, bytes: packet.bytes });
                    }
                    let finish = self.network.offer(port, packet, tcp.as_ref(), class);
                    return self.after_explicit(port, finish);
                }
                Port::Effect(_) | Port::Channel(_) => return self.pass_effect(&packet, port),
            }
        }
        let flow = self.in_flight.of(id).flow;
        self.future.arrival(at, flow, Event::Arrive(id));
    }

    /// After a call of an explicit port: frees the packets that it dropped, and schedules the end
    /// of the transmission that it began.
    fn after_explicit(&mut self, port: u32, finish: Option<Instant>) {
        while let Some((id, arrived)) = self.network.take_lost() {
            self.on_drop(id, port, arrived);
        }
        if let Some(at) = finish {
            self.future.departure(at, port);
        }
        self.schedule_tick(port);
    }

    fn finish_transmission(&mut self, port: u32) {
        let (packet, finish) = self.network.finish_transmission(port, self.now);
        self.after_explicit(port, finish);
        let in_flight = self.in_flight.of(packet.id);
        let marked = packet.ecn != in_flight.ecn;
        (in_flight.ecn, in_flight.marked) = (packet.ecn, in_flight.marked || marked);
        let fate = Fate::Left { at: self.now, marked };
        self.logs[port as usize].became(in_flight.row, fate);
        let at = self.now + self.network.after(port);
        if usize::from(in_flight.hop) == self.routes[in_flight.route as usize].len() {
            self.deliver(packet.id, at);
        } else {
            let flow = in_flight.flow;
            self.future.arrival(at, flow, Event::Arrive(packet.id));
        }
    }

    /// Schedules the delivery of a packet that leaves its last port at `at`, after its propagation
    /// delay.
    fn deliver(&mut self, id: u32, at: Instant) {
        let in_flight = self.in_flight.of(id);
        let at = self.network.delayed(at, in_flight.last_hop_delay, || in_flight.client);
        self.future.arrival(at, in_flight.flow, Event::Deliver(id));
    }

    fn schedule_tick(&mut self, port: u32) {
        if let Some(at) = self.network.arm_tick(port) {
            self.future.tick(at.max(self.now), port);
        }
    }

    /// Counts, logs and frees a packet that `port` has dropped and that had arrived there at
    /// `arrived`.
    fn on_drop(&mut self, id: u32, port: u32, arrived: Instant) {
        let packet = self.in_flight.take(id);
        self.network.port(port).meter_mut().dropped_class(self.now, arrived, packet.class);
        self.logs[port as usize].became(packet.row, Fate::Dropped);
        self.done.push(Departed::Dropped { id: handle(id) });
    }
}

impl InFlight {
    fn at_port(&self, id: u32, at: Instant) -> Packet {
        Packet {
            id,
            flow: self.flow,
            bytes: self.bytes,
            ecn: self.ecn,
            arrived: at,
            header: self.header,
        }
    }
}

/// The owner of a flow that was not announced: the first source of the first group. The round-trip
/// time is drawn from that group's distribution.
fn unannounced(
    groups: &[Group],
    seed: u64,
    machines: [u32; 2],
    serial: u32,
    opener: Side,
    ends: [u16; 2],
) -> Owner {
    let group = &groups[0];
    let [own, peer] = if opener == group.side { ends } else { [ends[1], ends[0]] };
    let count = |side| machines[usize::from(addresses::index(side))];
    let (own, peer) =
        (u32::from(own) % count(group.side), u32::from(peer) % count(group.side.other()));
    let mut rng = Rng::indexed(seed, "live.rtt", u64::from(serial));
    let source = group.first_member;
    Owner { group: 0, source, round_trip: group.draw_round_trip(own, peer, source, &mut rng) }
}
