//! Reno in three versions: 4.4BSD, RFC 5681 and ns-2. The senders of classic profiles call it
//! directly (the field `reno` of their rules); others use it as any control.

use packet::{About, Instant};

use super::control::{AckSample, Cause, Control, Entry};
use crate::ecn::EchoCut;
use crate::send_state::{Flight, Window};

/// Reno with FreeBSD's arithmetic.
pub(crate) const BSD: Entry = Entry {
    about: About {
        name: "reno-bsd",
        summary: "Reno as in FreeBSD 2.2 and 4.5: a segment per ACK in slow start, half the usable \
                  window in whole segments at congestion",
        year: 1998,
        source: "1998 FreeBSD code: tcp_input.c, tcp_timer.c",
        deviations: "",
        fields: &[],
    },
    make: |_| Box::new(ClassicReno(Arithmetic::Bsd)),
};

/// Reno with the arithmetic of RFC 5681.
pub(crate) const RFC5681: Entry = Entry {
    about: About {
        name: "rfc5681",
        summary: "Reno by the letter of RFC 5681: windows in bytes, half of FlightSize at congestion",
        year: 2009,
        source: "RFC 5681 section 3.1; unchanged if the same first byte times out repeated: its section \
                 3.1, item 5",
        deviations: "FlightSize is what is not acknowledged, but at most the congestion window",
        fields: &[],
    },
    make: |_| Box::new(ClassicReno(Arithmetic::Rfc)),
};

/// Reno with ns-2's arithmetic.
pub(crate) const NS2: Entry = Entry {
    about: About {
        name: "reno-ns2",
        summary: "Reno as in ns-2.35: a packet per ACK in slow start, then the fraction 1/cwnd of one",
        year: 2011,
        source: "ns-2.35, tcp.cc: opencwnd, slowdown",
        deviations: "bytes are counted where ns-2 counts packets",
        fields: &[],
    },
    make: |_| Box::new(ClassicReno(Arithmetic::Ns2)),
};

/// The program or standard whose arithmetic is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// 4.4BSD. A segment per ACK while cwnd <= ssthresh (equality included), else
    /// floor(MSS*MSS/cwnd) per ACK; at most 65,535 B, or the peer's window if that is scaled.
    /// Congestion leaves half the usable window in whole segments.
    Bsd,
    /// RFC 5681: min(bytes acknowledged, MSS) while cwnd < ssthresh, else max(1,
    /// floor(MSS*MSS/cwnd)) per ACK. Congestion leaves half of FlightSize ([`in_network`]), without
    /// what limited transmit sent; nothing changes if the same first byte times out again.
    Rfc,
    /// ns-2.35: a packet per ACK while cwnd < ssthresh, else the fraction 1/cwnd of one. Congestion
    /// leaves half the usable window, the threshold in whole packets, at least two.
    Ns2,
}

/// Reno with the arithmetic of 4.4BSD, RFC 5681 or ns-2.
#[derive(Clone, Copy, Debug)]
pub struct ClassicReno(pub(crate) Arithmetic);

/// Units of [`Window::fraction`] per byte.
const FRACTIONS: f64 = 4_294_967_296.0;

/// Largest window without the window-scale option, bytes.
const UNSCALED: u64 = 65_535;

impl ClassicReno {
    /// Grows the window for one ACK of `acked` new bytes; `window` is the receive window of the
    /// peer, bytes.
    #[inline]
    pub fn grow(self, win: &mut Window, window: u64, acked: u64) {
        let mss = win.mss();
        let slow_start = match self.0 {
            Arithmetic::Bsd => win.cwnd <= win.ssthresh,
            Arithmetic::Rfc | Arithmetic::Ns2 => win.cwnd < win.ssthresh,
        };
        match self.0 {
            Arithmetic::Bsd => {
                let step = if slow_start { mss } else { mss * mss / win.cwnd };
                win.cwnd = (win.cwnd + step).min(UNSCALED.max(window));
            }
            Arithmetic::Rfc if !slow_start => win.cwnd += (mss * mss / win.cwnd).max(1),
            Arithmetic::Rfc => win.cwnd += acked.min(mss),
            Arithmetic::Ns2 if !slow_start => {
                let cwnd = win.cwnd as f64 + f64::from(win.fraction) / FRACTIONS;
                let grown = cwnd + (mss * mss) as f64 / cwnd;
                win.cwnd = grown as u64;
                win.fraction = (grown.fract() * FRACTIONS) as u32;
            }
            Arithmetic::Ns2 => win.cwnd += mss,
        }
    }

