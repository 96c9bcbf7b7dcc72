//! Hand-made dialogues with known connection vectors. The capture is near the client: 1 ms to it
//! and back, 40 ms to the server and back, unless a test says otherwise.

use crate::made::{file, learn, one};
use serde_json::json;

const OPEN: &str = "
    0   > S  0
    40  < SA 0 1
    41  > .  1 1
";

fn with(rest: &str) -> String {
    format!("{OPEN}{rest}")
}

#[test]
fn two_requests_one_after_the_other() {
    // The request 10 ms after the connection is there (41 ms: seen at 51 ms); the server works
    // 5 ms; the user thinks 200 ms after the last byte, the server then 0.
    let c = one(&with(
        "
        51  > . 1+100 1
        96  < . 1+1000 101
        97  < . 1001+500 101
        98  > . 101 1501
        298 > . 101+60 1501
        338 < . 1501+70 161
        339 > . 161 1571
        400 > FA 161 1571
        440 < FA 1571 162
        441 > . 162 1572
    ",
    ));
    assert_eq!(c["epochs"], json!([[10_000, 100, 5_000, 1500], [200_000, 60, 0, 70]]));
    assert_eq!(c["rtt_us"], json!([1_000, 40_000]));
    assert_eq!(c["mss"], json!([1460, 1460]));
    assert_eq!(c["segments"], json!([2, 3]));
    assert_eq!(c["end"], "fin");
    assert_eq!((c["class"].as_str(), c["at_us"].as_u64()), (Some("web"), Some(0)));
    assert_eq!(c["hosts"], json!([1, 2]));
    assert_eq!(c["side"], 0);
    assert_eq!(c["window"], json!([4000, 4000])); // 1,000 << 2
    assert!(c.get("partial").is_none() && c.get("resent").is_none());
}

#[test]
fn pipelined_requests_are_one_when_no_reply_is_between() {
    let c = one(&with(
        "
        41  > . 1+100 1
        42  > . 101+100 1
        85  < . 1+3000 201
    ",
    ));
    assert_eq!(c["epochs"], json!([[0, 200, 3_000, 3000]]));
    assert_eq!(c["end"], "open");
}

#[test]
fn what_crosses_on_the_way_is_concurrent() {
    // At 82 ms the client asks again; what the server sent at 80 ms it cannot have seen.
    let c = one(&with(
        "
        41  > . 1+100 1
        80  < . 1+1000 101
        80.5 > . 101+50 1
        120 < . 1001+400 151
        121 > . 151 1401
    ",
    ));
    assert!(c.get("epochs").is_none());
    assert_eq!(c["opener"], json!([[0, 100, 0], [39_500, 50, 0]]));
    // The server's second block follows while its first is not acknowledged: one unit.
    assert_eq!(c["acceptor"], json!([[0, 1400, 100]]));
}

#[test]
fn a_single_byte_under_way_makes_a_connection_concurrent() {
    let c = one(&with(
        "
        41  > . 1+100 1
        80  < . 1+1 101
        80.5 > . 101+50 1
    ",
    ));
    assert_eq!(c["opener"][1][1], 50);
    let c = one(&with(
        "
        41  > . 1+100 1
        80  < . 1+1 101
        80.5 > . 101+50 2
    ",
    ));
    assert!(c.get("opener").is_none());
}

#[test]
fn a_concurrent_side_begins_another_unit_when_it_was_done_and_the_other_spoke() {
    let c = one(&with(
        "
        41  > . 1+100 1
        80  < . 1+1000 101
        80.5 > . 101+50 1
        81  > . 151 1001
        120 < . 1001+400 151
    ",
    ));
    assert_eq!(c["acceptor"], json!([[0, 1000, 100], [40_000, 400, 150]]));
}

#[test]
fn a_retransmission_makes_no_epoch_and_moves_the_end_of_the_request() {
    // The request is lost behind the point of capture and sent again after a second.
    let c = one(&with(
        "
        41   > . 1+100 1
        1041 > . 1+100 1
        1086 < . 1+500 101
    ",
    ));
    assert_eq!(c["epochs"], json!([[0, 100, 5_000, 500]]));
    assert_eq!(c["resent"], json!([1, 0]));
    assert_eq!(c["segments"], json!([2, 1]));
}

#[test]
fn a_lost_segment_of_a_reply_changes_neither_its_size_nor_its_number() {
    // The second segment was lost before it came here; after three duplicates it is sent again,
    // sooner than a round trip after the highest one.
    let learned = learn(&file(&with(
        "
        41  > . 1+100 1
        81  < . 1+1000 101
        81.1 < . 2001+1000 101
        81.2 < . 3001+1000 101
        81.3 < . 4001+1000 101
        82  > . 101 1001
        82.1 > . 101 1001
        82.2 > . 101 1001
        82.3 > . 101 1001
        90  < . 1001+1000 101
        91  > . 101 5001
    ",
    )));
    let c = &learned.connections[0];
    assert_eq!(c["epochs"], json!([[0, 100, 0, 5000]]));
    assert_eq!(c["resent"], json!([0, 1]));
    assert_eq!(learned.report["seen"]["duplicate_acks"], 3);
    assert_eq!(learned.report["seen"]["resent_bytes"], 1000);
}

#[test]
fn segments_out_of_order_are_no_retransmissions() {
    let learned = learn(&file(&with(
        "
        41  > . 1+100 1
        81  < . 1+1000 101
        81.1 < . 2001+1000 101
        81.2 < . 1001+1000 101
        82  > . 101 3001
    ",
    )));
    assert_eq!(learned.connections[0]["epochs"], json!([[0, 100, 0, 3000]]));
    assert_eq!(learned.report["seen"]["reordered"], 1);
    assert_eq!(learned.report["seen"]["resent"], 0);
}

#[test]
fn a_lost_syn_is_sent_again_and_times_nothing() {
    let learned = learn(&file(
        "
        0    > S  0
        3000 > S  0
        3040 < SA 0 1
        3041 > .  1 1
        3041 > .  1+100 1
        3081 < .  1+100 101
    ",
    ));
    let c = &learned.connections[0];
    assert_eq!(c["at_us"], 0);
    // Data and its acknowledgement time the server's half.
    assert_eq!(c["rtt_us"], json!([1_000, 40_000]));
    assert_eq!(c["epochs"], json!([[0, 100, 0, 100]]));
    assert_eq!(learned.report["seen"]["control_resent"], 1);
}

#[test]
fn a_capture_of_the_clients_packets_alone_tells_the_replies_from_their_acknowledgements() {
    let c = one("
        0   > S 0
        41  > . 1 1
        41  > . 1+100 1
        82  > . 101 1461
        83  > . 101 3001
        283 > . 101+50 3001
        330 > . 151 3101
        400 > FA 151 3102
    ");
    assert_eq!(c["partial"], "reverse");
    assert_eq!(c["rtt_us"], json!([null, null]));
    assert_eq!(c["epochs"], json!([[41_000, 100, 41_000, 3000], [200_000, 50, 47_000, 100]]));
    assert_eq!(c["end"], "fin");
}

#[test]
fn a_capture_of_the_servers_packets_alone_finds_the_opener() {
    let c = one("
        40  < SA 0 1
        81  < . 1 101
        86  < . 1+1000 101
    ");
    assert_eq!(c["partial"], "reverse");
    assert_eq!(c["hosts"], json!([1, 2]));
    assert_eq!(c["class"], "web");
    let epochs = c["epochs"].as_array().unwrap();
    assert_eq!(epochs.len(), 1);
    assert_eq!((&epochs[0][1], &epochs[0][3]), (&json!(100), &json!(1000)));
}

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
