//! Tests of the meter: samples, averages and counts that were worked by hand.

use packet::Duration;

use super::*;
use crate::{Column, Kind, Summary};

const DATA: PacketClass = PacketClass::new(Kind::Data, false);

fn ms(t: u64) -> Instant {
    Instant::from_nanos(t * 1_000_000)
}

fn meter(from_ms: u64, to_ms: u64) -> Meter {
    Meter::new(MeterSettings {
        window: Window { from: ms(from_ms), to: ms(to_ms) },
        sample_every: Some(Duration::from_millis(3)),
        keep_samples: true,
        gauges: true,
        trace: false,
        watch: None,
        delays: true,
        seconds: true,
    })
}

fn samples(m: &Meter) -> Column {
    m.samples("p").swap_remove(0).1
}

fn waiting(packets: u32) -> Backlog {
    Backlog { packets, bytes: u64::from(packets) * 1_000 }
}

#[test]
fn samples_and_time_average_follow_the_queue() {
    // Queue: 0 on [0, 4), 2 on [4, 10), 1 on [10, 12) ms; measured from 3 ms.
    let mut m = meter(3, 12);
    m.arrival(ms(4), 1_000, DATA);
    m.queue(ms(4), waiting(2));
    m.started(ms(10), ms(11), ms(4), 1_000, 1, DelayClass::default());
    m.queue(ms(10), waiting(1));
    m.finish();
    assert_eq!(samples(&m), Column::U16(vec![0, 0, 2, 2]), "samples at 0, 3, 6, 9 ms");
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!(s.number("queue_mean_packets"), 4.0 / 3.0);
    assert_eq!(s.number("queue_min_packets"), 0.0);
    assert_eq!(s.number("queue_max_packets"), 2.0);
    assert!((s.number("queue_var_packets") - 8.0 / 9.0).abs() < 1e-12);
    assert!((s.number("queue_time_mean_packets") - 14.0 / 9.0).abs() < 1e-12);
    assert!((s.number("utilisation") - 1.0 / 9.0).abs() < 1e-12);
    assert!((s.number("queue_delay_mean_s") - 0.006).abs() < 1e-12);
}

#[test]
fn the_mean_over_time_is_of_the_measured_interval_alone() {
    // Queue: 2 on [50, 150), 1 on [150, 250) ms; measured from 100 to 200 ms, or cut at 180 ms.
    for (cut, packet_ms, span_ms) in [(None, 150.0, 100.0), (Some(180), 130.0, 80.0)] {
        let mut m = meter(100, if cut.is_some() { 1_000 } else { 200 });
        m.queue(ms(50), waiting(2));
        m.queue(ms(150), waiting(1));
        match cut {
            Some(end) => {
                m.cut(ms(end));
                m.queue(ms(190), waiting(5));
            }
            None => m.queue(ms(250), waiting(0)),
        }
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        let mean: f64 = packet_ms / span_ms;
        assert!((s.number("queue_time_mean_packets") - mean).abs() < 1e-12, "{cut:?}");
        assert!((s.number("queue_mean_bytes") - 1_000.0 * mean).abs() < 1e-9, "{cut:?}");
    }
}

/// Some transmissions begin before the measured interval, two of them in one frame; one ends after
/// it.
#[test]
fn the_measured_part_of_a_transmission_counts() {
    let class = DelayClass::default();
    let figures = |cut: Option<u64>| {
        let mut m = meter(1_000, 3_000);
        for (from, to) in
            [(500, 600), (980, 1_000), (990, 1_010), (990, 1_010), (1_010, 1_011), (2_500, 2_600)]
        {
            m.arrival(ms(from), 100, DATA);
            m.started(ms(from), ms(to), ms(from - 10), 100, 1, class);
        }
        if let Some(end) = cut {
            m.cut(ms(end));
        }
        m.arrival(ms(2_950), 100, DATA);
        let end = if cut.is_some() { 2_990 } else { 3_000 };
        m.started(ms(2_950), ms(end), ms(2_940), 100, 1, class);
        m.started(ms(end), ms(3_050), ms(2_950), 100, 1, class);
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        let counts = ["departures", "departure_bytes", "arrivals"].map(|name| s.number(name));
        let busy_ms = s.number("utilisation") * m.seconds() * 1e3;
        (counts, busy_ms.round(), s.number("queue_delay_mean_s"), m)
    };
    let (counts, busy_ms, delay_s, m) = figures(None);
    assert_eq!((counts, busy_ms, delay_s), ([6.0, 600.0, 3.0], 171.0, 0.01));
    assert_eq!(m.totals().started, (8, 800));
    let series = m.per_second("p", 0..3);
    let column = |name: &str| &series.iter().find(|(of, _)| of == name).expect("a series").1;
    assert_eq!(column("p.arrivals"), &Column::U64(vec![4, 1, 2]));
    assert_eq!(column("p.departures"), &Column::U64(vec![1, 4, 1]));
    // In the run that is cut at 2.9 s the last two transmissions are after the end.
    assert_eq!(figures(Some(2_900)).0, [5.0, 500.0, 2.0]);
    // A run that is cut in its warm-up has measured nothing.
    let mut m = meter(1_000, 3_000);
    m.arrival(ms(10), 100, DATA);
    m.started(ms(10), ms(20), ms(10), 100, 1, class);
    m.cut(ms(500));
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!((s.number("departures"), s.number("arrivals")), (0.0, 0.0));
}

