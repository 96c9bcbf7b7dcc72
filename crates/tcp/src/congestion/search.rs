//! SEARCH, Slow start Exit At Right CHokepoint (draft-chung-ccwg-search-10; M. Ataei Kachooei and
//! others, *Improving TCP Slow Start Performance in Wireless Networks with SEARCH*, WoWMoM 2024),
//! for CUBIC, as in the authors' Linux module. Slow start ends where deliveries stop doubling. The
//! bytes delivered in a window of 3.5 first round-trip times are compared with twice those of the
//! window a round trip before. They are equal while slow start doubles; if they are 35 % less, the
//! path is full.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant};

use super::control::{AckSample, Entry};
use super::cubic::{BETA, C, Cubic, Exit, FAST_CONVERGENCE, Settings, TCP_FRIENDLINESS};
use crate::send_state::Window;

/// The entry in the registry: CUBIC with SEARCH.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "cubic-search",
        summary: "CUBIC whose slow start ends where deliveries stop doubling (SEARCH) in place of HyStart",
        year: 2025,
        source: "draft-chung-ccwg-search-10 and the authors' tcp_cubic_search3.1.c for Linux 6.13; the rest is cubic",
        deviations: "bins have 64 bits, so that nothing is scaled down; that the program limits the sending is read \
             off the segment acknowledged (Linux's flag covers the flight)",
        fields: FIELDS,
    },
    make: |params| {
        let exit = Exit::Search(Box::new(Search::new(params)));
        Box::new(Cubic::new(Settings::read(params), exit))
    },
};

const FIELDS: &[Field] = &[
    C,
    BETA,
    FAST_CONVERGENCE,
    TCP_FRIENDLINESS,
    Field::new("window_factor", Kind::from(Unit::None, 1.0, 10.0), Value::Real(3.5))
        .meaning("Length of a window in first round trips; counted in tenths.")
        .source("search_window_duration_factor = 35"),
    Field::new("threshold", Kind::from(Unit::None, 0.01, 0.99), Value::Real(0.35))
        .meaning("Share by which deliveries fall short of twice those of a round trip ago; counted in percent.")
        .source("search_thresh = 35"),
    Field::new("alpha", Kind::whole(Unit::Count, 1, 65_535), Value::Whole(65_535))
        .meaning("First round trips without an acknowledgement after which the bins begin anew; the most is never.")
        .source("search_alpha = 65,535; its description says 2"),
    Field::new("rollback", Kind::Switch, Value::Switch(false))
        .meaning("The window loses what was delivered in the last two first round trips, down to ten segments.")
        .source("cwnd_rollback = 0"),
];

/// `SEARCH_BINS`: bins of a window; `SEARCH_EXTRA_BINS`: further bins, which a longer round trip
/// needs.
const BINS: u64 = 10;
const EXTRA: u64 = 15;
const ALL: u64 = BINS + EXTRA;
/// `TCP_INIT_CWND`: smallest window after a rollback, segments.
const FIRST_WINDOW: u64 = 10;

/// The state of SEARCH for one connection; times in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// `search_window_duration_factor`, tenths; `search_thresh`, percent; `search_alpha`, first
    /// round-trip times.
    factor: u64,
    threshold: u64,
    alpha: u64,
    rollback: bool,
    /// Bytes acknowledged so far (`bytes_acked`).
    acked: u64,
    /// Oldest unacknowledged number at the last acknowledgement.
    una: u64,
    /// `bin_duration_us`; 0 before a round-trip time is known.
    duration: u64,
    /// `curr_idx`, the number of the current bin (none before the first).
    index: Option<u64>,
    /// Time when the bin after the current one ends, microseconds.
    end: u64,
    /// Bytes acknowledged in all at the end of each bin; bin n is at index n modulo `ALL`.
    bins: [u64; ALL as usize],
}

impl Search {
    fn new(params: &Params) -> Self {
        Search {
            factor: (10.0 * params.real("window_factor") + 0.5) as u64,
            threshold: (100.0 * params.real("threshold") + 0.5) as u64,
            alpha: params.whole("alpha"),
            rollback: params.switch("rollback"),
            acked: 0,
            una: 0,
            duration: 0,
            index: None,
            end: 0,
            bins: [0; ALL as usize],
        }
    }

