//! Tests against tcp_bbr.c: its integers, by hand, and its states on a path with one queue.

use super::super::control::RateSample;
use super::super::testing::{self, MSS, Path, ack_sample};
use super::window::bytes_per_s;
use super::*;

impl Default for Bbr {
    fn default() -> Self {
        Bbr::new(Settings::read(&packet::params::Params::defaults(FIELDS)))
    }
}

/// A path of 20 Mbit/s (2.5 packets of 1,000 B per millisecond) and 40 ms, with a queue of `bdps`
/// bandwidth-delay products of 100 packets.
fn path(bdps: u64) -> Path<Bbr> {
    Path::new(Bbr::default(), 20.0, 40, bdps * 100_000)
}

fn path_in(bdps: u64, mode: Mode) -> Path<Bbr> {
    let mut path = path(bdps);
    assert!(path.run_until(30.0, |path| path.control.mode == mode), "{mode:?}");
    path
}

/// A sender with a window of 10 packets and a round-trip time of 100 ms.
fn opened() -> (Bbr, Window) {
    let mut win =
        Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() };
    let mut bbr = Bbr::default();
    bbr.on_open(&mut win, Duration::from_millis(100), at(0));
    (bbr, win)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// An acknowledgement of `acked` packets at `ms`, whose rate sample is `delivered` packets in
/// `interval_ms`; it ends a round.
fn ack(bbr: &Bbr, ms: u64, acked: u64, interval_ms: u64, delivered: u64) -> testing::AckSample {
    let total_delivered = bbr.delivered_bytes + acked * MSS;
    testing::AckSample {
        now: at(ms),
        next_send: at(ms),
        rtt: Some(Duration::from_millis(100)),
        rate: Some(RateSample {
            delivered: delivered * MSS,
            interval: Duration::from_millis(interval_ms),
            prior_delivered: total_delivered - acked * MSS,
            total_delivered,
            sent_in_flight: 0,
            lost: 0,
            app_limited: false,
        }),
        ..ack_sample(acked * MSS)
    }
}

#[test]
fn gains_and_rates_are_the_kernels_integers() {
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, Bbr::default().settings.cwnd_gain), (739, 88, 512));
    assert_eq!(CYCLE[..3], [320, 192, 256]);
    let (mut bbr, mut win) = opened();
    // 10 x 2^24 / 100,000 us = 1,677; x 1,000 B x 739 >> 8 = 4,841,027; x 990,000 >> 24: B/s.
    assert_eq!(bbr.pacing_rate, 285_662);
    // The pacing rate stays: the delivery rate of one round trip times the high gain is no more.
    let ack = ack(&bbr, 100, 10, 100, 10);
    bbr.on_ack(&mut win, &ack);
    assert_eq!((bbr.rounds.max_bw(), bbr.pacing_rate), (1_677, 285_662));
    assert_eq!(bytes_per_s(1_677, UNIT, MSS), 98_957);
    // ceil(1,677 x 100,000 us / 2^24) = 10; x 739 >> 8 = 28.9, so 29. Three bursts of two packets
    // (at more than `MIN_TSO_RATE`) are added, and one to make the number even.
    assert_eq!((bbr.bdp(1_677, UNIT), bbr.bdp(1_677, HIGH_GAIN)), (10, 29));
    assert_eq!(bbr.inflight(1_677, HIGH_GAIN), 36);
    assert_eq!(win.cwnd, 20 * MSS);
}

#[test]
fn without_a_sample_no_round_passes() {
    // `bbr_update_bw` returns before it counts, so that the filter keeps its rate.
    let (mut bbr, mut win) = opened();
    for ms in 101..121 {
        let ack = testing::AckSample { rate: None, ..ack(&bbr, ms, 1, 100, 10) };
        bbr.on_ack(&mut win, &ack);
    }
    assert_eq!(bbr.rounds.count, 0);
}

