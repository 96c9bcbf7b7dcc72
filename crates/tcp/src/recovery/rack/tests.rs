//! Tests of the states of a sender with ten segments of 100 B in flight.

mod calm;
mod undo;

use packet::{Duration, Instant};

use super::ack::{AckContext, Outcome};
use super::{Due, RackSender, TailLossProbe};
use crate::clock::{HostClock, Moment, Phase};
use crate::congestion::{CaState, linux_reno, make_usual};
use crate::ecn::{EchoReader, EcnState, Memory};
use crate::recovery::{Detection, RackSettings};
use crate::rtt::{Exact, RttRules};
use crate::segment::{Flags, Segment};
use crate::send_state::{SendState, Window};
use crate::timer_wheel::TimerWheel;
use crate::tracker::AckInfo;

const SETTINGS: RackSettings = RackSettings {
    detection: Detection::Rack,
    paces: false,
    threshold: 3,
    limited_transmit: true,
    f_rto: true,
    beta_ecn: None,
    bursts: None,
    wheel: TimerWheel::EXACT,
};

const EXACT: Exact = Exact {
    initial: Duration::from_secs(1),
    min: Duration::ZERO,
    margin: Duration::from_millis(200),
    max: Duration::from_secs(60),
    tick: Duration::ZERO,
    any_ack_ends_backoff: false,
    wheel: TimerWheel::EXACT,
};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Ten segments are in flight since 0 ms, more is to be sent, and the window has room.
fn ten_out(detection: Detection) -> (RackSender, SendState) {
    ten_of(RackSettings { detection, ..SETTINGS })
}

fn ten_of(settings: RackSettings) -> (RackSender, SendState) {
    let mut rack = RackSender::new(settings, linux_reno());
    let mut snd = SendState {
        una: 1,
        max: 1,
        end: 5_001,
        window: 1 << 20,
        win: Window { cwnd: 2_000, ssthresh: u64::MAX, mss: 100, ..Window::default() },
        ..SendState::default()
    };
    send_up_to(&mut rack, &mut snd, 1_001, ms(0));
    (rack, snd)
}

/// New data up to `end` is sent.
fn send_up_to(rack: &mut RackSender, snd: &mut SendState, end: u64, at: Instant) {
    while snd.max < end {
        let chunk = snd.chunk(snd.max, u64::MAX);
        rack.record_sent(snd, chunk, at);
        snd.max = chunk.end();
    }
}

/// Sends all that windows and pacing allow; returns the number of segments.
fn send_all(rack: &mut RackSender, snd: &mut SendState, at: Instant) -> usize {
    let mut count = 0;
    while let Some(chunk) = rack.choose(snd) {
        rack.record_sent(snd, chunk, at);
        snd.max = snd.max.max(chunk.end());
        count += 1;
    }
    count
}

/// The acknowledgement of everything below `ack` that reports `blocks`.
fn segment(ack: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut segment = Segment { ack, flags: Flags::ACK, ..Segment::default() };
    blocks.iter().for_each(|&(from, to)| segment.sack.push((from - ack) as u32, (to - ack) as u32));
    segment
}

/// The acknowledgement arrives at 100 ms.
fn hear(rack: &mut RackSender, snd: &mut SendState, segment: &Segment) -> Outcome {
    on_ack_at(rack, snd, segment, ms(100))
}

fn on_ack_at(
    rack: &mut RackSender,
    snd: &mut SendState,
    segment: &Segment,
    at: Instant,
) -> Outcome {
    let mut memory = Memory::default();
    let mut cx = AckContext {
        snd,
        rtt: &mut EXACT.fresh(),
        rules: &RttRules::Exact(EXACT),
        clock: HostClock::default(),
        ecn: EchoReader::new(EcnState::default(), || &mut memory),
        moment: Moment { at, phase: Phase::Events },
    };
    rack.process_ack(&mut cx, segment)
}

/// The information of an acknowledgement that advances, or that reports a duplicate.
fn reported(advances: bool, duplicate: Option<(u64, u64)>) -> AckInfo {
    let mut info = AckInfo::default();
    (info.advances, info.duplicate) = (advances, duplicate);
    info
}

#[test]
fn what_has_three_segments_reported_above_it_is_lost() {
    // RFC 6675, IsLost: of ten segments the fourth to the seventh are reported.
    let (mut rack, snd) = ten_out(Detection::Sack);
    (3..7).for_each(|number| _ = rack.tracker.board.report(number));
    assert_eq!(rack.find_lost(&snd, false, ms(100)), 300);
    assert_eq!(rack.tracker.board.waiting, 3);
}