    /// A loss was detected by duplicate acknowledgements; `extra` bytes were sent by limited
    /// transmit. Reduces the threshold and returns the window before inflation: the threshold, or
    /// in ns-2 half the window with its fraction, at least one packet (`TcpAgent::slowdown`).
    pub fn cut_at_loss(self, win: &mut Window, flight: &Flight, extra: u64) -> u64 {
        let halved = halved(win, flight);
        win.ssthresh = match self.0 {
            Arithmetic::Bsd | Arithmetic::Ns2 => half_in_segments(win, flight),
            Arithmetic::Rfc => half(win, in_network(win, flight, extra)),
        };
        if self.0 == Arithmetic::Ns2 { halved } else { win.ssthresh }
    }

    /// The retransmission timer expired: reduces the threshold. `repeated` says that the same first
    /// byte has timed out before.
    pub fn cut_at_timeout(self, win: &mut Window, flight: &Flight, repeated: bool) {
        if self.0 != Arithmetic::Rfc || !repeated {
            self.cut_at_loss(win, flight, 0);
        }
    }

    /// An ECN echo halves the window (RFC 3168 section 6.1.2; RFC 8511 leaves more of it) and never
    /// raises it; the threshold is at least two segments. With [`EchoCut::AsLoss`] RFC 5681 halves
    /// FlightSize, which holds whole segments only: the fraction of a segment by which the window
    /// has grown is not in flight.
    pub(crate) fn cut_by_echo(self, win: &mut Window, flight: &Flight, cut: EchoCut) {
        let halved = halved(win, flight);
        win.ssthresh = match (cut, self.0) {
            (EchoCut::Beta(beta), _) => beta.threshold(flight.usable(win), win.mss()),
            (_, Arithmetic::Bsd | Arithmetic::Ns2) => half_in_segments(win, flight),
            (EchoCut::AsLoss, Arithmetic::Rfc) => {
                half(win, flight.usable(win) / win.mss() * win.mss())
            }
            (EchoCut::Half, Arithmetic::Rfc) => half(win, flight.usable(win)),
        };
        win.cwnd = win.cwnd.min(match cut {
            EchoCut::Half => halved,
            EchoCut::AsLoss | EchoCut::Beta(_) => win.ssthresh,
        });
    }
}

/// FlightSize, "the amount of outstanding data in the network" (RFC 5681 section 3.1), without
/// `extra` bytes of limited transmit: the unacknowledged bytes, but at most the congestion window.
/// In a recovery, bytes that were acknowledged out of order stay outstanding although they have
/// left the network; the window bounds the rest, since RFC 6675 keeps its pipe within the window.
/// The pipe itself would be too small: it leaves out lost data, which FlightSize counts (RFC 6675
/// section 5, step 4.2), and is empty at a timeout.
fn in_network(win: &Window, flight: &Flight, extra: u64) -> u64 {
    (flight.outstanding() - extra).min(win.cwnd)
}

/// Half of `bytes`, at least two segments (RFC 5681 equation 4).
fn half(win: &Window, bytes: u64) -> u64 {
    (bytes / 2).max(2 * win.mss())
}

/// Half of the usable window, at least one segment.
fn halved(win: &Window, flight: &Flight) -> u64 {
    (flight.usable(win) / 2).max(win.mss())
}

/// Half of the usable window in whole segments, at least two.
fn half_in_segments(win: &Window, flight: &Flight) -> u64 {
    (flight.usable(win) / 2 / win.mss()).max(2) * win.mss()
}

impl Control for ClassicReno {
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if ack.may_grow() && ack.acked > 0 {
            self.grow(win, u64::from(ack.flight.window), ack.acked);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, _now: Instant) {
        match cause {
            Cause::Loss | Cause::Timeout => _ = self.cut_at_loss(win, flight, 0),
            Cause::Mark => {
                let cwnd = win.cwnd;
                self.cut_by_echo(win, flight, EchoCut::AsLoss);
                win.cwnd = cwnd;
            }
        }
    }

