//! BLUE (W. Feng, D. Kandlur, D. Saha, K. Shin, *BLUE: A New Class of Active Queue Management
//! Algorithms*, University of Michigan CSE-TR-387-99, 1999; *The BLUE Active Queue Management
//! Algorithms*, IEEE/ACM Transactions on Networking 10(4), 2002).
//!
//! The idea in five lines. Queue lengths say little about the load; losses and idle times say all.
//! A lost packet raises the probability of a signal by d1, an idle line lowers it by d2, each at
//! most once per freeze time, so that a change can show its effect. d1 is much larger than d2: to
//! signal too little overflows at once, to signal too much is noticed only when the line idles.
//!
//! [`altq`] is ALTQ's version, which differs in nearly everything.

mod altq;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::buffer::{self, ECN, LIMIT_200, LIMIT_BYTES, TIME};
use crate::{Aqm, Built, Entry, Judged, LimitOrder, Line, PerFlowState, Verdict};

/// The entry of `blue` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "blue",
        summary: "Losses raise the signal probability, idle times lower it.",
        year: 1999,
        source: "Feng, Kandlur, Saha and Shin, CSE-TR-387-99, 1999, and IEEE/ACM ToN 10(4), 2002; \
                 NetBSD ALTQ",
        deviations: "standard: one freeze clock for raising and lowering (an ns-3 port has two), \
                     which starts at the first packet; an early drop is no loss event; a line that \
                     stays idle lowers p every freeze_time, or once with repeat = false. altq: the \
                     time before the first packet does not count as idle, and an idle time is \
                     \"more than a second\" from two whole seconds on (ALTQ compares the seconds \
                     of its clock, so that it depends on the phase).",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks ECN-capable packets whenever the coin says so, if ecn is on",
    units: "packets",
    build: &build,
};

const STEP: Kind = Kind::from(Unit::None, 0.0, 1.0);

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["standard", "altq"]), Value::Choice("standard"))
        .meaning("standard: the papers; altq: ALTQ on NetBSD.")
        .source("constructed"),
    Field::new("freeze_time", TIME, Value::Unset)
        .meaning("Least time between two changes of the probability. 100 ms; altq: 50 ms.")
        .source("Feng et al. 10 ms to 100 ms (recalled); read: ns-3 port of Feng's code, ALTQ"),
    Field::new("d1", STEP, Value::Unset)
        .meaning("What a loss adds to the probability. 0.0025; altq: always 0.125.")
        .source("Feng et al. 0.0025 or 0.02 (recalled); read: ns-3 port of Feng's code, ALTQ"),
    Field::new("d2", STEP, Value::Unset)
        .meaning("What an idle line takes from it. 0.00025; altq: always 0.001.")
        .source("Feng et al. d1/10 (recalled); read: ns-3 port of Feng's code, ALTQ"),
    Field::new("repeat", Kind::Switch, Value::Unset)
        .meaning(
            "Whether a line that stays idle lowers the probability again every freeze_time. true; \
             altq: always false.",
        )
        .source("constructed"),
    Field::new("trigger", Kind::whole(Unit::Packets, 0, 100_000_000), Value::Unset)
        .meaning(
            "L: an arrival that finds more packets counts as a loss event. None unless given; not \
             in altq.",
        )
        .source("Feng et al. 2002 (recalled)"),
    LIMIT_200.source("read: ALTQ"),
    Field {
        meaning: "IP bytes that may wait; no such limit unless given. Not in altq.",
        ..LIMIT_BYTES
    },
    ECN,
];

fn build(params: &Params, _: &Line) -> Result<Built, BadParams> {
    let ecn = params.switch("ecn");
    if params.choice("profile") == "standard" {
        let limit = buffer::limit(params, 200);
        return Ok(Built::Gate(Box::new(Judged::new(Blue::new(params), limit, ecn))));
    }
    for (name, why) in [
        ("d1", "its steps are fixed, 0.125 up and 0.001 down"),
        ("d2", "its steps are fixed, 0.125 up and 0.001 down"),
        ("trigger", "only a full queue is a loss event there"),
        ("limit_bytes", "it counts packets"),
    ] {
        if params.given(name) {
            return Err(refusal(params, name, why));
        }
    }
    if params.value("repeat") == Value::Switch(true) {
        return Err(refusal(
            params,
            "repeat",
            "it lowers p once, when an arrival ends the idle time",
        ));
    }
    let hold = Duration::from_secs_f64(params.real_or("freeze_time", 0.05));
    let limit = params.whole_or("limit", 200) as u32;
    Ok(Built::Discipline(Box::new(altq::AltqBlue::new(limit, hold, ecn))))
}

fn refusal(params: &Params, name: &str, why: &str) -> BadParams {
    let value = params.written(name);
    let text = format!("{value} is not possible with profile \"altq\": {why}; leave it out");
    BadParams::new(name, text)
}

/// BLUE as in the papers.
struct Blue {
    freeze: Duration,
    d1: f64,
    d2: f64,
    repeat: bool,
    /// Backlog in packets above which an arrival counts as a loss event.
    trigger: u64,
    p: f64,
    /// Time of the last change of `p`, or of the first packet.
    changed: Option<Instant>,
    /// Start of the line's idle time, if it is idle.
    idle: Option<Instant>,
}

impl Blue {
    fn new(params: &Params) -> Self {
        let freeze = Duration::from_secs_f64(params.real_or("freeze_time", 0.1));
        Blue {
            freeze: freeze.max(Duration::from_nanos(1)),
            d1: params.real_or("d1", 0.0025),
            d2: params.real_or("d2", 0.00025),
            repeat: params.switch_or("repeat", true),
            trigger: params.whole_or("trigger", u64::MAX),
            p: 0.0,
            changed: None,
            idle: None,
        }
    }

