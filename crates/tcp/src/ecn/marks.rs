//! How an endpoint processes marks that arrive, and which of its own segments are ECN-capable.

use packet::{Ecn, Instant};

use super::dctcp::Before;
use super::option::ROOM;
use super::rules::EcnFeedback;
use crate::clock::Moment;
use crate::connection::State;
use crate::endpoint::TcpEndpoint;
use crate::segment::{AccEcn, Flags, STAMP_BYTES, Segment};

impl TcpEndpoint {
    /// Reads the ECN field of data or a FIN. A receiver that ignores ECN does nothing; marks of
    /// data that had arrived before do not count (RFC 3168 section 6.1.5).
    #[inline(never)]
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        let accurate = self.conn.ecn.feedback == EcnFeedback::Accurate;
        // Accurate ECN counts all packets and their payload, also duplicates (RFC 9768 section
        // 3.2.1).
        if !self.profile.ecn.honest || !accurate && segment.end() <= self.rx.next {
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

    /// A packet without data or FIN arrived after the handshake: accurate ECN counts all packets.
    #[cold]
    pub(crate) fn note_mark_without_data(&mut self, segment: &Segment) {
        if self.profile.ecn.honest && !segment.flags.has(Flags::SYN) {
            self.count_mark(segment, false);
        }
    }

    /// RFC 3168 section 6.1.3: the receiver echoes from the first CE packet on until CWR arrives.
    /// CWR is processed first, so that a marked segment with CWR begins a new echo.
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
        self.rx.on_ecn(segment.ecn, first, cwr);
        if marked {
            self.conn.ecn.echo_flags = Flags::ECE;
        }
    }

    /// Sets the ECN field and CWR of a data segment. RFC 3168 sections 6.1.2 to 6.1.6: only new
    /// data is ECN-capable (pure ACKs, SYNs and retransmissions are not), and CWR is sent on it,
    /// where its loss will be noticed. Retransmissions of a DCTCP or scalable sender are
    /// ECN-capable too, as in Linux, and all are in ns-2.
    #[inline(never)]
    pub(crate) fn make_capable(&mut self, out: &mut Segment, retransmission: bool) {
        let scalable = self.scalable();
        let repeats = scalable
            || self.conn.ecn.feedback == EcnFeedback::Dctcp
            || self.profile.ecn.repeats_are_capable;
        if (!retransmission || repeats) && !self.is_incapable() {
            out.ecn = if scalable { Ecn::Ect1 } else { Ecn::Ect0 };
        }
        if !retransmission && std::mem::take(&mut self.conn.ecn.cwr) {
            out.flags = out.flags.with(Flags::CWR);
        }
    }

    /// Whether data may carry ECT(1), as from a scalable sender: only with accurate feedback (RFC
    /// 9331 section 4.2).
    pub(crate) fn scalable(&self) -> bool {
        self.profile.ecn.scalable && self.conn.ecn.feedback == EcnFeedback::Accurate
    }

    /// Counts a packet at an end with accurate ECN; `occupies` says that it has data or a FIN. The
    /// part of a connection that Linux keeps in TIME_WAIT (`inet_timewait_sock`) counts no marks.
    fn count_mark(&mut self, segment: &Segment, occupies: bool) {
        if self.forgets_marks() {
            return self.forget_marks();
        }
        let waits = occupies || self.rx.owes_ack();
        let sent = self.counters.segments_sent;
        let counters = &mut self.rx.marks().counters;
        let at_once = counters.count(segment.ecn, occupies, waits, sent);
        self.conn.ecn.echo_flags = counters.ace();
        self.rx.ack_now |= at_once;
    }

    /// Whether the connection is in a state in which Linux no longer counts marks.
    fn forgets_marks(&self) -> bool {
        self.conn.state == State::TimeWait && self.profile.ecn.everywhere
    }

    /// The peer's FIN arrived. In FIN_WAIT_2 Linux keeps only the state that TIME_WAIT needs
    /// (`tcp_time_wait`) and answers the FIN without the count of marks; a FIN that acknowledges
    /// this end's as well is still answered with the count.
    pub(crate) fn forget_marks_alone(&mut self) {
        if self.conn.ecn.feedback == EcnFeedback::Accurate && self.rx.marks().waits_alone() {
            self.forget_marks();
        }
    }

    /// In TIME_WAIT, segments no longer report marks.
    fn forget_marks(&mut self) {
        if self.forgets_marks() {
            self.conn.ecn.echo_flags = Flags::NONE;
        }
    }

