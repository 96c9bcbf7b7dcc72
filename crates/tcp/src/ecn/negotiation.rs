//! Negotiation of ECN by SYN and SYN-ACK.

use packet::Ecn;

use super::accurate::handshake;
use super::rules::EcnFeedback;
use crate::connection::State;
use crate::endpoint::TcpEndpoint;
use crate::segment::{AccEcn, Flags, Segment};

impl TcpEndpoint {
    /// ECN flags of a SYN or SYN-ACK. RFC 3168 section 6.1.1: a SYN requests ECN by ECE and CWR, a
    /// SYN-ACK agrees by ECE alone; accurate ECN requests and answers by three flags. A
    /// retransmitted SYN-ACK repeats its flags, and so does a SYN unless the profile falls back.
    pub(crate) fn opening_ecn_flags(&self, accepting: bool, retransmission: bool) -> Flags {
        let rules = &self.profile.ecn;
        if accepting && self.conn.ecn.on() {
            // With accurate ECN the answer is in `echo_flags`.
            let accurate = self.conn.ecn.feedback == EcnFeedback::Accurate;
            return if accurate { Flags::NONE } else { Flags::ECE };
        }
        let persists = rules.everywhere
            && rules.feedback == EcnFeedback::Accurate
            && self.counters.resent_syn <= 1;
        let silent = accepting || !rules.on || (retransmission && rules.fallback && !persists);
        match (silent, rules.feedback) {
            (true, _) => Flags::NONE,
            (false, EcnFeedback::Accurate) => Flags::ACE,
            (false, _) => Flags::ECE.with(Flags::CWR),
        }
    }

    /// A SYN-ACK has timed out for the second time. In profiles with accurate ECN
    /// [everywhere](super::EcnRules::everywhere) it is sent without the flags from now on, which
    /// the path may not let through (RFC 9768 section 3.1.4.2; `tcp_ecn_make_synack`).
    pub(crate) fn fall_back_accepting(&mut self) {
        let accurate = self.conn.ecn.feedback == EcnFeedback::Accurate;
        if accurate && self.profile.ecn.everywhere && self.conn.state == State::SynReceived {
            self.conn.ecn.echo_flags = Flags::NONE;
            self.rx.marks().incapable = true;
        }
    }

    /// A SYN or SYN-ACK arrived again. In profiles with accurate ECN
    /// [everywhere](super::EcnRules::everywhere) the reply reports its ECN field, and after a SYN
    /// that does not request ECN no packet is sent as ECN-capable (RFC 9768 sections 3.1.5,
    /// 3.2.2.1).
    pub(crate) fn answer_repeated_syn(&mut self, syn: &Segment) {
        let accurate = self.conn.ecn.feedback == EcnFeedback::Accurate;
        if !accurate || !self.profile.ecn.everywhere {
            return;
        }
        self.conn.ecn.echo_flags = handshake(syn.ecn);
        self.rx.marks().incapable |=
            self.conn.state == State::SynReceived && !syn.flags.any(Flags::ACE);
    }

    /// The ACK that completes the handshake arrived: if it has no flag of the answer, the path
    /// cleared them (section 3.2.2.4).
    pub(crate) fn check_third_ack(&mut self, ack: &Segment) {
        let accurate = self.conn.ecn.feedback == EcnFeedback::Accurate;
        if accurate && self.profile.ecn.everywhere && !ack.flags.any(Flags::ACE) {
            self.rx.marks().incapable = true;
        }
    }

    /// The ECN field of a SYN or SYN-ACK: Not-ECT, but ECT(0) with DCTCP (RFC 8257 section 3.5).
    pub(crate) fn opening_ecn(&self) -> Ecn {
        let rules = &self.profile.ecn;
        let capable = rules.on && rules.feedback == EcnFeedback::Dctcp;
        if capable { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// The acceptor reads the SYN. A peer without accurate ECN is answered as in RFC 3168 (RFC 9768
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

    /// The opener reads the SYN-ACK. One with all flags of the SYN only reflects them and agrees to
    /// nothing.
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
            self.note_option(syn_ack);
            self.conn.ecn.echo_flags = handshake(mark);
        }
    }

    /// The handshake is over: with accurate ECN segments carry the counter from now on.
    pub(crate) fn begin_feedback(&mut self) {
        if self.conn.ecn.feedback == EcnFeedback::Accurate {
            let counters = &mut self.rx.marks().counters;
            counters.begin(&self.profile.ecn);
            self.conn.ecn.echo_flags = counters.ace();
            if self.profile.ecn.option && self.rx.marks().bytes.takes_room() {
                // Every segment is shorter by the option (`tcp_current_mss`); the window keeps its
                // number of segments.
                let win = &mut self.tx.snd.win;
                let segments = win.cwnd / win.mss();
                win.mss -= AccEcn::padded(3) as u16;
                win.cwnd = segments * win.mss();
            }
        }
    }

    /// Notes an option on a segment: the path lets it through.
    #[inline]
    pub(crate) fn note_option(&mut self, segment: &Segment) {
        if self.profile.ecn.everywhere && segment.accecn().is_some() {
            self.rx.marks().bytes.note_option();
        }
    }

    /// A segment of an open connection with accurate feedback is about to be read. `newest` says
    /// that its timestamp is newer than all before.
    #[cold]
    pub(crate) fn read_accurate(&mut self, segment: &Segment, newest: bool) {
        self.note_option(segment);
        let waits_alone = self.conn.state == State::FinWait2;
        self.rx.marks().note_order(newest, waits_alone);
    }
}