    /// `bictcp_search_reset`: discards the bins and their length.
    pub fn start_over(&mut self) {
        (self.index, self.end, self.duration) = (None, 0, 0);
        self.bins = [0; ALL as usize];
    }

    fn bin(&mut self, number: u64) -> &mut u64 {
        &mut self.bins[(number % ALL) as usize]
    }

    fn acked_until(&self, number: u64) -> u64 {
        self.bins[(number % ALL) as usize]
    }

    /// The module's `search_init_bins`: starts the bins again at `now`.
    fn begin(&mut self, now: u64, rtt: u64) {
        if self.duration == 0 {
            self.duration = (rtt * self.factor / (BINS * 10)).max(1);
        }
        (self.index, self.end) = (Some(0), now + self.duration);
        self.bins = [0; ALL as usize];
        self.bins[0] = self.acked;
    }

    /// The first round-trip time, from the length of a bin.
    fn first_rtt(&self) -> u64 {
        self.duration * BINS * 10 / self.factor
    }

    /// `search_update_bins`: returns the number of the bin that ends now; none if the bins start
    /// again.
    fn fill(&mut self, index: u64, now: u64, rtt: u64, app_limited: bool) -> Option<u64> {
        let passed = (now - self.end) / self.duration + 1;
        let missed =
            self.alpha < 65_535 && passed > self.alpha * (self.first_rtt() / self.duration);
        if missed || app_limited {
            if missed && passed > BINS {
                self.duration = 0;
            }
            self.begin(now, rtt);
            return None;
        }
        let last = self.acked_until(index);
        for number in index + 1..index + passed.min(ALL) {
            *self.bin(number) = last;
        }
        if passed > ALL {
            self.bins = [last; ALL as usize];
        }
        self.end += passed * self.duration;
        let index = index + passed;
        *self.bin(index) = self.acked;
        self.index = Some(index);
        Some(index)
    }

    /// `search_compute_delivered_window`: bytes delivered between the ends of bins `left` and
    /// `right`, both ends moved back by `earlier` hundredths of a bin.
    fn delivered(&self, left: u64, right: u64, earlier: u64) -> u64 {
        let at = |number: u64| self.acked_until(number);
        let before = if left == 0 { 0 } else { at(left - 1) };
        let whole = at(right - 1) - at(left);
        let first = (at(left) - before) * earlier / 100;
        whole + first + (at(right) - at(right - 1)) * (100 - earlier) / 100
    }

    /// `search_update`: an acknowledgement in slow start with a round-trip time of `rtt`. Ends slow
    /// start, if it is time, by setting `ssthresh`.
    pub fn on_sample(&mut self, win: &mut Window, ack: &AckSample, rtt: u32) {
        let (now, rtt) = (micros(ack.now), u64::from(rtt));
        self.acked += ack.flight.una - std::mem::replace(&mut self.una, ack.flight.una);
        let Some(index) = self.index else { return self.begin(now, rtt) };
        if now < self.end {
            return;
        }
        let app_limited = ack.rate.is_some_and(|rate| rate.app_limited);
        let Some(index) = self.fill(index, now, rtt, app_limited) else { return };
        let back = rtt / self.duration;
        // Too early, or the window a round trip ago would need a bin that is overwritten.
        if index < back + BINS || back >= EXTRA - 1 {
            return;
        }
        let (earlier, before) = (rtt % self.duration * 100 / self.duration, index - back);
        let new = self.delivered(index - BINS, index, 0);
        let double = 2 * self.delivered(before - BINS, before, earlier);
        if double > 0 && double >= new && (double - new) * 100 / double >= self.threshold {
            self.leave(win, index);
        }
    }

    /// The module's `search_exit_slow_start`: ends slow start, after a rollback if that is on.
    fn leave(&self, win: &mut Window, index: u64) {
        if self.rollback {
            let back = (2 * self.first_rtt() / self.duration).min(index);
            let overshoot = self.delivered(index - back, index, 0) / win.mss() * win.mss();
            let least = FIRST_WINDOW * win.mss();
            win.cwnd = if overshoot < win.cwnd { (win.cwnd - overshoot).max(least) } else { least };
        }
        win.ssthresh = win.cwnd;
    }
}

fn micros(now: Instant) -> u64 {
    now.nanos() / 1_000
}

