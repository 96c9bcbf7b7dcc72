//! How the congestion window grows when data is acknowledged.

use crate::send_state::SendState;

/// The growth rule of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// 4.4BSD: a segment per ACK while cwnd <= ssthresh (equality included), else
    /// floor(MSS*MSS/cwnd) per ACK; at most 65,535 B, or the peer's window if that is scaled.
    PerAck,
    /// RFC 5681: min(bytes acknowledged, MSS) while cwnd < ssthresh, else
    /// max(1, floor(MSS*MSS/cwnd)) per ACK.
    PerByte,
    /// ns-2: a packet per ACK while cwnd < ssthresh, else the fraction 1/cwnd of one.
    PerPacket,
    /// None: the ACK carries an ECN echo (RFC 3168 section 6.1.2).
    Held,
}

/// Largest window without the window-scale option.
const UNSCALED: u64 = 65_535;

impl Growth {
    /// `acked` new numbers were acknowledged by one ACK.
    pub fn grow(self, snd: &mut SendState, acked: u64) {
        let mss = snd.mss();
        match self {
            Growth::PerAck => {
                let slow_start = snd.cwnd <= snd.ssthresh;
                let step = if slow_start { mss } else { mss * mss / snd.cwnd };
                snd.cwnd = (snd.cwnd + step).min(UNSCALED.max(snd.window));
            }
            Growth::PerByte => {
                let slow_start = snd.cwnd < snd.ssthresh;
                let step = if slow_start { acked.min(mss) } else { (mss * mss / snd.cwnd).max(1) };
                snd.cwnd += step;
            }
            Growth::PerPacket => {
                let slow_start = snd.cwnd < snd.ssthresh;
                snd.cwnd += if slow_start { mss } else { (mss * mss / snd.cwnd).max(1) };
            }
            Growth::Held => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(growth: Growth, cwnd: u64, ssthresh: u64, acked: u64) -> u64 {
        let mut snd = SendState { cwnd, ssthresh, mss: 1_460, ..SendState::default() };
        growth.grow(&mut snd, acked);
        snd.cwnd - cwnd
    }

    #[test]
    fn equality_is_slow_start_in_bsd_and_avoidance_in_plain() {
        assert_eq!(grown(Growth::PerAck, 2_920, 2_920, 1), 1_460);
        assert_eq!(grown(Growth::PerAck, 4_380, 2_920, 2_920), 486);
        assert_eq!(grown(Growth::PerAck, 65_000, 1 << 30, 1), 535);
        assert_eq!(grown(Growth::PerByte, 2_919, 2_920, 2_920), 1_460);
        assert_eq!(grown(Growth::PerByte, 2_919, 2_920, 100), 100);
        assert_eq!(grown(Growth::PerByte, 2_920, 2_920, 100), 730);
        assert_eq!(grown(Growth::PerByte, 1 << 22, 2_920, 100), 1);
        assert_eq!(grown(Growth::PerPacket, 2_919, 2_920, 100), 1_460);
        assert_eq!(grown(Growth::PerPacket, 2_920, 2_920, 100), 730);
        assert_eq!(grown(Growth::Held, 2_919, 2_920, 100), 0);
    }
}
