//! Effects: what a link does to packets apart from queueing them. A scenario lists them
//! (`effects = [{ kind = "loss", share = 0.01 }]`), and they act one after another in that order.
//!
//! Each kind is a file here and two lines: its `mod`, and its entry in [`EFFECTS`]. There are three
//! places at which an effect may act:
//!
//! * before the queue ([`Built::Arrival`]): a policer;
//! * behind the line ([`Built::Exit`]): loss, delay, reordering;
//! * on the line itself ([`Built::Line`]): times at which it does not send, which the queue feels.
//!
//! An effect before or behind the line is a place of its own on a packet's route
//! ([`Port::Effect`](crate::port::Port)), which packets reach in the order of time, whatever the
//! engine. Each has its own random stream, so that one more moves no draw of another; links without
//! effects have no such place, and cost nothing.

mod corrupt;
mod delay;
mod delay_steps;
mod delay_walk;
mod duplicate;
mod gilbert_elliott;
mod loss;
mod loss_steps;
mod netem_slot;
mod outages;
mod policer;
mod random;
mod reorder;
mod slots;
pub mod timed;
pub mod timetable;

use std::collections::BTreeMap;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Ecn, Instant, Rate, Rng};

use self::timed::Timed;
use self::timetable::Timetable;

/// All effects, in the order of the documentation.
pub static EFFECTS: &[Entry] = &[
    loss::ENTRY,
    gilbert_elliott::ENTRY,
    loss_steps::ENTRY,
    delay::ENTRY,
    delay_steps::ENTRY,
    delay_walk::ENTRY,
    duplicate::ENTRY,
    corrupt::ENTRY,
    reorder::ENTRY,
    netem_slot::ENTRY,
    policer::ENTRY,
    slots::ENTRY,
    outages::ENTRY,
];

/// A kind of effect.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, parameters and source.
    pub about: About,
    /// Parameters that are tables of times and values.
    pub tables: &'static [Table],
    /// Where it acts, for the documentation.
    pub acts: &'static str,
    /// Whether hosts may have to discard packets that it corrupted or copied.
    pub discarded: bool,
    /// Builds the effect from its checked parameters.
    pub build: fn(&Given) -> Result<Built, BadParams>,
}

/// A parameter that is a list of pairs of a time and a value, or the column of a file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The name that users write.
    pub name: &'static str,
    /// What the values mean.
    pub meaning: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// The largest value.
    pub most: f64,
    /// Column of a file that holds the values.
    pub column: &'static str,
}

/// What an effect is built from.
pub struct Given<'a> {
    /// Its checked parameters.
    pub params: &'a Params,
    /// Its tables that were given, by their names.
    pub tables: &'a BTreeMap<&'static str, Timed>,
    /// Nominal rate of the line.
    pub rate: Rate,
    /// The random stream of an effect on the line; one of packets gets its stream with each packet.
    pub rng: Rng,
}

impl Given<'_> {
    /// A table that the effect cannot do without.
    ///
    /// # Errors
    /// It was not given.
    pub fn table(&self, name: &'static str, example: &str) -> Result<Timed, BadParams> {
        let missing = || BadParams::new(name, format!("missing; write for example {example}"));
        self.tables.get(name).cloned().ok_or_else(missing)
    }
}

/// An effect that was built.
pub enum Built {
    /// It acts before the queue.
    Arrival(Box<dyn Effect>),
    /// It acts behind the line.
    Exit(Box<dyn Effect>),
    /// It closes the line at times; while open, the line is this many times as fast as its rate.
    Line(Box<dyn Timetable>, f64),
}

/// A packet at an effect.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// When it comes.
    pub now: Instant,
    /// When it goes on if it does: now, or later.
    pub at: Instant,
    /// IP bytes.
    pub bytes: u32,
    /// Its code point, which a policer may change.
    pub ecn: Ecn,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a packet at an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    #[default]
    GoesOn,
    /// It is lost.
    Lost,
    /// It goes on, and a copy of it with it.
    Copied,
    /// It goes on, and its host will discard it.
    Corrupted,
    /// It stays until this number of packets has gone past it, or until the time.
    Held(u32, Instant),
}

impl Passing {
    /// A packet that comes and would go on at once.
    pub fn new(now: Instant, bytes: u32, ecn: Ecn) -> Self {
        Passing { now, at: now, bytes, ecn, fate: Fate::GoesOn }
    }
}

/// Decides what becomes of packets, which come in the order of time.
pub trait Effect: Send {
    /// Decides about one.
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng);
}

/// The effect of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    EFFECTS.iter().find(|entry| entry.about.name == name)
}

/// A share of packets.
pub(crate) const SHARE: Kind = Kind::from(Unit::None, 0.0, 1.0);
/// A time from 0 on.
pub(crate) const TIME: Kind = Kind::from(Unit::Time, 0.0, 1e6);
/// A time above 0.
pub(crate) const SPAN: Kind = Kind::above(Unit::Time, 0.0, 1e6);

/// How much a random number depends on the last one.
pub(crate) const CORRELATION: Field =
    Field::new("correlation", Kind::from(Unit::None, 0.0, 0.99), Value::Real(0.0))
        .meaning(
            "Share of the last random number in the next one, as netem computes it: \
             the spread of the numbers shrinks with it, so that a share is met only at 0.",
        )
        .source("tc-netem(8); sch_netem.c, get_crandom");

/// Whether packets stay in their order.
pub(crate) const KEEP_ORDER: Field = Field::new("keep_order", Kind::Switch, Value::Switch(true))
    .meaning(
        "Whether a packet whose delay is shorter waits for those before it; if not, it overtakes \
             them, as in netem.",
    )
    .source("constructed: a link keeps the order of its packets");

/// After which time the tables begin anew.
pub(crate) const REPEAT: Field = Field::new("repeat", SPAN, Value::Unset)
    .meaning("After which time the steps begin anew; without it the last one lasts.")
    .source("constructed");

/// Delays packets in their order, or as they come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    keep: bool,
    last: Instant,
}

impl Order {
    pub(crate) fn new(params: &Params) -> Self {
        Order { keep: params.switch("keep_order"), last: Instant::ZERO }
    }

    /// Delays a packet by `seconds`, at least by nothing.
    pub(crate) fn delay(&mut self, packet: &mut Passing, seconds: f64) {
        let nanos = (seconds.clamp(0.0, 1e9) * 1e9 + 0.5) as u64;
        let at = packet.at + Duration::from_nanos(nanos);
        packet.at = if self.keep { at.max(self.last) } else { at };
        self.last = self.last.max(packet.at);
    }
}

#[cfg(test)]
mod tests;