    fn thawed(&self, now: Instant) -> bool {
        self.changed.is_some_and(|changed| now.since(changed) > self.freeze)
    }

    /// A loss event: raises `p`, unless the freeze time since its last change has not passed.
    fn raise(&mut self, now: Instant) {
        if self.thawed(now) {
            self.p = (self.p + self.d1).min(1.0);
            self.changed = Some(now);
        }
    }

    /// Applies the decreases of `p` that fell due by `now` while the line stayed idle: one when the
    /// freeze time after the last change has passed, and one per freeze time after that.
    fn catch_up(&mut self, now: Instant) {
        let changed = *self.changed.get_or_insert(now);
        let (Some(idle), true) = (self.idle, self.repeat) else { return };
        let due = idle.max(changed + self.freeze);
        if now <= due {
            return;
        }
        let more = (now.since(due).nanos() - 1) / self.freeze.nanos();
        self.p = (self.p - (more + 1) as f64 * self.d2).max(0.0);
        self.changed = Some(due + self.freeze * more);
    }
}

impl Aqm for Blue {
    fn on_arrival(&mut self, _: &Packet, backlog: Backlog, now: Instant, rng: &mut Rng) -> Verdict {
        self.catch_up(now);
        if u64::from(backlog.packets) > self.trigger {
            self.raise(now);
        }
        if rng.uniform() < self.p {
            return Verdict::Signal(DropReason::Early);
        }
        self.idle = None;
        Verdict::Pass
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn on_signalled(&mut self, marked: bool) {
        if marked {
            self.idle = None;
        }
    }
    fn on_overflow(&mut self, _: Backlog, now: Instant) {
        self.catch_up(now);
        self.raise(now);
    }
    fn on_idle(&mut self, now: Instant) {
        if self.idle.is_some() {
            return; // an arrival was dropped: the line has not left its idle time
        }
        self.idle = Some(now);
        if self.thawed(now) {
            self.p = (self.p - self.d2).max(0.0);
            self.changed = Some(now);
        }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Instant {
        Instant::from_secs_f64(secs)
    }

    fn blue(repeat: bool) -> Blue {
        let base = Blue::new(&Params::defaults(FIELDS));
        Blue { d1: 0.02, d2: 0.002, repeat, p: 0.1, changed: Some(Instant::ZERO), ..base }
    }

    #[test]
    fn one_event_per_idle_time() {
        let mut blue = blue(false);
        let mut seen = |p: &dyn Fn(&mut Blue)| {
            p(&mut blue);
            blue.idle = None;
            (blue.p * 1e6 + 0.5) as u32
        };
        assert_eq!(seen(&|b| b.on_overflow(Backlog::default(), at(0.05))), 100_000);
        assert_eq!(seen(&|b| b.on_overflow(Backlog::default(), at(0.15))), 120_000);
        assert_eq!(seen(&|b| b.on_idle(at(0.20))), 120_000);
        assert_eq!(seen(&|b| b.on_idle(at(0.30))), 118_000);
    }

    #[test]
    fn an_idle_time_of_no_length_is_an_event_too() {
        for repeat in [false, true] {
            let mut blue = blue(repeat);
            blue.on_idle(at(0.20));
            assert!((blue.p - 0.098).abs() < 1e-12, "{}", blue.p);
            blue.catch_up(at(0.20));
            assert!((blue.p - 0.098).abs() < 1e-12, "not twice: {}", blue.p);
        }
    }

    #[test]
    fn events_repeat_while_the_line_stays_idle() {
        let mut blue = Blue { p: 0.12, changed: Some(at(0.15)), ..blue(true) };
        blue.on_idle(at(0.20));
        blue.catch_up(at(0.40));
        assert!((blue.p - 0.116).abs() < 1e-12, "{}", blue.p);
        assert_eq!(blue.changed, Some(at(0.35)));
        // The line is still idle: no decrease is applied twice, and the next falls due at 0.45 s.
        blue.on_idle(at(0.40));
        blue.catch_up(at(0.45));
        assert!((blue.p - 0.116).abs() < 1e-12, "{}", blue.p);
        blue.catch_up(at(0.4500001));
        assert!((blue.p - 0.114).abs() < 1e-12, "{}", blue.p);
    }

    #[test]
    fn a_marked_arrival_ends_the_idle_time_and_a_dropped_one_does_not() {
        for (marked, p) in [(true, 0.098), (false, 0.094)] {
            let mut blue = blue(true);
            blue.on_idle(at(0.20));
            blue.on_signalled(marked);
            // If the line is still idle, p also falls at 0.30 s and 0.40 s.
            blue.catch_up(at(0.45));
            assert!((blue.p - p).abs() < 1e-12, "{marked}: {}", blue.p);
        }
    }

    #[test]
    fn an_event_that_falls_due_this_instant_is_still_to_come() {
        let mut blue = blue(true);
        blue.on_idle(at(0.20));
        blue.catch_up(Instant::from_nanos(400_000_000));
        assert!((blue.p - 0.096).abs() < 1e-12, "at 0.30, not at 0.40: {}", blue.p);
        assert_eq!(blue.changed, Some(Instant::from_nanos(300_000_000)));
    }

    #[test]
    fn a_long_queue_is_a_loss_event_if_set() {
        let mut blue = Blue { trigger: 5, p: 0.0, ..blue(true) };
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1000,
            ecn: packet::Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let mut rng = Rng::named(1, "blue");
        for (packets, expected) in [(5, 0.0), (6, 0.02)] {
            let backlog = Backlog { packets, bytes: 0 };
            blue.on_arrival(&packet, backlog, at(0.2), &mut rng);
            assert_eq!(blue.p, expected);
        }
    }
}
