//! PackMime's link, on which connections start on schedule, whatever becomes of earlier ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, LazyLock};

use packet::{Duration, Instant, Rng};

use super::connection::Sequence;
use super::laws::{Laws, Mode, PERSISTENT};
use crate::distribution::{Distribution, whole_bytes};
use crate::entry::Group;
use crate::fsd::{Coefficients, SumDifference};
use crate::{Action, App, AppCx, Closes, Input};

/// Coefficients of the gaps' fractional noise, frozen after 1,000 terms.
static GAPS: LazyLock<Arc<Coefficients>> =
    LazyLock::new(|| Arc::new(Coefficients::new(0.33, 1_000)));
/// Coefficients of the requests' fractional noise, frozen after 5,000 terms.
static REQUESTS: LazyLock<Arc<Coefficients>> =
    LazyLock::new(|| Arc::new(Coefficients::new(0.31, 5_000)));

/// The variables that are drawn once per connection, in the order in which connections start.
#[derive(Debug)]
pub struct Arrivals {
    laws: Arc<Laws>,
    gaps: SumDifference,
    requests: SumDifference,
    run: Rng,
    response: Rng,
    persistent: Rng,
    /// Whether the current run of responses carries content.
    content: bool,
    /// Number of responses left in the current run.
    run_left: u32,
}

impl Arrivals {
    /// The arrivals of a link; `stream` makes the generator of random numbers for a variable by the
    /// variable's name.
    pub fn new(laws: Arc<Laws>, stream: impl Fn(&str) -> Rng) -> Self {
        let process = |of, theta, name: &str| {
            let white = stream(&format!("{name}_white"));
            SumDifference::new(of, theta, stream(name), white)
        };
        Arrivals {
            gaps: process(&GAPS, laws.gap_theta, "gap"),
            requests: process(&REQUESTS, laws.request_theta, "request"),
            run: stream("run"),
            response: stream("response"),
            persistent: stream("persistent"),
            content: false, // so that the first run carries content
            run_left: 0,
            laws,
        }
    }

    /// Time from this connection's start to the next one's, seconds.
    pub fn gap(&mut self) -> f64 {
        self.laws.gap.quantile(self.gaps.share())
    }

    /// Size of the connection's requests, bytes.
    pub fn request(&mut self) -> u64 {
        whole_bytes(self.laws.request.quantile(self.requests.share()), 1.0)
    }

    /// Size of the connection's first response, bytes.
    pub fn response(&mut self) -> u64 {
        if self.run_left == 0 {
            self.content = !self.content;
            let drawn = self.laws.runs[usize::from(self.content)].sample(&mut self.run);
            self.run_left = (drawn as u32).saturating_add(u32::from(drawn.fract() > 0.0)).max(1);
        }
        self.run_left -= 1;
        let of = if self.content { &self.laws.download } else { &self.laws.not_modified };
        whole_bytes(of.sample(&mut self.response), 1.0)
    }

    /// Whether the connection carries more than one request.
    pub fn persistent(&mut self) -> bool {
        self.persistent.uniform() < PERSISTENT && self.laws.mode != Mode::Http10
    }
}

#[derive(Debug)]
struct Open {
    /// Unique number of the connection; unlike `conn` it is never used again.
    serial: u64,
    request: u64,
    /// Number of requests without a reply.
    waiting: u32,
    service: Rng,
    sequence: Option<Box<Sequence>>,
}

/// A link on which connections arrive.
#[derive(Debug)]
pub struct Link {
    laws: Arc<Laws>,
    arrivals: Arrivals,
    seed: u64,
    /// Names of the streams of random numbers from which single connections are drawn.
    names: [String; 2],
    peers: u32,
    machines: u32,
    peer: Rng,
    machine: Rng,
    next_start: Instant,
    next_serial: u64,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    /// Times at which connections in a gap go on: time, serial and connection number.
    gaps: BinaryHeap<Reverse<(Instant, u64, u32)>>,
}

impl Link {
    /// Link number `index` of a group.
    pub fn new(laws: Arc<Laws>, group: &Group, index: u32) -> Self {
        let of = |variable: &str| {
            Rng::indexed(group.seed, &format!("{}.{variable}", group.name), u64::from(index))
        };
        Link {
            arrivals: Arrivals::new(Arc::clone(&laws), of),
            laws,
            seed: group.seed,
            names: ["sequence", "service"].map(|name| format!("{}.{name}.{index}", group.name)),
            peers: group.peers,
            machines: group.machines,
            peer: of("server"),
            machine: of("client"),
            next_start: Instant::ZERO,
            next_serial: 0,
            open: Vec::new(),
            free: Vec::new(),
            gaps: BinaryHeap::new(),
        }
    }

