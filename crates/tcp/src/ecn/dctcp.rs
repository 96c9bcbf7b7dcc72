//! DCTCP's echo: which bytes were marked (RFC 8257 section 3.2).

use packet::Ecn;

use crate::clock::Moment;
use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment};

/// What is to be acknowledged with the echo that held before it arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// All below this number; 0 for nothing.
    ack: u64,
}

impl Endpoint {
    /// The state machine of section 3.2: the echo is the mark of the latest data. Where it changes,
    /// an ACK goes out at once, and before it one with the old echo for what waited (the two ACKs
    /// which the section allows, as Linux sends them), lest marks be counted for bytes without.
    pub(super) fn echo_as_marked(&mut self, segment: &Segment) {
        let says = if segment.ecn == Ecn::Ce { Flags::ECE } else { Flags::NONE };
        if says == self.ecn.says {
            return;
        }
        if self.receiver.owes_ack() {
            self.ecn.before.ack = self.receiver.next;
        }
        self.ecn.says = says;
        self.receiver.ack_now = true;
    }

    /// Sends the ACK with the old echo, if one is due.
    pub(crate) fn output_before(&mut self, out: &mut Segment, moment: Moment) -> bool {
        let ack = std::mem::take(&mut self.ecn.before.ack);
        if ack == 0 {
            return false;
        }
        let says = self.ecn.says;
        self.ecn.says = if says == Flags::ECE { Flags::NONE } else { Flags::ECE };
        self.pure_ack(out, moment);
        out.ack = ack;
        // The one with the new echo follows.
        (self.ecn.says, self.receiver.ack_now) = (says, true);
        true
    }
}
