//! Header prediction (Jacobson 1990): most segments that arrive and most that go out are the next in order,
//! of a connection in which nothing is repaired, reported or marked. What they come to is done here, in line;
//! everything else takes the way of [`SendAlgorithm`] out of line.

use crate::clock::Moment;
use crate::endpoint::TcpEndpoint;
use crate::profile::IdleRule;
use crate::segment::Segment;
use crate::send_algorithm::{AfterAck, SendAlgorithm};
use crate::send_state::Chunk;

impl TcpEndpoint {
    /// The acknowledgement number of a segment; it is no more than was sent.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, segment: &Segment, moment: Moment) -> AfterAck {
        if self.conn.ecn.on() {
            return self.on_any_ack(segment, moment);
        }
        if segment.ack <= self.tx.snd.una && self.tx.snd.idle() {
            return AfterAck::Output; // a receiver's: nothing is out
        }
        let (sender, mut cx) = self.lend(moment);
        if let Some(classic) = sender.classic()
            && segment.ack > cx.snd.una
            && segment.sack.is_empty()
            && classic.is_calm()
        {
            classic.take_calm_ack(&mut cx, segment);
            return AfterAck::Output;
        }
        self.on_any_ack(segment, moment)
    }

    #[inline(never)]
    fn on_any_ack(&mut self, segment: &Segment, moment: Moment) -> AfterAck {
        let (sender, mut cx) = self.lend(moment);
        sender.on_ack(&mut cx, segment)
    }

    /// What goes out next, if anything may.
    #[inline(always)]
    pub(crate) fn choose(&mut self, moment: Moment) -> Option<Chunk> {
        if self.tx.snd.is_through() && !self.tx.snd.resend {
            return None;
        }
        // A full segment of new data, more than which is to be sent, that fits into the windows.
        let snd = &self.tx.snd;
        let end = snd.max + snd.mss();
        let fits = end < snd.end && end <= snd.una + snd.win.cwnd.min(snd.window());
        if fits && snd.nxt == snd.max && !snd.resend && !self.conn.ecn.held && self.goes_on(moment)
        {
            let chunk = Chunk::new(snd.max, u32::from(snd.win.mss), false);
            if let Some(classic) = self.tx.sender.classic()
                && classic.is_calm()
            {
                return Some(chunk);
            }
        }
        self.choose_any(moment)
    }

    /// Whether no pause can have closed the window.
    #[inline(always)]
    fn goes_on(&self, moment: Moment) -> bool {
        match self.profile.idle {
            IdleRule::Off | IdleRule::Decay => true,
            IdleRule::SinceReceived => !self.tx.snd.idle(),
            IdleRule::SinceSent => {
                let (since, rules) = (self.tx.snd.active_at, &self.profile.rtt);
                moment.at == since
                    || !rules.idle_too_long(&self.tx.rtt, since, self.clock.host(), moment)
            }
        }
    }

    #[inline(never)]
    fn choose_any(&mut self, moment: Moment) -> Option<Chunk> {
        let call_idle = self.call.idle;
        let (sender, mut cx) = self.lend(moment);
        sender.next(&mut cx, call_idle)
    }

    /// `chunk` goes out.
    #[inline(always)]
    pub(crate) fn on_sent(&mut self, chunk: Chunk, moment: Moment) {
        let (sender, mut cx) = self.lend(moment);
        match sender.classic() {
            Some(classic) => classic.on_sent(&mut cx, chunk),
            None => self.on_sent_by_other(chunk, moment),
        }
    }

    #[inline(never)]
    fn on_sent_by_other(&mut self, chunk: Chunk, moment: Moment) {
        let (sender, mut cx) = self.lend(moment);
        sender.on_sent(&mut cx, chunk);
    }
}