#[test]
fn a_peer_that_reports_nothing_is_known_by_its_duplicates() {
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    rack.without_reports();
    let entered = [(); 3].map(|()| hear(&mut rack, &mut snd, &segment(1, &[])).entered);
    assert_eq!(entered, [false, false, true]);
}

#[test]
fn after_a_timeout_duplicates_report_something_once_new_data_is_out() {
    // Linux's `tcp_process_loss`: before new data is sent, retransmissions cause the duplicates.
    for (state, max, dupacks) in [
        (CaState::Open, 1_001, 1),
        (CaState::Recovery, 1_001, 1),
        (CaState::Loss, 1_001, 0),
        (CaState::Loss, 1_002, 1),
    ] {
        let (mut rack, mut snd) = ten_out(Detection::DupAcks);
        (rack.state, rack.recovery_point, snd.max) = (state, 1_001, max);
        rack.count_duplicates(&snd, &segment(1, &[]), &mut AckInfo::default());
        assert_eq!(rack.tracker.board.dupacks, dupacks, "{state:?} {max}");
    }
}

#[test]
fn without_reports_a_recovery_waits_for_what_was_sent_after_its_beginning() {
    // RFC 6582 section 4; Linux's `tcp_try_undo_recovery`.
    for (detection, state, una, passed) in [
        (Detection::DupAcks, CaState::Recovery, 1_000, false),
        (Detection::DupAcks, CaState::Recovery, 1_001, false),
        (Detection::DupAcks, CaState::Recovery, 1_002, true),
        (Detection::DupAcks, CaState::Loss, 1_000, false),
        (Detection::DupAcks, CaState::Loss, 1_001, true),
        (Detection::Sack, CaState::Recovery, 1_001, true),
    ] {
        let (mut rack, snd) = ten_out(detection);
        (rack.state, rack.recovery_point) = (state, 1_001);
        let snd = SendState { una, ..snd };
        assert_eq!(rack.has_passed(&snd), passed, "{detection:?} {state:?} {una}");
    }
}

#[test]
fn a_probe_is_out_until_all_that_was_sent_before_it_is_acknowledged() {
    // RFC 8985 section 7.4.2.
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    rack.probe = TailLossProbe { due: false, end: 1_001, resent: false };
    hear(&mut rack, &mut snd, &segment(301, &[]));
    assert_eq!(rack.probe.end, 1_001);
    hear(&mut rack, &mut snd, &segment(1_001, &[]));
    assert_eq!(rack.probe.end, 0);
}

#[test]
fn a_bare_duplicate_says_that_the_probe_came_twice() {
    // RFC 8985 section 7.4.2: without data, and without news of anything else.
    let data = Segment { len: 10, ..segment(501, &[]) };
    for (second, over) in
        [(segment(501, &[]), true), (segment(501, &[(601, 701)]), false), (data, false)]
    {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        rack.probe = TailLossProbe { due: false, end: 501, resent: true };
        hear(&mut rack, &mut snd, &segment(501, &[]));
        assert_eq!(rack.probe.end, 501);
        hear(&mut rack, &mut snd, &second);
        assert_eq!(rack.probe.end == 0, over, "{second:?}");
        assert_eq!(snd.win.ssthresh, u64::MAX);
    }
}

#[test]
fn a_duplicate_widens_the_reordering_window_unless_it_is_the_probes() {
    // RFC 8985 section 6.2, step 4.
    for (resent, end, quarters) in [(true, 501, 1), (true, 601, 2), (false, 501, 2)] {
        let (mut rack, snd) = ten_out(Detection::Rack);
        rack.probe = TailLossProbe { due: false, end: 501, resent };
        rack.note_duplicate(&snd, &reported(false, Some((end - 100, end))));
        let (least, most) = (Duration::from_millis(40), Duration::from_millis(100));
        let window = rack.tracker.reordering.window(false, least, most);
        assert_eq!(window, Duration::from_millis(10) * quarters, "{resent} {end}");
    }
}

#[test]
fn a_timeout_cuts_the_threshold_once_for_what_was_out() {
    // Linux's `tcp_enter_loss`: in Open, past the recovery point, or for the first timeout of a Loss.
    for (state, una, timeouts, cut) in [
        (CaState::Open, 1, 1, true),
        (CaState::Cwr, 1, 1, false),
        (CaState::Recovery, 1, 1, false),
        (CaState::Recovery, 501, 1, true),
        (CaState::Loss, 1, 1, true),
        (CaState::Loss, 1, 2, false),
        (CaState::Loss, 501, 2, true),
    ] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        (rack.state, rack.recovery_point, snd.una) = (state, 501, una);
        rack.on_timeout(&mut snd, timeouts, Duration::from_secs(2), ms(1_000));
        let threshold = if cut { 1_000 } else { u64::MAX };
        assert_eq!(snd.win.ssthresh, threshold, "{state:?} {una} {timeouts}");
    }
}

