//! What goes out and when: the driver's poll, the calls of BSD's `tcp_output`, Nagle's rule.

use packet::{Ecn, Instant};

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::flight::Chunk;
use crate::profile::IdleRule;
use crate::segment::{Flags, SackBlocks, Segment};

/// Numbers of an endless write stay below this.
const ENDLESS: u64 = 1 << 62;
/// A write below this many bytes goes to small buffers...
const SMALL_WRITE: u64 = 208;
/// ... of this size, each a call of its own.
const SMALL_PIECE: u64 = 100;

impl Endpoint {
    /// The next segment to send, if any: call until `None` after every other call.
    pub fn poll_send(&mut self, now: Instant) -> Option<Segment> {
        let moment = self.moment(now);
        loop {
            if !self.in_call && !self.begin_call() {
                return None;
            }
            if let Some(segment) = self.output(moment) {
                return Some(segment);
            }
            self.in_call = false;
        }
    }

    /// Begins the next output call, if one is due: first what an event asked for, then, once the
    /// connection is open, what the program wrote and its close.
    fn begin_call(&mut self) -> bool {
        let open = matches!(self.state, State::Established | State::CloseWait);
        self.call_resends = false;
        if self.asked {
            self.asked = false;
        } else if self.flight.resend {
            self.call_resends = true;
        } else if open && (self.unwritten > 0 || self.closing) {
            self.take_writes();
        } else {
            return false;
        }
        self.call_idle = self.flight.idle();
        self.in_call = true;
        true
    }

    /// What the program wrote, and its close, reach TCP.
    fn take_writes(&mut self) {
        if !self.profile.output.bsd {
            // Seen together, so that the FIN rides on the last data.
            self.hand_over(self.unwritten);
            self.queue_fin();
        } else if self.unwritten > 0 {
            self.hand_over(self.next_piece());
        } else {
            self.queue_fin();
        }
    }

    /// How much of the written data the socket layer hands over next.
    fn next_piece(&self) -> u64 {
        let rules = &self.profile.output;
        let rest = self.unwritten;
        let buffered = self.flight.end - self.flight.una;
        if rules.small_write_split && rest < SMALL_WRITE {
            rest.min(SMALL_PIECE)
        } else if rules.write_chunk == 0 || buffered > self.flight.window + self.flight.mss() {
            // Beyond the window the pieces make no difference; an endless write has no end.
            rest
        } else {
            rest.min(rules.write_chunk)
        }
    }

    fn hand_over(&mut self, bytes: u64) {
        self.flight.end = self.flight.end.saturating_add(bytes).min(ENDLESS);
        self.unwritten -= bytes;
    }

    fn queue_fin(&mut self) {
        if self.closing && !self.flight.fin_queued {
            self.flight.fin_queued = true;
            let passive = self.state == State::CloseWait;
            self.state = if passive { State::LastAck } else { State::FinWait1 };
        }
    }

    /// One segment of the call under way.
    fn output(&mut self, moment: Moment) -> Option<Segment> {
        match self.state {
            State::Listen | State::Closed | State::Failed => None,
            State::SynSent | State::SynReceived => self.output_opening(moment),
            _ => self.output_open(moment),
        }
    }

