//! A network of a few lines for any web application: every request is answered after a time that
//! a script says, connections live, and what the application may not do is asserted.
#![allow(dead_code)]

use std::collections::BTreeMap;

use aqmlab_traffic::{Action, App, AppCx, Closes, Input};
use packet::{Duration, Instant};

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Requested {
    /// The connection's number among all that were opened.
    pub connection: usize,
    pub request: u64,
    pub reply: u64,
    pub at: Instant,
    pub answered: Instant,
    pub failed: bool,
    /// Number of requests without a reply on this connection, this one included.
    pub waiting_here: usize,
    /// Number of requests without a reply on all connections, this one included.
    pub waiting: usize,
}

/// One connection.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    pub conn: u32,
    pub peer: u32,
    pub machine: u32,
    pub closes: Closes,
    pub at: Instant,
    pub closed: Option<Instant>,
    pub requests: usize,
    /// Connections with [`Closes::Opener`] that were open, itself included.
    pub kept: usize,
    /// Payload of a frame, where replies share it.
    pub frame: Option<u32>,
}

/// What happens to a request: it is answered after this time, or its connection fails then.
pub type Script<'a> = &'a mut dyn FnMut(&Opened, u64) -> (Duration, bool);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Reply(usize),
    Wake,
}

/// Everything that happened.
#[derive(Default)]
pub struct Network {
    pub opened: Vec<Opened>,
    pub requested: Vec<Requested>,
    pub wakes: usize,
    /// Pages begun, and what was said of those that are over.
    pub pages_begun: usize,
    pub pages: Vec<Action>,
    now: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    planned: u64,
    machine: u32,
    /// Open connections by the application's number.
    open: BTreeMap<u32, usize>,
}

impl Network {
    /// Runs `app` until `enough` says so (asked before every event).
    pub fn run(app: &mut dyn App, script: Script, enough: impl Fn(&Network) -> bool) -> Self {
        let mut network = Network::default();
        network.notify(app, Input::Start, script);
        while !enough(&network) {
            let ((at, _), event) = network.events.pop_first().expect("an application goes on");
            network.now = at;
            match event {
                Event::Wake => {
                    network.wakes += 1;
                    network.notify(app, Input::Woke, script);
                }
                Event::Reply(request) => network.answer(app, request, script),
            }
        }
        network
    }

    fn plan(&mut self, at: Instant, event: Event) {
        assert!(at >= self.now, "nothing is planned for the past");
        self.events.insert((at, self.planned), event);
        self.planned += 1;
    }

    fn waiting(&self, connection: usize) -> impl Iterator<Item = usize> {
        let open = |i: &usize| self.requested[*i].answered == Instant::NEVER;
        let all: Vec<usize> = (0..self.requested.len()).rev().take(200).collect();
        let here: Vec<usize> = all
            .into_iter()
            .filter(open)
            .filter(|&i| self.requested[i].connection == connection)
            .collect();
        here.into_iter()
    }

    fn answer(&mut self, app: &mut dyn App, request: usize, script: Script) {
        let Requested { connection, failed, answered, .. } = self.requested[request];
        if answered != Instant::NEVER {
            return; // the connection failed before
        }
        let Opened { conn, closes, .. } = self.opened[connection];
        self.requested[request].answered = self.now;
        if failed {
            for other in self.waiting(connection).collect::<Vec<_>>() {
                self.requested[other].answered = self.now;
                self.requested[other].failed = true;
            }
            self.open.remove(&conn);
            self.opened[connection].closed = Some(self.now);
            return self.notify(app, Input::Failed { conn }, script);
        }
        let over = self.waiting(connection).next().is_none()
            && (closes == Closes::Acceptor || self.opened[connection].closed.is_some());
        if over {
            self.open.remove(&conn);
        }
        self.notify(app, Input::Replied { conn }, script);
    }

