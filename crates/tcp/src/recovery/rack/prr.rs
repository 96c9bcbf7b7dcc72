//! Proportional rate reduction: RFC 6937 with the switch of RFC 9937 (which Linux has too) between
//! its two bounds: conservative (CRB), and slow start (SSRB) while the cumulative acknowledgement
//! advances and nothing more is found lost. As in Linux, RecoverFS is the congestion window before
//! the reduction, and a reduction after marks follows these rules too.

use crate::send_state::SendState;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// Bytes delivered, and bytes sent, since the reduction began.
    pub delivered: u64,
    pub out: u64,
    /// Congestion window before the reduction, bytes (RecoverFS).
    before: u64,
}

impl Prr {
    /// A reduction begins at the window `cwnd`.
    pub fn begin(cwnd: u64) -> Self {
        Prr { delivered: 0, out: 0, before: cwnd.max(1) }
    }

    /// Sets the window after an acknowledgement that delivers `delivered` bytes; `safe`: it
    /// advances, and shows no further loss.
    pub fn on_ack(&mut self, snd: &mut SendState, in_flight: u64, delivered: u64, safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let goal = snd.win.ssthresh;
        let sent = if in_flight > goal {
            let share = u128::from(self.delivered) * u128::from(goal);
            let share = share.div_ceil(u128::from(self.before)) as u64;
            // Linux counts segments: the share is rounded up to whole ones.
            share.next_multiple_of(snd.mss()).saturating_sub(self.out)
        } else {
            let mut sent = self.delivered.saturating_sub(self.out).max(delivered);
            if safe {
                sent += snd.mss();
            }
            sent.min(goal - in_flight)
        };
        // The first segment is retransmitted in any case.
        let least = if self.out == 0 { snd.mss() } else { 0 };
        snd.win.cwnd = in_flight + sent.max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send_state::Window;

    const MSS: u64 = 1_000;

    fn snd(ssthresh: u64) -> SendState {
        SendState {
            win: Window { ssthresh: ssthresh * MSS, mss: MSS as u16, ..Window::default() },
            ..SendState::default()
        }
    }

    /// A loss in a window of 20 segments, with a threshold of 10: each of `reports` delivers one
    /// segment, and `on_the_way` segments are in flight after the first. Returns the reports at
    /// which a segment was sent.
    fn sends(mut on_the_way: u64, reports: std::ops::Range<u64>) -> Vec<u64> {
        let (mut prr, mut snd) = (Prr::begin(20 * MSS), snd(10));
        let mut sent = Vec::new();
        for report in reports {
            prr.on_ack(&mut snd, on_the_way * MSS, MSS, false);
            while snd.win.cwnd >= (on_the_way + 1) * MSS {
                prr.out += MSS;
                on_the_way += 1;
                sent.push(report);
            }
            on_the_way -= 1;
        }
        sent
    }

    #[test]
    fn every_second_report_sends_as_in_the_figure_of_rfc_6937() {
        // RFC 6937 section 3.1, one loss of 20: the retransmission at the third report, then new
        // segments at 5, 7, ... 17: half a segment per report, as the formula says. The figure's
        // row of what is sent has 18 and 19 instead of 17, but its row of pipe (12 after 16 and 17,
        // then 11 and 10) a segment at 17 and none later.
        assert_eq!(sends(18, 3..20), [3, 5, 7, 9, 11, 13, 15, 17]);
    }

    #[test]
    fn after_heavy_loss_the_window_grows_back_only_with_good_news() {
        // RFC 6937 section 3, 15 of 20 lost, four in flight: conservation of packets ...
        let (mut prr, mut f) = (Prr::begin(20 * MSS), snd(10));
        prr.on_ack(&mut f, 4 * MSS, MSS, false);
        assert_eq!(f.win.cwnd, 5 * MSS);
        prr.out += MSS;
        prr.on_ack(&mut f, 4 * MSS, MSS, false);
        assert_eq!(f.win.cwnd, 5 * MSS);
        prr.out += MSS;
        // ... and one more segment per ACK that advances and reports no loss (RFC 9937), up to the
        // threshold.
        prr.on_ack(&mut f, 4 * MSS, MSS, true);
        assert_eq!(f.win.cwnd, 6 * MSS);
        prr.on_ack(&mut f, 9 * MSS + 1, 5 * MSS, true);
        assert_eq!(f.win.cwnd, 10 * MSS);
    }

    #[test]
    fn nothing_delivered_changes_nothing() {
        let (mut prr, mut f) = (Prr::begin(20 * MSS), snd(10));
        f.win.cwnd = 7;
        prr.on_ack(&mut f, 4 * MSS, 0, true);
        assert_eq!(f.win.cwnd, 7);
    }
}