    fn output_opening(&mut self, moment: Moment) -> Option<Segment> {
        let accepting = self.state == State::SynReceived;
        if self.flight.nxt == 0 {
            self.counters.resent_syn += u32::from(self.flight.max > 0);
            let flags = if accepting { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
            let sack = if accepting { self.sack } else { self.announces_sack() };
            let mut segment = self.segment(0, 0, flags);
            if sack {
                segment.sack.push(0, 0);
            }
            self.register(0, 1, moment);
            self.flight.nxt = 1;
            return Some(segment);
        }
        let owed = accepting && self.receiver.ack_now;
        owed.then(|| self.segment(self.flight.max, 0, Flags::ACK))
    }

    fn announces_sack(&self) -> bool {
        self.profile.recovery == crate::recovery::RecoveryKind::Sack
    }

    fn output_open(&mut self, moment: Moment) -> Option<Segment> {
        if self.flight.resend {
            self.flight.resend = false;
            let chunk = self.recovery.first(&self.flight);
            self.flight.nxt = self.flight.nxt.max(chunk.end());
            return Some(self.send(chunk, moment));
        }
        if self.call_resends {
            return None;
        }
        if let Some(chunk) = self.choose(moment) {
            self.flight.nxt = chunk.end();
            return Some(self.send(chunk, moment));
        }
        if self.receiver.ack_now { Some(self.pure_ack(moment)) } else { None }
    }

    fn choose(&mut self, moment: Moment) -> Option<Chunk> {
        let bsd = self.profile.output.bsd;
        let pick =
            |this: &Self| if bsd { this.bsd_next() } else { this.recovery.next(&this.flight) };
        let chunk = pick(self)?;
        let floor = match self.profile.idle {
            IdleRule::Off => return Some(chunk),
            IdleRule::SinceReceived if !self.flight.idle() => return Some(chunk),
            IdleRule::SinceReceived => self.flight.mss(),
            IdleRule::SinceSent => self.profile.initial_window,
        };
        let idle =
            self.flight.cwnd > floor && self.rtt.idle_too_long(self.active_at, self.clock, moment);
        if !idle {
            return Some(chunk);
        }
        self.flight.cwnd = floor;
        pick(self)
    }

    /// BSD's choice: silly-window avoidance and Nagle's rule, judged for the whole call.
    fn bsd_next(&self) -> Option<Chunk> {
        let f = &self.flight;
        let chunk = f.chunk(f.nxt, f.una + f.usable());
        if f.nxt > f.end {
            return None;
        }
        let to_end = chunk.seq + u64::from(chunk.len) == f.end;
        let sends_data = chunk.len > 0
            && (chunk.len == f.mss
                || (self.call_idle && to_end)
                || u64::from(chunk.len) >= f.window / 2
                || chunk.seq < f.max
                || self.receiver.ack_now);
        let sends_fin = chunk.fin && (!f.fin_sent || f.nxt == f.una);
        (sends_data || sends_fin).then_some(chunk)
    }

    /// Sends payload or a FIN.
    fn send(&mut self, chunk: Chunk, moment: Moment) -> Segment {
        let again = chunk.seq < self.flight.max;
        if chunk.len > 0 {
            self.counters.data_sent += 1;
            self.counters.resent_data += u32::from(again);
        } else {
            self.counters.resent_fin += u32::from(again);
        }
        self.recovery.on_sent(&self.flight, chunk);
        self.flight.fin_sent |= chunk.fin;
        let flags = if chunk.fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        let segment = self.segment(chunk.seq, chunk.len, flags);
        self.register(chunk.seq, chunk.end(), moment);
        segment
    }

    /// Accounts for numbers `seq..end` that go out: timing, timer, idle rule.
    fn register(&mut self, seq: u64, end: u64, moment: Moment) {
        let new = seq.max(self.flight.max);
        if end > new {
            // Only numbers never sent before are timed (Karn).
            if self.timed == u64::MAX {
                self.timed = new;
                self.timed_at = self.rtt.stamp(self.clock, moment);
            }
            self.flight.max = end;
        }
        if self.rexmt_at == Instant::NEVER {
            self.rexmt_at = self.rtt.deadline(self.clock, moment);
        }
        if self.profile.idle == IdleRule::SinceSent {
            self.active_at = moment.at;
        }
    }

    fn pure_ack(&mut self, moment: Moment) -> Segment {
        let f = &self.flight;
        let repeats = self.profile.output.bsd && f.fin_sent && f.una <= f.end && f.nxt == f.max;
        if !repeats {
            return self.segment(f.max, 0, Flags::ACK);
        }
        // BSD: the state still says FIN, so the number steps back onto it.
        if self.rexmt_at == Instant::NEVER {
            self.rexmt_at = self.rtt.deadline(self.clock, moment);
        }
        self.segment(self.flight.end, 0, Flags::ACK.with(Flags::FIN))
    }

    /// Builds a segment; whatever goes out carries the acknowledgement.
    fn segment(&mut self, seq: u64, len: u32, flags: Flags) -> Segment {
        let ack = self.receiver.next;
        let sack = SackBlocks::NONE;
        let mut segment = Segment { seq, ack, len, flags, ecn: Ecn::NotEct, sack };
        if self.sack && self.receiver.has_hole() {
            segment.sack = self.receiver.sack_blocks();
        }
        self.receiver.on_ack_sent();
        self.counters.segments_sent += 1;
        segment
    }
}
