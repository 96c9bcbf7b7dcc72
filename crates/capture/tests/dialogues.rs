//! Hand-made dialogues with known connection vectors. The capture is near the client: 1 ms to it
//! and back, 40 ms to the server and back, unless a test says otherwise.

mod ends;

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
fn a_capture_of_the_clients_packets_alone_distinguishes_the_replies_from_their_acknowledgements() {
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
