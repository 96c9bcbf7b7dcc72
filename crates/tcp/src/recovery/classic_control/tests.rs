use std::sync::{Arc, Mutex};

use super::*;
use crate::clock::HostClock;
use crate::congestion::control::CLASSIC;
use crate::congestion::{ControlFlags, Controls};
use crate::endpoint::TcpEndpoint;
use crate::recovery::RecoveryKind;
use crate::recovery::tests::rfc;
use crate::segment::Flags;
use crate::send_state::{Flight, Window};
use packet::params::{Params, Raw};

/// A control that changes nothing and records every call; copies share their notes.
#[derive(Clone, Debug)]
struct Noting {
    flags: ControlFlags,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Noting {
    fn new(flags: ControlFlags) -> Self {
        Noting { flags, notes: Arc::default() }
    }
    fn note(&self, what: String) {
        self.notes.lock().unwrap().push(what);
    }
    /// The calls since this function was called last.
    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap())
    }
}

impl Control for Noting {
    fn flags(&self) -> ControlFlags {
        self.flags
    }
    fn on_ack(&mut self, _: &mut Window, ack: &AckSample) {
        self.note(format!("{:?}", ack.ca_state));
    }
    fn on_congestion(&mut self, _: &mut Window, _: &Flight, cause: Cause, _: Instant) {
        self.note(format!("{cause:?}!"));
    }
    fn undo(&mut self, _: &mut Window, _: bool) {
        self.note("undo".into());
    }
}

/// Ten segments of 100 B are in flight.
fn ten_out() -> SendState {
    SendState {
        una: 1,
        nxt: 1_001,
        max: 1_001,
        win: Window { cwnd: 1_000, mss: 100, ..Window::default() },
        ..SendState::default()
    }
}

#[test]
fn a_spurious_timeout_is_over_for_the_control_too() {
    let (control, rules, mut snd) = (Noting::new(CLASSIC), rfc(RecoveryKind::Reno), ten_out());
    let mut classic = ClassicControl::new(&control);
    let hear = |classic: &mut ClassicControl, snd: &mut SendState| {
        snd.una += 100;
        let segment = &Segment { ack: snd.una, ..Segment::default() };
        let now = Instant::ZERO;
        classic.process_ack(snd, &AckNews { segment, acked: 100, marked: 0, sack: true, now });
        Windows { rules: &rules, snd, control: classic }.grow(100);
        control.calls()
    };
    assert_eq!(hear(&mut classic, &mut snd), ["Open"]);
    let windows = &mut Windows { rules: &rules, snd: &mut snd, control: &mut classic };
    windows.on_timeout(Instant::ZERO);
    assert_eq!(hear(&mut classic, &mut snd), ["Timeout!", "Loss"]);
    classic.undo(&mut snd);
    assert_eq!(hear(&mut classic, &mut snd), ["undo", "Open"]);
}

#[test]
fn an_echo_holds_the_window_while_a_timeout_is_repaired() {
    // RFC 3168 section 6.1.2: an acknowledgement with ECE set does not grow the window.
    for (own_window, held, recovering, called) in [
        (false, true, false, "Cwr"),
        (false, false, false, "Loss"),
        (true, true, false, "Loss"),
        (false, true, true, "Recovery"),
    ] {
        let control = Noting::new(ControlFlags { own_window, ..CLASSIC });
        let (rules, mut snd) = (rfc(RecoveryKind::Reno), ten_out());
        let mut classic = ClassicControl::new(&control);
        let windows = &mut Windows { rules: &rules, snd: &mut snd, control: &mut classic };
        windows.on_timeout(Instant::ZERO);
        (snd.una, snd.win.held) = (101, held);
        let segment = &Segment { ack: 101, ..Segment::default() };
        let now = Instant::ZERO;
        classic.process_ack(&snd, &AckNews { segment, acked: 100, marked: 0, sack: true, now });
        classic.finish(&mut snd, recovering);
        assert_eq!(control.calls(), ["Timeout!", called]);
    }
}

#[test]
fn a_control_that_reads_marks_itself_gets_no_echo() {
    for own_marks in [false, true] {
        let (control, mut snd) = (Noting::new(ControlFlags { own_marks, ..CLASSIC }), ten_out());
        let (rules, mut classic) = (rfc(RecoveryKind::Reno), ClassicControl::new(&control));
        let windows = &mut Windows { rules: &rules, snd: &mut snd, control: &mut classic };
        assert_eq!(windows.on_echo(EchoCut::AsLoss), !own_marks);
        assert_eq!(control.calls().len(), usize::from(!own_marks));
        assert_eq!(snd.win.by_echo, !own_marks);
    }
}

#[test]
fn the_ack_that_shows_a_timeout_spurious_grows_nothing() {
    // RFC 4015 sets the windows: the control processes the ACK after they are restored, in a state
    // in which it must not grow the window.
    let control = Noting::new(CLASSIC);
    let given = [("f_rto", Raw::Bool(true)), ("initial_window", Raw::Number(4.0))];
    let entry = crate::find("plain").unwrap();
    let given = given.map(|(name, value)| (name.to_owned(), value));
    let params = Params::check(entry.about.fields, &given).unwrap();
    let mut profile = (entry.build)(&params, &Controls::ours()).unwrap();
    profile.congestion = Box::new(control.clone());
    let mut server = TcpEndpoint::new(&Arc::new(profile), HostClock::default());
    let hear = |server: &mut TcpEndpoint, flags, ack, ms| {
        let now = Instant::ZERO + Duration::from_millis(ms);
        server.on_segment(
            &Segment { seq: u64::from(ack > 0), ack, flags, ..Segment::default() },
            now,
        );
        while server.poll_send(now).is_some() {}
        control.calls()
    };
    hear(&mut server, Flags::SYN, 0, 50);
    server.write(20_000, Instant::ZERO + Duration::from_millis(150));
    hear(&mut server, Flags::ACK, 1, 150);
    let due = server.next_timeout().unwrap().at;
    server.on_timeout(due);
    assert_eq!(hear(&mut server, Flags::ACK, 1_461, 5_000), ["Timeout!", "Loss"]);
    assert_eq!(hear(&mut server, Flags::ACK, 2_921, 5_000), ["undo", "Cwr"]);
}
