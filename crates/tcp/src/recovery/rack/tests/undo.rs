//! Tests of the state after a needless timeout or recovery.

use super::*;
use crate::f_rto::FRto;

/// Ten segments are in flight since 0 ms and two more since 80; the timer expires at 300 ms, and
/// the first segment is retransmitted.
fn after_a_timeout() -> (RackSender, SendState) {
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    send_up_to(&mut rack, &mut snd, 1_201, ms(80));
    rack.on_timeout(&mut snd, 1, Duration::from_millis(600), ms(300));
    assert_eq!(send_all(&mut rack, &mut snd, ms(300)), 1);
    (rack, snd)
}

#[test]
fn after_a_needless_timeout_what_was_overtaken_is_lost_at_once() {
    // Linux's tcp_rack_detect_loss scans the segments sent before the reported one, though the
    // timeout had marked them: those sent at 0 ms, but not the retransmission of the first.
    let (mut rack, mut snd) = after_a_timeout();
    let outcome = on_ack_at(&mut rack, &mut snd, &segment(1, &[(1_001, 1_101)]), ms(320));
    assert!(outcome.spurious_rto && outcome.entered);
    assert_eq!((rack.state, rack.tracker.board.waiting), (CaState::Recovery, 9));
}

#[test]
fn what_rack_found_lost_is_looked_at_again_after_it_went_again() {
    // list_del_init in tcp_rack_detect_loss: an undo does not return the segment to the list; a
    // timeout still marks it lost.
    let (mut rack, mut snd) = ten_out(Detection::Rack);
    hear(&mut rack, &mut snd, &segment(1, &[(801, 1_001)]));
    send_up_to(&mut rack, &mut snd, 1_101, ms(150));
    rack.tracker.reordering.rtt = Duration::from_millis(100);
    rack.find_lost(&snd, false, ms(900));
    let lost = rack.tracker.board.waiting;
    assert!(lost > 0);
    rack.tracker.board.unmark_lost();
    assert_eq!(rack.tracker.board.waiting, 0);
    rack.find_lost(&snd, false, ms(1_000));
    assert_eq!(rack.tracker.board.waiting, 0);
    rack.on_timeout(&mut snd, 1, Duration::from_millis(600), ms(2_000));
    assert_eq!(rack.tracker.board.waiting, 9, "all but the two that were reported");
}

#[test]
fn a_timeout_is_questioned_where_a_segment_of_new_data_fits() {
    // RFC 5682 section 2.1, step 2: ten segments are in flight.
    for (cwnd, end, fin, then) in [
        (2_000, 5_001, false, FRto::SecondAck),
        (1_100, 5_001, false, FRto::SecondAck),
        (1_099, 5_001, false, FRto::Off),
        (2_000, 1_001, false, FRto::Off),
        (2_000, 1_001, true, FRto::Off),
    ] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        (snd.win.cwnd, snd.end, snd.fin_queued) = (cwnd, end, fin);
        (rack.state, rack.f_rto, rack.recovery_point) = (CaState::Loss, FRto::FirstAck, 1_001);
        rack.judge_timeout(&mut snd, &reported(true, None), false, &mut Outcome::default());
        assert_eq!(rack.f_rto, then, "{cwnd} {end} {fin}");
    }
}

#[test]
fn marks_leave_the_exit_of_a_needless_reduction_but_not_its_window() {
    // tcp_fastretrans_alert sets prior_ssthresh to 0 at each ECE, and leaves undo_marker.
    for (marked, cwnd) in [(false, 2_000), (true, 100)] {
        let (mut rack, mut snd) = after_a_timeout();
        assert_eq!(snd.win.cwnd, 100);
        if marked {
            rack.forbid_restoring();
        }
        let mut outcome = Outcome::default();
        rack.undo_reduction(&mut snd, &mut outcome);
        assert_eq!((rack.state, snd.win.cwnd), (CaState::Open, cwnd), "{marked}");
    }
}

#[test]
fn a_recovery_from_marks_may_be_left_but_restores_nothing() {
    // tcp_enter_recovery: tcp_init_undo in every state, prior_ssthresh only where no reduction is under way.
    for (state, restores) in [(CaState::Open, true), (CaState::Cwr, false)] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        rack.state = state;
        rack.enter_recovery(&mut snd, ms(100), false, &mut Outcome::default());
        assert_eq!(rack.undo.map(|undo| undo.restores), Some(restores), "{state:?}");
    }
}

#[test]
fn a_recovery_undone_at_its_end_has_ended_for_the_control_too() {
    // tcp_try_undo_recovery is followed by tcp_end_cwnd_reduction, whose event lets Westwood set the
    // threshold to its estimate, here two segments; tcp_try_undo_partial returns before it.
    for (ack, ssthresh) in [(701, u64::MAX), (1_001, 200)] {
        let (mut rack, mut snd) = ten_out(Detection::Rack);
        rack.tracker.control = make_usual("westwood");
        assert!(hear(&mut rack, &mut snd, &segment(1, &[(401, 701)])).entered);
        rack.undo.as_mut().unwrap().resent = true;
        on_ack_at(&mut rack, &mut snd, &segment(ack, &[]), ms(200));
        assert_eq!((rack.state, snd.win.ssthresh), (CaState::Open, ssthresh), "{ack}");
    }
}
