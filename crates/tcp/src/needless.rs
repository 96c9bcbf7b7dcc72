//! Was a timeout needless? F-RTO (RFC 5682), and the shorter check of FreeBSD 4.x.
//!
//! After a timeout one segment is sent again; what is acknowledged next tells whether the data
//! sent before had been lost or was only late. If late, the windows are put back and new data goes
//! on.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::Endpoint;
use crate::flight::Flight;
use crate::profile::Doubt;
use crate::recovery::{Reaction, Recovery};
use crate::segment::Segment;

/// Where a trial stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    /// None is under way.
    #[default]
    Rest,
    /// FreeBSD 4.x: waiting for an ACK that comes too soon to answer the resent segment.
    Soon,
    /// RFC 5682 step 2: waiting for the first ACK after the resend.
    First,
    /// RFC 5682 step 3: two new segments went out; waiting for the second ACK.
    Second,
}

/// What a connection remembers of its last timeout.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trial {
    step: Step,
    /// Highest number sent before the timeout, plus one (`recover`).
    point: u64,
    /// End of the segment sent again.
    resent: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Ends the wait of [`Step::Soon`].
    until: Instant,
    /// What the peer had reported before the timeout.
    reports: Vec<(u64, u64)>,
}

impl Trial {
    /// Whether ACKs are to be judged.
    pub fn runs(&self) -> bool {
        self.step != Step::Rest
    }

    /// As new, keeping the heap buffer.
    pub fn reset(&mut self) {
        let mut reports = std::mem::take(&mut self.reports);
        reports.clear();
        *self = Trial { reports, ..Trial::default() };
    }

    /// Whether a report says that data sent before the timeout, and not again, has arrived.
    fn news_of_old_data(&self, segment: &Segment) -> bool {
        let number = |offset: u32| segment.ack + u64::from(offset);
        let blocks = segment.sack.as_slice().iter();
        blocks.map(|&(start, end)| (number(start), number(end).min(self.point))).any(|(s, e)| {
            let known = |r: &(u64, u64)| r.0 <= s && e <= r.1;
            s < e && e > self.resent && !self.reports.iter().any(known)
        })
    }

    /// Whether a report says that data sent after the timeout has arrived.
    fn reports_new_data(&self, segment: &Segment) -> bool {
        let blocks = segment.sack.as_slice().iter();
        blocks.map(|b| segment.ack + u64::from(b.1)).any(|end| end > self.point)
    }
}

impl Endpoint {
    /// The retransmission timer has expired for the `timeouts`-th time in a row; the windows are
    /// still those of before.
    pub(crate) fn begin_trial(&mut self, timeouts: u8, moment: Moment) {
        if self.profile.doubt == Doubt::None {
            return;
        }
        let flight = &self.flight;
        let first = self.recovery.first(flight);
        let trial = self.trial.get_or_insert_default();
        let repeated = trial.point > flight.una;
        // With SACK several segments may have been sent again by a recovery.
        let repairing = self.sack && !flight.reduced_by_echo && flight.una < flight.reduced;
        trial.step = match self.profile.doubt {
            // FreeBSD 4.x looks at the first timeout only.
            Doubt::Soon if timeouts == 1 => Step::Soon,
            // RFC 5682 step 1: not while an earlier timeout is being repaired (section 2.1), nor, with
            // SACK, any loss (section 3.1).
            Doubt::FRto if !repeated && !repairing => Step::First,
            _ => Step::Rest,
        };
        (trial.point, trial.resent) = (flight.max, first.end());
        trial.ssthresh = flight.ssthresh;
        trial.cwnd = flight.cwnd;
        if self.profile.doubt == Doubt::FRto {
            // RFC 4015 step 1: pipe_prev.
            trial.ssthresh = if flight.ssthresh == u64::MAX {
                u64::MAX
            } else {
                flight.ssthresh.max(flight.outstanding())
            };
        }
        trial.until = moment.at + self.profile.rtt.half_round_trip(&self.rtt);
        trial.reports.clear();
        if let Recovery::Sack(sack) = &self.recovery {
            trial.reports.extend_from_slice(sack.reports());
        }
    }