    fn start_connection(&mut self, cx: &mut AppCx) {
        let serial = self.next_serial;
        self.next_serial += 1;
        let [sequence, service] =
            [0, 1].map(|which| Rng::indexed(self.seed, &self.names[which], serial));
        let (request, response) = (self.arrivals.request(), self.arrivals.response());
        let persistent = self.arrivals.persistent();
        let sequence = persistent.then(|| Box::new(Sequence::new(sequence, response)));
        let closes = if persistent { Closes::AcceptorLast } else { Closes::Acceptor };
        let conn = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            (self.open.len() - 1) as u32
        });
        self.open[conn as usize] = Some(Open { serial, request, waiting: 0, service, sequence });
        let machine = self.machine.below(u64::from(self.machines)) as u32;
        let peer = self.peer.below(u64::from(self.peers)) as u32;
        (cx.act)(Action::Move { machine });
        (cx.act)(Action::Open { conn, peer, closes });
        self.send(conn, response, cx);
    }

    /// Sends a request on an open connection.
    fn send(&mut self, conn: u32, reply_bytes: u64, cx: &mut AppCx) {
        let Some(open) = &mut self.open[conn as usize] else { return };
        open.waiting += 1;
        let service = self.laws.service.sample(&mut open.service);
        let service = Duration::from_secs_f64(service);
        (cx.act)(Action::Send { conn, bytes: open.request, reply_bytes, service });
        if open.sequence.as_ref().is_some_and(|sequence| sequence.is_over()) {
            (cx.act)(Action::Close { conn });
        }
    }

    /// Handles a reply that has arrived.
    fn replied(&mut self, conn: u32, cx: &mut AppCx) {
        let Some(open) = self.open.get_mut(conn as usize).and_then(Option::as_mut) else { return };
        open.waiting -= 1;
        if open.waiting > 0 {
            return;
        }
        match &mut open.sequence {
            Some(sequence) if !sequence.is_over() => {
                if self.laws.mode == Mode::Pipelined && sequence.objects_left() > 0 {
                    return self.send_page(conn, cx);
                }
                let at = cx.now + Duration::from_secs_f64(sequence.gap());
                self.gaps.push(Reverse((at, open.serial, conn)));
                (cx.act)(Action::WakeAt(at));
            }
            _ => self.forget(conn),
        }
    }

    fn forget(&mut self, conn: u32) {
        if let Some(place) = self.open.get_mut(conn as usize)
            && place.take().is_some()
        {
            self.free.push(conn);
        }
    }

    /// Sends the next request after a gap, or with pipelining all requests of its page.
    fn go_on(&mut self, conn: u32, cx: &mut AppCx) {
        let Some(Open { sequence: Some(sequence), .. }) = &mut self.open[conn as usize] else {
            return;
        };
        let response = sequence.advance();
        self.send(conn, response, cx);
        if self.laws.mode == Mode::Pipelined {
            self.send_page(conn, cx);
        }
    }

    /// Sends the remaining requests of the page.
    fn send_page(&mut self, conn: u32, cx: &mut AppCx) {
        while let Some(Open { sequence: Some(sequence), .. }) = &mut self.open[conn as usize]
            && sequence.objects_left() > 0
        {
            let response = sequence.advance();
            self.send(conn, response, cx);
        }
    }

    fn woke(&mut self, cx: &mut AppCx) {
        while let Some(&Reverse((at, serial, conn))) = self.gaps.peek()
            && at <= cx.now
        {
            self.gaps.pop();
            // The connection may have failed meanwhile.
            if self.open[conn as usize].as_ref().is_some_and(|open| open.serial == serial) {
                self.go_on(conn, cx);
            }
        }
        if self.next_start <= cx.now {
            self.start_connection(cx);
            self.next_start = cx.now + Duration::from_secs_f64(self.arrivals.gap());
            (cx.act)(Action::WakeAt(self.next_start));
        }
    }
}

impl App for Link {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                self.next_start = cx.now;
                (cx.act)(Action::WakeAt(cx.now));
            }
            Input::Woke => self.woke(cx),
            Input::Replied { conn } => self.replied(conn, cx),
            Input::Failed { conn } => self.forget(conn),
            Input::Sent { .. } | Input::Received { .. } | Input::Opened { .. } => {}
        }
    }
}
