//! The world: hosts, ports and wires in vectors, named by index, moved by one loop with one
//! match. A packet carries its route; there are no routing tables and no pointers between nodes.
//!
//! What the world does at an event stands in `forwarding` (packets between hosts), `host` (the ends
//! of connections), `apps` (users and senders) and `connection_log` (what is written down).

use std::sync::Arc;

use packet::{Duration, Instant, Rng};
use record::{
    Concurrency, Datagrams, Flows, Goodput, Losses, Pages, Requests, Sources, Transfers, Window,
};
use tcp::{HostCache, Profile};
use traffic::{Action, App, Input};

use crate::agenda::{Agenda, Turn, order};
use crate::capture::Tap;
use crate::connection::{Connection, GONE};
use crate::conservation::Conservation;
use crate::forwarding::{Flight, Stream};
use crate::owners::Owners;
use crate::port::Port;
use crate::script::Scripts;
use crate::slab::Slab;
use crate::topology::{DelayClocks, Machines, RoundTrips, Side};

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// A packet reaches the next port of its route, or its host.
    Arrive(u32),
    /// An explicit port finishes a transmission.
    Finish(u32),
    /// An explicit port's discipline asked to be called.
    Tick(u32),
    /// A connection end's timer may be due.
    Timer { connection: u32, serial: u32, end: u8 },
    /// A server program has finished an answer.
    Serve { connection: u32, serial: u32 },
    /// An application asked to be woken.
    Wake(u32),
    /// A group begins whose start is counted from another's.
    Begin(u16),
}

/// Sets the beginnings of groups apart from members' and servers' waking.
const BEGINNINGS: u64 = 1 << 33;

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
    pub routes: [Vec<u32>; 2],
    /// Round-trip times of the group's connections.
    pub round_trips: RoundTrips,
    /// Number of its first member among all; set by [`World::add_group`].
    pub first_member: u32,
    /// Whether it begins only after another group's start.
    pub waits: bool,
    /// The groups that begin after its start, and how long; none once it has started.
    pub followers: Vec<(u16, Duration)>,
    /// Differentiated services code point of its packets.
    pub dscp: u8,
}

impl Group {
    /// The round-trip time of a new connection of `member`, who has this machine, to the machine
    /// `peer`.
    pub(crate) fn draw_round_trip(
        &self,
        machine: u32,
        peer: u32,
        member: u32,
        rng: &mut Rng,
    ) -> Duration {
        self.round_trips.draw(machine, peer, member - self.first_member, rng)
    }

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
    pub(crate) routes: Vec<Vec<u32>>,
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
    /// Only if a group's hosts remember anything.
    pub(crate) host_cache: Option<Box<HostCache>>,
    /// Only if packets are to be captured.
    pub(crate) tap: Option<Box<Tap>>,
    /// Only if packets are dropped or marked by their numbers.
    pub(crate) scripts: Option<Box<Scripts>>,
    pub(crate) next_serial: u32,
    pub(crate) owners: Owners,
    pub(crate) window: Window,
    /// Clocks of the machines that delay packets.
    pub(crate) delays: DelayClocks,
    pub(crate) data_sent: u64,
    pub(crate) actions: Vec<Action>,
    /// Round-trip time that an application has set for the connection it opens next.
    pub(crate) next_round_trip: Option<Duration>,
    pub(crate) lost: Vec<u32>,
    pub(crate) conservation: Conservation,
    /// When each explicit port's tick event is due; [`Instant::NEVER`] without one.
    pub(crate) armed_ticks: Vec<Instant>,
}

impl World {
    /// A world at rest. `after[i]` is the propagation delay behind port `i`; a route is a list
    /// of ports.
    pub fn new(
        ports: Vec<(Port, Duration)>,
        routes: Vec<Vec<u32>>,
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
            host_cache: None,
            tap: None,
            scripts: None,
            next_serial: 0,
            owners,
            window,
            delays: DelayClocks::default(),
            data_sent: 0,
            actions: Vec::new(),
            next_round_trip: None,
            lost: Vec::new(),
            conservation: Conservation::default(),
            armed_ticks: Vec::new(),
        };
        world.armed_ticks = vec![Instant::NEVER; world.ports.len()];
        for port in 0..world.ports.len() as u32 {
            world.plan_tick(port);
        }
        world
    }

    /// Adds a group and its applications, spread over the machines of its side in turn.
    pub fn add_group(&mut self, mut group: Group, seed: u64, apps: Vec<Box<dyn App>>) {
        let index = u16::try_from(self.groups.len()).expect("a scenario has few enough groups");
        group.first_member = self.members.len() as u32;
        let machines = self.machines.count(group.side);
        let stream = format!("{}.rtt", group.name);
        if group.profile.remembers() {
            self.host_cache.get_or_insert_default();
        }
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
            let group = self.members[member as usize].group;
            if !self.groups[usize::from(group)].waits {
                self.tell(member, Input::Start);
            }
        }
    }

    /// Starts the applications of a group that has waited for another.
    fn begin(&mut self, group: u16) {
        let first = self.groups[usize::from(group)].first_member;
        let of_group = |member: &u32| self.members[*member as usize].group == group;
        let end = (first..self.members.len() as u32).find(|member| !of_group(member));
        for member in first..end.unwrap_or(self.members.len() as u32) {
            self.tell(member, Input::Start);
        }
    }

    /// A member of a group opens a connection or sends its first datagram: whoever waits for the
    /// group's start has its time.
    #[inline]
    pub(crate) fn acts(&mut self, group: u16) {
        if !self.groups[usize::from(group)].followers.is_empty() {
            self.lead(group);
        }
    }

    #[cold]
    fn lead(&mut self, group: u16) {
        for (follower, delay) in std::mem::take(&mut self.groups[usize::from(group)].followers) {
            let order = order(Turn::Wake, BEGINNINGS | u64::from(follower));
            self.agenda.plan(self.now + delay, order, What::Begin(follower));
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
                What::Begin(group) => self.begin(group),
            }
            if Conservation::ON {
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
        if Conservation::ON {
            let flights = self.flights.places().iter().filter(|f| f.serial != GONE);
            self.conservation.check(flights.map(|f| (f.flow(), f.ip_bytes())));
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
