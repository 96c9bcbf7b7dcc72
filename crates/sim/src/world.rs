//! The world: hosts, ports and wires in vectors, named by index, moved by one loop with one
//! match. A packet carries its route; there are no routing tables and no pointers between nodes.

use std::sync::Arc;

use packet::{Ack, Duration, Header, Instant, Packet, Rng};
use record::{Datagrams, Flows, Requests, Transfers, Window};
use tcp::{Profile, Segment};
use traffic::{Action, App, Input};

use crate::agenda::{Agenda, Turn, order};
use crate::connection::{ACCEPTOR, Connection};
use crate::ledger::Ledger;
use crate::port::{Offered, Port};
use crate::slab::Slab;
use crate::topology::{Machines, RoundTrips, Side};

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// A packet reaches the next port of its route, or its host.
    Arrive(u32),
    /// An explicit port finishes a transmission.
    Finish(u16),
    /// An explicit port's discipline asked to be called.
    Tick(u16),
    /// A connection end's timer may be due.
    Timer { connection: u32, serial: u32, end: u8 },
    /// A server program has finished an answer.
    Serve { connection: u32, serial: u32 },
    /// An application asked to be woken.
    Wake(u32),
}

/// A packet on its way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flight {
    pub(crate) segment: Segment,
    pub(crate) connection: u32,
    pub(crate) serial: u32,
    pub(crate) to: u8,
    pub(crate) hop: u8,
    pub(crate) route: u16,
    pub(crate) ack: Ack,
    /// Not a segment of a connection but a datagram of the stream in place `connection`; its
    /// number, time of sending and payload are in `seq`, `ack` and `len` of the segment.
    pub(crate) datagram: bool,
}

/// One sender's datagrams: what they have in common.
pub(crate) struct Stream {
    pub(crate) serial: u32,
    pub(crate) route: u16,
    pub(crate) hosts: [u16; 2],
    pub(crate) dscp: u8,
    /// Delay after the last port.
    pub(crate) tail: Duration,
    /// Datagrams sent.
    pub(crate) sent: u64,
}

/// No place in a list or slab.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Bytes of IPv4 and UDP headers.
const UDP_IP_HEADERS: u32 = 28;
/// The serial number of no connection.
pub(crate) const GONE: u32 = u32::MAX;

impl Flight {
    /// The direction number an AQM sees: unlike for the two directions of a connection.
    pub(crate) fn flow(&self) -> u64 {
        u64::from(self.serial) << 1 | u64::from(1 - self.to)
    }

    /// IP length in bytes.
    #[inline]
    pub(crate) fn ip_bytes(&self) -> u32 {
        if self.datagram { self.segment.len + UDP_IP_HEADERS } else { self.segment.ip_bytes() }
    }

    /// What queues may read beside size and flow, of a packet between these hosts.
    fn header(&self, dscp: u8, hosts: [u16; 2]) -> Header {
        Header {
            dscp,
            ack: self.ack,
            source: hosts[usize::from(1 - self.to)],
            destination: hosts[usize::from(self.to)],
        }
    }
}

/// A group of users or senders that share their settings.
pub struct Group {
    /// Its name, and that of its random streams.
    pub name: String,
    /// On which side of the links they sit.
    pub side: Side,
    /// Both ends' TCP.
    pub profile: Arc<Profile>,
    /// Routes by sending machine: what the group's machines send, what the other side sends.
    pub routes: [Vec<u16>; 2],
    /// Round-trip times of the group's connections.
    pub round_trips: RoundTrips,
    /// Differentiated services code point of its packets.
    pub dscp: u8,
}

impl Group {
    /// Delay after the last port of what each end sends. The whole round trip lies at the
    /// clients' entrance (dummynet on the browser machines).
    pub(crate) fn tails(&self, round_trip: Duration) -> [Duration; 2] {
        match self.side {
            Side::Clients => [Duration::ZERO, round_trip],
            Side::Servers => [round_trip, Duration::ZERO],
        }
    }
}

/// One user or sender.
pub(crate) struct Member {
    pub(crate) app: Box<dyn App>,
    pub(crate) group: u16,
    pub(crate) machine: u32,
    pub(crate) rng: Rng,
    /// Place of each of its connections, by the application's number.
    pub(crate) connections: Vec<u32>,
    /// Place of its stream of datagrams; [`NOWHERE`] before the first.
    pub(crate) stream: u32,
}

