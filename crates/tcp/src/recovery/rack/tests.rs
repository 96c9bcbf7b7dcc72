//! The states of a sender with ten segments of 100 B out, by hand.

use packet::{Duration, Instant};

use super::ack::{AckContext, Outcome};
use super::{RackSender, TailLossProbe};
use crate::clock::{HostClock, Moment, Phase};
use crate::congestion::{CaState, linux_reno, make_usual};
use crate::ecn::{EchoReader, EcnState};
use crate::f_rto::FRto;
use crate::receiver::Receiver;
use crate::recovery::{Detection, RackSettings};
use crate::rtt::{Exact, RttRules};
use crate::segment::{Flags, Segment};
use crate::send_state::SendState;
use crate::tracker::AckInfo;

const SETTINGS: RackSettings = RackSettings {
    detection: Detection::Rack,
    paces: false,
    threshold: 3,
    limited_transmit: true,
    f_rto: true,
    beta_ecn: None,
};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Ten segments are out since 0 ms, more is to be sent, the window has room.
fn ten_out(detection: Detection) -> (RackSender, SendState) {
    let mut rack = RackSender::new(RackSettings { detection, ..SETTINGS }, linux_reno());
    let mut snd = SendState {
        una: 1,
        max: 1,
        end: 5_001,
        cwnd: 2_000,
        ssthresh: u64::MAX,
        window: 1 << 20,
        mss: 100,
        ..SendState::default()
    };
    while snd.max < 1_001 {
        let chunk = snd.chunk(snd.max, u64::MAX);
        rack.on_sent(&mut snd, chunk, ms(0));
        snd.max = chunk.end();
    }
    (rack, snd)
}

/// The acknowledgement of everything below `ack` that reports `blocks`.
fn segment(ack: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut segment = Segment { ack, flags: Flags::ACK, ..Segment::default() };
    blocks.iter().for_each(|&(from, to)| segment.sack.push((from - ack) as u32, (to - ack) as u32));
    segment
}

/// The sender hears of it 100 ms after it sent.
fn hear(rack: &mut RackSender, snd: &mut SendState, segment: &Segment) -> Outcome {
    let second = Duration::from_secs(1);
    let exact = Exact {
        initial: second,
        min: Duration::ZERO,
        margin: Duration::from_millis(200),
        max: second * 60,
        tick: Duration::ZERO,
        any_ack_ends_backoff: false,
    };
    let mut receiver = Receiver::new();
    let mut cx = AckContext {
        snd,
        rtt: &mut exact.fresh(),
        rules: &RttRules::Exact(exact),
        clock: HostClock::default(),
        ecn: EchoReader::new(EcnState::default(), &mut receiver),
        moment: Moment { at: ms(100), phase: Phase::Events },
    };
    rack.on_ack(&mut cx, segment)
}

/// What an acknowledgement has told that advances, or that reports a duplicate.
fn told(advances: bool, duplicate: Option<(u64, u64)>) -> AckInfo {
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
fn a_peer_that_reports_nothing_is_heard_by_its_duplicates() {
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    rack.without_reports();
    let entered = [(); 3].map(|()| hear(&mut rack, &mut snd, &segment(1, &[])).entered);
    assert_eq!(entered, [false, false, true]);
}

#[test]
fn after_a_timeout_duplicates_tell_something_once_new_data_is_out() {
    // Linux's `tcp_process_loss`: before that they are of what goes again.
    for (state, max, heard) in [
        (CaState::Open, 1_001, 1),
        (CaState::Recovery, 1_001, 1),
        (CaState::Loss, 1_001, 0),
        (CaState::Loss, 1_002, 1),
    ] {
        let (mut rack, mut snd) = ten_out(Detection::DupAcks);
        (rack.state, rack.recovery_point, snd.max) = (state, 1_001, max);
        rack.count_duplicates(&snd, &segment(1, &[]), &mut AckInfo::default());
        assert_eq!(rack.tracker.board.dupacks, heard, "{state:?} {max}");
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
        assert_eq!(snd.ssthresh, u64::MAX);
    }
}

#[test]
fn a_duplicate_widens_the_reordering_window_unless_it_is_the_probes() {
    // RFC 8985 section 6.2, step 4.
    for (resent, end, quarters) in [(true, 501, 1), (true, 601, 2), (false, 501, 2)] {
        let (mut rack, snd) = ten_out(Detection::Rack);
        rack.probe = TailLossProbe { due: false, end: 501, resent };
        rack.note_duplicate(&snd, &told(false, Some((end - 100, end))));
        let (least, most) = (Duration::from_millis(40), Duration::from_millis(100));
        let window = rack.tracker.reordering.window(false, least, most);
        assert_eq!(window, Duration::from_millis(10) * quarters, "{resent} {end}");
    }
}

#[test]
fn a_timeout_is_questioned_where_a_segment_of_new_data_fits() {
    // RFC 5682 section 2.1, step 2: ten segments are out.
    for (cwnd, end, fin, then) in [
        (2_000, 5_001, false, FRto::SecondAck),
        (1_100, 5_001, false, FRto::SecondAck),
        (1_099, 5_001, false, FRto::Off),
        (2_000, 1_001, false, FRto::Off),
        (2_000, 1_001, true, FRto::Off),
    ] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        (snd.cwnd, snd.end, snd.fin_queued) = (cwnd, end, fin);
        (rack.state, rack.f_rto, rack.recovery_point) = (CaState::Loss, FRto::FirstAck, 1_001);
        rack.judge_timeout(&mut snd, &told(true, None), false, &mut Outcome::default());
        assert_eq!(rack.f_rto, then, "{cwnd} {end} {fin}");
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
        assert_eq!(snd.ssthresh, threshold, "{state:?} {una} {timeouts}");
    }
}

#[test]
fn a_reordering_timer_that_finds_nothing_lost_begins_nothing() {
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    assert_eq!(rack.on_reorder(&mut snd, ms(50)), Outcome::default());
    assert_eq!((rack.state, snd.cwnd), (CaState::Open, 2_000));
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
        let mut snd = SendState { cwnd: 2_000, mss: 100, ..SendState::default() };
        assert_eq!(rack.on_restart(&mut snd, Duration::from_secs(1), ms(5_000)), own);
    }
}
