//! NewReno without SACK: RFC 6582, with limited transmit (RFC 3042).

use crate::flight::{Chunk, Flight};
use crate::recovery::{Reaction, THRESHOLD, beyond_window, fitting, half};
use crate::segment::Segment;
use crate::window::Growth;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewReno {
    duplicates: u32,
    recovering: bool,
    /// A recovery ends, and after a timeout the next one may begin, when this is acknowledged.
    recover: u64,
    /// What limited transmit has sent since the first duplicate.
    limited: u64,
    /// First unacknowledged number at the last timeout, plus one; 0 for none.
    timed_out: u64,
}

impl NewReno {
    pub fn on_advance(&mut self, flight: &mut Flight, growth: Growth, acked: u64) -> Reaction {
        (self.duplicates, self.limited) = (0, 0);
        let mss = flight.mss();
        if !self.recovering {
            growth.grow(flight, acked);
        } else if flight.una >= self.recover {
            self.recovering = false;
            flight.cwnd = flight.ssthresh.min(flight.outstanding().max(mss) + mss);
        } else {
            flight.resend = true;
            flight.cwnd = flight.cwnd.saturating_sub(acked).max(mss);
            if acked >= mss {
                flight.cwnd += mss;
            }
        }
        Reaction::default()
    }

    pub fn on_duplicate(
        &mut self,
        flight: &mut Flight,
        segment: &Segment,
        pending: bool,
    ) -> Reaction {
        if segment.len > 0 || segment.ack != flight.una || !pending {
            self.duplicates = 0;
            return Reaction::default();
        }
        if self.recovering {
            flight.cwnd += flight.mss();
        } else if flight.una >= self.recover {
            self.duplicates += 1;
            if self.duplicates == THRESHOLD {
                return self.enter(flight);
            }
        }
        Reaction::default()
    }

    fn enter(&mut self, flight: &mut Flight) -> Reaction {
        self.recovering = true;
        self.recover = flight.max;
        flight.ssthresh = half(flight, flight.outstanding() - self.limited);
        flight.cwnd = flight.ssthresh + 3 * flight.mss();
        flight.resend = true;
        Reaction { entered: true, ..Reaction::default() }
    }

    pub fn on_timeout(&mut self, flight: &mut Flight) {
        if self.timed_out != flight.una + 1 {
            flight.ssthresh = half(flight, flight.outstanding());
        }
        self.timed_out = flight.una + 1;
        flight.cwnd = flight.mss();
        flight.nxt = flight.una;
        self.recovering = false;
        self.recover = flight.max;
        (self.duplicates, self.limited) = (0, 0);
    }

    pub fn next(&self, flight: &Flight) -> Option<Chunk> {
        let extra = if self.recovering { 0 } else { u64::from(self.duplicates) * flight.mss() };
        fitting(flight, flight.cwnd + extra)
    }

    pub fn on_sent(&mut self, flight: &Flight, chunk: Chunk) {
        if self.duplicates > 0 && !self.recovering {
            self.limited += beyond_window(flight, chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_of_what_was_sent_before_a_timeout_start_nothing() {
        let mut flight = Flight {
            una: 1,
            max: 1_001,
            end: 10_000,
            cwnd: 1_000,
            ssthresh: u64::MAX,
            window: 1 << 20,
            mss: 100,
            ..Flight::default()
        };
        let mut newreno = NewReno::default();
        newreno.on_timeout(&mut flight);
        assert_eq!((flight.nxt, flight.cwnd, flight.ssthresh), (1, 100, 500));
        let thrice = |newreno: &mut NewReno, flight: &mut Flight| {
            let ack = Segment { ack: flight.una, ..Segment::default() };
            (0..3).map(|_| newreno.on_duplicate(flight, &ack, true).entered).collect::<Vec<_>>()
        };
        flight.una = 501;
        newreno.on_advance(&mut flight, Growth::PerByte, 500);
        assert_eq!(thrice(&mut newreno, &mut flight), [false, false, false]);
        // Once all of it is acknowledged, they count again.
        (flight.una, flight.nxt, flight.max) = (1_001, 1_001, 2_001);
        newreno.on_advance(&mut flight, Growth::PerByte, 500);
        assert_eq!(thrice(&mut newreno, &mut flight), [false, false, true]);
    }
}
