//! Tests of responsiveness under working conditions: load-generating connections, and timed
//! requests (probes) on new connections and on the load-generating ones.

use std::collections::VecDeque;
use std::sync::Arc;

use packet::params::{BadParams, Params};
use packet::{About, Duration, Instant, Rng};

use crate::entry::{Entry, Group, Population};
use crate::report::{Probe, Report};
use crate::{Action, App, AppCx, Closes, Input};

use plan::{FIELDS, Plan, plan};

mod plan;

/// The stage of a connection: what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    /// Number of round trips of the TLS handshake that are still to come, this one included.
    Greeting(u32),
    Requesting,
    /// A load-generating connection transfers data.
    Loading,
}

/// A connection in use.
#[derive(Debug)]
struct Connection {
    stage: Stage,
    /// Time at which the stage began; all round trips of a TLS handshake count as one stage.
    since: Instant,
    /// Row of the connection's foreign probe; none for a load-generating connection.
    probe: Option<usize>,
    /// Rows of the self probes in flight.
    own: VecDeque<usize>,
    /// Time at which the answer to the connection's own request begins; never before the request is
    /// made.
    answered: Instant,
}

/// One test of responsiveness.
#[derive(Debug)]
struct Test {
    plan: Arc<Plan>,
    peer: u32,
    rng: Rng,
    /// Connections by their numbers; `None` is a free number.
    connections: Vec<Option<Connection>>,
    /// Numbers of the load-generating connections that carry load.
    loaded: Vec<u32>,
    opened: u32,
    next_load: Instant,
    next_probe: Instant,
    /// Whether the next probe is a self probe; the two kinds take turns.
    next_is_self: bool,
    ends: Option<Instant>,
    probes: Vec<Probe>,
}

impl Test {
    fn begin(&mut self, now: Instant) {
        self.next_load = now;
        self.next_probe = if self.plan.foreign || self.plan.own { now } else { Instant::NEVER };
        self.next_is_self = !self.plan.foreign;
        self.ends = self.plan.lasts.map(|lasts| now + lasts);
    }

    /// Opens the connections and makes the probes that are due, and schedules the next wake-up.
    fn wake(&mut self, cx: &mut AppCx) {
        if self.ends.is_some_and(|end| end <= cx.now) {
            return self.end(cx);
        }
        if self.next_load <= cx.now {
            let all = self.plan.connections;
            let count = if self.opened == 0 { 1 } else { self.plan.added };
            let count = count.min(all - self.opened);
            (0..count).for_each(|_| self.open(None, cx));
            self.opened += count;
            let more = self.opened < all;
            self.next_load = if more { cx.now + self.plan.interval } else { Instant::NEVER };
        }
        if self.next_probe <= cx.now {
            self.probe(cx);
        }
        let next = self.next_load.min(self.next_probe).min(self.ends.unwrap_or(Instant::NEVER));
        if next != Instant::NEVER {
            (cx.act)(Action::WakeAt(next));
        }
    }

    fn probe(&mut self, cx: &mut AppCx) {
        if self.next_is_self {
            self.probe_self(cx);
        } else {
            let row = self.row(cx.now, false);
            self.open(Some(row), cx);
        }
        let in_turn = self.plan.foreign && self.plan.own && !self.plan.chained;
        self.next_is_self ^= in_turn;
        let kinds = if in_turn { 2 } else { 1 };
        self.next_probe = cx.now + Duration::from_nanos(self.plan.probe_every.nanos() / kinds);
    }

    fn row(&mut self, begun: Instant, is_self: bool) -> usize {
        self.probes.push(Probe { begun, is_self, tcp: None, tls: None, http: None });
        self.probes.len() - 1
    }

    /// Makes a self probe: a request on a load-generating connection, each as likely as another.
    fn probe_self(&mut self, cx: &mut AppCx) {
        if self.loaded.is_empty() {
            return;
        }
        let place = self.drawn(self.loaded.len());
        let conn = self.loaded[place];
        self.request_on(conn, cx);
    }

    /// Makes the self probe that follows a foreign one with an answer. If the drawn connection has
    /// no answer to its own request yet, the probe has a row but is never answered.
    fn probe_after_foreign(&mut self, cx: &mut AppCx) {
        let load = |(conn, of): (usize, &Option<Connection>)| {
            of.as_ref().filter(|of| of.probe.is_none()).map(|of| (conn as u32, of.answered))
        };
        let all: Vec<(u32, Instant)> =
            self.connections.iter().enumerate().filter_map(load).collect();
        if self.is_over() || all.is_empty() {
            return;
        }
        let (conn, answered) = all[self.drawn(all.len())];
        if answered <= cx.now {
            self.request_on(conn, cx);
        } else {
            self.row(cx.now, true);
        }
    }

    /// An index below `count`, each as likely as another.
    fn drawn(&mut self, count: usize) -> usize {
        ((self.rng.uniform() * count as f64) as usize).min(count - 1)
    }

    fn request_on(&mut self, conn: u32, cx: &mut AppCx) {
        let row = self.row(cx.now, true);
        if let Some(of) = self.connections[conn as usize].as_mut() {
            of.own.push_back(row);
        }
        self.send(conn, self.plan.request, self.plan.reply, cx);
    }

