//! Connections that begin before the capture, wrap, are reset, fall silent.

use super::*;

#[test]
fn a_connection_that_had_begun_before_is_partial() {
    let learned = learn(&file(
        "
        0   < . 9001+1000 501
        1   > . 501 10001
        201 > . 501+80 10001
        245 < . 10001+300 581
    ",
    ));
    let c = &learned.connections[0];
    assert_eq!(c["partial"], "start");
    assert_eq!(c["class"], "web"); // the lesser port accepts
    assert_eq!(c["epochs"][0], json!([0, 0, 0, 1000]));
    assert_eq!((&c["epochs"][1][1], &c["epochs"][1][3]), (&json!(80), &json!(300)));
    let warnings = learned.report["warnings"].to_string();
    assert!(warnings.contains("begun before the capture"), "{warnings}");
}

#[test]
fn an_acceptor_that_speaks_first_has_an_epoch_without_request() {
    let c = one(&with(
        "
        90  < . 1+30 1
        91  > . 1 31
        141 > . 1+20 31
        181 < . 31+40 21
    ",
    ));
    // Seen here 41 ms after the connection was there, less the way to the server and back.
    assert_eq!(c["epochs"], json!([[0, 0, 9_000, 30], [50_000, 20, 0, 40]]));
}

#[test]
fn a_side_that_is_silent_for_long_and_goes_on_has_two_epochs() {
    let c = one(&with(
        "
        41  > . 1+100 1
        81  < . 1 101
        841 > . 101+100 1
        881 < . 1+10 201
        882 > . 201 11
        1482 < . 11+20 201
    ",
    ));
    assert_eq!(c["epochs"], json!([[0, 100, 0, 0], [800_000, 100, 0, 10], [0, 0, 601_000, 20]]));
}

#[test]
fn a_pause_with_data_under_way_is_a_timeout_not_a_user() {
    let c = one(&with(
        "
        41  > . 1+100 1
        81  < . 1+1000 101
        1081 < . 1+1000 101
        1081.1 < . 1001+1000 101
        1082.1 > . 101 2001
    ",
    ));
    assert_eq!(c["epochs"], json!([[0, 100, 0, 2000]]));
}

#[test]
fn sequence_numbers_wrap() {
    use crate::made::{ENDS, dialogue, ethernet, ipv4, pcap, tcp};
    let text = with(
        "
        41  > . 1+100 1
        81  < . 1+1000 101
        81.1 < . 1001+1000 101
        82.1 > . 101 2001
        182.1 > . 101+100 2001
        222.1 < . 2001+1000 201
        223.1 > . 201 3001
    ",
    );
    let first = [u32::MAX - 50, u32::MAX - 1500];
    let frames: Vec<_> = dialogue(&text)
        .iter()
        .map(|s| {
            let ip = ipv4(ENDS[s.side].0, ENDS[1 - s.side].0, 6, &tcp(s, first, [40_000, 80]));
            (s.at_us, ethernet(s.side, &[], 0x0800, &ip))
        })
        .collect();
    let learned = learn(&pcap(1, &frames));
    assert_eq!(
        learned.connections[0]["epochs"],
        json!([[0, 100, 0, 2000], [100_000, 100, 0, 1000]])
    );
    assert_eq!(learned.report["seen"]["resent"], 0);
}

#[test]
fn keep_alives_and_window_probes_are_no_data() {
    let learned = learn(&file(&with(
        "
        41  > . 1+100 1
        81  < . 1+10 101
        82  > . 101 11
        9000 > . 100+1 11
        9040 < . 11 101
        18000 > . 100 11
        18040 < . 11 101 w0
        18100 > . 101+1 11
        18140 < . 11 101 w0
        18200 < . 11 101
        18241 > . 101+50 11
        18290 < . 11+5 151
    ",
    )));
    let c = &learned.connections[0];
    assert_eq!(c["epochs"][0], json!([0, 100, 0, 10]));
    assert_eq!((&c["epochs"][1][1], &c["epochs"][1][3]), (&json!(50), &json!(5)));
    assert_eq!(learned.report["seen"]["keep_alives"], 2);
    assert_eq!(learned.report["seen"]["resent"], 0);
}

#[test]
fn resets_refusals_and_silence() {
    let learned = learn(&file(&with(
        "
        41  > . 1+100 1
        81  > R 101
    ",
    )));
    assert_eq!(learned.connections[0]["end"], "rst");
    let refused = learn(&file(
        "
        0   > S 0
        40  < RA 0 1
    ",
    ));
    assert!(refused.connections.is_empty());
    assert_eq!(refused.report["seen"]["connections"]["refused"], 1);
    let unanswered = learn(&file(
        "
        0    > S 0
        1000 > S 0
    ",
    ));
    assert_eq!(unanswered.report["seen"]["connections"]["unanswered"], 1);
    assert_eq!(unanswered.report["connections"], 0);
}

#[test]
fn a_reused_port_is_another_connection() {
    let learned = learn(&file(&with(
        "
        41  > . 1+100 1
        81  < . 1+10 101
        82  > FA 101 11
        122 < FA 11 102
        123 > . 102 12
        500 > S 90000
        540 < SA 70000 90001
        541 > . 90001 70001
        541 > . 90001+7 70001
        581 < . 70001+9 90008
    ",
    )));
    assert_eq!(learned.connections.len(), 2);
    assert_eq!(learned.connections[1]["at_us"], 500_000);
    assert_eq!(learned.connections[1]["epochs"], json!([[0, 7, 0, 9]]));
}

#[test]
fn a_connection_silent_for_15_minutes_is_over() {
    let learned = learn(&file(&with(
        "
        41  > . 1+100 1
        81  < . 1+10 101
        901000 > . 101+10 11
        901040 < . 11+10 111
    ",
    )));
    assert_eq!(learned.connections.len(), 2);
    assert_eq!(learned.connections[1]["partial"], "start");
}

#[test]
fn what_was_sent_twice_times_nothing() {
    // The SYN-ACK answers the first of two SYNs.
    let c = one("
        0  > S  0
        35 > S  0
        40 < SA 0 1
        41 > .  1 1
        41 > .  1+100 1
        81 < .  1+100 101
    ");
    assert_eq!(c["rtt_us"], json!([1_000, 40_000]));
    let c = one("
        0    > . 1+100 1
        1000 > . 1+100 1
        1040 < . 1 101
    ");
    assert_eq!(c["rtt_us"], json!([null, null]));
}

#[test]
fn a_pause_after_a_full_segment_is_a_timeout() {
    let c = one(&with(
        "
        41   > . 1+100 1
        81   < . 1+1460 101
        82   > . 101 1461
        1182 < . 1461+500 101
        1183 > . 101 1961
    ",
    ));
    assert_eq!(c["epochs"], json!([[0, 100, 0, 1960]]));
}