#[test]
fn a_packet_is_a_segment_its_fin_or_what_is_left() {
    let cases = [(0, 0), (1, 1), (300, 1), (1_000, 1), (1_001, 1), (2_000, 2), (2_300, 3)];
    for (bytes, count) in cases {
        assert_eq!(packets(bytes, 1_000), count, "{bytes} B");
    }
}

#[test]
fn startup_fills_the_pipe_and_drain_empties_the_queue() {
    let mut path = path(4);
    assert!(path.run_until(5.0, |path| path.control.pipe.reached));
    // The rate of the link: 0.0025 packets per us x 2^24 = 41,943.
    let bw = path.control.rounds.max_bw();
    assert!((41_500..=42_000).contains(&bw), "{bw}");
    assert_eq!(path.control.pacing_gain, DRAIN_GAIN);
    // 100 packets, and three bursts of the 6 packets that 7.1 MB/s send in 2^-10 s.
    assert_eq!(path.win.ssthresh, 118 * MSS);
    assert!(path.run_until(1.0, |path| path.control.mode == Mode::ProbeBw));
    let control = &path.control;
    let left = control.packets_in_net_at_edt(control.sample.in_flight);
    assert!((90..=107).contains(&left), "{left}");
}

#[test]
fn the_gains_go_round_a_phase_per_round_trip() {
    let mut path = path_in(4, Mode::ProbeBw);
    path.run_until(2.0, |path| path.control.cycle.index == 0);
    let mut seen = Vec::new();
    for (index, gain) in CYCLE.into_iter().enumerate() {
        let from = path.now;
        assert_eq!(path.control.pacing_gain, gain);
        assert!(path.run_until(1.0, |path| path.control.cycle.index == (index + 1) % 8));
        seen.push(path.now.since(from).secs_f64() / 0.0404);
    }
    assert_eq!(path.control.pacing_gain, UNIT * 5 / 4);
    assert!(seen[0] > 1.0 && seen[1] <= 1.1, "{seen:?}");
    assert!(seen[2..].iter().all(|trips| (1.0..1.1).contains(trips)), "{seen:?}");
}

#[test]
fn a_cycle_begins_anywhere_but_in_the_draining_phase() {
    let mut first = [0; 8];
    for ms in 0..700 {
        let (mut bbr, _) = opened();
        bbr.now = at(ms);
        bbr.reset_probe_bw_mode();
        first[bbr.cycle.index] += 1;
    }
    assert_eq!(first[1], 0);
    // 100 expected in each of seven; the chance of a count beyond 4 standard deviations is 0.0004.
    assert!(first.iter().enumerate().all(|(i, &n)| i == 1 || (63..=137).contains(&n)), "{first:?}");
}

#[test]
fn after_ten_seconds_without_a_smaller_round_trip_four_packets_stay() {
    let mut path = path_in(4, Mode::ProbeBw);
    let stamp = path.control.trips;
    assert!(path.run_until(21.0, |path| path.control.mode == Mode::ProbeRtt), "{stamp:?}");
    let (entered, saved) = (path.now, path.control.saved.cwnd);
    assert_eq!(path.win.cwnd, 4 * MSS);
    let rate = path.control.rounds.max_bw();
    assert!(path.run_until(2.0, |path| path.control.mode != Mode::ProbeRtt));
    let stay = path.now.since(entered).secs_f64();
    assert!((0.2..0.4).contains(&stay), "{stay}");
    assert!(path.win.cwnd >= saved.min(4) * MSS && path.control.mode == Mode::ProbeBw);
    assert_eq!(path.control.rounds.max_bw(), rate, "low rates in ProbeRTT count");
    // The next ProbeRTT is ten seconds away.
    assert!(!path.run_until(9.9, |path| path.control.mode == Mode::ProbeRtt));
}

