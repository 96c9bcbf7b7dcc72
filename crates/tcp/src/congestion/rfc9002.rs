//! NewReno as QUIC has it: RFC 9002, section 7 and appendix B. Windows are bytes. Slow start and
//! congestion avoidance count the bytes of each acknowledged packet (the packets of one
//! acknowledgement as equally long); congestion, a loss or a mark, halves the window.
//!
//! As in the RFC, the transport does the rest: packets sent before the last reduction neither grow
//! nor reduce the window again, the window is at least two datagrams, and persistent congestion is
//! detected there.

use packet::Instant;

use super::control::{AckSample, Cause, Control};
use crate::send_state::{Flight, Window};

/// The control that is called `reno` in profile `quic`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rfc9002;

impl Control for Rfc9002 {
    /// RFC 9002 appendix B.5, `OnPacketAcked`.
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if !ack.may_grow() || ack.segments == 0 {
            return;
        }
        let bytes = ack.acked / u64::from(ack.segments);
        for _ in 0..ack.segments {
            win.cwnd += if win.cwnd < win.ssthresh { bytes } else { win.mss() * bytes / win.cwnd };
        }
    }

    /// RFC 9002 appendix B.6, `OnCongestionEvent`.
    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, _cause: Cause, _now: Instant) {
        win.ssthresh = win.cwnd / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::ack_sample;

    #[test]
    fn a_window_grows_by_what_arrives_and_then_by_a_datagram_a_round_trip() {
        let mut win = Window { cwnd: 12_000, ssthresh: 24_000, mss: 1_200, ..Window::default() };
        let ack = AckSample { segments: 2, acked: 2_400, ..ack_sample(2_400) };
        (0..5).for_each(|_| Rfc9002.on_ack(&mut win, &ack));
        assert_eq!(win.cwnd, 24_000);
        (0..10).for_each(|_| Rfc9002.on_ack(&mut win, &ack));
        // 1,200 x 1,200 B over the growing window: 60 B at first.
        assert!((25_150..=25_200).contains(&win.cwnd), "{}", win.cwnd);
        Rfc9002.on_ack(&mut win, &AckSample { window_limited: false, ..ack });
        Rfc9002.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, win.cwnd / 2);
    }
}
