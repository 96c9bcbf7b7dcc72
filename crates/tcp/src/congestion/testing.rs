//! For the tests of controls: samples of acknowledgements, and a path with one queue over which a
//! control sends endless data by its window and pacing rate.

use std::collections::VecDeque;

use packet::{Duration, Instant};

pub(super) use super::control::AckSample;
use super::control::{CaState, Cause, Control, Lost, RateSample};
use crate::send_state::{Flight, Window};

/// Segment size of the path, bytes.
pub(super) const MSS: u64 = 1_000;

/// The sample of an acknowledgement of `acked` bytes at a sender that its window limits.
pub(super) fn ack_sample(acked: u64) -> AckSample {
    AckSample {
        flight: Flight::default(),
        now: Instant::ZERO,
        delivered: acked,
        acked,
        segments: (acked / MSS) as u32,
        lost: 0,
        marked: 0,
        in_flight_before: acked,
        in_flight: 0,
        rtt: None,
        srtt: Duration::from_millis(100),
        min_rtt: Duration::from_millis(100),
        rate: None,
        round: false,
        window_limited: true,
        next_send: Instant::ZERO,
        ca_state: CaState::Open,
        paced: false,
    }
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    at: Instant,
    first_sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
    arrives: Option<Instant>,
}

/// A path with one queue before a link, and an acknowledgement for every segment. A segment is
/// found lost when one sent three later is acknowledged; new data is sent in its place, not a
/// retransmission.
#[derive(Debug)]
pub(super) struct Path<C> {
    pub control: C,
    pub win: Window,
    flight: Flight,
    /// Rate of the link in bytes/s, round-trip time of the empty path, capacity of the queue in
    /// bytes.
    pub rate: f64,
    pub trip: Duration,
    pub room: u64,
    /// Most bytes in flight that the program's writes allow.
    pub supply: u64,
    /// Loses every n-th segment besides those that overflow the queue.
    pub lose_every: u64,
    pub now: Instant,
    pub delivered: u64,
    pub lost: u64,
    /// Sum of the measured round-trip times, s, and their number.
    pub trips: (f64, u64),
    line_free: Instant,
    next_send: Instant,
    out: VecDeque<Sent>,
    sent: u64,
    in_flight: u64,
    srtt: f64,
    min_rtt: Duration,
    first_sent: Instant,
    delivered_at: Instant,
    app_limited: u64,
    round_ends: u64,
    limited: [bool; 2],
    recover: Option<u64>,
}