    fn notify(&mut self, app: &mut dyn App, input: Input, script: Script) {
        let mut wishes = Vec::new();
        app.on(input, &mut AppCx { now: self.now, act: &mut |wish| wishes.push(wish) });
        for wish in wishes {
            self.act(wish, script);
        }
    }

    fn act(&mut self, wish: Action, script: Script) {
        match wish {
            Action::WakeAt(at) => self.plan(at, Event::Wake),
            Action::Datagram { .. } | Action::SendDatagram { .. } => {
                unreachable!("this network carries connections")
            }
            Action::Stop { .. } | Action::Upload { .. } => {
                unreachable!("nobody here sends without an end")
            }
            Action::Move { machine } => self.machine = machine,
            Action::PageBegins => self.pages_begun += 1,
            Action::PageEnds { .. } => self.pages.push(wish),
            Action::Multiplex { conn, writing, .. } => {
                let opened = &mut self.opened[self.open[&conn]];
                assert_eq!((opened.requests, opened.closes), (0, Closes::Opener));
                opened.frame = Some(writing.frame);
            }
            Action::Open { conn, peer, closes } => {
                let (at, machine) = (self.now, self.machine);
                let kept = self.open.values().filter(|&&i| self.opened[i].closes == Closes::Opener);
                let kept = kept.count() + usize::from(closes == Closes::Opener);
                let (closed, requests) = (None, 0);
                let frame = None;
                let opened =
                    Opened { conn, peer, machine, closes, at, closed, requests, kept, frame };
                self.opened.push(opened);
                let taken = self.open.insert(conn, self.opened.len() - 1);
                assert_eq!(taken, None, "connection number {conn} is in use");
            }
            Action::Send { conn, bytes, reply_bytes, service } => {
                let connection = self.open[&conn];
                let opened = &mut self.opened[connection];
                assert_eq!(opened.closed, None, "nothing is sent after Close");
                opened.requests += 1;
                assert!(opened.closes != Closes::Acceptor || opened.requests == 1);
                let opened = *opened;
                let (after, failed) = script(&opened, reply_bytes);
                let before = self.waiting(connection).map(|i| i + 1).max();
                let waiting_here = self.waiting(connection).count() + 1;
                let waiting = 1 + self
                    .requested
                    .iter()
                    .rev()
                    .take(200)
                    .filter(|requested| requested.answered == Instant::NEVER)
                    .count();
                let (at, answered) = (self.now, Instant::NEVER);
                let (request, reply) = (bytes, reply_bytes);
                self.requested.push(Requested {
                    connection,
                    request,
                    reply,
                    at,
                    answered,
                    failed,
                    waiting_here,
                    waiting,
                });
                // Answers of one connection come in order, unless they share it.
                let before = before.filter(|_| opened.frame.is_none());
                let earliest = before.map_or(self.now, |_| self.last_answer(connection));
                self.plan(
                    earliest.max(self.now) + after + service,
                    Event::Reply(self.requested.len() - 1),
                );
            }
            Action::Close { conn } => {
                let connection = self.open[&conn];
                let opened = &mut self.opened[connection];
                assert_ne!(opened.closes, Closes::Acceptor);
                assert_eq!(opened.closed.replace(self.now), None, "closed once");
                if opened.closes == Closes::Opener {
                    assert_eq!(
                        self.waiting(connection).count(),
                        0,
                        "a client waits for its replies"
                    );
                    self.open.remove(&conn);
                }
            }
            Action::SetRtt { .. } | Action::Await { .. } | Action::Script { .. } => {
                unreachable!("no web user says so")
            }
        }
    }

    /// When the last planned answer of a connection comes.
    fn last_answer(&self, connection: usize) -> Instant {
        let of = |(key, event): (&(Instant, u64), &Event)| match event {
            Event::Reply(request) if self.requested[*request].connection == connection => {
                Some(key.0)
            }
            _ => None,
        };
        self.events.iter().filter_map(of).max().unwrap_or(self.now)
    }
}
