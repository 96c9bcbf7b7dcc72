//! Detection of spurious timeouts for classic senders: F-RTO (RFC 5682), and the shorter check of
//! FreeBSD 4.x.
//!
//! After a timeout one segment is retransmitted; the next acknowledgements show whether the data
//! sent before was lost or only late. If late, the windows are restored and sending goes on with
//! new data.

use packet::Instant;

use crate::classic_sender::{Ack, ClassicSender};
use crate::f_rto::{Evidence, FRto, Verdict};
use crate::profile::RtoCheck;
use crate::recovery::Reaction;
use crate::segment::Segment;
use crate::send_algorithm::SendContext;
use crate::send_state::{SendState, Window};

/// State of a connection since its last timeout.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpuriousRto {
    f_rto: FRto,
    /// FreeBSD 4.x: an ACK before this instant comes too soon to answer the retransmission; `None`
    /// if no ACK is awaited.
    until: Option<Instant>,
    /// Highest sequence number sent before the timeout, plus one (`recover`).
    point: u64,
    /// Sequence number after the segment that the timeout retransmitted.
    resent: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Ranges that the peer had reported selectively before the timeout.
    reports: Vec<(u64, u64)>,
}

impl SpuriousRto {
    /// Whether ACKs are still to show whether the timeout was spurious.
    pub fn runs(&self) -> bool {
        self.f_rto != FRto::Off || self.until.is_some()
    }

    /// Resets the state, keeping the heap buffer.
    pub fn reset(&mut self) {
        let mut reports = std::mem::take(&mut self.reports);
        reports.clear();
        *self = SpuriousRto { reports, ..SpuriousRto::default() };
    }

    /// Whether SACK blocks newly report data that was sent before the timeout and not
    /// retransmitted.
    fn news_of_old_data(&self, segment: &Segment) -> bool {
        let number = |offset: u32| segment.ack + u64::from(offset);
        let blocks = segment.sack.as_slice().iter();
        blocks.map(|&(start, end)| (number(start), number(end).min(self.point))).any(|(s, e)| {
            let known = |r: &(u64, u64)| r.0 <= s && e <= r.1;
            s < e && e > self.resent && !self.reports.iter().any(known)
        })
    }

    /// Whether SACK blocks report data that was sent after the timeout.
    fn reports_new_data(&self, segment: &Segment) -> bool {
        let blocks = segment.sack.as_slice().iter();
        blocks.map(|b| segment.ack + u64::from(b.1)).any(|end| end > self.point)
    }

    /// What an ACK shows in the current step, by RFC 5682 section 3.1 if `sack`, else by section
    /// 2.1.
    fn evidence(&self, snd: &SendState, ack: &Ack, sack: bool) -> Evidence {
        let advances = ack.acked > 0;
        if self.f_rto == FRto::FirstAck {
            // Step 2a: everything is acknowledged, or not even the whole retransmission; or there
            // is no new data to send. With SACK a duplicate decides nothing.
            let settled = snd.una >= self.point || snd.una < self.resent;
            let new_data = !settled && snd.new_chunk().is_some_and(|chunk| chunk.len > 0);
            return Evidence { advances, original: false, decides: advances || !sack, new_data };
        }
        // Step 3. With SACK a block that was known before decides nothing.
        let original = advances || (sack && self.news_of_old_data(ack.segment));
        let decides = !sack || self.reports_new_data(ack.segment);
        Evidence { advances, original, decides, new_data: false }
    }
}

impl ClassicSender {
    /// The retransmission timer has expired for the `timeouts`-th time in a row; the windows are
    /// not reduced yet.
    pub(crate) fn begin_rto_check(&mut self, cx: &SendContext, timeouts: u8) {
        let rule = cx.profile.rto_check;
        if rule == RtoCheck::Off {
            return;
        }
        let snd = &*cx.snd;
        let check = self.rto_check.get_or_insert_default();
        let repeated = check.point > snd.una;
        // With SACK a recovery may have retransmitted several segments.
        let repairing = cx.sack && !snd.win.by_echo && snd.una < snd.reduced;
        // RFC 5682 step 1: not while an earlier timeout is being repaired (section 2.1), nor, with
        // SACK, any loss (section 3.1).
        let tries = rule == RtoCheck::FRto && !repeated && !repairing;
        check.f_rto = if tries { FRto::FirstAck } else { FRto::Off };
        // FreeBSD 4.x checks the first timeout in a row only.
        let soon = rule == RtoCheck::BadRetransmit && timeouts == 1;
        check.until = soon.then(|| cx.moment.at + cx.profile.rtt.half_round_trip(cx.rtt));
        (check.point, check.resent) = (snd.max, self.recovery.first(snd).end());
        (check.cwnd, check.ssthresh) = (snd.win.cwnd, snd.win.ssthresh);
        if rule == RtoCheck::FRto {
            // RFC 4015 step 1: the threshold to restore is pipe_prev.
            check.ssthresh = snd.win.ssthresh.max(snd.outstanding());
        }
        check.reports.clear();
        check.reports.extend_from_slice(self.recovery.reports());
    }

