//! A user's own congestion control: its description, its entry in the list of controls, and the
//! checks of the windows that it sets.

pub mod laws;
#[cfg(not(target_family = "wasm"))]
pub mod library;
pub mod module;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use packet::params::{BadParams, Field, Params};
use packet::{About, Duration, Instant};
use tcp::{AckSample, Cause, Control, ControlFlags, EcnMode, Flight, Lost, OwnControl, Window};

use crate::c::control_types::{
    AQMLAB_ECN_OF_DCTCP, AQMLAB_ECN_OF_L4S, AQMLAB_ECN_OF_RFC3168, AQMLAB_NO_TIME,
    AQMLAB_OWN_MARKS, AQMLAB_OWN_WINDOW, AQMLAB_PACED, AQMLAB_RATES, ControlAck, ControlLost,
    ControlWindow,
};
use crate::description::check_fields;
use crate::{Pulse, fail};

/// The description of a user's congestion control.
#[derive(Clone, Debug)]
pub struct ControlDescription {
    /// Name in scenarios and results.
    pub name: &'static str,
    /// What the congestion control does, in one sentence.
    pub summary: &'static str,
    /// The paper or program that the control follows; empty for none.
    pub source: &'static str,
    /// Parameters of the control.
    pub fields: Vec<Field>,
    /// Which tasks of the transport the control does itself, and which features it needs.
    pub flags: ControlFlags,
}

/// An event of a connection other than an acknowledgement or a lost segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The handshake is over.
    Open,
    /// Losses were found, and recovery has begun.
    Loss,
    /// The peer has reported CE marks.
    Ecn,
    /// The retransmission timer has expired.
    Timeout,
    /// The last reduction was spurious and has been undone.
    Undo,
    /// A segment is sent after the application had nothing to send for this long.
    AppLimited(Duration),
}

impl Happened {
    /// Name of the method or function that is called for the event.
    pub fn call(self) -> &'static str {
        match self {
            Happened::Open => "on_open",
            Happened::Loss => "on_loss",
            Happened::Ecn => "on_ecn",
            Happened::Timeout => "on_timeout",
            Happened::Undo => "on_undo",
            Happened::AppLimited(_) => "on_app_limited",
        }
    }
}

/// One connection's congestion control, written in any language. An error is a sentence that ends
/// the run.
pub trait Calls: Send {
    /// An event other than an acknowledgement or a lost segment.
    ///
    /// # Errors
    /// A sentence, if the call failed.
    fn on(&mut self, what: Happened, window: &mut ControlWindow) -> Result<(), String>;
    /// An acknowledgement arrived.
    ///
    /// # Errors
    /// A sentence, if the call failed.
    fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) -> Result<(), String>;
    /// A segment was found lost.
    ///
    /// # Errors
    /// A sentence, if the call failed.
    fn on_lost(&mut self, window: &ControlWindow, lost: &ControlLost) -> Result<(), String>;
    /// Shows each gauge, a number of the control's inner state, with its name.
    ///
    /// # Errors
    /// A sentence, if the call failed.
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) -> Result<(), String>;
}

/// A factory of one connection's control, with the parameters of an end system.
pub type Begin = dyn Fn() -> Result<Box<dyn Calls>, String> + Send + Sync;

impl ControlDescription {
    /// The entry in the list of controls. `settle` makes a factory from checked parameters; the
    /// factory makes the control of each connection.
    ///
    /// # Errors
    /// A sentence on what is wrong with the description.
    pub fn control(
        self,
        pulse: &Pulse,
        settle: impl Fn(&Params) -> Arc<Begin> + Send + Sync + 'static,
    ) -> Result<&'static OwnControl, String> {
        check_fields(self.name, &self.fields, "name", "the congestion control")?;
        let about = About {
            name: self.name,
            summary: self.summary,
            year: 0,
            source: self.source,
            deviations: "",
            fields: Vec::leak(self.fields),
        };
        let (name, flags, pulse) = (self.name, self.flags, pulse.clone());
        let make = move |params: &Params| {
            let begin = settle(params);
            pulse.beat();
            let first = begin();
            pulse.beat();
            // This instance only shows whether the parameters fit together; every connection gets
            // an instance of its own.
            first.map_err(|why| BadParams::new("congestion", format!("{name} refuses: {why}")))?;
            let begin = AssertUnwindSafe(begin);
            Ok(Box::new(Own::new(name, flags, pulse.clone(), begin)) as Box<dyn Control>)
        };
        Ok(Box::leak(Box::new(OwnControl { about, make: Box::new(make) })))
    }
}