/// Everything that moves.
pub struct World {
    pub(crate) agenda: Agenda<What>,
    pub(crate) now: Instant,
    pub(crate) ports: Vec<Port>,
    /// Propagation delay after each port.
    pub(crate) after: Vec<Duration>,
    pub(crate) routes: Vec<Vec<u16>>,
    pub(crate) machines: Machines,
    pub(crate) groups: Vec<Group>,
    pub(crate) members: Vec<Member>,
    pub(crate) connections: Slab<Connection>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) flights: Slab<Flight>,
    pub(crate) requests: Requests,
    pub(crate) datagrams: Datagrams,
    pub(crate) flows: Flows,
    pub(crate) transfers: Transfers,
    pub(crate) next_serial: u32,
    pub(crate) window: Window,
    /// Clock of the machines that delay packets; zero for exact delays.
    pub(crate) delay_tick: Duration,
    pub(crate) data_sent: u64,
    pub(crate) actions: Vec<Action>,
    pub(crate) lost: Vec<u32>,
    pub(crate) ledger: Ledger,
    /// When each explicit port's tick event is due; [`Instant::NEVER`] without one.
    armed_ticks: Vec<Instant>,
}

/// The end of a delay that a clock of this period counts out: dummynet stores whole ticks and
/// counts from the tick before the packet came (tcp.md 6), so it waits between n - 1 and n ticks.
fn on_tick(at: Instant, delay: Duration, tick: Duration) -> Instant {
    match delay.nanos() / tick.nanos() {
        0 => at,
        ticks => Instant::from_nanos((at.nanos() / tick.nanos() + ticks) * tick.nanos()),
    }
}

impl World {
    /// A world at rest. `after[i]` is the propagation delay behind port `i`; a route is a list
    /// of ports.
    pub fn new(
        ports: Vec<(Port, Duration)>,
        routes: Vec<Vec<u16>>,
        machines: Machines,
        requests: Requests,
        datagrams: Datagrams,
        window: Window,
    ) -> Self {
        let (ports, after) = ports.into_iter().unzip();
        let mut world = World {
            agenda: Agenda::default(),
            now: Instant::ZERO,
            ports,
            after,
            routes,
            machines,
            groups: Vec::new(),
            members: Vec::new(),
            connections: Slab::default(),
            streams: Vec::new(),
            flights: Slab::default(),
            requests,
            datagrams,
            flows: Flows::default(),
            transfers: Transfers::default(),
            next_serial: 0,
            window,
            delay_tick: Duration::ZERO,
            data_sent: 0,
            actions: Vec::new(),
            lost: Vec::new(),
            ledger: Ledger::default(),
            armed_ticks: Vec::new(),
        };
        world.armed_ticks = vec![Instant::NEVER; world.ports.len()];
        for port in 0..world.ports.len() {
            world.plan_tick(port as u16);
        }
        world
    }

    /// Adds a group and its applications, spread over the machines of its side in turn.
    pub fn add_group(&mut self, group: Group, seed: u64, apps: Vec<Box<dyn App>>) {
        let index = self.groups.len() as u16;
        let machines = self.machines.count(group.side);
        let stream = format!("{}.rtt", group.name);
        self.groups.push(group);
        for (i, app) in apps.into_iter().enumerate() {
            let rng = Rng::indexed(seed, &stream, i as u64);
            let machine = i as u32 % machines;
            self.members.push(Member {
                app,
                group: index,
                machine,
                rng,
                connections: Vec::new(),
                stream: NOWHERE,
            });
        }
    }

    /// Starts every application.
    pub fn start(&mut self) {
        for member in 0..self.members.len() as u32 {
            self.tell(member, Input::Start);
        }
    }

    /// Serves every event up to and including `until`.
    pub fn run_until(&mut self, until: Instant) {
        while let Some((now, what)) = self.agenda.next(until) {
            self.now = now;
            match what {
                What::Arrive(flight) => self.arrive(flight),
                What::Timer { connection, serial, end } => {
                    self.timer(connection, serial, usize::from(end));
                }
                What::Finish(port) => self.finish_transmission(port),
                What::Tick(port) => self.tick(port),
                What::Serve { connection, serial } => self.served(connection, serial),
                What::Wake(member) => self.tell(member, Input::Woke),
            }
            if Ledger::ON {
                self.check();
            }
        }
        self.now = until;
    }

