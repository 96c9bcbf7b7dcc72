//! Plays recorded connections: opens each on schedule and replays its exchanges.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use packet::{Duration, Instant, Rng};

use super::recording::{Epoch, Recording, Unit, Vector};
use super::schedule::Schedule;
use crate::{Action, App, AppCx, Closes, Input};

/// A connection that is being played.
#[derive(Debug)]
struct Open {
    /// Unique number of the connection; unlike `conn` it is never used again.
    serial: u64,
    place: usize,
    /// Index of the current epoch (a request with its response), or of the opener's next write.
    step: usize,
    /// Number of epochs that have been requested.
    requested: usize,
    /// Number of the acceptor's writes that have arrived completely.
    arrived: usize,
    /// Payload bytes of these writes.
    arrived_bytes: u64,
    /// Time of the opener's last write.
    wrote: Instant,
    /// Whether something sent has not been acknowledged yet, so that [`Input::Sent`] will follow.
    unacknowledged: bool,
    closed: bool,
}

/// A source that plays all recorded connections, or those opened on one side of the link.
#[derive(Debug)]
pub struct Player {
    recording: Arc<Recording>,
    schedule: Schedule,
    round_trips: Option<RoundTrips>,
    machines: u32,
    peers: u32,
    next_serial: u64,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    /// Times at which waiting connections go on: time, serial and connection number.
    waits: BinaryHeap<Reverse<(Instant, u64, u32)>>,
}

/// Recorded round-trip times.
#[derive(Debug)]
pub struct RoundTrips {
    known: Vec<Duration>,
    rng: Rng,
}

impl RoundTrips {
    /// The round-trip times of a recording; `None` if it has none.
    pub fn of(recording: &Recording, rng: Rng) -> Option<Self> {
        let known: Vec<_> = recording.connections.iter().filter_map(|c| c.round_trip).collect();
        (!known.is_empty()).then_some(RoundTrips { known, rng })
    }

    /// The recorded round-trip time; if there is none, that of another connection drawn at random.
    fn draw(&mut self, recorded: Option<Duration>) -> Duration {
        recorded.unwrap_or_else(|| self.known[self.rng.below(self.known.len() as u64) as usize])
    }
}

impl Player {
    /// A player that follows `schedule`, between `machines` of its own side and `peers` of the
    /// other.
    pub fn new(
        recording: Arc<Recording>,
        schedule: Schedule,
        round_trips: Option<RoundTrips>,
        [machines, peers]: [u32; 2],
    ) -> Self {
        Player {
            recording,
            schedule,
            round_trips,
            machines,
            peers,
            next_serial: 0,
            open: Vec::new(),
            free: Vec::new(),
            waits: BinaryHeap::new(),
        }
    }