#[cfg(test)]
mod tests {
    use packet::Duration;
    use packet::params::Raw;

    use super::super::testing;
    use super::*;
    use crate::send_state::Flight;

    const MSS: u64 = 1_000;

    fn search() -> Search {
        Search::new(&Params::defaults(FIELDS))
    }

    fn cubic(rollback: bool) -> Cubic {
        let settings = [("rollback".to_owned(), Raw::Bool(rollback))];
        let params = Params::check(FIELDS, &settings).expect("a field of it");
        Cubic::new(Settings::read(&params), Exit::Search(Box::new(Search::new(&params))))
    }

    /// Index of the round trip, of 100 ms each, in which slow start ends; `deliveries` gives the
    /// bytes that each delivers.
    fn ends(deliveries: impl Fn(u32) -> u64) -> Option<u32> {
        let mut win =
            Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() };
        let mut search = search();
        let mut acked = 1;
        for trip in 0..30 {
            for part in 0..20_u64 {
                acked += deliveries(trip) / 20;
                let now = Instant::ZERO + Duration::from_millis(u64::from(trip) * 100 + part * 5);
                let flight = Flight { una: acked, ..Flight::default() };
                let ack = AckSample { now, flight, ..testing::ack_sample(MSS) };
                search.on_sample(&mut win, &ack, 100_000);
                if win.ssthresh < u64::MAX {
                    return Some(trip);
                }
            }
        }
        None
    }

    #[test]
    fn doubling_goes_on_and_a_full_path_ends_it() {
        assert_eq!(ends(|trip| 10_000 << trip), None);
        // The path is full from the seventh round trip on: one to two later, deliveries are 35 %
        // less than twice those of a round trip ago.
        let end = ends(|trip| 10_000 << trip.min(6));
        assert!((7..=8).contains(&end.unwrap()), "{end:?}");
    }

    #[test]
    fn windows_are_interpolated_between_bins() {
        // bin n ends with 10 n + 10 B: ten bins deliver 100 B wherever they begin.
        let mut search = search();
        (0..25).for_each(|n| *search.bin(n) = 10 * n + 10);
        assert_eq!([0, 50, 86].map(|earlier| search.delivered(4, 14, earlier)), [100, 100, 99]);
        // Nothing was delivered before the first bin.
        assert_eq!(search.delivered(0, 10, 50), 90 + 5 + 5);
    }

    #[test]
    fn bins_that_nothing_ended_repeat_the_last() {
        let mut search = search();
        search.begin(0, 100_000);
        assert_eq!((search.duration, search.end), (35_000, 35_000));
        search.acked = 7;
        assert_eq!(search.fill(0, 106_000, 100_000, false), Some(3));
        assert_eq!((&search.bins[..5], search.end), (&[0, 0, 0, 7, 0][..], 140_000));
        // With an alpha of one, more than two bins without an acknowledgement start the bins again.
        search.alpha = 1;
        assert_eq!(search.fill(3, 180_000, 100_000, false), Some(5));
        assert_eq!(search.fill(5, 400_000, 100_000, false), None);
        assert_eq!(search.index, Some(0));
    }

    #[test]
    fn slow_start_ends_after_the_path_is_full_and_before_a_deep_queue_is() {
        // 100 Mbit/s and 100 ms. With windows of 3.5 round trips SEARCH sees a full path two to
        // three round trips later, at four to eight BDP; slow start alone would overflow the queue,
        // here of twelve BDP.
        let mut path = testing::Path::new(cubic(false), 100.0, 100, 15_000_000);
        assert!(path.run_until(10.0, |path| path.win.ssthresh < u64::MAX));
        let products = path.win.ssthresh as f64 / path.bdp();
        assert!((4.0..8.0).contains(&products) && path.lost == 0, "{products} {}", path.lost);
    }

    #[test]
    fn a_rollback_takes_back_two_round_trips() {
        let plain = cubic(false);
        let rolled = cubic(true);
        let left = |control| {
            let mut path = testing::Path::new(control, 100.0, 100, 15_000_000);
            assert!(path.run_until(10.0, |path| path.win.ssthresh < u64::MAX));
            path.win.ssthresh as f64 / path.bdp()
        };
        let (plain, rolled) = (left(plain), left(rolled));
        assert!(rolled < plain, "{plain} {rolled}");
    }
}
