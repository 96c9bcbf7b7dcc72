//! Processing of the usual arrival: the next payload in order, with no hole open.

use packet::Instant;

use super::{AckPolicy, AtOnce, Receiver, Timing, Trip};
use crate::clock::{HostClock, Moment};
use crate::segment::Segment;

impl Receiver {
    /// Whether a segment with payload and without FIN is the next in order, and no hole is open.
    #[inline]
    pub fn expects(&self, segment: &Segment) -> bool {
        let end = segment.seq + u64::from(segment.len);
        let in_order = segment.seq <= self.next && end > self.next;
        in_order && !self.has_hole() && self.fin == u64::MAX
    }

    /// Takes the payload of a segment that the receiver [`expects`](Self::expects).
    #[inline]
    pub fn take_next(
        &mut self,
        segment: &Segment,
        policy: &AckPolicy,
        trip: Trip,
        clock: HostClock,
        moment: Moment,
    ) {
        self.next = segment.seq + u64::from(segment.len);
        self.delay_ack(policy, segment, trip, clock, moment);
    }

    #[inline]
    fn delay_ack(
        &mut self,
        policy: &AckPolicy,
        segment: &Segment,
        trip: Trip,
        clock: HostClock,
        moment: Moment,
    ) {
        self.waiting = self.waiting.saturating_add(1);
        let at_once = match &policy.at_once {
            &AtOnce::Bytes(bytes) => self.next - self.acked >= bytes,
            // Before the first segment of data only the SYN was acknowledged.
            &AtOnce::Segments(most) => self.waiting >= most || (policy.first && self.acked == 1),
            AtOnce::Adaptive(rules) => {
                let timing = Timing { trip, clock, moment };
                return self.adapt(rules, policy, segment, &timing);
            }
        };
        if at_once {
            self.ack_now = true;
        } else if self.ack_at == Instant::NEVER {
            self.ack_at = policy.due(clock, moment);
        }
    }
}
