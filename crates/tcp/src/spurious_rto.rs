//! Was a timeout spurious? F-RTO (RFC 5682), and the shorter check of FreeBSD 4.x.
//!
//! After a timeout one segment is sent again; what is acknowledged next tells whether the data
//! sent before had been lost or was only late. If late, the windows are put back and new data goes
//! on.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::Endpoint;
use crate::profile::RtoCheck;
use crate::recovery::{Reaction, Recovery};
use crate::segment::Segment;
use crate::send_state::SendState;

/// Where a trial stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    /// None is under way.
    #[default]
    Idle,
    /// FreeBSD 4.x: waiting for an ACK that comes too soon to answer the resent segment.
    BadRetransmit,
    /// RFC 5682 step 2: waiting for the first ACK after the resend.
    FirstAck,
    /// RFC 5682 step 3: two new segments went out; waiting for the second ACK.
    SecondAck,
}

/// What a connection remembers of its last timeout.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpuriousRto {
    step: Step,
    /// Highest number sent before the timeout, plus one (`recover`).
    point: u64,
    /// End of the segment sent again.
    resent: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Ends the wait of [`Step::BadRetransmit`].
    until: Instant,
    /// What the peer had reported before the timeout.
    reports: Vec<(u64, u64)>,
}

impl SpuriousRto {
    /// Whether ACKs are to be judged.
    pub fn runs(&self) -> bool {
        self.step != Step::Idle
    }