    /// Processes an ACK after a timeout that may have been spurious: decides that if it can, and
    /// does the work of the recovery.
    #[cold]
    pub(crate) fn on_ack_after_rto(&mut self, cx: &mut SendContext, ack: &Ack) -> Reaction {
        let Some(check) = self.rto_check.as_deref_mut() else { return Reaction::default() };
        if check.f_rto == FRto::Off {
            if ack.acked > 0
                && let Some(until) = check.until.take()
                && cx.moment.at < until
            {
                let (cwnd, ssthresh) = (check.cwnd, check.ssthresh);
                self.restore_windows(cx, cwnd, ssthresh);
            }
            return self.recover(cx, ack);
        }
        let step = check.f_rto;
        let evidence = check.evidence(cx.snd, ack, cx.sack);
        let (point, ssthresh) = (check.point, check.ssthresh);
        match (check.f_rto.on_ack(evidence), step) {
            (Verdict::Spurious, _) => self.declare_spurious(cx, ack, ssthresh),
            (Verdict::SendNew, _) => self.try_new_data(cx, ack),
            (Verdict::Undecided, FRto::SecondAck) => Reaction::default(),
            (Verdict::Genuine, FRto::SecondAck) => {
                self.recovery.resume(cx.snd, point);
                cx.snd.win.cwnd = cx.snd.win.cwnd.min(3 * cx.snd.mss());
                self.recover(cx, ack)
            }
            _ => self.recover(cx, ack),
        }
    }

    /// RFC 5682 step 2b: allows two new segments, whatever the window.
    fn try_new_data(&mut self, cx: &mut SendContext, ack: &Ack) -> Reaction {
        let reaction = self.recover(cx, ack);
        self.recovery.suspend(cx.snd);
        cx.snd.win.cwnd = cx.snd.outstanding() + 2 * cx.snd.mss();
        reaction
    }

    /// The timeout was spurious: RFC 4015 steps 5 and 6, unless the ACK says ECE (step 2).
    fn declare_spurious(&mut self, cx: &mut SendContext, ack: &Ack, ssthresh: u64) -> Reaction {
        let reaction = self.recover(cx, &Ack { echoed: true, ..*ack });
        let most = cx.profile.initial_window(cx.snd);
        let cwnd = cx.snd.outstanding() + ack.acked.min(most);
        if ack.echoed {
            let Window { cwnd, ssthresh, .. } = cx.snd.win;
            self.restore_windows(cx, cwnd.min(ssthresh), ssthresh);
        } else {
            self.restore_windows(cx, cwnd, ssthresh);
        }
        reaction
    }

    /// Restores these windows after a spurious timeout; sending goes on with new data.
    fn restore_windows(&mut self, cx: &mut SendContext, cwnd: u64, ssthresh: u64) {
        (cx.snd.win.cwnd, cx.snd.win.ssthresh) = (cwnd, ssthresh);
        self.recovery.suspend(cx.snd);
        let una = cx.snd.una;
        if let Some(check) = &mut self.rto_check {
            check.point = una;
        }
        cx.snd.reduced = una;
        self.control.undo(cx.snd);
        cx.counters.spurious_timeouts += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state after a timeout with 1,000 B in flight: the first 200 B were retransmitted, and
    /// bytes 401 to 500 had been reported before.
    fn check() -> SpuriousRto {
        let reports = vec![(401, 501)];
        SpuriousRto { point: 1_001, resent: 201, reports, ..SpuriousRto::default() }
    }

    #[test]
    fn news_are_of_what_was_sent_once_before_the_timeout() {
        // RFC 5682 section 3.1, step 3: neither retransmitted nor known nor new data is evidence.
        for (from, to, news) in [
            (301, 401, true),
            (301, 501, true),
            (401, 601, true),
            (401, 501, false),
            (421, 481, false),
            (101, 201, false),
            (101, 202, true),
            (1_001, 1_201, false),
            (1_000, 1_201, true),
        ] {
            let mut report = Segment { ack: 1, ..Segment::default() };
            report.sack.push(from - 1, to - 1);
            assert_eq!(check().news_of_old_data(&report), news, "{from}..{to}");
        }
    }

    #[test]
    fn new_data_is_tried_where_the_ack_leaves_it_open_and_there_is_some() {
        // RFC 5682 section 2.1, step 2: not if all is acknowledged, nor if less than the
        // retransmission is.
        let segment = Segment::default();
        let ack = Ack { segment: &segment, acked: 100, pending: true, echoed: false };
        let check = SpuriousRto { f_rto: FRto::FirstAck, ..check() };
        let tries = |snd: SendState| check.evidence(&snd, &ack, false).new_data;
        let snd = SendState {
            max: 1_001,
            end: 5_001,
            window: 1 << 20,
            win: Window { mss: 100, ..Window::default() },
            ..SendState::default()
        };
        for (una, expected) in [(101, false), (201, true), (901, true), (1_001, false)] {
            assert_eq!(tries(SendState { una, ..snd }), expected, "{una}");
        }
        let done = SendState { una: 501, end: 1_001, ..snd };
        assert!(!tries(done));
        assert!(!tries(SendState { fin_queued: true, ..done }), "a FIN is no data");
    }

    #[test]
    fn a_reset_forgets_all_but_its_memory() {
        let mut check = SpuriousRto { f_rto: FRto::SecondAck, cwnd: 1, ssthresh: 1, ..check() };
        check.until = Some(Instant::ZERO);
        check.reset();
        assert_eq!(format!("{check:?}"), format!("{:?}", SpuriousRto::default()));
        assert!(check.reports.capacity() > 0);
    }
}