    /// DCTCP's state machine (RFC 8257 section 3.2): the echo is the mark of the latest data. When
    /// it changes, an ACK is sent at once, and before it one with the old echo for the data that
    /// waited (the two ACKs that the section allows, as Linux sends them), so that unmarked bytes
    /// do not count as marked.
    fn echo_as_marked(&mut self, segment: &Segment) {
        let says = if segment.ecn == Ecn::Ce { Flags::ECE } else { Flags::NONE };
        // In Linux CWR is acknowledged at once (`tcp_ecn_accept_cwr`). A first mark starts no quick
        // acknowledgements, since `dctcp_ece_ack_cwr` has set the echo before `tcp_data_ecn_check`
        // tests it.
        self.rx.on_ecn(segment.ecn, false, segment.flags.has(Flags::CWR));
        if says == self.conn.ecn.echo_flags {
            return;
        }
        if self.rx.owes_ack() {
            // The data that waits arrived in order, and a segment has at most 9,000 B.
            let in_order = segment.seq <= self.rx.next;
            let added = if in_order { segment.end() - self.rx.next } else { 0 };
            self.rx.marks().before = Before { due: true, added: added as u16 };
        }
        self.conn.ecn.echo_flags = says;
        self.rx.ack_now = true;
    }

    /// Whether an ACK with the old echo is due.
    pub(crate) fn owes_before(&mut self) -> bool {
        self.rx.marks().before.due
    }

    /// Sends the acknowledgement with the old echo.
    #[inline(never)]
    pub(crate) fn output_before(&mut self, out: &mut Segment, moment: Moment) {
        let before = std::mem::take(&mut self.rx.marks().before);
        let says = self.conn.ecn.echo_flags;
        self.conn.ecn.echo_flags = if says == Flags::ECE { Flags::NONE } else { Flags::ECE };
        self.pure_ack(out, moment);
        out.ack -= u64::from(before.added);
        // The acknowledgement with the new echo follows.
        (self.conn.ecn.echo_flags, self.rx.ack_now) = (says, true);
    }

    fn put_option_everywhere(&mut self, out: &mut Segment, room: u32) {
        let opens = out.flags.has(Flags::SYN);
        let duplicate = out.sack.duplicate(out.ack).map(|(start, _)| start);
        let bytes = &mut self.rx.marks().bytes;
        let fitted = bytes.option_everywhere(room, if opens { 0 } else { out.sack.count() }, opens);
        bytes.note_sent(duplicate.filter(|_| fitted.is_some()));
        let Some(fitted) = fitted else { return };
        while !opens && out.sack.count() > fitted.blocks {
            out.sack.pop();
        }
        out.report_bytes(fitted.option);
        out.extra += fitted.bytes as u16;
    }

    /// Whether the path may not let ECN-capable packets through, which only accurate feedback
    /// shows.
    fn is_incapable(&self) -> bool {
        self.conn.ecn.feedback == EcnFeedback::Accurate && self.rx.is_incapable()
    }

    /// The ECN field of segments after the handshake, if the profile makes all of them ECN-capable;
    /// else Not-ECT.
    #[inline]
    pub(crate) fn usual_ecn(&self) -> Ecn {
        if self.conn.ecn.feedback == EcnFeedback::None || !self.profile.ecn.everywhere {
            return Ecn::NotEct;
        }
        match self.conn.ecn.feedback {
            EcnFeedback::Dctcp => Ecn::Ect0,
            EcnFeedback::Accurate if self.is_incapable() => Ecn::NotEct,
            EcnFeedback::Accurate if self.profile.ecn.scalable => Ecn::Ect1,
            EcnFeedback::Accurate => Ecn::Ect0,
            EcnFeedback::None | EcnFeedback::Classic => Ecn::NotEct,
        }
    }

    /// Puts the option on a segment, if one is due and fits next to the payload, timestamps and up
    /// to two SACK blocks, which come first (section 3.2.3.3). Our own choice, without a
    /// source: a segment with a D-SACK block does not carry the option.
    #[cold]
    pub(crate) fn put_accecn(&mut self, out: &mut Segment) {
        if self.forgets_marks() {
            return;
        }
        let retransmission = out.flags.has(Flags::RETRANSMISSION);
        let data = out.len > 0 && !self.profile.ecn.everywhere;
        if retransmission && (out.flags.has(Flags::SYN) || data) {
            return;
        }
        let stamps = if self.conn.stamps { STAMP_BYTES } else { 0 };
        if self.profile.ecn.everywhere {
            return self.put_option_everywhere(out, ROOM - stamps);
        }
        // Next to the other options of a SYN-ACK there is always room.
        let header = ROOM - stamps - out.sack.wire_bytes(2);
        let room = header.min(u32::from(self.tx.snd.win.mss) - out.len);
        if out.sack.has_duplicate() {
            return;
        }
        let Some(option) = self.rx.marks().bytes.option(room, out.len > 0) else { return };
        out.report_bytes(option);
        out.extra += AccEcn::padded(usize::from(option.fields)) as u16;
    }
}