#[test]
fn a_packet_that_finds_the_line_idle_has_waited_for_nothing() {
    let mut m = meter(0, 100);
    let class = DelayClass::default();
    m.arrival(ms(1), 100, DATA);
    m.started_at_once(ms(1), ms(2), 100, 1, class);
    m.arrival(ms(1), 100, DATA);
    m.started(ms(2), ms(3), ms(1), 100, 1, class);
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!((s.number("departures"), s.number("queue_delay_mean_s")), (2.0, 0.0005));
    assert_eq!((s.number("queue_delay_p50_s"), s.number("queue_delay_max_s")), (0.0, 0.001));
}

#[test]
fn a_sample_sees_the_departure_but_not_the_arrival_of_its_instant() {
    let mut m = meter(0, 10);
    m.arrival(ms(0), 100, DATA);
    m.queue(ms(0), waiting(1));
    m.started(ms(3), ms(4), ms(0), 100, 1, DelayClass::default());
    m.queue(ms(3), waiting(0));
    m.arrival(ms(6), 100, DATA);
    m.queue(ms(6), waiting(1));
    m.finish();
    assert_eq!(samples(&m), Column::U16(vec![0, 0, 0, 1]));
}

#[test]
fn long_queues_are_kept_whole() {
    let mut m = meter(0, 9);
    m.queue(ms(1), waiting(7));
    m.started(ms(4), ms(5), ms(0), 100, 1, DelayClass::default());
    m.queue(ms(4), waiting(70_000));
    m.finish();
    assert_eq!(samples(&m), Column::U32(vec![0, 7, 70_000]));
}

#[test]
fn a_window_without_samples_has_no_sample_statistics() {
    let mut m = meter(7, 8);
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert!(s.number("queue_mean_packets").is_nan() && s.number("queue_max_packets").is_nan());
    assert_eq!(s.number("queue_time_mean_packets"), 0.0);
}

#[test]
fn the_warm_up_is_counted_apart() {
    let mut m = meter(1_000, 2_000);
    for t in [10, 999, 1_000, 1_500, 2_000] {
        m.arrival(ms(t), 40, PacketClass::new(Kind::Ack, false));
        m.dropped(ms(t), ms(t), 40, DropReason::Early);
    }
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!((s.number("arrivals"), s.number("drops_early")), (3.0, 3.0));
    assert_eq!(m.totals().arrived, (5, 200));
    assert_eq!(m.per_second("p", 0..2)[2], ("p.drops".into(), Column::U64(vec![2, 2])));
}

#[test]
fn a_share_is_of_the_packets_that_arrived_in_the_measured_interval() {
    // Of 10 packets of the warm-up 5 are dropped and 5 marked in the interval, in which 4 arrive: 2
    // of them are dropped, and 1 is marked twice.
    let mut m = meter(1_000, 2_000);
    (0..10).for_each(|t| m.arrival(ms(t), 40, DATA));
    (0..4).for_each(|t| m.arrival(ms(1_000 + t), 40, DATA));
    (0..5).for_each(|t| m.dropped(ms(1_100), ms(t), 40, DropReason::Early));
    (0..5).for_each(|_| m.marked(ms(1_100), DropReason::Early, false));
    (0..2).for_each(|t| m.dropped(ms(1_200), ms(1_000 + t), 40, DropReason::Early));
    (0..5).for_each(|t| m.dropped_class(ms(1_100), ms(t), DATA));
    (0..2).for_each(|t| m.dropped_class(ms(1_200), ms(1_000 + t), DATA));
    [true, false].iter().for_each(|counts| m.marked(ms(1_200), DropReason::Early, *counts));
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!((s.number("drops"), s.number("marks")), (7.0, 7.0), "of whatever age");
    assert_eq!((s.number("drop_rate"), s.number("mark_rate")), (0.5, 0.25));
    let of_classes =
        ["drop_rate_syn", "drop_rate_ack", "drop_rate_data"].map(|name| s.number(name));
    assert_eq!((of_classes, s.number("drops_data")), ([0.0, 0.0, 0.5], 7.0));
}

#[test]
fn packets_are_counted_by_what_they_are() {
    let mut m = meter(5, 10);
    let packets = [(Kind::Syn, true), (Kind::Ack, false), (Kind::Fin, false)];
    let classes = packets.map(|(kind, again)| PacketClass::new(kind, again));
    for (t, class) in (4..).zip([DATA].into_iter().chain(classes)) {
        m.arrival(ms(t), 40, class);
        m.dropped(ms(t), ms(t), 40, DropReason::Overflow);
        m.dropped_class(ms(t), ms(t), class);
    }
    let mut s = Summary::default();
    m.summarise(&mut s);
    for what in ["arrivals", "drops"] {
        let count = |sort| s.number(&format!("{what}_{sort}"));
        assert_eq!([count("syn"), count("ack"), count("data")], [1.0, 2.0, 0.0], "{what}");
    }
    assert_eq!((s.number("retransmissions_dropped"), m.data_packets()), (1.0, 1));
}

#[test]
fn only_the_measured_part_of_a_run_of_drops_counts() {
    let mut m = meter(5, 10);
    (3..8).for_each(|t| m.dropped_on_arrival(ms(t)));
    m.admitted(ms(8)); // measured: 5, 6, 7 ms
    m.dropped_on_arrival(ms(9));
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!(s.number("longest_drop_run_packets"), 3.0);
    assert_eq!(s.number("longest_drop_run_s"), 0.003);
    let mut m = meter(5, 10);
    m.dropped_on_arrival(ms(6));
    m.finish();
    let mut s = Summary::default();
    m.summarise(&mut s);
    assert_eq!(s.number("longest_drop_run_s"), 0.004, "open at the end of the run");
}