#[test]
fn a_reordering_timer_that_finds_nothing_lost_begins_nothing() {
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    assert_eq!(rack.on_reorder(&mut snd, ms(50)), Outcome::default());
    assert_eq!((rack.state, snd.win.cwnd), (CaState::Open, 2_000));
}

#[test]
fn a_sender_is_open_while_nothing_is_wrong_and_idle_with_nothing_out() {
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    assert!(rack.is_open() && !rack.is_idle());
    hear(&mut rack, &mut snd, &segment(1, &[(901, 1_001)]));
    rack.state = CaState::Open;
    assert!(!rack.is_open(), "something is reported");
    hear(&mut rack, &mut snd, &segment(1_001, &[]));
    assert!(rack.is_open() && rack.is_idle());
    rack.state = CaState::Recovery;
    assert!(!rack.is_open());
}

#[test]
fn after_a_pause_a_control_may_set_the_window_itself() {
    for (control, own) in [("reno", false), ("bbr", true)] {
        let mut rack = RackSender::new(SETTINGS, make_usual(control));
        let mut snd = SendState {
            win: Window { cwnd: 2_000, mss: 100, ..Window::default() },
            ..SendState::default()
        };
        assert_eq!(rack.restart_control(&mut snd, Duration::from_secs(1), ms(5_000)), own);
    }
}

#[test]
fn a_report_of_what_was_sent_before_the_repeat_puts_off_the_timeout() {
    // Linux's `tcp_clean_rtx_queue`: the retransmission of the first hole, sent at 150 ms, waits in
    // the queue behind that data. (The round trip of 100 ms or more makes a timeout of three times
    // that, or of 200 ms more.)
    for (reported, at, due) in [
        ((201, 301), 160, 160 + 480), // sent at 0 ms
        ((1_001, 1_101), 290, 640),   // sent at 155 ms, after the retransmission
    ] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        (rack.state, rack.recovery_point) = (CaState::Recovery, 1_001);
        rack.mark_lost(&snd, rack.tracker.board.first(), ms(150));
        let chunk = rack.choose(&snd).expect("the hole is retransmitted");
        rack.record_sent(&mut snd, chunk, ms(150));
        send_up_to(&mut rack, &mut snd, 1_101, ms(155));
        rack.timers.rto = ms(640);
        on_ack_at(&mut rack, &mut snd, &segment(1, &[reported]), ms(at));
        assert_eq!(rack.timers.rto, ms(due), "{reported:?}");
    }
    // Before the first hole is retransmitted, a report of later data changes nothing.
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    rack.timers.rto = ms(640);
    hear(&mut rack, &mut snd, &segment(1, &[(201, 301)]));
    assert_eq!(rack.timers.rto, ms(640));
}

/// Ten segments are in flight since 0 ms, ten more since 250; the timer expires at 300 ms, and the
/// retransmission is acknowledged at 410. Returns how many segments are then retransmitted at once.
fn after_a_timeout(paces: bool) -> (usize, SendState) {
    let (mut rack, mut snd) = ten_of(RackSettings { f_rto: false, paces, ..SETTINGS });
    hear(&mut rack, &mut snd, &segment(101, &[]));
    (snd.una, snd.win.cwnd) = (101, 3_000);
    send_up_to(&mut rack, &mut snd, 2_001, ms(250));
    rack.on_timeout(&mut snd, 1, Duration::from_millis(600), ms(300));
    assert_eq!(snd.win.cwnd, 1_100, "what has not been out for a round trip, and one more");
    assert_eq!(send_all(&mut rack, &mut snd, ms(300)), 1);
    assert_eq!(rack.due(ms(405)) == Due::Pace, paces);
    on_ack_at(&mut rack, &mut snd, &segment(201, &[]), ms(410));
    (send_all(&mut rack, &mut snd, ms(410)), snd)
}

#[test]
fn what_a_timeout_spared_goes_again_at_once_when_it_is_found_lost() {
    // As in Linux. tcp_timeout_mark_lost spares what has not been out for a round trip;
    // tcp_enter_loss sets the window to what is then in flight and one more; when an acknowledgement
    // lets tcp_rack_detect_loss find all of that lost, nothing cuts the window in state Loss, and
    // tcp_xmit_retransmit_queue sends as long as it has room.
    let (burst, snd) = after_a_timeout(false);
    assert_eq!((burst, snd.win.cwnd), (12, 1_200));
}