/// Most gauges that a control in C or Rust may show.
const MOST_GAUGES: usize = 64;

/// Converts the header's numbers for flags and ECN mode.
///
/// # Errors
/// A sentence, if a number has no meaning.
pub(crate) fn flags(flags: u32, ecn: u32) -> Result<ControlFlags, String> {
    let known = AQMLAB_OWN_WINDOW | AQMLAB_OWN_MARKS | AQMLAB_PACED | AQMLAB_RATES;
    if flags & !known != 0 {
        return Err(format!("its flags are {flags}: add AQMLAB_OWN_WINDOW and the like"));
    }
    let has = |flag: u32| flags & flag != 0;
    Ok(ControlFlags {
        own_window: has(AQMLAB_OWN_WINDOW),
        joins_recoveries: false,
        own_marks: has(AQMLAB_OWN_MARKS),
        paced: has(AQMLAB_PACED),
        rates: has(AQMLAB_RATES),
        ecn: match ecn {
            AQMLAB_ECN_OF_RFC3168 => EcnMode::Classic,
            AQMLAB_ECN_OF_DCTCP => EcnMode::Dctcp,
            AQMLAB_ECN_OF_L4S => EcnMode::Scalable,
            other => return Err(format!("its ecn is {other}: give one of AQMLAB_ECN_OF_...")),
        },
    })
}

/// Adapter: one connection's user-written control as a [`Control`].
struct Own {
    name: &'static str,
    flags: ControlFlags,
    pulse: Pulse,
    begin: AssertUnwindSafe<Arc<Begin>>,
    /// The user's control, made at the first call. Only one thread at a time calls it; the lock is
    /// there because the trait requires `Sync`.
    calls: Option<Mutex<Box<dyn Calls>>>,
    window: ControlWindow,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Own").field(&self.name).finish()
    }
}

/// A clone serves another connection, so it starts with new state.
impl Clone for Own {
    fn clone(&self) -> Self {
        let begin = AssertUnwindSafe(Arc::clone(&self.begin));
        Own::new(self.name, self.flags, self.pulse.clone(), begin)
    }
}

/// Largest congestion window that a control may set, bytes; a larger one is an error of its code.
const LARGEST: u64 = 1 << 40;

impl Own {
    fn new(
        name: &'static str,
        flags: ControlFlags,
        pulse: Pulse,
        begin: AssertUnwindSafe<Arc<Begin>>,
    ) -> Self {
        Own { name, flags, pulse, begin, calls: None, window: ControlWindow::default() }
    }

    /// Makes a call that may change `win`. Ends the run if the new windows are out of range.
    #[inline]
    fn call(
        &mut self,
        what: &'static str,
        (win, flight, now): (&mut Window, Option<&Flight>, Instant),
        call: impl FnOnce(&mut dyn Calls, &mut ControlWindow) -> Result<(), String>,
    ) {
        self.show(win, flight, now);
        self.carry_out(call);
        let ControlWindow { cwnd, ssthresh, .. } = self.window;
        if cwnd < win.mss() || cwnd > LARGEST || ssthresh < win.mss() {
            fail(format!(
                "{}: {what} has set cwnd to {cwnd} bytes and ssthresh to {ssthresh}: give each at least \
                 one segment ({} bytes), and cwnd at most 2^40",
                self.name,
                win.mss()
            ));
        }
        (win.cwnd, win.ssthresh) = (cwnd, ssthresh);
    }

    #[inline]
    fn show(&mut self, win: &Window, flight: Option<&Flight>, now: Instant) {
        let window = &mut self.window;
        (window.cwnd, window.ssthresh) = (win.cwnd, win.ssthresh);
        (window.mss, window.now_ns) = (u32::from(win.mss), now.nanos());
        if let Some(flight) = flight {
            window.outstanding = flight.outstanding();
            window.peer_window = u64::from(flight.window);
        }
    }