impl<C: Control> Path<C> {
    pub fn new(control: C, megabits: f64, trip_ms: u64, room: u64) -> Self {
        let mut win =
            Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() };
        let trip = Duration::from_millis(trip_ms);
        let mut control = control;
        control.on_open(&mut win, trip, Instant::ZERO);
        Path {
            control,
            win,
            flight: Flight { una: 0, max: 0, window: u32::MAX },
            rate: megabits * 125_000.0,
            trip,
            room,
            supply: u64::MAX,
            lose_every: u64::MAX,
            now: Instant::ZERO,
            delivered: 0,
            lost: 0,
            trips: (0.0, 0),
            line_free: Instant::ZERO,
            next_send: Instant::ZERO,
            out: VecDeque::new(),
            sent: 0,
            in_flight: 0,
            srtt: trip.secs_f64(),
            min_rtt: trip,
            first_sent: Instant::ZERO,
            delivered_at: Instant::ZERO,
            app_limited: 0,
            round_ends: 0,
            limited: [false; 2],
            recover: None,
        }
    }

    /// Bandwidth-delay product of the empty path, bytes.
    pub fn bdp(&self) -> f64 {
        self.rate * self.trip.secs_f64()
    }

    /// Runs until `until` holds; false if it does not within `seconds`.
    pub fn run_until(&mut self, seconds: f64, until: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.fill();
            let ack = self.out.iter().find_map(|sent| sent.arrives);
            let paced = if self.open() { Some(self.next_send) } else { None };
            let Some(next) = ack.into_iter().chain(paced).min() else {
                self.time_out();
                continue;
            };
            self.now = self.now.max(next);
            if ack == Some(next) {
                self.acknowledge();
            }
            if until(self) {
                return true;
            }
        }
        false
    }

    pub fn run(&mut self, seconds: f64) {
        self.run_until(seconds, |_| false);
    }

    /// Runs for `seconds`. Returns the share of the link's rate that was used, and the mean
    /// round-trip time as a multiple of the empty path's.
    pub fn measure(&mut self, seconds: f64) -> (f64, f64) {
        let before = self.delivered;
        self.trips = (0.0, 0);
        self.run(seconds);
        let used = (self.delivered - before) as f64 / (self.rate * seconds);
        (used, self.trips.0 / self.trips.1 as f64 / self.trip.secs_f64())
    }

    fn open(&mut self) -> bool {
        let limited = self.in_flight + MSS > self.win.cwnd;
        self.limited[0] |= limited;
        let idle = self.in_flight + MSS > self.supply;
        if idle && !limited {
            self.app_limited = (self.delivered + self.in_flight).max(1);
        }
        !limited && !idle
    }

    fn fill(&mut self) {
        while self.open() && self.next_send <= self.now {
            if self.in_flight == 0 {
                let last = self.next_send.min(self.now);
                self.first_sent = self.now;
                self.delivered_at = self.now;
                let limited = self.app_limited > 0;
                self.control.on_tx_start(&mut self.win, last, limited, self.now);
            }
            self.send();
            let srtt = Duration::from_secs_f64(self.srtt);
            let rate = self.control.pacing_rate(&self.win, &self.flight, srtt).unwrap_or(u64::MAX);
            let paced = self.control.flags().paced;
            let gap = if paced { MSS as f64 / rate as f64 } else { 0.0 };
            self.next_send = self.now.max(self.next_send) + Duration::from_secs_f64(gap);
        }
    }

    fn send(&mut self) {
        self.sent += 1;
        self.in_flight += MSS;
        self.flight.max = self.sent * MSS;
        let waits = self.line_free.since(self.now).secs_f64() * self.rate;
        let lost = waits as u64 + MSS > self.room || self.sent.is_multiple_of(self.lose_every);
        let mut arrives = None;
        if !lost {
            let takes = Duration::from_secs_f64(MSS as f64 / self.rate);
            self.line_free = self.line_free.max(self.now) + takes;
            arrives = Some(self.line_free + self.trip);
        }
        self.out.push_back(Sent {
            number: self.sent,
            at: self.now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            in_flight: self.in_flight,
            app_limited: self.app_limited > 0,
            arrives,
        });
    }

    fn acknowledge(&mut self) {
        let index = self.out.iter().position(|sent| sent.arrives.is_some()).expect("one");
        let sent = self.out.remove(index).expect("it is there");
        let in_flight_before = self.in_flight;
        self.in_flight -= MSS;
        self.flight.una = sent.number * MSS;
        self.delivered += MSS;
        self.delivered_at = self.now;
        self.first_sent = sent.at;
        let rtt = self.now.since(sent.at);
        self.trips = (self.trips.0 + rtt.secs_f64(), self.trips.1 + 1);
        self.srtt += (rtt.secs_f64() - self.srtt) / 8.0;
        self.min_rtt = self.min_rtt.min(rtt);
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newly_lost = self.find_lost(sent.number);
        let round = sent.delivered >= self.round_ends;
        if round {
            self.round_ends = self.delivered;
            self.limited = [false, self.limited[0]];
        }
        let ack = AckSample {
            now: self.now,
            flight: self.flight,
            lost: newly_lost,
            in_flight_before,
            in_flight: self.in_flight,
            rtt: Some(rtt),
            srtt: Duration::from_secs_f64(self.srtt),
            min_rtt: self.min_rtt,
            rate: Some(self.rate_sample(&sent)),
            round,
            window_limited: self.limited[0] || self.limited[1],
            next_send: self.next_send,
            ca_state: if self.recover.is_some() { CaState::Recovery } else { CaState::Open },
            ..ack_sample(MSS)
        };
        if self.recover.is_some_and(|point| sent.number >= point) {
            self.recover = None;
        }
        self.control.on_ack(&mut self.win, &ack);
    }

    fn rate_sample(&self, sent: &Sent) -> RateSample {
        let interval = sent.at.since(sent.first_sent).max(self.now.since(sent.delivered_at));
        RateSample {
            delivered: self.delivered - sent.delivered,
            interval,
            prior_delivered: sent.delivered,
            total_delivered: self.delivered,
            sent_in_flight: sent.in_flight,
            lost: self.lost - sent.lost,
            app_limited: sent.app_limited,
        }
    }

    /// Finds segments lost that were sent three or more before `number`. Returns their bytes.
    fn find_lost(&mut self, number: u64) -> u64 {
        let mut newly = 0;
        while self.out.front().is_some_and(|first| first.number + 3 <= number) {
            let sent = self.out.pop_front().expect("it is there");
            self.in_flight -= MSS;
            self.lost += MSS;
            newly += MSS;
            let lost = Lost {
                now: self.now,
                bytes: MSS,
                sent_in_flight: sent.in_flight,
                lost: self.lost - sent.lost,
                total_delivered: self.delivered,
                app_limited: sent.app_limited,
            };
            self.control.on_lost(&self.win, &lost);
        }
        if newly > 0 && self.recover.is_none() {
            self.recover = Some(self.sent + 1);
            self.control.on_congestion(&mut self.win, &self.flight, Cause::Loss, self.now);
            if !self.control.flags().own_window {
                self.win.cwnd = self.win.ssthresh;
            }
        }
        newly
    }

    /// No acknowledgement is on its way: all segments in flight were lost.
    fn time_out(&mut self) {
        self.lost += self.in_flight;
        self.in_flight = 0;
        self.out.clear();
        self.now += Duration::from_millis(1_000);
        self.control.on_congestion(&mut self.win, &self.flight, Cause::Timeout, self.now);
        self.control.on_timeout(&self.win, &self.flight, self.now);
        self.win.cwnd = MSS;
    }
}
