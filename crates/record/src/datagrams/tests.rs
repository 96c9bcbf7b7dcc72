//! Tests of the datagram log; the expected numbers are worked by hand.

use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Five datagrams, one every 20 ms from 100 ms on; delays 10, 30, -, -, 20 ms.
fn five(window: Window) -> Datagrams {
    let groups = vec!["video".to_owned(), "voice".to_owned()];
    let mut log = Datagrams::new(window, Duration::from_millis(20), groups, true);
    let stream = log.stream(1, 7, false);
    for (number, delay) in [Some(10), Some(30), None, None, Some(20)].into_iter().enumerate() {
        let (number, sent) = (number as u64, 100 + 20 * number as u64);
        log.sent(stream, number, at(sent));
        match delay {
            Some(delay) => log.received(stream, number, at(sent), at(sent + delay)),
            None => log.lost(stream, number, at(sent)),
        }
    }
    log.sent(stream, 5, at(200)); // still in flight
    log
}

#[test]
fn delay_jitter_loss_and_deadline_by_hand() {
    let mut log = five(Window { from: at(0), to: at(1_000) });
    let mut summary = Summary::default();
    log.summarise(&mut summary);
    let Some(crate::Figure::Group(groups)) = summary.get("datagrams") else { panic!() };
    let Some(crate::Figure::Group(voice)) = groups.get("voice") else { panic!() };
    assert!(groups.get("video").is_none(), "it has sent nothing");
    let counts = ["sent", "received", "lost", "loss_pairs"].map(|n| voice.number(n));
    assert_eq!(counts, [6.0, 3.0, 2.0, 1.0]);
    assert_eq!(voice.number("loss_share"), 0.4);
    assert_eq!(voice.number("delay_mean_s"), 0.02);
    assert_eq!(voice.number("delay_p50_s"), 0.02);
    assert_eq!(voice.number("delay_max_s"), 0.03);
    assert_eq!(voice.number("jitter_mean_s"), 0.015); // |30 - 10| and |20 - 30|
    // J: 20/16, then 20/16 + (10 - 20/16)/16; mean of both.
    let j = [1.25e-3, 1.25e-3 + (10e-3 - 1.25e-3) / 16.0];
    assert!((voice.number("jitter_smoothed_mean_s") - (j[0] + j[1]) / 2.0).abs() < 1e-12);
    assert!((voice.number("delay_difference_p99_s") / 0.02 - 1.0).abs() < 0.002);
    assert_eq!(voice.number("delay_variation_p50_s"), 0.01); // 0, 20 and 10 ms above the least
    assert_eq!(voice.number("delay_variation_p99_9_s"), 0.02);
    assert_eq!(voice.number("share_in_time"), 0.4); // 10 and 20 ms are in time, of five
    assert_eq!(voice.number("loss_distance_p50"), 1.0);
    assert_eq!(voice.number("share_neighbours_lost"), 1.0);
    let rows = log.into_log().unwrap();
    let delays = vec![10_000_000, 30_000_000, LOST, LOST, 20_000_000, ON_ITS_WAY];
    assert_eq!(rows.columns[2].1, Column::U64(delays));
}

#[test]
fn what_was_sent_in_the_warm_up_does_not_count() {
    let mut log = five(Window { from: at(130), to: at(1_000) });
    let row = log.table();
    let column = |name: &str| &row.columns.iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!((column("group"), column("user")), (&Column::U16(vec![1]), &Column::U32(vec![7])));
    assert_eq!(column("sent"), &Column::U64(vec![4]));
    assert_eq!(column("lost"), &Column::U64(vec![2]));
    assert_eq!(column("delay_p50_s"), &Column::F64(vec![0.02]));
}

#[test]
fn delays_vary_above_the_least_of_their_own_stream() {
    for keep in [Keep::Everything, Keep::Bounded] {
        let groups = vec!["calls".to_owned()];
        let window = Window { from: at(0), to: at(1_000) };
        let mut log =
            Datagrams::new(window, Duration::from_millis(20), groups, false).watched(keep);
        for (user, least) in [10, 200].into_iter().enumerate() {
            let stream = log.stream(0, user as u32, false);
            for number in 0..10 {
                log.sent(stream, number, at(10 * number));
                log.received(stream, number, at(10 * number), at(11 * number + least));
            }
        }
        let mut summary = Summary::default();
        log.summarise(&mut summary);
        let Some(crate::Figure::Group(groups)) = summary.get("datagrams") else { panic!() };
        let Some(crate::Figure::Group(calls)) = groups.get("calls") else { panic!() };
        let variations =
            ["50", "95", "99", "99_9"].map(|p| calls.number(&format!("delay_variation_p{p}_s")));
        assert_eq!(variations, [0.004, 0.009, 0.009, 0.009]);
    }
}

/// The delays of a lone stream are read in place, and are still there afterwards.
#[test]
fn a_lone_stream_keeps_its_delays() {
    let mut log = five(Window { from: at(0), to: at(1_000) });
    log.summarise(&mut Summary::default());
    let [first, second] = [(); 2].map(|()| log.table());
    let column = |name: &str| &first.columns.iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!(column("received"), &Column::U64(vec![3]));
    assert_eq!(column("delay_p50_s"), &Column::F64(vec![0.02]));
    assert_eq!(format!("{:?}", first.columns), format!("{:?}", second.columns));
}

/// With bins, the variation of a delay is the midpoint of its bin less the exact least delay.
#[test]
fn a_lone_bounded_stream_varies_above_its_exact_least() {
    let window = Window { from: at(0), to: at(1_000_000) };
    let groups = vec!["calls".to_owned()];
    let log = Datagrams::new(window, Duration::from_millis(20), groups, false);
    let mut log = log.watched(Keep::Bounded);
    let stream = log.stream(0, 0, false);
    for number in 0..5_000 {
        let late = Duration::from_nanos(20_000_100 + number * 7);
        log.sent(stream, number, at(10 * number));
        log.received(stream, number, at(10 * number), at(10 * number) + late);
    }
    let expected = quantile(&log.streams[0].delays.above_least(), 0.5) / 1e9;
    let mut summary = Summary::default();
    log.summarise(&mut summary);
    let Some(crate::Figure::Group(groups)) = summary.get("datagrams") else { panic!() };
    let Some(crate::Figure::Group(calls)) = groups.get("calls") else { panic!() };
    assert!(expected > 0.0);
    assert_eq!(calls.number("delay_variation_p50_s"), expected);
}
