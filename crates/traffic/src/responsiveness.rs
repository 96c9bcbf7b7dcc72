//! Tests of responsiveness under working conditions: load-generating connections, and requests on
//! new connections and on those, timed.

use std::collections::VecDeque;
use std::sync::Arc;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant, Rng};

use crate::entry::{Entry, Group, Population};
use crate::report::{Probe, Report};
use crate::{Action, Ahead, App, AppCx, Closes, Input, Writing};

/// What all tests of a group have.
#[derive(Debug)]
struct Plan {
    uploads: bool,
    connections: u32,
    added: u32,
    interval: Duration,
    start: Duration,
    lasts: Option<Duration>,
    probe_every: Duration,
    foreign: bool,
    own: bool,
    tls_round_trips: u32,
    hello: u64,
    flight: u64,
    request: u64,
    reply: u64,
    writing: Writing,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    /// How many round trips of the TLS handshake are to come, this one included.
    Greeting(u32),
    Requesting,
    /// Of a load-generating one.
    Loading,
}

/// A connection in use.
#[derive(Debug)]
struct Connection {
    stage: Stage,
    /// When what it waits for began.
    since: Instant,
    /// The row of its foreign probe; none of a load-generating one.
    probe: Option<usize>,
    /// Rows of the self probes on their way.
    own: VecDeque<usize>,
}

/// One test.
#[derive(Debug)]
struct Test {
    plan: Arc<Plan>,
    peer: u32,
    rng: Rng,
    /// By their numbers; a place without one is free.
    connections: Vec<Option<Connection>>,
    /// Numbers of the load-generating ones that carry load.
    loaded: Vec<u32>,
    opened: u32,
    next_load: Instant,
    next_probe: Instant,
    /// The next probe is a self probe: the two kinds take turns.
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

