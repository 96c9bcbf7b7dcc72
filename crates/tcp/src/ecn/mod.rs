//! Explicit congestion notification, both ends: RFC 3168 section 6.1, and two ways to report more
//! than one bit per window to the sender: DCTCP's echo ([`dctcp`], RFC 8257) and accurate ECN
//! ([`accurate`], RFC 9768).

mod abe;
mod accurate;
mod dctcp;
mod echo_reader;
mod option;
mod rules;

use packet::{Ecn, Instant};

use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment};
pub(crate) use abe::BetaEcn;
use accurate::{Counters, handshake};
use dctcp::Before;
pub(crate) use echo_reader::EchoReader;
use option::Bytes;
pub(crate) use rules::{EchoCut, EcnFeedback, EcnRules};

/// ECN of one connection, as far as all have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EcnState {
    /// What both SYNs agreed on.
    pub feedback: EcnFeedback,
    /// Receiver: what every segment that goes out says of marks: ECE, or, of accurate ECN, the
    /// counter or the answer to a SYN or SYN-ACK.
    pub echo_flags: Flags,
    /// Sender: the next new data segment says CWR.
    pub cwr: bool,
    /// Sender: nothing new goes out before the retransmission timer expires.
    pub held: bool,
}

/// What only connections with more than RFC 3168's feedback remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// DCTCP's echo.
    before: Before,
    /// Accurate ECN: packets, and bytes for the option.
    counters: Counters,
    bytes: Bytes,
}

impl EcnState {
    /// Whether both SYNs agreed.
    pub fn on(self) -> bool {
        self.feedback != EcnFeedback::None
    }

    /// The window was reduced, for whatever reason: the peer is notified (RFC 3168 section 6.1.2),
    /// unless its feedback is accurate (RFC 9768 section 3.1.5).
    pub fn reduced(&mut self) {
        self.cwr = matches!(self.feedback, EcnFeedback::Classic | EcnFeedback::Dctcp);
    }
}

impl Endpoint {
    /// RFC 3168 section 6.1.1: a SYN requests ECN by ECE and CWR, a SYN-ACK agrees by ECE alone;
    /// accurate ECN requests and answers by three flags. A retransmitted SYN-ACK has the flags of
    /// the first; so has a retransmitted SYN unless the profile falls back.
    pub(crate) fn opening_ecn_flags(&self, accepting: bool, again: bool) -> Flags {
        let rules = &self.profile.ecn;
        if accepting && self.conn.ecn.on() {
            // Accurate ECN has its answer in `says`.
            let accurate = self.conn.ecn.feedback == EcnFeedback::Accurate;
            return if accurate { Flags::NONE } else { Flags::ECE };
        }
        let silent = accepting || !rules.on || (again && rules.fallback);
        match (silent, rules.feedback) {
            (true, _) => Flags::NONE,
            (false, EcnFeedback::Accurate) => Flags::ACE,
            (false, _) => Flags::ECE.with(Flags::CWR),
        }
    }