    fn classic(&self) -> Option<ClassicReno> {
        Some(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(arithmetic: Arithmetic, cwnd: u64, ssthresh: u64, acked: u64) -> u64 {
        let mut win = Window { cwnd, ssthresh, mss: 1_460, ..Window::default() };
        ClassicReno(arithmetic).grow(&mut win, 0, acked);
        win.cwnd - cwnd
    }

    #[test]
    fn equality_is_slow_start_in_bsd_and_avoidance_in_plain() {
        assert_eq!(grown(Arithmetic::Bsd, 2_920, 2_920, 1), 1_460);
        assert_eq!(grown(Arithmetic::Bsd, 4_380, 2_920, 2_920), 486);
        assert_eq!(grown(Arithmetic::Bsd, 65_000, 1 << 30, 1), 535);
        assert_eq!(grown(Arithmetic::Rfc, 2_919, 2_920, 2_920), 1_460);
        assert_eq!(grown(Arithmetic::Rfc, 2_919, 2_920, 100), 100);
        assert_eq!(grown(Arithmetic::Rfc, 2_920, 2_920, 100), 730);
        assert_eq!(grown(Arithmetic::Rfc, 1 << 22, 2_920, 100), 1);
        assert_eq!(grown(Arithmetic::Ns2, 2_919, 2_920, 100), 1_460);
        assert_eq!(grown(Arithmetic::Ns2, 2_920, 2_920, 100), 730);
    }

    #[test]
    fn ns2_keeps_the_fraction_that_whole_bytes_drop() {
        // 100 segments of 1,000 B: the first acknowledgement adds 10 B, each later one a little
        // less.
        let after = |arithmetic| {
            let (cwnd, ssthresh, mss) = (100_000, 0, 1_000);
            let mut win = Window { cwnd, ssthresh, mss, ..Window::default() };
            (0..100).for_each(|_| ClassicReno(arithmetic).grow(&mut win, 0, 1_000));
            (win.cwnd, win.fraction)
        };
        let exact = (0..100).fold(100_f64, |w, _| w + 1.0 / w);
        let (cwnd, fraction) = after(Arithmetic::Ns2);
        let grown = (cwnd as f64 + f64::from(fraction) / 2_f64.powi(32)) / 1_000.0;
        assert!((grown - exact).abs() < 1e-9, "{grown} {exact}");
        assert_eq!(after(Arithmetic::Rfc), (100_901, 0));
    }

    #[test]
    fn an_echo_taken_as_a_loss_halves_whole_segments() {
        let left = |cut, cwnd| {
            let mut win = Window { cwnd, mss: 1_000, ..Window::default() };
            let flight = Flight { window: u32::MAX, ..Flight::default() };
            ClassicReno(Arithmetic::Rfc).cut_by_echo(&mut win, &flight, cut);
            assert_eq!(win.cwnd.max(2_000), win.ssthresh);
            win.cwnd
        };
        assert_eq!([5_900, 5_000].map(|cwnd| left(EchoCut::AsLoss, cwnd)), [2_500, 2_500]);
        assert_eq!([5_900, 5_000].map(|cwnd| left(EchoCut::Half, cwnd)), [2_950, 2_500]);
        assert_eq!([3_000, 2_500].map(|cwnd| left(EchoCut::AsLoss, cwnd)), [2_000, 2_000]);
        assert_eq!([3_000, 2_500].map(|cwnd| left(EchoCut::Half, cwnd)), [1_500, 1_250]);
    }

    #[test]
    fn as_a_control_it_grows_by_what_is_acknowledged_and_may_grow() {
        use super::super::testing::ack_sample;
        let grown = |sample: AckSample| {
            let mut reno = ClassicReno(Arithmetic::Rfc);
            let mut win =
                Window { cwnd: 4_000, ssthresh: u64::MAX, mss: 1_000, ..Window::default() };
            reno.on_ack(&mut win, &sample);
            win.cwnd
        };
        assert_eq!(grown(ack_sample(1_000)), 5_000);
        assert_eq!(grown(AckSample { window_limited: false, ..ack_sample(1_000) }), 4_000);
        assert_eq!(grown(ack_sample(0)), 4_000);
    }

    #[test]
    fn a_second_timeout_of_the_same_segment_halves_nothing_more() {
        // RFC 5681 section 3.1, after equation 4; the BSD kernels of that time reduce again.
        for (arithmetic, left) in [(Arithmetic::Rfc, 5_000), (Arithmetic::Bsd, 4_000)] {
            let mut win = Window { cwnd: 8_000, mss: 1_000, ..Window::default() };
            let flight = Flight { una: 1, max: 8_001, window: 1 << 20 };
            win.ssthresh = 5_000;
            ClassicReno(arithmetic).cut_at_timeout(&mut win, &flight, true);
            assert_eq!(win.ssthresh, left);
        }
    }
}