#[test]
fn a_paced_sender_spreads_what_a_timeout_spared() {
    // tcp_pacing_check allows one segment.
    assert_eq!(after_a_timeout(true).0, 1);
}

/// After a timeout with ten segments in flight the first is retransmitted; then `ack` arrives.
fn on_ack_after_a_timeout(detection: Detection, ack: u64) -> Outcome {
    let (mut rack, mut snd) = ten_out(detection);
    rack.on_timeout(&mut snd, 1, Duration::from_millis(600), ms(300));
    assert_eq!(send_all(&mut rack, &mut snd, ms(300)), 1);
    on_ack_at(&mut rack, &mut snd, &segment(ack, &[]), ms(450))
}

#[test]
fn without_reports_an_acknowledgement_of_a_repeat_says_nothing_of_the_others() {
    // Linux's `tcp_clean_rtx_queue`: the retransmission of the first segment may have filled the
    // only hole. With SACK the other segments would have been reported.
    for (detection, spurious) in [(Detection::Rack, true), (Detection::DupAcks, false)] {
        let outcome = on_ack_after_a_timeout(detection, 301);
        assert_eq!(outcome.spurious_rto, spurious, "{detection:?}");
    }
}

#[test]
fn rack_alone_spares_at_a_timeout_what_is_young() {
    // Linux's `tcp_timeout_mark_lost`: the round trip is 100 ms, the timeout comes 50 ms after ten
    // more segments were sent.
    for (detection, in_flight) in
        [(Detection::Rack, 1_000), (Detection::Sack, 0), (Detection::DupAcks, 0)]
    {
        let (mut rack, mut snd) = ten_out(detection);
        hear(&mut rack, &mut snd, &segment(101, &[]));
        send_up_to(&mut rack, &mut snd, 2_001, ms(250));
        rack.on_timeout(&mut snd, 1, Duration::from_millis(600), ms(300));
        assert_eq!(snd.win.cwnd, in_flight + 100, "{detection:?}");
    }
}

#[test]
fn after_a_timeout_an_advance_ends_the_count_of_duplicates() {
    // Linux's `tcp_process_loss`: tcp_reset_reno_sack; in a recovery all but one of what is
    // acknowledged had been counted (`tcp_remove_reno_sacks`).
    for (state, left) in [(CaState::Loss, 0), (CaState::Recovery, 2)] {
        let (mut rack, mut snd) = ten_out(Detection::DupAcks);
        (rack.state, rack.recovery_point) = (state, 901);
        for _ in 0..3 {
            hear(&mut rack, &mut snd, &segment(1, &[]));
        }
        assert_eq!(rack.tracker.board.dupacks, 3, "{state:?}");
        hear(&mut rack, &mut snd, &segment(201, &[]));
        assert_eq!(rack.tracker.board.dupacks, left, "{state:?}");
    }
}

#[test]
fn after_enough_reordering_the_window_grows_on_reports_too() {
    // Linux's `tcp_may_raise_cwnd`: tp->reordering above net.ipv4.tcp_reordering = 3.
    for (highest, grown) in [(401, 0), (501, 100)] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        snd.win.cwnd = 1_500;
        // The second segment overtakes the first, so that holes wait; then a segment is late by
        // three or by four.
        hear(&mut rack, &mut snd, &segment(1, &[(101, 201)]));
        hear(&mut rack, &mut snd, &segment(201, &[]));
        hear(&mut rack, &mut snd, &segment(201, &[(301, highest + 100)]));
        hear(&mut rack, &mut snd, &segment(highest + 100, &[]));
        assert_eq!(rack.state, CaState::Open);
        let before = snd.win.cwnd;
        hear(&mut rack, &mut snd, &segment(highest + 100, &[(801, 901)]));
        assert_eq!(snd.win.cwnd - before, grown, "{highest}");
    }
}

#[test]
fn after_a_probe_no_other_is_scheduled_at_the_instant_of_an_acknowledgement() {
    // RFC 8985 section 7.2: one probe at a time, even if a deadline was computed at this instant.
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    rack.tracker.srtt = Duration::from_millis(50);
    rack.restart_timers(ms(100));
    rack.probe.due = true;
    send_up_to(&mut rack, &mut snd, 1_101, ms(100));
    assert_eq!((rack.probe.end, rack.timers.probe), (1_101, Instant::NEVER));
}