    /// Ends the run: brings measurements up to date.
    pub fn finish(&mut self) {
        for port in &mut self.ports {
            port.finish(self.window.to);
        }
        self.book_open_connections();
        self.check();
        self.check_flows();
    }

    /// Asserts the laws that must hold at any instant: at every port after every event, and for
    /// every flow now and then.
    pub fn check(&mut self) {
        for port in &self.ports {
            port.check();
        }
        if self.agenda.served().is_multiple_of(1024) {
            self.check_flows();
        }
    }

    fn check_flows(&mut self) {
        if Ledger::ON {
            let flights = self.flights.places().iter().filter(|f| f.serial != GONE);
            self.ledger.check(flights.map(|f| (f.flow(), f.ip_bytes())));
        }
    }

    /// A packet has left the world: its place may be used again.
    pub(crate) fn forget(&mut self, id: u32) {
        if Ledger::ON {
            self.flights[id].serial = GONE;
        }
        self.flights.free(id);
    }

    /// A queue has dropped a packet.
    fn lose(&mut self, id: u32) {
        let flight = &self.flights[id];
        self.ledger.dropped(flight.flow(), flight.ip_bytes());
        if flight.datagram {
            let sent = Instant::from_nanos(flight.segment.ack);
            self.datagrams.lost(flight.connection, flight.segment.seq, sent);
        }
        self.forget(id);
    }

    // ---- packets on their way -------------------------------------------------------------

    fn arrive(&mut self, id: u32) {
        let flight = &self.flights[id];
        if usize::from(flight.hop) < self.routes[usize::from(flight.route)].len() {
            self.forward(id);
        } else {
            self.deliver(id);
        }
    }

    /// Sends the segment in place `id` on its way.
    pub(crate) fn send(&mut self, id: u32, index: u32, from: usize) {
        let connection = &mut self.connections[index];
        let flight = &mut self.flights[id];
        flight.ack = connection.thinnable(from, &flight.segment);
        flight.connection = index;
        flight.serial = connection.serial;
        flight.to = (1 - from) as u8;
        flight.hop = 0;
        flight.route = connection.route[from];
        flight.datagram = false;
        self.data_sent += u64::from(flight.segment.len > 0);
        self.ledger.sent(flight.flow(), flight.segment.ip_bytes());
        self.forward(id);
    }

    /// Sends a datagram of `bytes` payload on its way.
    pub(crate) fn send_datagram(&mut self, index: u32, bytes: u32) {
        let stream = &mut self.streams[index as usize];
        let segment =
            Segment { seq: stream.sent, ack: self.now.nanos(), len: bytes, ..Segment::default() };
        let id = self.flights.place(Flight::default);
        let flight = &mut self.flights[id];
        *flight = Flight {
            segment,
            connection: index,
            serial: stream.serial,
            to: ACCEPTOR as u8,
            hop: 0,
            route: stream.route,
            ack: Ack::No,
            datagram: true,
        };
        self.datagrams.sent(index, stream.sent, self.now);
        stream.sent += 1;
        self.ledger.sent(flight.flow(), flight.ip_bytes());
        self.forward(id);
    }

    /// When a packet that leaves the last port of its route at `at` reaches its host.
    #[inline]
    fn delayed(&self, id: u32, at: Instant) -> Instant {
        let flight = &self.flights[id];
        let tail = if flight.datagram {
            self.streams[flight.connection as usize].tail
        } else {
            self.connections[flight.connection].tail[usize::from(1 - flight.to)]
        };
        if self.delay_tick == Duration::ZERO {
            at + tail
        } else {
            on_tick(at, tail, self.delay_tick)
        }
    }