#[test]
fn a_policed_rate_rules_for_48_round_trips() {
    let (mut bbr, mut win) = opened();
    bbr.pipe.reached = true;
    bbr.reset_probe_bw_mode();
    let lossy = |bbr: &mut Bbr, win: &mut Window, ms: u64| {
        // Two packets are lost for ten delivered: 2 x 256 >= 50 x 10.
        let lost = Lost {
            now: at(ms),
            bytes: MSS,
            sent_in_flight: 0,
            lost: 0,
            total_delivered: 0,
            app_limited: false,
        };
        (0..2).for_each(|_| bbr.on_lost(win, &lost));
        let ack = testing::AckSample { lost: 2 * MSS, ..ack(bbr, ms, 10, 100, 10) };
        bbr.on_ack(win, &ack);
    };
    // The first loss begins an interval; it ends with the fourth round and a loss.
    (1..=3).for_each(|i| lossy(&mut bbr, &mut win, 100 * i));
    assert_eq!(bbr.policer.bw, 0);
    lossy(&mut bbr, &mut win, 400);
    // The first interval has 30 packets in 300 ms, the second 40 in 400 ms.
    assert_eq!((bbr.policer.bw, bbr.policer.rules), (1_677, false));
    (5..=8).for_each(|i| lossy(&mut bbr, &mut win, 100 * i));
    assert_eq!((bbr.policer.bw, bbr.policer.rules, bbr.pacing_gain), (1_677, true, UNIT));
    for i in 9..=55 {
        lossy(&mut bbr, &mut win, 100 * i);
        assert!(bbr.policer.rules && bbr.pacing_gain == UNIT, "round {i}");
    }
    lossy(&mut bbr, &mut win, 5_600);
    assert!(!bbr.policer.rules);
}

#[test]
fn fewer_losses_than_a_fifth_are_no_policer() {
    let mut path = path(4);
    path.lose_every = 7;
    assert!(!path.run_until(10.0, |path| path.control.policer.rules));
}

#[test]
fn the_first_round_of_a_recovery_conserves_packets_and_its_end_restores_the_window() {
    let (mut bbr, mut win) = opened();
    bbr.pipe.reached = true;
    bbr.rounds.bw.update(0, 1_677, 10);
    win.cwnd = 26 * MSS;
    bbr.on_congestion(&mut win, &Flight::default(), Cause::Loss, at(100));
    let first = testing::AckSample {
        lost: MSS,
        in_flight: 20 * MSS,
        in_flight_before: 23 * MSS,
        ca_state: CaState::Recovery,
        ..ack(&bbr, 100, 2, 100, 10)
    };
    bbr.on_ack(&mut win, &first);
    assert_eq!((win.cwnd, bbr.saved.conserves), (22 * MSS, true));
    // In the first round it sends no more than is delivered; then the window grows again.
    let second = testing::AckSample { in_flight: 21 * MSS, lost: 0, ..first };
    let same_round = RateSample { prior_delivered: 0, ..second.rate.expect("a rate") };
    bbr.on_ack(&mut win, &testing::AckSample { rate: Some(same_round), ..second });
    assert_eq!(win.cwnd, 23 * MSS);
    let third = testing::AckSample { ca_state: CaState::Recovery, ..ack(&bbr, 200, 2, 100, 10) };
    bbr.on_ack(&mut win, &third);
    assert_eq!((win.cwnd, bbr.saved.conserves), (25 * MSS, false));
    win.cwnd = 5 * MSS;
    let last = ack(&bbr, 300, 2, 100, 10);
    bbr.on_ack(&mut win, &last);
    // 26 packets are restored, 2 added. The target: 20, aggregation 2, three bursts of two.
    assert_eq!((win.cwnd, bbr.saved.state), (28 * MSS, CaState::Open));
}

#[test]
fn a_timeout_begins_startups_search_anew_and_an_undo_forgets_the_policer() {
    let (mut bbr, win) = opened();
    (bbr.pipe.bw, bbr.policer.rules, bbr.policer.bw) = (1_677, true, 1_677);
    bbr.on_timeout(&win, &Flight::default(), at(1_000));
    assert_eq!((bbr.pipe.bw, bbr.saved.state, bbr.rounds.started), (0, CaState::Loss, true));
    let mut win = win;
    bbr.pipe.bw = 1_677;
    bbr.undo(&mut win, false);
    assert_eq!((bbr.policer.rules, bbr.policer.bw, bbr.pipe.bw), (false, 0, 0));
}

