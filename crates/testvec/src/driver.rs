//! The line that serves a discipline, and the record of every call it makes.

use aqm::{Cx, Discipline};
use packet::{Event, Instant, Packet, Rate, Rng};

/// More calls than anybody reads: a trial that reaches it has periodic updates through an idle
/// time without measure, and ends with an error.
pub const MAX_CALLS: usize = 2_000_000;

/// More draws than a call can need: a discipline beyond it has put another stream in place of
/// the one it was handed.
const MAX_DRAWS: usize = 1 << 20;

/// The kind of a call to a discipline.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A packet arrives.
    Enqueue(Packet),
    /// The line is free; the answer, with the ECN field it leaves with. None starts an idle time.
    Dequeue(Option<Packet>),
    /// The periodic update, or the wake-up that a shaper has scheduled.
    Tick,
}

impl What {
    /// The call's name in the format.
    pub const fn word(&self) -> &'static str {
        match self {
            What::Enqueue(_) => "enqueue",
            What::Dequeue(_) => "dequeue",
            What::Tick => "tick",
        }
    }
}

/// One call and all that came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Time of the event.
    pub at: Instant,
    /// The call and its answer.
    pub what: What,
    /// The uniform numbers in [0, 1) taken from the random stream, in order.
    pub draws: Vec<f64>,
    /// What was reported, in order.
    pub events: Vec<Event>,
    /// The gauges that changed, with their new values.
    pub state: Vec<(&'static str, f64)>,
    /// Whether something waits after the call.
    pub waits: bool,
}

/// A discipline before a line of constant rate.
///
/// The line dequeues when a transmission ends and, while it is idle, after an arrival or a tick
/// that leaves something waiting. At one instant ticks come first, then the end of a transmission,
/// then arrivals in their order.
pub struct Trial {
    discipline: Box<dyn Discipline>,
    rate: Rate,
    rng: Rng,
    busy_until: Option<Instant>,
    first: Vec<(&'static str, f64)>,
    state: Vec<(&'static str, f64)>,
    calls: Vec<Call>,
}

/// The uniform numbers that were drawn from a stream between these two states of it.
fn draws(before: Rng, after: &Rng) -> Vec<f64> {
    let mut stream = before;
    let mut draws = Vec::new();
    while stream != *after {
        assert!(draws.len() < MAX_DRAWS, "the random stream is not the one that was handed in");
        draws.push(stream.uniform());
    }
    draws
}

fn gauges(discipline: &dyn Discipline) -> Vec<(&'static str, f64)> {
    let mut gauges = Vec::new();
    discipline.gauges(&mut |name, value| gauges.push((name, value)));
    gauges
}

impl Trial {
    /// `discipline` before a resting line of `rate` at time zero, drawing from `rng`.
    pub fn new(discipline: Box<dyn Discipline>, rate: Rate, rng: Rng) -> Self {
        let first = gauges(&*discipline);
        let (state, calls) = (first.clone(), Vec::new());
        Trial { discipline, rate, rng, busy_until: None, first, state, calls }
    }

    /// The gauges before the first call.
    pub fn first_state(&self) -> &[(&'static str, f64)] {
        &self.first
    }
    /// Every call so far.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Runs what is due until `packet.arrived` and lets the packet arrive.
    ///
    /// # Errors
    /// The trial has made [`MAX_CALLS`] calls.
    pub fn arrive(&mut self, packet: Packet) -> Result<(), String> {
        let now = packet.arrived;
        self.advance(now)?;
        let shown = packet.clone();
        self.call(now, |d, cx| {
            d.enqueue(packet, cx);
            What::Enqueue(shown)
        });
        self.ask_if_resting(now);
        Ok(())
    }

    /// Runs everything until the line rests and nothing waits.
    ///
    /// # Errors
    /// As [`Trial::arrive`].
    ///
    /// # Panics
    /// If the discipline holds packets back and schedules no tick.
    pub fn finish(&mut self) -> Result<(), String> {
        loop {
            let waits = self.discipline.backlog().packets > 0;
            let wake = || self.discipline.next_tick().expect("a queue at rest says when to ask");
            match self.busy_until.or_else(|| waits.then(wake)) {
                Some(next) => self.advance(next)?,
                None => return Ok(()),
            }
        }
    }

    /// Ticks and ends of transmissions up to `now`, in order of time.
    fn advance(&mut self, now: Instant) -> Result<(), String> {
        loop {
            if self.calls.len() >= MAX_CALLS {
                return Err(format!(
                    "the trial makes more than {MAX_CALLS} calls; give fewer packets or shorter gaps"
                ));
            }
            let tick = self.discipline.next_tick().filter(|tick| *tick <= now);
            let free = self.busy_until.filter(|end| *end <= now);
            match (tick, free) {
                (Some(tick), free) if free.is_none_or(|end| tick <= end) => {
                    self.call(tick, |d, cx| {
                        d.on_tick(cx);
                        What::Tick
                    });
                    self.ask_if_resting(tick);
                }
                (_, Some(end)) => self.ask(end),
                _ => return Ok(()),
            }
        }
    }

    /// An idle line dequeues only if something waits: an arrival that is dropped at an idle line
    /// does not begin a second idle time.
    fn ask_if_resting(&mut self, now: Instant) {
        if self.busy_until.is_none() && self.discipline.backlog().packets > 0 {
            self.ask(now);
        }
    }

    fn ask(&mut self, now: Instant) {
        self.call(now, |d, cx| What::Dequeue(d.dequeue(cx)));
        let Some(Call { what: What::Dequeue(sent), .. }) = self.calls.last() else { return };
        self.busy_until = sent.as_ref().map(|p| now + self.rate.time_for(u64::from(p.bytes)));
    }

    fn call(&mut self, now: Instant, ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> What) {
        let before = self.rng.clone();
        let mut events = Vec::new();
        let mut out = |event| events.push(event);
        let mut cx = Cx { now, rng: &mut self.rng, out: &mut out };
        let what = ask(&mut *self.discipline, &mut cx);
        let (draws, state) = (draws(before, &self.rng), self.changes());
        let waits = self.discipline.backlog().packets > 0;
        self.calls.push(Call { at: now, what, draws, events, state, waits });
    }

    /// The gauges that differ from those after the last call.
    fn changes(&mut self) -> Vec<(&'static str, f64)> {
        let now = gauges(&*self.discipline);
        assert_eq!(now.len(), self.state.len(), "a discipline always shows the same gauges");
        let pairs = now.iter().zip(&self.state);
        let changed = pairs.filter(|(new, old)| new != old).map(|(new, _)| *new).collect();
        self.state = now;
        changed
    }
}
