//! The accepting ends of connections that applications on the other side of the link open. For each
//! connection, the program on that side announces when and how much the server replies; the server
//! here writes these replies, as the servers in the simulator (crate `sim`) do.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use packet::{Duration, Instant};
use rustix::event::epoll::{self, EventData, EventFlags};

use super::driver::{Driver, Expected, Place, Slot};
use super::facts::{ConnectionId, Fact};
use super::partner::{Closing, PartnerMessage, When};
use super::pipe::Pipe;
use super::timers::Timer;

/// A reply to be written.
#[derive(Clone, Copy, Debug)]
struct Reply {
    request_end: u64,
    bytes: u64,
    when: When,
    /// Time when the partner program announced the reply.
    reported: Instant,
}

/// What the partner program has announced about a connection.
#[derive(Debug)]
pub struct Plan {
    conn: ConnectionId,
    closing: Closing,
    replies: VecDeque<Reply>,
    /// The opener sends no further request.
    last: bool,
}

/// The accepting end of a connection.
#[derive(Debug)]
pub struct Acceptor {
    pub(super) pipe: Pipe,
    pub(super) group: u16,
    plan: Option<Plan>,
    from: SocketAddr,
    /// Number of replies that the server program has begun to write.
    answered: u32,
    /// Time when the server program finishes preparing the oldest reply.
    ready: Option<Instant>,
    /// Time when the server program last began to write a reply.
    wrote: Option<Instant>,
    /// Expiry time of the timer that was set last for the next reply.
    armed: Instant,
}

impl Acceptor {
    /// Time when the oldest reply may be written; `None` while its request has not arrived.
    fn due(&mut self, now: Instant) -> Option<Instant> {
        let reply = *self.plan.as_ref()?.replies.front()?;
        if self.pipe.delivered < reply.request_end {
            return None;
        }
        let after = |start: Instant, ns: u64| start + Duration::from_nanos(ns);
        match reply.when {
            When::Served(ns) => Some(*self.ready.get_or_insert(after(now, ns))),
            When::Unrequested(_) if self.pipe.unwritten > 0 => None,
            When::Unrequested(ns) => Some(*self.ready.get_or_insert(after(now, ns))),
            When::Scripted(ns) => Some(after(self.wrote.unwrap_or(reply.reported), ns)),
        }
    }

    /// Writes the replies that are due by `now`, and closes after the last. Returns the facts to
    /// log, and when the next reply is due.
    fn answer(&mut self, now: Instant) -> (Vec<Fact>, Option<Instant>) {
        let mut facts = Vec::new();
        let next = loop {
            let closes = self.finished();
            self.pipe.write(closes);
            let Some(due) = self.due(now) else { break None };
            if due > now {
                break Some(due);
            }
            self.ready = None;
            let Some(plan) = &mut self.plan else { break None };
            let Some(reply) = plan.replies.pop_front() else { break None };
            facts.push(Fact::Served {
                conn: plan.conn,
                index: self.answered,
                resent: self.pipe.resent(),
            });
            self.answered += 1;
            self.pipe.unwritten += reply.bytes;
            self.wrote = Some(now);
        };
        if self.finished() {
            self.pipe.close();
        }
        (facts, next)
    }

    fn finished(&self) -> bool {
        let Some(plan) = &self.plan else { return self.pipe.peer_closed };
        let answered = self.answered > 0 && plan.replies.is_empty();
        match plan.closing {
            Closing::Acceptor => answered,
            Closing::AcceptorLast => answered && plan.last,
            Closing::Opener => self.pipe.peer_closed && plan.replies.is_empty(),
        }
    }

    /// The fact to log when the connection or the run is over.
    pub(super) fn end(&self, at: Instant, over: bool) -> Option<Fact> {
        let conn = self.plan.as_ref()?.conn;
        Some(Fact::AcceptorEnd { conn, end: self.pipe.end(at, over) })
    }
}

impl Driver {
    fn acceptor(&mut self, place: Place) -> Option<&mut Acceptor> {
        match self.at(place) {
            Some(Slot::Acceptor(acceptor)) => Some(acceptor),
            _ => None,
        }
    }

    /// A connection to a group's server was accepted.
    pub(super) fn accepted(
        &mut self,
        group: u16,
        socket: OwnedFd,
        from: SocketAddr,
    ) -> io::Result<()> {
        let plan = self.plans.remove(&from);
        let conn = plan.as_ref().map(|plan| plan.conn);
        let pipe = Pipe::new(socket, true, EventFlags::IN);
        let acceptor = Acceptor {
            pipe,
            group,
            plan,
            from,
            answered: 0,
            ready: None,
            wrote: None,
            armed: Instant::NEVER,
        };
        let place = self.watch(Slot::Acceptor(Box::new(acceptor)), EventFlags::IN)?;
        match conn {
            Some(conn) => {
                self.expected.insert(conn, Expected::At(place));
            }
            None => {
                self.unplanned.insert(from, place);
            }
        }
        self.acceptor_reacts(place)
    }