    /// As new, keeping the heap buffer.
    pub fn reset(&mut self) {
        let mut reports = std::mem::take(&mut self.reports);
        reports.clear();
        *self = SpuriousRto { reports, ..SpuriousRto::default() };
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
    pub(crate) fn begin_rto_check(&mut self, timeouts: u8, moment: Moment) {
        if self.profile.rto_check == RtoCheck::Off {
            return;
        }
        let snd = &self.snd;
        let first = self.recovery.first(snd);
        let spurious_rto = self.spurious_rto.get_or_insert_default();
        let repeated = spurious_rto.point > snd.una;
        // With SACK several segments may have been sent again by a recovery.
        let repairing = self.sack && !snd.reduced_by_echo && snd.una < snd.reduced;
        spurious_rto.step = match self.profile.rto_check {
            // FreeBSD 4.x looks at the first timeout only.
            RtoCheck::BadRetransmit if timeouts == 1 => Step::BadRetransmit,
            // RFC 5682 step 1: not while an earlier timeout is being repaired (section 2.1), nor, with
            // SACK, any loss (section 3.1).
            RtoCheck::FRto if !repeated && !repairing => Step::FirstAck,
            _ => Step::Idle,
        };
        (spurious_rto.point, spurious_rto.resent) = (snd.max, first.end());
        spurious_rto.ssthresh = snd.ssthresh;
        spurious_rto.cwnd = snd.cwnd;
        if self.profile.rto_check == RtoCheck::FRto {
            // RFC 4015 step 1: pipe_prev.
            spurious_rto.ssthresh = if snd.ssthresh == u64::MAX {
                u64::MAX
            } else {
                snd.ssthresh.max(snd.outstanding())
            };
        }
        spurious_rto.until = moment.at + self.profile.rtt.half_round_trip(&self.rtt);
        spurious_rto.reports.clear();
        if let Recovery::Sack(sack) = &self.recovery {
            spurious_rto.reports.extend_from_slice(sack.reports());
        }
    }

    /// An ACK during a trial: judges it, and does what the recovery would have done.
    #[cold]
    pub(crate) fn on_ack_after_rto(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
        moment: Moment,
    ) -> Reaction {
        let step = self.spurious_rto.as_ref().expect("a trial runs").step;
        match step {
            Step::Idle => self.recover_after_rto(segment, acked, pending, echoed),
            Step::BadRetransmit => {
                if acked > 0 {
                    self.judge_bad_retransmit(moment);
                }
                self.recover_after_rto(segment, acked, pending, echoed)
            }
            Step::FirstAck if acked > 0 => self.judge_first(segment, acked, pending, echoed),
            Step::FirstAck => {
                // Step 2a: a duplicate; with SACK (section 3.1) it decides nothing.
                if !self.sack {
                    self.end_rto_check();
                }
                self.recover_after_rto(segment, acked, pending, echoed)
            }
            Step::SecondAck => self.judge_second(segment, acked, pending, echoed),
        }
    }

    fn end_rto_check(&mut self) -> &mut SpuriousRto {
        let spurious_rto = self.spurious_rto.as_mut().expect("a trial runs");
        spurious_rto.step = Step::Idle;
        spurious_rto
    }

    /// FreeBSD 4.x: an ACK within half a round trip of the resend answers the segment
    /// sent first.
    fn judge_bad_retransmit(&mut self, moment: Moment) {
        let spurious_rto = self.end_rto_check();
        if moment.at < spurious_rto.until {
            let (cwnd, ssthresh) = (spurious_rto.cwnd, spurious_rto.ssthresh);
            self.restore_windows(cwnd, ssthresh);
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
        let una = self.snd.una;
        let spurious_rto = self.spurious_rto.as_mut().expect("a trial runs");
        // Step 2a: everything arrived, or not even all that was sent again; or there is nothing
        // new to try with.
        let settled = una >= spurious_rto.point || una < spurious_rto.resent;
        if settled || self.snd.new_chunk().is_none_or(|chunk| chunk.len == 0) {
            spurious_rto.step = Step::Idle;
            return self.recover_after_rto(segment, acked, pending, echoed);
        }
        // Step 2b: two new segments, whatever the window.
        spurious_rto.step = Step::SecondAck;
        let reaction = self.recover_after_rto(segment, acked, pending, true);
        self.recovery.suspend(&mut self.snd);
        self.snd.cwnd = self.snd.outstanding() + 2 * self.snd.mss();
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
        let spurious_rto = self.spurious_rto.as_ref().expect("a trial runs");
        // Step 3b: data sent before the timeout, and not again, has arrived after all.
        if acked > 0 || (self.sack && spurious_rto.news_of_old_data(segment)) {
            return self.declare_spurious(segment, acked, pending, echoed);
        }
        // With SACK (section 3.1) a report of what was known before decides nothing.
        if self.sack && !spurious_rto.reports_new_data(segment) {
            return Reaction::default();
        }
        // Step 3a: only the new segments arrive.
        let point = self.end_rto_check().point;
        self.recovery.resume(&mut self.snd, point);
        self.snd.cwnd = self.snd.cwnd.min(3 * self.snd.mss());
        self.recover_after_rto(segment, acked, pending, echoed)
    }

    /// The timeout was spurious: RFC 4015 steps 5 and 6, unless the ACK says ECE (step 2).
    fn declare_spurious(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
    ) -> Reaction {
        let ssthresh = self.end_rto_check().ssthresh;
        let reaction = self.recover_after_rto(segment, acked, pending, true);
        let most = self.profile.initial_window(&self.snd);
        let cwnd = self.snd.outstanding() + acked.min(most);
        if echoed {
            let SendState { cwnd, ssthresh, .. } = self.snd;
            self.restore_windows(cwnd.min(ssthresh), ssthresh);
        } else {
            self.restore_windows(cwnd, ssthresh);
        }
        reaction
    }

    /// New data goes on from where it was, with these windows.
    fn restore_windows(&mut self, cwnd: u64, ssthresh: u64) {
        (self.snd.cwnd, self.snd.ssthresh) = (cwnd, ssthresh);
        self.recovery.suspend(&mut self.snd);
        self.spurious_rto.as_mut().expect("a trial ran").point = self.snd.una;
        self.snd.reduced = self.snd.una;
        self.counters.spurious_timeouts += 1;
    }
}
