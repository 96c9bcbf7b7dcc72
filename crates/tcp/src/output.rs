//! What goes out and when: the driver's poll, the calls of BSD's `tcp_output`, Nagle's rule.

use packet::{Ecn, Instant};

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::flight::Chunk;
use crate::profile::IdleRule;
use crate::segment::{Flags, Segment};

/// Numbers of an endless write stay below this.
const ENDLESS: u64 = 1 << 62;
/// A write below this many bytes goes to small buffers...
const SMALL_WRITE: u64 = 208;
/// ... of this size, each a call of its own.
const SMALL_PIECE: u64 = 100;

impl Endpoint {
    /// The next segment to send, if any: call until `None` after every other call.
    pub fn poll_send(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_send_into(&mut segment, now).then_some(segment)
    }

    /// As [`Endpoint::poll_send`], but writes the segment where it is to stay; `false` if there
    /// is none. (Moving a segment just written costs as much as making it.)
    pub fn poll_send_into(&mut self, out: &mut Segment, now: Instant) -> bool {
        let moment = self.moment(now);
        loop {
            if !self.in_call && !self.begin_call() {
                return false;
            }
            if self.output(out, moment) {
                return true;
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

    /// One segment of the call under way; `false` if there is no more.
    fn output(&mut self, out: &mut Segment, moment: Moment) -> bool {
        match self.state {
            State::Listen | State::Closed | State::Failed => false,
            State::SynSent | State::SynReceived => self.output_opening(out, moment),
            _ => self.output_open(out, moment),
        }
    }

    fn output_opening(&mut self, out: &mut Segment, moment: Moment) -> bool {
        let accepting = self.state == State::SynReceived;
        if self.flight.nxt == 0 {
            self.counters.resent_syn += u32::from(self.flight.max > 0);
            let flags = if accepting { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
            self.segment(out, 0, 0, flags);
            if if accepting { self.sack } else { self.announces_sack() } {
                out.sack.push(0, 0);
            }
            self.register(0, 1, moment);
            self.flight.nxt = 1;
            return true;
        }
        let owed = accepting && self.receiver.ack_now;
        if owed {
            self.segment(out, self.flight.max, 0, Flags::ACK);
        }
        owed
    }

    fn announces_sack(&self) -> bool {
        self.profile.recovery == crate::recovery::RecoveryKind::Sack
    }

    fn output_open(&mut self, out: &mut Segment, moment: Moment) -> bool {
        if self.flight.resend {
            self.flight.resend = false;
            let chunk = self.recovery.first(&self.flight);
            self.flight.nxt = self.flight.nxt.max(chunk.end());
            self.send(out, chunk, moment);
            return true;
        }
        if self.call_resends {
            return false;
        }
        if let Some(chunk) = self.choose(moment) {
            self.flight.nxt = chunk.end();
            self.send(out, chunk, moment);
            return true;
        }
        let owed = self.receiver.ack_now;
        if owed {
            self.pure_ack(out, moment);
        }
        owed
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
    fn send(&mut self, out: &mut Segment, chunk: Chunk, moment: Moment) {
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
        self.segment(out, chunk.seq, chunk.len, flags);
        self.register(chunk.seq, chunk.end(), moment);
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

    fn pure_ack(&mut self, out: &mut Segment, moment: Moment) {
        let f = &self.flight;
        let repeats = self.profile.output.bsd && f.fin_sent && f.una <= f.end && f.nxt == f.max;
        if !repeats {
            return self.segment(out, f.max, 0, Flags::ACK);
        }
        // BSD: the state still says FIN, so the number steps back onto it.
        if self.rexmt_at == Instant::NEVER {
            self.rexmt_at = self.rtt.deadline(self.clock, moment);
        }
        self.segment(out, self.flight.end, 0, Flags::ACK.with(Flags::FIN));
    }

    /// Builds a segment; whatever goes out carries the acknowledgement.
    fn segment(&mut self, out: &mut Segment, seq: u64, len: u32, flags: Flags) {
        out.seq = seq;
        out.ack = self.receiver.next;
        out.len = len;
        out.flags = flags;
        out.ecn = Ecn::NotEct;
        if self.sack && self.receiver.has_hole() {
            out.sack = self.receiver.sack_blocks();
        } else {
            out.sack.clear();
        }
        self.receiver.on_ack_sent();
        self.counters.segments_sent += 1;
    }
}