#[test]
fn bunched_acknowledgements_widen_the_window_up_to_a_tenth_of_a_second() {
    let (mut bbr, mut win) = opened();
    bbr.pipe.reached = true;
    // At 0.1 packets/ms: 50 packets after 100 ms, where 10 were due, then 30 at once.
    for (ms, acked) in [(100, 10), (200, 50), (200, 30)] {
        win.cwnd = 100 * MSS;
        let ack = ack(&bbr, ms, acked, 1_000, 100);
        bbr.on_ack(&mut win, &ack);
    }
    // An epoch began at 100 ms with 10; at 200 ms it has 90. 1,677 x 100,000 >> 24 = 9 were due.
    assert_eq!(bbr.aggregation.greatest(), 81);
    let most = bbr.bw() * 100_000 / BW_UNIT;
    assert_eq!(most, 9);
    assert!(win.cwnd <= (20 + most + 8) * MSS);
}

#[test]
fn after_a_pause_the_sender_paces_at_the_rate_and_does_not_make_way() {
    let mut path = path_in(4, Mode::ProbeBw);
    path.control.on_tx_start(&mut path.win, path.now, true, path.now);
    let rate = bytes_per_s(path.control.bw(), UNIT, MSS);
    assert_eq!((path.control.pacing_rate, path.control.idle_restart), (rate, true));
}

#[test]
fn a_flow_fills_the_line() {
    for (megabits, trip, bdps) in [(10.0, 20, 2.0), (50.0, 50, 2.0), (100.0, 100, 5.0)] {
        let room = (bdps * megabits * 125.0 * trip as f64) as u64;
        let mut path = Path::new(Bbr::default(), megabits, trip, room);
        path.run(5.0);
        let (used, trips) = path.measure(25.0);
        assert!(used > 0.94, "{megabits} Mbit/s {trip} ms {bdps} BDP: {used}");
        assert!(trips < 1.5, "{megabits} Mbit/s {trip} ms {bdps} BDP: {trips} round trips");
    }
}

/// A control whose model has a rate of 2.5 packets per millisecond and a round-trip time of 100 ms.
fn modelled() -> (Bbr, Window) {
    let (mut bbr, win) = opened();
    bbr.rounds.bw.update(0, 41_943, 10);
    (bbr, win)
}

#[test]
fn only_a_delivery_moves_the_clock_of_deliveries() {
    // tcp_rate_skb_delivered, tcp_ack: delivered_mstamp is set if something was delivered.
    let (mut bbr, _) = opened();
    bbr.take(&ack(&bbr, 50, 1, 50, 1));
    bbr.take(&ack(&bbr, 80, 0, 50, 1));
    assert_eq!(bbr.delivered_at, at(50));
}

#[test]
fn a_lone_short_segment_may_have_been_acknowledged_late() {
    // FLAG_ACK_MAYBE_DELAYED in tcp_clean_rtx_queue: shorter than a segment, acknowledged cumulatively,
    // and nothing else was delivered since it was sent.
    for (since, delivered, acked, delayed) in [
        (0, 300, 300, true),
        (1_000, 300, 300, false),
        (0, 1_000, 1_000, false),
        (0, 1_300, 1_300, false),
        (0, 300, 0, false),
    ] {
        let (mut bbr, _) = opened();
        let usual = ack(&bbr, 100, 1, 100, 1);
        let rate = RateSample {
            prior_delivered: 5_000,
            total_delivered: 5_000 + since + delivered,
            ..usual.rate.expect("a rate")
        };
        bbr.take(&testing::AckSample { delivered, acked, rate: Some(rate), ..usual });
        assert_eq!(bbr.sample.delayed, delayed, "{since} {delivered} {acked}");
    }
}

