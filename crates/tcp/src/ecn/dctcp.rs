//! DCTCP's echo: which bytes were marked (RFC 8257 section 3.2).

use packet::Ecn;

use crate::clock::Moment;
use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment};

/// What is to be acknowledged with the echo that held before the latest segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    due: bool,
    /// Numbers that the latest segment has added since.
    added: u16,
}

impl Endpoint {
    /// The state machine of section 3.2: the echo is the mark of the latest data. Where it changes,
    /// an ACK goes out at once, and before it one with the old echo for what waited (the two ACKs
    /// which the section allows, as Linux sends them), lest marks be counted for bytes without.
    pub(super) fn echo_as_marked(&mut self, segment: &Segment) {
        let says = if segment.ecn == Ecn::Ce { Flags::ECE } else { Flags::NONE };
        if says == self.conn.ecn.echo_flags {
            return;
        }
        if self.rx.owes_ack() {
            // What waits came in order, and a segment has at most 9,000 B.
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

    /// Sends it.
    #[inline(never)]
    pub(crate) fn output_before(&mut self, out: &mut Segment, moment: Moment) {
        let before = std::mem::take(&mut self.rx.marks().before);
        let says = self.conn.ecn.echo_flags;
        self.conn.ecn.echo_flags = if says == Flags::ECE { Flags::NONE } else { Flags::ECE };
        self.pure_ack(out, moment);
        out.ack -= u64::from(before.added);
        // The one with the new echo follows.
        (self.conn.ecn.echo_flags, self.rx.ack_now) = (says, true);
    }
}