    fn begin(&mut self, place: usize, cx: &mut AppCx) {
        let recorded = &self.recording.connections[place];
        let open = Open {
            serial: self.next_serial,
            place,
            step: 0,
            requested: 0,
            arrived: 0,
            arrived_bytes: 0,
            wrote: cx.now,
            unacknowledged: false,
            closed: false,
        };
        self.next_serial += 1;
        let conn = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            (self.open.len() - 1) as u32
        });
        self.open[conn as usize] = Some(open);
        if let Some(round_trips) = &mut self.round_trips {
            let round_trip = round_trips.draw(recorded.round_trip);
            (cx.act)(Action::SetRtt { round_trip });
        }
        let [opener, acceptor] = recorded.hosts;
        (cx.act)(Action::Move { machine: opener % self.machines });
        (cx.act)(Action::Open { conn, peer: acceptor % self.peers, closes: Closes::Opener });
        (cx.act)(Action::Await { conn });
    }

    /// Starts the exchanges of a connection whose handshake is complete.
    fn opened(&mut self, conn: u32, cx: &mut AppCx) {
        let recording = Arc::clone(&self.recording);
        let Some(open) = &mut self.open[conn as usize] else { return };
        open.wrote = cx.now;
        if let Vector::Concurrent([_, acceptor]) = &recording.connections[open.place].vector {
            for &Unit { gap, bytes, after } in acceptor {
                (cx.act)(Action::Script { conn, after, gap, bytes });
            }
        }
        self.wait(conn, cx);
    }

    /// Takes the next step of a connection at once, or schedules it if it is not due.
    fn wait(&mut self, conn: u32, cx: &mut AppCx) {
        let Some(open) = &self.open[conn as usize] else { return };
        let at = match &self.recording.connections[open.place].vector {
            Vector::Sequential(epochs) => epochs.get(open.step).map(|epoch| cx.now + epoch.think),
            Vector::Concurrent([own, _]) => own.get(open.step).map(|unit| open.wrote + unit.gap),
        };
        match at {
            Some(at) if at > cx.now => {
                self.waits.push(Reverse((at, open.serial, conn)));
                (cx.act)(Action::WakeAt(at));
            }
            _ => self.go_on(conn, cx),
        }
    }

    fn go_on(&mut self, conn: u32, cx: &mut AppCx) {
        let recording = Arc::clone(&self.recording);
        let Some(open) = &mut self.open[conn as usize] else { return };
        match &recording.connections[open.place].vector {
            Vector::Sequential(epochs) => match epochs.get(open.step) {
                Some(_) => self.exchange(conn, epochs, cx),
                None => self.end(conn, cx),
            },
            Vector::Concurrent([own, acceptor]) => match own.get(open.step) {
                Some(unit) if open.may_write(unit, acceptor, cx.now) => {
                    open.step += 1;
                    open.wrote = cx.now;
                    open.write(conn, unit.bytes, cx);
                    self.wait(conn, cx);
                }
                // The gap before this write is not over, and a timer will end it, or bytes of the
                // acceptor are missing.
                Some(_) => {}
                None if open.arrived == acceptor.len() => self.end(conn, cx),
                None => {}
            },
        }
    }

    fn exchange(&mut self, conn: u32, epochs: &[Epoch], cx: &mut AppCx) {
        let ends = self.ends(conn);
        let Some(open) = &mut self.open[conn as usize] else { return };
        let epoch = epochs[open.step];
        let Epoch { request: bytes, response: reply_bytes, delay: service, .. } = epoch;
        if reply_bytes > 0 {
            (cx.act)(Action::Send { conn, bytes, reply_bytes, service });
            return self.ask_ahead(conn, epochs, cx);
        }
        open.write(conn, bytes, cx);
        if ends && open.step + 1 == epochs.len() {
            self.close(conn, cx);
        }
    }

    /// Requests the following epochs that have no request: the acceptor writes them by itself, each
    /// after its delay from the last one.
    fn ask_ahead(&mut self, conn: u32, epochs: &[Epoch], cx: &mut AppCx) {
        let Some(open) = &mut self.open[conn as usize] else { return };
        open.requested = open.step + 1;
        while let Some(&Epoch { request: 0, delay, response, .. }) = epochs.get(open.requested) {
            open.requested += 1;
            let (reply_bytes, service) = (response, delay);
            (cx.act)(Action::Send { conn, bytes: 0, reply_bytes, service });
        }
    }

    /// Whether the end of the connection was recorded.
    fn ends(&self, conn: u32) -> bool {
        let of = |open: &Open| self.recording.connections[open.place].ends;
        self.open[conn as usize].as_ref().is_some_and(of)
    }

    /// Closes a connection that has nothing left to send; if its end was not recorded, it stays
    /// open.
    fn end(&mut self, conn: u32, cx: &mut AppCx) {
        if self.ends(conn) {
            self.close(conn, cx);
        }
    }

    fn close(&mut self, conn: u32, cx: &mut AppCx) {
        if let Some(open) = &mut self.open[conn as usize]
            && !std::mem::replace(&mut open.closed, true)
        {
            (cx.act)(Action::Close { conn });
        }
        self.perhaps_forget(conn);
    }

    /// Forgets a connection when no further input can come for it, so that its number may be used
    /// again.
    fn perhaps_forget(&mut self, conn: u32) {
        if self.open[conn as usize].as_ref().is_some_and(|o| o.closed && !o.unacknowledged) {
            self.forget(conn);
        }
    }

    fn forget(&mut self, conn: u32) {
        if self.open[conn as usize].take().is_some() {
            self.free.push(conn);
        }
    }

    /// Handles a reply, or data that the acceptor wrote by itself.
    fn replied(&mut self, conn: u32, cx: &mut AppCx) {
        let Some(open) = &mut self.open[conn as usize] else { return };
        match &self.recording.connections[open.place].vector {
            Vector::Sequential(_) => {
                open.step += 1;
                if open.step < open.requested {
                    return; // more replies are in flight
                }
            }
            Vector::Concurrent([_, acceptor]) => {
                open.arrived_bytes += acceptor[open.arrived].bytes;
                open.arrived += 1;
                return self.go_on(conn, cx);
            }
        }
        self.wait(conn, cx);
    }

    /// Handles the acknowledgement of all data that was sent.
    fn sent(&mut self, conn: u32, cx: &mut AppCx) {
        let Some(open) = &mut self.open[conn as usize] else { return };
        open.unacknowledged = false;
        if open.closed {
            return self.perhaps_forget(conn);
        }
        if let Vector::Sequential(_) = &self.recording.connections[open.place].vector {
            open.step += 1;
            self.wait(conn, cx);
        }
    }

    fn woke(&mut self, cx: &mut AppCx) {
        while let Some(&Reverse((at, serial, conn))) = self.waits.peek()
            && at <= cx.now
        {
            self.waits.pop();
            // The connection may have failed meanwhile.
            if self.open[conn as usize].as_ref().is_some_and(|open| open.serial == serial) {
                self.go_on(conn, cx);
            }
        }
        while let Some((at, place)) = self.schedule.peek() {
            if at > cx.now {
                break;
            }
            self.begin(place, cx);
            self.schedule.advance();
            if let Some((next, _)) = self.schedule.peek()
                && next > cx.now
            {
                (cx.act)(Action::WakeAt(next));
            }
        }
    }
}

impl Open {
    /// Whether the opener may make the write `unit`: its gap is over, and the acceptor's bytes
    /// before it have arrived. The host reports only complete writes of the acceptor, so the
    /// acceptor's next write need not have arrived if it would exceed these bytes.
    fn may_write(&self, unit: &Unit, acceptor: &[Unit], now: Instant) -> bool {
        let next = acceptor.get(self.arrived);
        now >= self.wrote + unit.gap
            && next.is_none_or(|next| self.arrived_bytes + next.bytes > unit.after)
    }

    fn write(&mut self, conn: u32, bytes: u64, cx: &mut AppCx) {
        self.unacknowledged = true;
        let service = Duration::ZERO;
        (cx.act)(Action::Send { conn, bytes, reply_bytes: 0, service });
    }
}

impl App for Player {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                self.schedule.begin(cx.now);
                if let Some((at, _)) = self.schedule.peek() {
                    (cx.act)(Action::WakeAt(at));
                }
            }
            Input::Woke => self.woke(cx),
            Input::Opened { conn } => self.opened(conn, cx),
            Input::Replied { conn } => self.replied(conn, cx),
            Input::Sent { conn } => self.sent(conn, cx),
            Input::Failed { conn } => self.forget(conn),
            Input::Received { .. } => {}
        }
    }
}