    fn open(&mut self, probe: Option<usize>, cx: &mut AppCx) {
        let free = self.connections.iter().position(Option::is_none);
        let place = free.unwrap_or(self.connections.len());
        let (stage, since, own) = (Stage::Connecting, cx.now, VecDeque::new());
        let connection = Some(Connection { stage, since, probe, own, answered: Instant::NEVER });
        if free.is_some() {
            self.connections[place] = connection;
        } else {
            self.connections.push(connection);
        }
        let conn = place as u32;
        (cx.act)(Action::Open { conn, peer: self.peer, closes: Closes::Opener });
        if probe.is_none() {
            let writing = self.plan.writing;
            (cx.act)(Action::Multiplex { conn, writing, independent: false });
        }
        (cx.act)(Action::Await { conn });
    }

    fn send(&self, conn: u32, bytes: u64, reply_bytes: u64, cx: &mut AppCx) {
        (cx.act)(Action::Send { conn, bytes, reply_bytes, service: Duration::ZERO });
    }

    /// Moves a connection that has what it waited for to its next stage.
    fn advance(&mut self, conn: u32, cx: &mut AppCx) {
        let Some(of) = self.connections[conn as usize].as_mut() else { return };
        let took = cx.now.since(of.since);
        let trips = self.plan.tls_round_trips;
        let row = of.probe.map(|probe| &mut self.probes[probe]);
        let stage = match of.stage {
            Stage::Connecting => {
                row.into_iter().for_each(|row| row.tcp = Some(took));
                if trips > 0 { Stage::Greeting(trips) } else { Stage::Requesting }
            }
            Stage::Greeting(left) if left > 1 => Stage::Greeting(left - 1),
            Stage::Greeting(_) => {
                let trip = Duration::from_nanos(took.nanos() / u64::from(trips));
                row.into_iter().for_each(|row| row.tls = Some(trip));
                Stage::Requesting
            }
            Stage::Requesting => {
                row.into_iter().for_each(|row| row.http = Some(took));
                self.connections[conn as usize] = None;
                (cx.act)(Action::Close { conn });
                if self.plan.chained {
                    self.probe_after_foreign(cx);
                }
                return;
            }
            Stage::Loading => {
                if let Some(row) = of.own.pop_front() {
                    let probe = &mut self.probes[row];
                    probe.http = Some(cx.now.since(probe.begun));
                }
                return;
            }
        };
        // The clock of the TLS handshake runs through all of its round trips.
        if !matches!((of.stage, stage), (Stage::Greeting(_), Stage::Greeting(_))) {
            of.since = cx.now;
        }
        of.stage = stage;
        match stage {
            Stage::Greeting(_) => self.send(conn, self.plan.hello, self.plan.flight, cx),
            _ if of.probe.is_some() => self.send(conn, self.plan.request, self.plan.reply, cx),
            _ => {
                let round_trip = Duration::from_nanos(took.nanos() / u64::from(trips.max(1)));
                self.load(conn, round_trip, cx);
            }
        }
    }

    /// Requests the load of a load-generating connection. The answer of its server is assumed to
    /// begin after a round trip as long as that of the handshake; an upload begins at once.
    fn load(&mut self, conn: u32, round_trip: Duration, cx: &mut AppCx) {
        if let Some(of) = self.connections[conn as usize].as_mut() {
            of.stage = Stage::Loading;
            of.answered = if self.plan.uploads { cx.now } else { cx.now + round_trip };
        }
        self.loaded.push(conn);
        if self.plan.uploads {
            (cx.act)(Action::Upload { conn });
            self.send(conn, self.plan.request, 0, cx);
        } else {
            self.send(conn, self.plan.request, u64::MAX, cx);
        }
    }

    fn lose(&mut self, conn: u32) {
        self.connections[conn as usize] = None;
        self.loaded.retain(|&one| one != conn);
    }

    /// Stops the load; probes on new connections are completed.
    fn end(&mut self, cx: &mut AppCx) {
        for conn in std::mem::take(&mut self.loaded) {
            self.connections[conn as usize] = None;
            (cx.act)(Action::Stop { conn });
        }
        self.ends = Some(Instant::ZERO);
    }

    fn is_over(&self) -> bool {
        self.ends == Some(Instant::ZERO)
    }
}

impl App for Test {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                let begin = cx.now + self.plan.start;
                self.begin(begin);
                (cx.act)(Action::WakeAt(begin));
            }
            Input::Woke if !self.is_over() => self.wake(cx),
            Input::Opened { conn } | Input::Replied { conn } => self.advance(conn, cx),
            Input::Failed { conn } => self.lose(conn),
            _ => {}
        }
    }

    fn report(&mut self, _now: Instant) -> Option<Report> {
        Some(Report::Probes(self.probes.clone()))
    }
}

/// The entry for tests of responsiveness in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "responsiveness",
        summary: "Tests of responsiveness: endless transfers over HTTP/2, one more after each interval, and timed \
                  requests on new connections and on those.",
        year: 2026,
        source: "draft-ietf-ippm-responsiveness-09 (6 July 2026), sections 4.2 to 4.4",
        deviations: "It adds connections as long as it lasts: whether goodput and responsiveness are stable is judged \
                     afterwards. Programs work in no time.",
        fields: FIELDS,
    },
    noun: ["test", "tests"],
    fetches: true,
    datagrams: false,
    build,
};

/// Builds the tests of a group.
///
/// # Errors
/// If either side has no machine.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("tests of responsiveness")?;
    let (plan, group) = (Arc::new(plan(params)), group.clone());
    Ok(Population::new(group.sources, move |i| Test {
        plan: Arc::clone(&plan),
        peer: group.peer_of(i),
        rng: group.stream("probes", i),
        connections: Vec::new(),
        loaded: Vec::new(),
        opened: 0,
        next_load: Instant::NEVER,
        next_probe: Instant::NEVER,
        next_is_self: false,
        ends: None,
        probes: Vec::new(),
    }))
}
