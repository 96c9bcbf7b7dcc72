//! Explicit congestion notification, both ends: RFC 3168 section 6.1.

use packet::{Ecn, Instant};

use crate::clock::Moment;
use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment};

/// ECN of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EcnState {
    /// Both SYNs agreed.
    pub on: bool,
    /// Receiver: every ACK says ECE until a segment says CWR.
    pub echo: bool,
    /// Sender: the next new data segment says CWR.
    pub cwr: bool,
    /// Sender: nothing new goes out before the retransmission timer expires.
    pub held: bool,
}

impl EcnState {
    /// The window was reduced, for whatever reason: the peer is to be told (section 6.1.2).
    pub fn reduced(&mut self) {
        self.cwr = self.on;
    }
}

impl Endpoint {
    /// Section 6.1.1: a SYN asks by ECE and CWR, a SYN-ACK agrees by ECE alone. Asked again, they
    /// say the same.
    pub(crate) fn opening_ecn_flags(&self, accepting: bool) -> Flags {
        match (accepting, self.profile.ecn, self.ecn.on) {
            (false, true, _) => Flags::ECE.with(Flags::CWR),
            (true, _, true) => Flags::ECE,
            _ => Flags::NONE,
        }
    }

    /// The acceptor hears the SYN.
    pub(crate) fn accept_ecn(&mut self, syn: &Segment) {
        self.ecn.on = self.profile.ecn && syn.flags.has(Flags::ECE.with(Flags::CWR));
    }

    /// The opener hears the SYN-ACK. One that says CWR too merely reflects the SYN.
    pub(crate) fn learn_ecn(&mut self, syn_ack: &Segment) {
        let agreed = syn_ack.flags.has(Flags::ECE) && !syn_ack.flags.has(Flags::CWR);
        self.ecn.on = self.profile.ecn && agreed;
    }

    /// Section 6.1.3: the receiver echoes from the first CE packet on until CWR comes; CWR is
    /// looked at first, so that a marked segment which says CWR begins a new echo. Section 6.1.5:
    /// data that has arrived before tells nothing.
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        if segment.end() <= self.receiver.next {
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.ecn.echo = false;
        }
        if segment.ecn == Ecn::Ce {
            self.ecn.echo = true;
        }
    }

    /// A segment with new data is about to go out. Sections 6.1.2 to 6.1.6: only such a segment is
    /// ECN-capable (pure ACKs, SYNs, and what is sent again are not), and CWR travels on it, where
    /// its loss will be noticed.
    pub(crate) fn make_capable(&mut self, out: &mut Segment) {
        out.ecn = Ecn::Ect0;
        if std::mem::take(&mut self.ecn.cwr) {
            out.flags = out.flags.with(Flags::CWR);
        }
    }

    /// An ACK came that says ECE (and has not grown the window), or any while new data is held.
    /// Section 6.1.2: a reduction at most once per window of data, that is, not before the ACK
    /// passes what was sent until the last one. With a window of one segment, nothing more goes
    /// out before the timer, set anew, expires.
    pub(crate) fn on_echo(&mut self, echoed: bool, moment: Moment) {
        if echoed && self.flight.una > self.flight.reduced {
            self.counters.ecn_reductions += 1;
            if self.flight.cwnd <= self.flight.mss() {
                self.ecn.held = true;
                (self.flight.reduced, self.flight.reduced_by_echo) = (self.flight.max, true);
            } else {
                self.profile.recovery.cut_by_echo(&mut self.flight);
            }
            self.ecn.reduced();
        }
        if self.ecn.held {
            self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        }
    }

    /// The timer expired with nothing outstanding: the wait is over. Nothing was lost, so nothing
    /// is counted and the timeout stays (constructed).
    pub(crate) fn end_hold(&mut self) {
        self.ecn.held = false;
        self.rexmt_at = Instant::NEVER;
        self.asked = true;
    }
}