    /// Applies a message of the partner program about a connection.
    pub(super) fn plan(&mut self, word: PartnerMessage) -> io::Result<()> {
        let reported = self.clock.now();
        match word {
            PartnerMessage::Open { conn, from, closing } => {
                let plan = Plan { conn, closing, replies: VecDeque::new(), last: false };
                return self.expect(plan, from);
            }
            PartnerMessage::Reply { conn, request_end, bytes, when } => {
                let reply = Reply { request_end, bytes, when, reported };
                return self.with_plan(conn, |plan| plan.replies.push_back(reply));
            }
            PartnerMessage::Last { conn } => return self.with_plan(conn, |plan| plan.last = true),
            PartnerMessage::Gone { conn } => {
                if let Some(Expected::From(from)) = self.expected.remove(&conn) {
                    self.plans.remove(&from);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Stores the plan of a connection that will arrive, or has already arrived.
    fn expect(&mut self, plan: Plan, from: SocketAddr) -> io::Result<()> {
        let conn = plan.conn;
        let Some(place) = self.unplanned.remove(&from) else {
            self.plans.insert(from, plan);
            self.expected.insert(conn, Expected::From(from));
            return Ok(());
        };
        if let Some(acceptor) = self.acceptor(place) {
            acceptor.plan = Some(plan);
            self.expected.insert(conn, Expected::At(place));
        }
        self.acceptor_reacts(place)
    }

    fn with_plan(&mut self, conn: ConnectionId, act: impl FnOnce(&mut Plan)) -> io::Result<()> {
        match self.expected.get(&conn) {
            Some(&Expected::From(from)) => {
                self.plans.get_mut(&from).map(act);
                Ok(())
            }
            Some(&Expected::At(place)) => {
                if let Some(plan) = self.acceptor(place).and_then(|of| of.plan.as_mut()) {
                    act(plan);
                }
                self.acceptor_reacts(place)
            }
            None => Ok(()), // the connection is over
        }
    }

    /// Handles events of an accepted socket.
    pub(super) fn acceptor_happens(&mut self, place: Place, flags: EventFlags) -> io::Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut arrived = (0, 0);
        if let Some(acceptor) = self.acceptor(place)
            && flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR)
        {
            arrived = (acceptor.group, acceptor.pipe.read(&mut scratch));
        }
        self.scratch = scratch;
        if arrived.1 > 0 {
            self.arrived(arrived.0, arrived.1);
        }
        self.acceptor_reacts(place)
    }

    /// Runs the server program: writes replies that are due, closes, and sets the timer for the
    /// next reply.
    pub(super) fn acceptor_reacts(&mut self, place: Place) -> io::Result<()> {
        let now = self.now;
        let epoll = Arc::clone(&self.epoll);
        let Some(acceptor) = self.acceptor(place) else { return Ok(()) };
        let (facts, next) = acceptor.answer(now);
        let next = next.filter(|&at| at < acceptor.armed || acceptor.armed <= now);
        acceptor.armed = next.unwrap_or(acceptor.armed);
        let over = acceptor.pipe.over();
        let watch = acceptor.pipe.new_watch().filter(|_| !over);
        if let Some(flags) = watch {
            epoll::modify(&*epoll, &acceptor.pipe.socket, EventData::new_u64(place), flags)?;
        }
        // The connection may have ended while the events to watch were changed.
        let over = over || (watch.is_some() && acceptor.pipe.over());
        facts.iter().for_each(|fact| self.log.note(fact));
        if over {
            self.retire_acceptor(place);
        } else if let Some(at) = next {
            self.timers.add(at, Timer::Serve(place));
        }
        Ok(())
    }

    fn retire_acceptor(&mut self, place: Place) {
        let now = self.now;
        let Some(acceptor) = self.acceptor(place) else { return };
        let (fact, from) = (acceptor.end(now, true), acceptor.from);
        match acceptor.plan.as_ref().map(|plan| plan.conn) {
            Some(conn) => {
                self.expected.remove(&conn);
            }
            None => {
                self.unplanned.remove(&from);
            }
        }
        fact.iter().for_each(|fact| self.log.note(fact));
        self.free(place);
    }
}
