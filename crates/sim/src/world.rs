//! The world: hosts, ports and wires in vectors, named by index, moved by one loop with one
//! match. A packet carries its route; there are no routing tables and no pointers between nodes.
//!
//! What the world does at an event stands in `carry` (packets between hosts), `host` (the ends of
//! connections), `apps` (users and senders) and `books` (what is written down).

use std::sync::Arc;

use packet::{Duration, Instant, Rng};
use record::{
    Concurrency, Datagrams, Flows, Goodput, Losses, Pages, Requests, Sources, Transfers, Window,
};
use tcp::Profile;
use traffic::{Action, App, Input};

use crate::agenda::Agenda;
use crate::capture::Tap;
use crate::carry::{Flight, Stream};
use crate::connection::{Connection, GONE};
use crate::ledger::Ledger;
use crate::owners::Owners;
use crate::port::Port;
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

/// No place in a list or slab.
pub(crate) const NOWHERE: u32 = u32::MAX;

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
    pub(crate) pages: Pages,
    pub(crate) datagrams: Datagrams,
    pub(crate) flows: Flows,
    pub(crate) transfers: Transfers,
    pub(crate) losses: Losses,
    pub(crate) concurrency: Concurrency,
    /// Only if they are to be recorded.
    pub(crate) sources: Option<Sources>,
    /// Likewise.
    pub(crate) goodput: Option<Goodput>,
    /// Only if packets are to be captured.
    pub(crate) tap: Option<Box<Tap>>,
    pub(crate) next_serial: u32,
    pub(crate) owners: Owners,
    pub(crate) window: Window,
    /// Clock of the machines that delay packets; zero for exact delays.
    pub(crate) delay_tick: Duration,
    pub(crate) data_sent: u64,
    pub(crate) actions: Vec<Action>,
    /// Round-trip time that an application has set for the connection it opens next.
    pub(crate) next_round_trip: Option<Duration>,
    pub(crate) lost: Vec<u32>,
    pub(crate) ledger: Ledger,
    /// When each explicit port's tick event is due; [`Instant::NEVER`] without one.
    pub(crate) armed_ticks: Vec<Instant>,
}

impl World {
    /// A world at rest. `after[i]` is the propagation delay behind port `i`; a route is a list
    /// of ports.
    pub fn new(
        ports: Vec<(Port, Duration)>,
        routes: Vec<Vec<u16>>,
        machines: Machines,
        requests: Requests,
        pages: Pages,
        datagrams: Datagrams,
        window: Window,
    ) -> Self {
        let (ports, after): (Vec<Port>, Vec<Duration>) = ports.into_iter().unzip();
        let owners = Owners::new(ports.iter().any(|port| port.meter().watches()));
        let clients = machines.count(Side::Clients);
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
            pages,
            datagrams,
            flows: Flows::default(),
            transfers: Transfers::default(),
            losses: Losses::default(),
            concurrency: Concurrency::new(clients),
            sources: None,
            goodput: None,
            tap: None,
            next_serial: 0,
            owners,
            window,
            delay_tick: Duration::ZERO,
            data_sent: 0,
            actions: Vec::new(),
            next_round_trip: None,
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

    /// From here on `tap` looks at packets. Call before the start.
    pub(crate) fn capture(&mut self, tap: Tap) {
        self.tap = Some(Box::new(tap));
        self.owners = Owners::new(true);
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
        if let Some(tap) = &mut self.tap {
            tap.flush();
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