    /// An ACK during a trial: judges it, and does what the recovery would have done.
    #[cold]
    pub(crate) fn on_ack_in_trial(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
        moment: Moment,
    ) -> Reaction {
        let step = self.trial.as_ref().expect("a trial runs").step;
        match step {
            Step::Rest => self.recover_in_trial(segment, acked, pending, echoed),
            Step::Soon => {
                if acked > 0 {
                    self.judge_soon(moment);
                }
                self.recover_in_trial(segment, acked, pending, echoed)
            }
            Step::First if acked > 0 => self.judge_first(segment, acked, pending, echoed),
            Step::First => {
                // Step 2a: a duplicate; with SACK (section 3.1) it decides nothing.
                if !self.sack {
                    self.end_trial();
                }
                self.recover_in_trial(segment, acked, pending, echoed)
            }
            Step::Second => self.judge_second(segment, acked, pending, echoed),
        }
    }

    fn end_trial(&mut self) -> &mut Trial {
        let trial = self.trial.as_mut().expect("a trial runs");
        trial.step = Step::Rest;
        trial
    }

    /// FreeBSD 4.x: an ACK within half a round trip of the resend answers the segment
    /// sent first.
    fn judge_soon(&mut self, moment: Moment) {
        let trial = self.end_trial();
        if moment.at < trial.until {
            let (cwnd, ssthresh) = (trial.cwnd, trial.ssthresh);
            self.put_back(cwnd, ssthresh);
        }
    }

    /// RFC 5682 step 2, the ACK advances.
    fn judge_first(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
    ) -> Reaction {
        let una = self.flight.una;
        let trial = self.trial.as_mut().expect("a trial runs");
        // Step 2a: everything arrived, or not even all that was sent again; or there is nothing
        // new to try with.
        let settled = una >= trial.point || una < trial.resent;
        if settled || self.flight.new_chunk().is_none_or(|chunk| chunk.len == 0) {
            trial.step = Step::Rest;
            return self.recover_in_trial(segment, acked, pending, echoed);
        }
        // Step 2b: two new segments, whatever the window.
        trial.step = Step::Second;
        let reaction = self.recover_in_trial(segment, acked, pending, true);
        self.recovery.suspend(&mut self.flight);
        self.flight.cwnd = self.flight.outstanding() + 2 * self.flight.mss();
        reaction
    }

    /// RFC 5682 step 3.
    fn judge_second(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
    ) -> Reaction {
        let trial = self.trial.as_ref().expect("a trial runs");
        // Step 3b: data sent before the timeout, and not again, has arrived after all.
        if acked > 0 || (self.sack && trial.news_of_old_data(segment)) {
            return self.declare_needless(segment, acked, pending, echoed);
        }
        // With SACK (section 3.1) a report of what was known before decides nothing.
        if self.sack && !trial.reports_new_data(segment) {
            return Reaction::default();
        }
        // Step 3a: only the new segments arrive.
        let point = self.end_trial().point;
        self.recovery.resume(&mut self.flight, point);
        self.flight.cwnd = self.flight.cwnd.min(3 * self.flight.mss());
        self.recover_in_trial(segment, acked, pending, echoed)
    }

    /// The timeout was needless: RFC 4015 steps 5 and 6, unless the ACK says ECE (step 2).
    fn declare_needless(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
    ) -> Reaction {
        let ssthresh = self.end_trial().ssthresh;
        let reaction = self.recover_in_trial(segment, acked, pending, true);
        let most = self.profile.initial_window(&self.flight);
        let cwnd = self.flight.outstanding() + acked.min(most);
        if echoed {
            let Flight { cwnd, ssthresh, .. } = self.flight;
            self.put_back(cwnd.min(ssthresh), ssthresh);
        } else {
            self.put_back(cwnd, ssthresh);
        }
        reaction
    }

    /// New data goes on from where it was, with these windows.
    fn put_back(&mut self, cwnd: u64, ssthresh: u64) {
        (self.flight.cwnd, self.flight.ssthresh) = (cwnd, ssthresh);
        self.recovery.suspend(&mut self.flight);
        self.trial.as_mut().expect("a trial ran").point = self.flight.una;
        self.flight.reduced = self.flight.una;
        self.counters.spurious_timeouts += 1;
    }
}
