//! HyStart as Linux has it (`hystart_update` of `tcp_cubic.c`; S. Ha, I. Rhee, *Taming the
//! elephants: New TCP slow start*, Computer Networks 55(9), 2011). Slow start ends when the
//! acknowledgements of a round come close together for longer than half the smallest round-trip
//! time, or when the round-trip time grows. RFC 9406's HyStart++ is [`super::hystart_plus`].

use packet::Instant;

use super::control::AckSample;
use crate::send_state::{Flight, Window};

/// `hystart_low_window`: windows below this number of segments are not checked.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`: acknowledgements at most this far apart make a train, microseconds.
const CLOSE: u64 = 2_000;
/// `HYSTART_MIN_SAMPLES`: samples of a round before its smallest round-trip time is compared.
const SAMPLES: u8 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`: slow start ends at a rise by an eighth of the
/// smallest round-trip time, within these bounds, microseconds.
const MIN_RISE: u32 = 4_000;
const MAX_RISE: u32 = 16_000;
/// `hystart_ack_delay`: the time that four of the largest bursts take at the pacing rate, at most
/// this, microseconds. The largest burst is 64 KiB less a header (`sk_gso_max_size`), bytes.
const BURST: u64 = 65_536 - 320 - 1;
const MAX_ACK_DELAY: u64 = 1_000;

/// The state of HyStart for one connection; times in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    /// HyStart has ended slow start; only a timeout starts the search again.
    found: bool,
    samples: u8,
    /// Smallest round-trip time of this round; 0 before the first sample.
    least: u32,
    round_start: u64,
    /// The round ends when a higher sequence number than this is acknowledged.
    round_end: u64,
    /// When the last acknowledgement of the train arrived.
    last: u64,
}

impl HyStart {
    /// The state at the start of a round, also of the first.
    pub fn begin(flight: &Flight, now: Instant) -> Self {
        let now = micros(now);
        HyStart { round_start: now, last: now, round_end: flight.max, ..HyStart::default() }
    }

    /// A round-trip time of `delay` was measured in slow start; `delay_min` is the smallest. Ends
    /// slow start, if it is time, by setting `ssthresh`.
    pub fn on_sample(&mut self, win: &mut Window, ack: &AckSample, delay: u32, delay_min: u32) {
        if self.found {
            return;
        }
        if ack.flight.una > self.round_end {
            *self = HyStart::begin(&ack.flight, ack.now);
        }
        if win.cwnd < LOW_WINDOW * win.mss() {
            return;
        }
        let train = self.is_train(win, ack, delay_min);
        // Both detectors run, since each updates its state.
        let rising = self.is_rising(delay, delay_min);
        if train || rising {
            self.found = true;
            win.ssthresh = win.cwnd;
        }
    }

    fn is_train(&mut self, win: &Window, ack: &AckSample, delay_min: u32) -> bool {
        let now = micros(ack.now);
        if now - self.last > CLOSE {
            return false;
        }
        self.last = now;
        let span = u64::from(delay_min) + ack_delay(win, ack);
        // Pacing may have spread the segments over half a round trip.
        let enough = if ack.paced { span } else { span >> 1 };
        now - self.round_start > enough
    }

    fn is_rising(&mut self, delay: u32, delay_min: u32) -> bool {
        self.least = if self.least == 0 { delay } else { self.least.min(delay) };
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least > delay_min + (delay_min >> 3).clamp(MIN_RISE, MAX_RISE)
    }
}

fn ack_delay(win: &Window, ack: &AckSample) -> u64 {
    let rate = super::control::linux_pacing_rate(win, &ack.flight, ack.srtt);
    rate.map_or(0, |rate| (BURST * 4 * 1_000_000 / rate).min(MAX_ACK_DELAY))
}

fn micros(now: Instant) -> u64 {
    now.nanos() / 1_000
}

#[cfg(test)]
mod tests {
    use packet::Duration;

    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;
    const FLIGHT: Flight = Flight { una: 1_001, max: 90_001, window: 0 };

    fn window_of(segments: u64) -> Window {
        Window { cwnd: segments * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() }
    }

    /// Feeds HyStart an acknowledgement with a round-trip time of `delay` (us) at each of
    /// `instants` (us). Returns the first of `instants` at which one ends slow start; `None` if
    /// none does.
    fn ends(
        hystart: &mut HyStart,
        (win, flight): (&mut Window, Flight),
        delay: u32,
        instants: impl Iterator<Item = u64>,
        paced: bool,
    ) -> Option<u64> {
        for at in instants {
            let now = Instant::ZERO + Duration::from_micros(at);
            let ack = testing::AckSample { now, flight, paced, ..testing::ack_sample(MSS) };
            hystart.on_sample(win, &ack, delay, 100_000);
            if win.ssthresh < u64::MAX {
                return Some(at);
            }
        }
        None
    }

    #[test]
    fn a_train_of_half_the_smallest_round_trip_ends_slow_start() {
        // delay_min 100 ms and hystart_ack_delay 1 ms (the pacing rate is far below 2 Gbit/s): a train
        // must last longer than 50.5 ms, with pacing longer than 101 ms.
        for (paced, end) in [(false, 51_000), (true, 102_000)] {
            let (mut hystart, mut win) = (HyStart::default(), window_of(20));
            let seen =
                ends(&mut hystart, (&mut win, FLIGHT), 100_000, (0..200).map(|i| i * 1_000), paced);
            assert_eq!(seen, Some(end), "paced: {paced}");
            assert_eq!(win.ssthresh, win.cwnd);
        }
    }

    #[test]
    fn a_gap_of_more_than_two_milliseconds_breaks_the_train() {
        let (mut hystart, mut win) = (HyStart::default(), window_of(20));
        // Acknowledgements every 2 ms up to 38 ms keep the train; the next one is a microsecond
        // late.
        let instants = (0..200).map(|i| if i < 20 { i * 2_000 } else { 20_001 + i * 1_000 });
        assert_eq!(ends(&mut hystart, (&mut win, FLIGHT), 100_000, instants, false), None);
        let (mut hystart, mut win) = (HyStart::default(), window_of(20));
        let instants = (0..200).map(|i| i * 2_000);
        assert_eq!(ends(&mut hystart, (&mut win, FLIGHT), 100_000, instants, false), Some(52_000));
    }

    #[test]
    fn a_round_lasts_until_more_than_its_end_is_acknowledged() {
        // hystart_update: after(tp->snd_una, ca->end_seq). At its end number the round still goes
        // on, up to the ninth sample.
        let (mut hystart, mut win) = (HyStart::default(), window_of(16));
        hystart.round_end = 90_001;
        let at_its_end = Flight { una: 90_001, ..FLIGHT };
        let instants = (0..20).map(|i| i * 10_000);
        assert_eq!(
            ends(&mut hystart, (&mut win, at_its_end), 112_501, instants, false),
            Some(80_000)
        );
    }

    #[test]
    fn a_rise_of_an_eighth_seen_nine_times_ends_slow_start() {
        // The limit is 100 ms and an eighth, 112.5 ms. From the ninth sample of the round on, slow
        // start ends if all of its samples are above.
        for (delay, end) in [(112_500, None), (112_501, Some(80_000))] {
            let (mut hystart, mut win) = (HyStart::default(), window_of(16));
            let instants = (0..20).map(|i| i * 10_000);
            assert_eq!(ends(&mut hystart, (&mut win, FLIGHT), delay, instants, false), end);
        }
    }

    #[test]
    fn windows_below_sixteen_segments_are_left_alone() {
        let (mut hystart, mut win) = (HyStart::default(), window_of(15));
        let instants = (0..20).map(|i| i * 10_000);
        assert_eq!(ends(&mut hystart, (&mut win, FLIGHT), 200_000, instants, false), None);
    }

    #[test]
    fn an_offloaded_burst_delays_acknowledgements_by_four_of_its_times() {
        // 10 MB in 10 ms, twice that rate in slow start: 4 x 65,215 B at 2 GB/s.
        let mut win =
            Window { cwnd: 10_000_000, ssthresh: u64::MAX, mss: 1_000, ..Window::default() };
        let ack = AckSample { srtt: Duration::from_millis(10), ..testing::ack_sample(1_000) };
        assert_eq!(ack_delay(&win, &ack), 130);
        // A burst is 65,535 - 320 B: 4 x 65,215 B at 260,864,000 B/s take 999.98 us.
        win.cwnd = 13_043_200;
        let ack = AckSample { srtt: Duration::from_millis(100), ..ack };
        assert_eq!(ack_delay(&win, &ack), 999);
        // From half the threshold on, 120 % of the window is sent in a round trip
        // (`tcp_update_pacing_rate`).
        let rate = |win: &Window| {
            super::super::control::linux_pacing_rate(
                win,
                &Flight::default(),
                Duration::from_millis(100),
            )
        };
        (win.cwnd, win.ssthresh) = (9_999, 20_000);
        assert_eq!(rate(&win), Some(199_980));
        win.cwnd = 10_000;
        assert_eq!(rate(&win), Some(120_000));
    }
}