    /// Does what is due.
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
        let both = self.plan.foreign && self.plan.own;
        self.next_is_self ^= both;
        let kinds = if both { 2 } else { 1 };
        self.next_probe = cx.now + Duration::from_nanos(self.plan.probe_every.nanos() / kinds);
    }

    fn row(&mut self, begun: Instant, is_self: bool) -> usize {
        self.probes.push(Probe { begun, is_self, tcp: None, tls: None, http: None });
        self.probes.len() - 1
    }

    /// A request on a load-generating connection, each as likely as another.
    fn probe_self(&mut self, cx: &mut AppCx) {
        if self.loaded.is_empty() {
            return;
        }
        let place = (self.rng.uniform() * self.loaded.len() as f64) as usize;
        let conn = self.loaded[place.min(self.loaded.len() - 1)];
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
        let connection = Some(Connection { stage, since, probe, own });
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

    /// A connection has what it waited for.
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
                return (cx.act)(Action::Close { conn });
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
            _ => self.load(conn, cx),
        }
    }

    /// A load-generating connection begins to carry load.
    fn load(&mut self, conn: u32, cx: &mut AppCx) {
        if let Some(of) = self.connections[conn as usize].as_mut() {
            of.stage = Stage::Loading;
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

    /// The load stops; probes on new connections run out.
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

/// What the registry says of tests of responsiveness.
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

const BYTES: Kind = Kind::whole(Unit::Bytes, 1, 1 << 20);

static FIELDS: &[Field] = &[
    Field::new("direction", Kind::Choice(&["download", "upload"]), Value::Choice("download"))
        .meaning("Which way the load goes.")
        .source("the draft, section 4.1.2: one after the other, or both at once"),
    Field::new("connections", Kind::whole(Unit::Count, 0, 64), Value::Whole(16))
        .meaning("MNP: load-generating connections at most; 0 for probes without load.")
        .source("the draft, section 4.2"),
    Field::new("added", Kind::whole(Unit::Count, 1, 64), Value::Whole(1))
        .meaning("INC: load-generating connections added at each interval; it begins with one.")
        .source("the draft, section 4.2"),
    Field::new("interval", Kind::above(Unit::Time, 0.0, 3_600.0), Value::Real(5.0))
        .meaning("ID: time between additions.")
        .source("the draft, section 4.2; goresponsiveness takes 1 s"),
    Field::new("probes", Kind::Choice(&["both", "foreign", "self", "none"]), Value::Choice("both"))
        .meaning(
            "Which requests are timed: foreign ones on new connections, self ones on load-generating \
             connections, or both, in turn.",
        )
        .source("the draft, section 4.3"),
    Field::new("probe_every", Kind::above(Unit::Time, 0.0, 3_600.0), Value::Real(0.01))
        .meaning("Time from one probe to the next of its kind: 1/MPS.")
        .source("the draft, section 4.2: 100 a second at most"),
    Field::new("tls", Kind::Choice(&["1.3", "1.2", "none"]), Value::Choice("1.3"))
        .meaning("Whether connections begin with a TLS handshake: one round trip (1.3) or two (1.2).")
        .source("RFC 8446, RFC 5246"),
    Field::new("hello_bytes", BYTES, Value::Whole(517))
        .meaning("What a client sends in a round trip of the TLS handshake.")
        .source("assumed: a padded ClientHello (RFC 7685)"),
    Field::new("flight_bytes", BYTES, Value::Whole(3_000))
        .meaning("What a server answers in a round trip of the TLS handshake.")
        .source("assumed: a foreign probe exchanges some 5000 B in all (the draft, section 4.3)"),
    Field::new("request_bytes", BYTES, Value::Whole(200))
        .meaning("A request, its header included.")
        .source("assumed"),
    Field::new("reply_bytes", BYTES, Value::Whole(200))
        .meaning("An answer: an object of 1 B and its header.")
        .source("the draft, section 4.3; the header's size: assumed"),
    Field::new("frame_bytes", Kind::whole(Unit::Bytes, 1, 16_384), Value::Whole(16_384))
        .meaning("A frame's payload.")
        .source("RFC 9113 section 6.5.2; the draft, section 5.1: what a connection sends in 5 ms"),
    Field::new("unsent_bytes", Kind::whole(Unit::Bytes, 1, 1 << 22), Value::Unset)
        .meaning("Programs write while less than this waits to be sent; if not given, a frame's payload.")
        .source("tcp(7), TCP_NOTSENT_LOWAT"),
    Field::new("send_buffer", Kind::Choice(&["unsent", "linux"]), Value::Choice("unsent"))
        .meaning(
            "What bounds how much is written ahead: unsent_bytes, or the send buffer, which Linux grows with the \
             congestion window.",
        )
        .source("net/ipv4/tcp_input.c, tcp_sndbuf_expand; include/net/sock.h, sk_stream_is_writeable (Linux 7.3)"),
    Field::new("writes", Kind::Choice(&["when_ready", "blocking"]), Value::Choice("when_ready"))
        .meaning(
            "A program chooses a frame when there is room for it, or it waits in its write with one that it has \
             chosen: then an answer that is ready meanwhile comes after that one too.",
        )
        .source("constructed; Go 1.26, net/http, h2_bundle.go: startFrameWrite has one write on its way"),
    Field::new("start", Kind::from(Unit::Time, 0.0, 1e9), Value::Real(0.0))
        .meaning("When it begins.")
        .source("constructed"),
    Field::new("lasts", Kind::above(Unit::Time, 0.0, 1e9), Value::Unset)
        .meaning("How long it goes on; if not given, to the end of the run.")
        .source("constructed"),
];

fn plan(params: &Params) -> Plan {
    let probes = params.choice("probes");
    Plan {
        uploads: params.choice("direction") == "upload",
        connections: params.whole("connections") as u32,
        added: params.whole("added") as u32,
        interval: params.time("interval"),
        start: params.time("start"),
        lasts: params.given("lasts").then(|| params.time("lasts")),
        probe_every: params.time("probe_every"),
        foreign: matches!(probes, "both" | "foreign"),
        own: matches!(probes, "both" | "self"),
        tls_round_trips: match params.choice("tls") {
            "1.3" => 1,
            "1.2" => 2,
            _ => 0,
        },
        hello: params.whole("hello_bytes"),
        flight: params.whole("flight_bytes"),
        request: params.whole("request_bytes"),
        reply: params.whole("reply_bytes"),
        writing: writing(params),
    }
}

fn writing(params: &Params) -> Writing {
    let frame = params.whole("frame_bytes") as u32;
    let unsent =
        if params.given("unsent_bytes") { params.whole("unsent_bytes") as u32 } else { frame };
    let ahead = match params.choice("send_buffer") {
        "linux" => Ahead::Buffer,
        _ => Ahead::Unsent(unsent),
    };
    Writing { frame, ahead, blocks: params.choice("writes") == "blocking" }
}

/// The tests of a group.
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