#[test]
fn what_leaves_the_network_before_the_next_segment_is_not_in_it() {
    // bbr_packets_in_net_at_edt: 8 ms at 2.5 packets/ms are 19.99 packets, rounded down to 19.
    let (mut bbr, _) = modelled();
    bbr.take(&testing::AckSample { next_send: at(108), ..ack(&bbr, 100, 1, 100, 1) });
    assert_eq!(bbr.packets_in_net_at_edt(30), 11);
}

#[test]
fn a_phase_lasts_longer_than_the_smallest_round_trip() {
    // bbr_is_next_cycle_phase: tcp_stamp_us_delta(delivered_mstamp, cycle_mstamp) > min_rtt_us.
    let (mut bbr, _) = modelled();
    bbr.pacing_gain = UNIT;
    for (us, over) in [(100_000, false), (100_001, true)] {
        bbr.delivered_at = at(0) + Duration::from_micros(us);
        assert_eq!(bbr.is_next_cycle_phase(), over, "{us} us");
    }
}

#[test]
fn a_sample_without_an_interval_is_none() {
    // bbr_update_bw: with rs->interval_us <= 0 there is no sample.
    let (mut bbr, mut win) = modelled();
    let sample = ack(&bbr, 100, 1, 0, 1);
    bbr.on_ack(&mut win, &sample);
    assert_eq!((bbr.rounds.max_bw(), bbr.rounds.count, bbr.aggregation.greatest()), (41_943, 0, 0));
}

#[test]
fn an_epoch_of_acknowledgements_counts_up_to_a_million_packets() {
    // bbr_ack_epoch_acked_reset_thresh, 1 << 20, is far above 2,600; the count stops one below it.
    let (mut bbr, mut win) = opened();
    win.cwnd = (1 << 22) * MSS;
    for acked in [2_000, 600] {
        let sample = ack(&bbr, 0, acked, 1_000, 100);
        bbr.on_ack(&mut win, &sample);
    }
    assert_eq!(bbr.aggregation.greatest(), 2_600);
    win.cwnd = (1 << 22) * MSS;
    let sample = ack(&bbr, 0, 1 << 20, 1_000, 100);
    bbr.on_ack(&mut win, &sample);
    assert_eq!(bbr.aggregation.greatest(), 0xf_ffff);
}

#[test]
fn all_that_is_out_in_probe_rtt_is_slowed_by_it() {
    // bbr_update_min_rtt: tp->app_limited = tp->delivered + tcp_packets_in_flight(tp).
    let (mut bbr, mut win) = modelled();
    bbr.mode = Mode::ProbeRtt;
    bbr.sample.in_flight = 6;
    bbr.update_min_rtt(&mut win);
    assert!(bbr.trips.slowed(6 * MSS) && !bbr.trips.slowed(6 * MSS + 1));
}

#[test]
fn a_burst_is_a_millisecond_at_the_rate_within_bounds() {
    // bbr_tso_segs_goal; the window has room for three bursts. A burst is one packet below 1.2
    // Mbit/s, else at least two. An sk_buff holds 65,536 - 1 - 320 B, 63.9 packets of 1,019 B.
    let budget = |pacing_rate, mss| {
        let mut bbr = Bbr { pacing_rate, mss, ..Bbr::default() };
        bbr.trips.min_us = Some(1);
        bbr.inflight(0, UNIT)
    };
    assert_eq!([149_999, 150_000].map(|rate| budget(rate, 1_460)), [4, 6]);
    assert_eq!(budget(1_000_000_000, 1_019), 190);
}

#[test]
fn without_a_round_trip_the_first_rate_stays() {
    // bbr_set_pacing_rate: the rate is set again once srtt_us is known, and not before.
    let (mut bbr, mut win) = (Bbr::default(), opened().1);
    bbr.on_open(&mut win, Duration::ZERO, at(0));
    let first = bbr.pacing_rate;
    win.cwnd = 2 * MSS;
    bbr.set_pacing_rate(&win, 0, UNIT, Duration::ZERO);
    assert_eq!(bbr.pacing_rate, first);
    bbr.set_pacing_rate(&win, 0, UNIT, Duration::from_millis(100));
    assert!(bbr.pacing_rate < first / 100);
}