    /// The ECN field of a SYN or SYN-ACK: not capable, but with DCTCP (RFC 8257 section 3.5).
    pub(crate) fn opening_ecn(&self) -> Ecn {
        let rules = &self.profile.ecn;
        let capable = rules.on && rules.feedback == EcnFeedback::Dctcp;
        if capable { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// The acceptor receives the SYN. To a peer that knows less it answers as to RFC 3168 (RFC 9768
    /// section 3.1.2).
    pub(crate) fn accept_ecn(&mut self, syn: &Segment) {
        let rules = self.profile.ecn;
        let asked = syn.flags.and(Flags::ACE);
        let classic = Flags::ECE.with(Flags::CWR);
        if !rules.on || asked == Flags::NONE {
            return;
        }
        if rules.feedback == EcnFeedback::Accurate && asked != classic {
            // Any other combination counts as all three flags (section 3.1.3).
            self.conn.ecn.feedback = EcnFeedback::Accurate;
            self.conn.ecn.echo_flags = handshake(syn.ecn);
            self.rx.marks().bytes.test_path(false);
        } else if asked.has(classic) {
            self.conn.ecn.feedback = rules.without_accuracy();
        }
    }

    /// The opener receives the SYN-ACK. One with all flags of the SYN merely reflects it.
    pub(crate) fn learn_ecn(&mut self, syn_ack: &Segment) {
        let rules = self.profile.ecn;
        let answer = syn_ack.flags.and(Flags::ACE);
        let accurate = rules.feedback == EcnFeedback::Accurate;
        if !rules.on || answer == Flags::NONE || answer == self.opening_ecn_flags(false, false) {
            return;
        }
        if answer == Flags::ECE {
            self.conn.ecn.feedback = rules.without_accuracy();
        } else if accurate {
            self.conn.ecn.feedback = EcnFeedback::Accurate;
            let mark = if rules.honest { syn_ack.ecn } else { Ecn::NotEct };
            self.rx.marks().counters.read_syn_ack(mark);
            self.rx.marks().bytes.test_path(true);
            self.conn.ecn.echo_flags = handshake(mark);
        }
    }

    /// The handshake is over: with accurate ECN segments carry the counter.
    pub(crate) fn begin_feedback(&mut self) {
        if self.conn.ecn.feedback == EcnFeedback::Accurate {
            let counters = &mut self.rx.marks().counters;
            counters.begin(self.profile.ecn.believes_thinned);
            self.conn.ecn.echo_flags = counters.ace();
        }
    }

    /// Data or a FIN arrived. A receiver that ignores ECN does nothing. RFC 3168 section 6.1.5:
    /// data that has arrived before carries no information.
    #[inline(never)]
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        if !self.profile.ecn.honest || segment.end() <= self.rx.next {
            return;
        }
        match self.conn.ecn.feedback {
            EcnFeedback::None => {}
            EcnFeedback::Classic => self.echo_until_cwr(segment),
            EcnFeedback::Dctcp => self.echo_as_marked(segment),
            EcnFeedback::Accurate => {
                self.count_mark(segment, true);
                if self.profile.ecn.option {
                    self.rx.marks().bytes.count(segment.len, segment.ecn);
                }
            }
        }
    }

    /// Something else arrived after the handshake: accurate ECN counts all packets.
    #[cold]
    pub(crate) fn note_mark_without_data(&mut self, segment: &Segment) {
        if self.profile.ecn.honest && !segment.flags.has(Flags::SYN) {
            self.count_mark(segment, false);
        }
    }

    /// Section 6.1.3: the receiver echoes from the first CE packet on until CWR comes; CWR is
    /// looked at first, so that a marked segment which says CWR begins a new echo.
    fn echo_until_cwr(&mut self, segment: &Segment) {
        let (cwr, marked) = (segment.flags.has(Flags::CWR), segment.ecn == Ecn::Ce);
        let outlasts = self.profile.ecn.waiting_mark_outlasts_cwr
            && self.rx.last_marked
            && self.rx.ack_at != Instant::NEVER;
        self.rx.last_marked = marked;
        if cwr && !outlasts {
            self.conn.ecn.echo_flags = Flags::NONE;
        }
        let first = marked && self.conn.ecn.echo_flags == Flags::NONE;
        self.rx.hear_ecn(segment.ecn, first, cwr);
        if marked {
            self.conn.ecn.echo_flags = Flags::ECE;
        }
    }

    /// Data is about to go out. RFC 3168 sections 6.1.2 to 6.1.6: only new data is ECN-capable
    /// (pure ACKs, SYNs, and what is sent again are not), and CWR travels on it, where its loss will
    /// be noticed. What a DCTCP or scalable sender sends again is capable too, as in
    /// Linux, and all in ns-2.
    #[inline(never)]
    pub(crate) fn make_capable(&mut self, out: &mut Segment, again: bool) {
        let scalable = self.scalable();
        let repeats = scalable
            || self.conn.ecn.feedback == EcnFeedback::Dctcp
            || self.profile.ecn.repeats_are_capable;
        if !again || repeats {
            out.ecn = if scalable { Ecn::Ect1 } else { Ecn::Ect0 };
        }
        if !again && std::mem::take(&mut self.conn.ecn.cwr) {
            out.flags = out.flags.with(Flags::CWR);
        }
    }

    /// Whether the data may say that its sender is scalable: only with accurate feedback (RFC 9331
    /// section 4.2).
    pub(crate) fn scalable(&self) -> bool {
        self.profile.ecn.scalable && self.conn.ecn.feedback == EcnFeedback::Accurate
    }
}
