//! What both SYNs agree on.

use packet::Ecn;

use super::accurate::handshake;
use super::rules::EcnFeedback;
use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// RFC 3168 section 6.1.1: a SYN requests ECN by ECE and CWR, a SYN-ACK agrees by ECE alone; accurate
    /// ECN requests and answers by three flags. A SYN-ACK that goes again repeats its flags, and so does a
    /// SYN unless the profile falls back.
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

    /// The acceptor reads the SYN. To a peer that knows less it answers as to RFC 3168 (RFC 9768
    /// section 3.1.2).
    pub(crate) fn accept_ecn(&mut self, syn: &Segment) {
        let rules = self.profile.ecn;
        let requested = syn.flags.and(Flags::ACE);
        let classic = Flags::ECE.with(Flags::CWR);
        if !rules.on || requested == Flags::NONE {
            return;
        }
        if rules.feedback == EcnFeedback::Accurate && requested != classic {
            // Any other combination requests what all three flags do (section 3.1.3).
            self.conn.ecn.feedback = EcnFeedback::Accurate;
            self.conn.ecn.echo_flags = handshake(syn.ecn);
            self.rx.marks().bytes.test_path(false);
        } else if requested.has(classic) {
            self.conn.ecn.feedback = rules.without_accuracy();
        }
    }

    /// The opener reads the SYN-ACK. One that says all that the SYN said merely reflects it.
    pub(crate) fn conclude_ecn(&mut self, syn_ack: &Segment) {
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
            counters.begin(&self.profile.ecn);
            self.conn.ecn.echo_flags = counters.ace();
        }
    }
}