    /// Moves a packet that is now at the entrance of a port, or past its last one, as far as
    /// can be known.
    #[inline]
    fn forward(&mut self, id: u32) {
        let mut at = self.now;
        let flight = &mut self.flights[id];
        let route = &self.routes[usize::from(flight.route)];
        let about = u64::from(flight.serial) << 1 | u64::from(flight.to);
        loop {
            let Some(&port) = route.get(usize::from(flight.hop)) else {
                at = self.delayed(id, at);
                break;
            };
            if at > self.now {
                break;
            }
            let mut packet = Packet {
                id,
                flow: flight.flow(),
                bytes: flight.ip_bytes(),
                ecn: flight.segment.ecn,
                arrived: at,
                header: if flight.datagram {
                    let stream = &self.streams[flight.connection as usize];
                    flight.header(stream.dscp, stream.hosts)
                } else {
                    let connection = &self.connections[flight.connection];
                    flight.header(connection.dscp, connection.hosts)
                },
            };
            let carries_data = flight.segment.len > 0;
            flight.hop += 1;
            match &mut self.ports[usize::from(port)] {
                Port::Folded(folded) => match folded.offer(&mut packet, carries_data) {
                    Offered::Leaves { at: leaves, marked } => {
                        if marked {
                            flight.segment.ecn = packet.ecn;
                        }
                        at = leaves + self.after[usize::from(port)];
                    }
                    _ => return self.lose(id),
                },
                Port::Explicit(explicit) => {
                    let lost = &mut self.lost;
                    let finish = explicit.offer(packet, carries_data, &mut |p| lost.push(p.id));
                    return self.after_explicit(port, finish);
                }
            }
        }
        self.agenda.plan(at, order(Turn::Arrival, about), What::Arrive(id));
    }

    /// Frees what an explicit port lost and plans the end of the transmission it began.
    fn after_explicit(&mut self, port: u16, finish: Option<Instant>) {
        while let Some(id) = self.lost.pop() {
            self.lose(id);
        }
        if let Some(at) = finish {
            self.agenda.plan(at, order(Turn::Departure, u64::from(port)), What::Finish(port));
        }
        self.plan_tick(port);
    }

    fn finish_transmission(&mut self, port: u16) {
        let Port::Explicit(explicit) = &mut self.ports[usize::from(port)] else {
            unreachable!("only explicit ports plan the end of a transmission")
        };
        let lost = &mut self.lost;
        let (packet, finish) = explicit.finish_transmission(self.now, &mut |p| lost.push(p.id));
        self.after_explicit(port, finish);
        let flight = &mut self.flights[packet.id];
        flight.segment.ecn = packet.ecn;
        let mut at = self.now + self.after[usize::from(port)];
        if usize::from(flight.hop) == self.routes[usize::from(flight.route)].len() {
            at = self.delayed(packet.id, at);
        }
        let flight = &self.flights[packet.id];
        let about = u64::from(flight.serial) << 1 | u64::from(flight.to);
        self.agenda.plan(at, order(Turn::Arrival, about), What::Arrive(packet.id));
    }

    fn plan_tick(&mut self, port: u16) {
        if let Port::Explicit(explicit) = &self.ports[usize::from(port)]
            && let Some(at) = explicit.next_tick()
            && at < self.armed_ticks[usize::from(port)]
        {
            self.armed_ticks[usize::from(port)] = at;
            let order = order(Turn::Tick, u64::from(port));
            self.agenda.plan(at.max(self.now), order, What::Tick(port));
        }
    }

    fn tick(&mut self, port: u16) {
        let armed = &mut self.armed_ticks[usize::from(port)];
        if *armed > self.now {
            return; // superseded
        }
        *armed = Instant::NEVER;
        let Port::Explicit(explicit) = &mut self.ports[usize::from(port)] else { return };
        let (now, lost) = (self.now, &mut self.lost);
        // It may have been put off since the event was planned.
        let due = explicit.next_tick().is_some_and(|at| at <= now);
        let finish = if due { explicit.tick(now, &mut |p| lost.push(p.id)) } else { None };
        self.after_explicit(port, finish);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_of_n_ticks_lasts_between_n_less_one_and_n() {
        let tick = Duration::from_millis(10);
        let wait = |at_us: u64, delay_ms: u64| {
            let at = Instant::from_nanos(at_us * 1_000);
            on_tick(at, Duration::from_millis(delay_ms), tick).since(at).nanos() / 1_000
        };
        assert_eq!(wait(20_000, 79), 70_000); // on a tick: seven whole ones
        assert_eq!(wait(29_999, 79), 60_001);
        assert_eq!(wait(25_000, 79), 65_000);
        assert_eq!(wait(25_000, 9), 0); // less than a tick is no delay
    }

    #[test]
    fn an_idle_user_takes_less_than_half_a_kibibyte() {
        // A user of the unc model beside two connections kept open: its place among the members,
        // itself, what it has allocated (a growing vector has room for four), its pending wake-up.
        let kept = 4 * 24;
        let numbers = 4 * 4;
        let wake = 48;
        let all = size_of::<Member>() + size_of::<traffic::web::User>() + kept + numbers + wake;
        assert!(all <= 512, "{all} B");
    }
}
