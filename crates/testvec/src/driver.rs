//! A line that drives a discipline, and the record of all calls.

use aqm::{Cx, Discipline};
use packet::{Event, Instant, Packet, Rate, Rng};

/// Limit of the number of calls. A trial that reaches it, such as one with periodic updates during
/// a very long idle time, ends with an error.
pub const MAX_CALLS: usize = 2_000_000;

/// Limit of the number of draws in a call. A discipline that exceeds it has replaced the random
/// stream that it was given.
const MAX_DRAWS: usize = 1 << 20;

/// A call of a discipline.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A packet arrives.
    Enqueue(Packet),
    /// The line is free. The result is the packet with its new ECN field; `None` starts an idle
    /// time.
    Dequeue(Option<Packet>),
    /// The discipline's scheduled tick: a periodic update, or a time set by a shaper.
    Tick,
}

impl What {
    /// The name of the call in the file format.
    pub const fn word(&self) -> &'static str {
        match self {
            What::Enqueue(_) => "enqueue",
            What::Dequeue(_) => "dequeue",
            What::Tick => "tick",
        }
    }
}

/// A recorded call and its effects.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Time of the call.
    pub at: Instant,
    /// The kind of call, with its packet or result.
    pub what: What,
    /// The uniform numbers in [0, 1) that the discipline drew from the random stream, in order.
    pub draws: Vec<f64>,
    /// The events that the discipline reported, in order.
    pub events: Vec<Event>,
    /// The gauges that changed, with their new values.
    pub state: Vec<(&'static str, f64)>,
    /// Whether any packet waits after the call.
    pub waits: bool,
}

/// A discipline with a line of constant rate.
///
/// The line dequeues at the end of each transmission. While it is idle, it dequeues after an
/// arrival or a tick if a packet waits then. At one instant, ticks come first, then the end of a
/// transmission, then arrivals in their order.
pub struct Trial {
    discipline: Box<dyn Discipline>,
    rate: Rate,
    rng: Rng,
    busy_until: Option<Instant>,
    first: Vec<(&'static str, f64)>,
    state: Vec<(&'static str, f64)>,
    calls: Vec<Call>,
}

/// The uniform numbers that were drawn from a stream between two of its states.
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
    /// A trial of `discipline` with an idle line of `rate` at time zero and the random stream
    /// `rng`.
    pub fn new(discipline: Box<dyn Discipline>, rate: Rate, rng: Rng) -> Self {
        let first = gauges(&*discipline);
        let (state, calls) = (first.clone(), Vec::new());
        Trial { discipline, rate, rng, busy_until: None, first, state, calls }
    }

    /// The gauges before the first call.
    pub fn first_state(&self) -> &[(&'static str, f64)] {
        &self.first
    }
    /// All calls so far.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Runs all events up to `packet.arrived`, then enqueues the packet.
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

    /// Runs until the line is idle and no packet waits.
    ///
    /// # Errors
    /// As [`Trial::arrive`].
    ///
    /// # Panics
    /// If packets wait at an idle line and the discipline has no tick scheduled.
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

    /// Runs ticks and ends of transmissions up to `now`, in order of time.
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

    /// Dequeues if the line is idle and a packet waits. Without a packet it must not call: the
    /// discipline would see the begin of a second idle time.
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

    /// The gauges that have changed since the previous call.
    fn changes(&mut self) -> Vec<(&'static str, f64)> {
        let now = gauges(&*self.discipline);
        assert_eq!(now.len(), self.state.len(), "a discipline always shows the same gauges");
        let pairs = now.iter().zip(&self.state);
        let changed = pairs.filter(|(new, old)| new != old).map(|(new, _)| *new).collect();
        self.state = now;
        changed
    }
}