    #[inline]
    fn carry_out(
        &mut self,
        call: impl FnOnce(&mut dyn Calls, &mut ControlWindow) -> Result<(), String>,
    ) {
        self.pulse.beat();
        let calls = match &mut self.calls {
            Some(calls) => calls,
            none => none.insert(Mutex::new((self.begin)().unwrap_or_else(|why| fail(why)))),
        };
        let calls = calls.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = call(&mut **calls, &mut self.window);
        self.pulse.beat();
        done.unwrap_or_else(|why| fail(why));
    }

    fn on(&mut self, what: Happened, about: (&mut Window, Option<&Flight>, Instant)) {
        self.call(what.call(), about, |calls, window| calls.on(what, window));
    }
}

/// Converts an acknowledgement for a user's control.
fn seen(ack: &AckSample) -> ControlAck {
    let rate = ack.rate.as_ref();
    ControlAck {
        delivered: ack.delivered,
        acked: ack.acked,
        lost: ack.lost,
        marked: ack.marked,
        in_flight_before: ack.in_flight_before,
        in_flight: ack.in_flight,
        rtt_ns: ack.rtt.map_or(AQMLAB_NO_TIME, Duration::nanos),
        srtt_ns: ack.srtt.nanos(),
        min_rtt_ns: ack.min_rtt.nanos(),
        next_send_ns: ack.next_send.nanos(),
        rate_interval_ns: rate.map_or(0, |rate| rate.interval.nanos()),
        rate_delivered: rate.map_or(0, |rate| rate.delivered),
        rate_prior_delivered: rate.map_or(0, |rate| rate.prior_delivered),
        rate_total_delivered: rate.map_or(0, |rate| rate.total_delivered),
        rate_sent_in_flight: rate.map_or(0, |rate| rate.sent_in_flight),
        rate_lost: rate.map_or(0, |rate| rate.lost),
        segments: ack.segments,
        state: ack.ca_state as u8,
        round: u8::from(ack.round),
        window_limited: u8::from(ack.window_limited),
        may_grow: u8::from(ack.may_grow()),
        app_limited: u8::from(rate.is_some_and(|rate| rate.app_limited)),
        paced: u8::from(ack.paced),
        unused: [0; 6],
    }
}

impl Control for Own {
    fn flags(&self) -> ControlFlags {
        self.flags
    }

    fn on_open(&mut self, win: &mut Window, srtt: Duration, now: Instant) {
        self.window.srtt_ns = srtt.nanos();
        self.on(Happened::Open, (win, None, now));
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.window.srtt_ns = ack.srtt.nanos();
        let seen = seen(ack);
        self.call("on_ack", (win, Some(&ack.flight), ack.now), |calls, window| {
            calls.on_ack(window, &seen)
        });
    }

    fn on_lost(&mut self, win: &Window, lost: &Lost) {
        self.show(win, None, lost.now);
        let seen = ControlLost {
            bytes: lost.bytes,
            sent_in_flight: lost.sent_in_flight,
            lost: lost.lost,
            total_delivered: lost.total_delivered,
            app_limited: u8::from(lost.app_limited),
            unused: [0; 7],
        };
        self.carry_out(|calls, window| calls.on_lost(window, &seen));
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, now: Instant) {
        let what = match cause {
            Cause::Loss => Happened::Loss,
            Cause::Mark => Happened::Ecn,
            Cause::Timeout => Happened::Timeout,
        };
        self.on(what, (win, Some(flight), now));
    }

    fn undo(&mut self, win: &mut Window, _ends: bool) {
        let now = Instant::from_nanos(self.window.now_ns);
        self.on(Happened::Undo, (win, None, now));
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let Some(calls) = &self.calls else { return };
        self.pulse.beat();
        let calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        let read = calls.gauges(show);
        self.pulse.beat();
        read.unwrap_or_else(|why| fail(format!("{}: {why}", self.name)));
    }

    fn on_tx_start(&mut self, win: &mut Window, last: Instant, app_limited: bool, now: Instant) {
        if app_limited && last > Instant::ZERO {
            self.on(Happened::AppLimited(now.since(last)), (win, None, now));
        }
    }

    fn pacing_rate(&self, win: &Window, flight: &Flight, srtt: Duration) -> Option<u64> {
        match self.window.pacing_bits_per_s {
            0 => tcp::usual_pacing_rate(win, flight, srtt),
            rate => Some((rate / 8).max(1)),
        }
    }
}
