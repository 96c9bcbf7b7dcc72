use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn request(requested: u64, ended: u64, failed: bool) -> Request {
    let (requested, ended) = (at(requested), at(ended));
    Request {
        requested,
        ended,
        request_bytes: 300,
        reply_bytes: 1_000,
        user: 1,
        group: 0,
        retransmitted: false,
        failed,
    }
}

/// A log that keeps rows and measures from 1 s to 10 s.
fn log_of(groups: &[Option<&str>], by_group: bool) -> Requests {
    Requests::new(RequestSettings {
        window: Window { from: at(1_000), to: at(10_000) },
        log: true,
        groups: groups.iter().map(|name| name.map(str::to_owned)).collect(),
        by_group,
        keep: Keep::Everything,
        watched: false,
    })
}

fn column(table: &Table, name: &str) -> Column {
    table.columns.iter().find(|(n, _)| n == name).expect(name).1.clone()
}

#[test]
fn only_answers_of_the_measured_interval_are_grouped_by_size() {
    let mut log = log_of(&[Some("web")], false);
    log.ended(request(0, 999, false));
    log.ended(request(0, 1_000, false));
    log.ended(request(0, 3_000, false));
    log.ended(request(0, 3_000, true));
    let Column::U64(responses) = column(&log.by_size(), "responses") else { panic!() };
    assert_eq!((responses.len(), responses[10]), (11, 2));
}

#[test]
fn groups_are_distinguished_where_several_request_replies() {
    let mut log = log_of(&[Some("near"), None, Some("far")], true);
    for (group, ended, failed) in
        [(0, 1_200, false), (2, 2_500, false), (2, 1_900, false), (2, 3_000, true)]
    {
        log.requested(at(1_000), group, 1_000);
        log.ended(Request { group, ..request(1_000, ended, failed) });
    }
    let mut s = Summary::default();
    log.summarise(0, &mut s);
    let Some(crate::Figure::Group(groups)) = s.get("by_group") else { panic!() };
    assert_eq!(groups.0.len(), 2, "a group without requests is left out");
    let Some(crate::Figure::Group(far)) = groups.get("far") else { panic!() };
    let names = ["requests", "responses", "responses_failed", "response_bytes", "response_mean_s"];
    assert_eq!(names.map(|n| far.number(n)), [3.0, 3.0, 1.0, 3_000.0, 1.2]);
    assert_eq!((far.number("response_p50_s"), far.number("share_le_1s")), (1.5, 1.0 / 3.0));
    // Requested bytes count whether or not the request was answered.
    let requested = |of: &Summary| of.number("requested_bytes");
    assert_eq!((requested(far), requested(&s)), (3_000.0, 4_000.0));
    assert_eq!(far.number("response_p90_s"), f64::INFINITY);
    // The figures of all groups together do not depend on the order of the groups.
    assert_eq!((s.number("requests"), s.number("responses")), (4.0, 4.0));
    assert_eq!((s.number("response_p50_s"), s.number("response_p25_s")), (0.9, 0.2));
    let histogram = log.histogram();
    let (Column::U16(group), Column::U64(count)) =
        (column(&histogram, "group"), column(&histogram, "count"))
    else {
        panic!()
    };
    let of = |g: u16| group.iter().zip(&count).filter(move |(i, _)| **i == g).map(|(_, n)| *n);
    assert_eq!([0, 1, 2].map(|g| of(g).count()), [3_001, 0, 3_001]);
    assert_eq!([0, 2].map(|g| of(g).sum::<u64>()), [1, 3]);
    assert_eq!(column(&log.into_log().unwrap(), "group"), Column::U16(vec![0, 2, 2, 2]));
}

#[test]
fn one_group_is_described_once() {
    let mut log = log_of(&[Some("web"), None], false);
    log.requested(at(2_000), 0, 1_000);
    log.ended(request(2_000, 2_100, false));
    let mut s = Summary::default();
    log.summarise(0, &mut s);
    assert!(s.get("by_group").is_none());
    assert_eq!((s.number("requests"), s.number("response_p50_s")), (1.0, 0.1));
    assert_eq!(log.histogram().columns.len(), 2);
}

#[test]
fn shares_count_failed_requests_as_slow_and_skip_the_warm_up() {
    let mut log = log_of(&[Some("web")], false);
    log.ended(request(0, 500, false));
    let first = log.ended(request(500, 1_500, false));
    log.ended(request(1_000, 2_001, false));
    log.ended(request(1_000, 4_000, false));
    log.ended(request(1_000, 9_000, true));
    log.classify(first, Class::of(1, 0, 0));
    log.connection(at(2_000), Class::of(1, 0, 2));
    let mut s = Summary::default();
    log.summarise(3, &mut s);
    assert_eq!(s.number("responses"), 4.0);
    let shares = ["share_le_1s", "share_1_2s", "share_2_3s", "share_gt_3s"];
    assert_eq!(shares.map(|n| s.number(n)), [0.25, 0.25, 0.25, 0.25]);
    assert_eq!(s.number("response_p50_s"), 1.001);
    assert_eq!(s.number("response_p99_s"), f64::INFINITY);
    let Some(crate::Figure::Group(classes)) = s.get("retransmission_classes") else { panic!() };
    assert_eq!(classes.number("combined"), 1.0);
    let histogram = log.histogram();
    let Column::U64(counts) = column(&histogram, "count") else { panic!() };
    assert_eq!((counts[999], counts[1_000], counts[2_999]), (1, 1, 1));
    assert_eq!((counts.iter().sum::<u64>(), *counts.last().unwrap()), (4, 1));
    let rows = log.into_log().unwrap();
    assert_eq!(column(&rows, "class"), Column::U8(vec![0, 1, 0, 0, 0]));
}
