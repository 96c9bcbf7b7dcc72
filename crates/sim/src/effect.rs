//! Effects: what a link does to packets other than queueing them, such as loss, delay or
//! reordering. A scenario lists them (`effects = [{ kind = "loss", share = 0.01 }]`), and they act
//! in that order.
//!
//! Each kind is a file of this module and two lines: its `mod`, and its entry in [`EFFECTS`]. An
//! effect acts at one of three points:
//!
//! * before the queue ([`Built::Arrival`]): a policer;
//! * behind the line ([`Built::Exit`]): loss, delay, reordering;
//! * on the line itself ([`Built::Line`]): times at which the line does not send, so that the queue
//!   grows.
//!
//! An effect before or behind the line is an element of its own on a packet's route
//! ([`Port::Effect`](crate::port::Port)), which packets reach in the order of time with either
//! engine. Each effect has its own stream of random numbers, so that adding one does not change the
//! draws of another. Links without effects have no such element, at no cost.

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
    /// Name, parameters and source of the effect.
    pub about: About,
    /// Parameters that are tables of times and values.
    pub tables: &'static [Table],
    /// Where the effect acts, in words for the documentation.
    pub acts: &'static str,
    /// Whether hosts may have to discard packets that this effect corrupted or duplicated.
    pub discarded: bool,
    /// Builds the effect from its checked parameters.
    pub build: fn(&Given) -> Result<Built, BadParams>,
}

/// A parameter that is a list of pairs of a time and a value, or the column of a file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name of the parameter.
    pub name: &'static str,
    /// Meaning of the table's values.
    pub meaning: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// The largest allowed value.
    pub most: f64,
    /// Name of a file's column that holds the values.
    pub column: &'static str,
}

/// The inputs from which an effect is built.
pub struct Given<'a> {
    /// Checked parameters of the effect.
    pub params: &'a Params,
    /// Tables of steps that the scenario gives, by their names.
    pub tables: &'a BTreeMap<&'static str, Timed>,
    /// Nominal rate of the line.
    pub rate: Rate,
    /// The stream of random numbers for an effect on the line. An effect on packets gets its stream
    /// with each packet instead.
    pub rng: Rng,
}

impl Given<'_> {
    /// A table that the effect requires.
    ///
    /// # Errors
    /// The scenario does not give the table; `example` shows how to write it.
    pub fn table(&self, name: &'static str, example: &str) -> Result<Timed, BadParams> {
        let missing = || BadParams::new(name, format!("missing; write for example {example}"));
        self.tables.get(name).cloned().ok_or_else(missing)
    }
}

/// An effect that was built, by the point at which it acts.
pub enum Built {
    /// An effect before the queue.
    Arrival(Box<dyn Effect>),
    /// An effect behind the line.
    Exit(Box<dyn Effect>),
    /// An effect that closes the line at times. The number is the factor by which the line is
    /// faster than its rate while it is open.
    Line(Box<dyn Timetable>, f64),
}

/// A packet that passes an effect.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// When the packet reaches the effect.
    pub now: Instant,
    /// When the packet leaves the effect if it is not lost: `now` or later.
    pub at: Instant,
    /// Length of the packet, IP bytes.
    pub bytes: u32,
    /// ECN code point of the packet, which a policer may change.
    pub ecn: Ecn,
    /// What the effect does with the packet.
    pub fate: Fate,
}

/// What an effect does with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The packet goes on.
    #[default]
    GoesOn,
    /// The packet is lost.
    Lost,
    /// The packet goes on, followed by a copy.
    Copied,
    /// The packet goes on with a wrong checksum: its host will discard it.
    Corrupted,
    /// The packet is held back until this number of later packets has passed it, or until this
    /// time.
    Held(u32, Instant),
}

impl Passing {
    /// A packet that reaches the effect at `now` and, unless changed, goes on at once.
    pub fn new(now: Instant, bytes: u32, ecn: Ecn) -> Self {
        Passing { now, at: now, bytes, ecn, fate: Fate::GoesOn }
    }
}

/// An effect on packets: decides about each packet, in the order of time.
pub trait Effect: Send {
    /// Decides about a packet: may delay it, mark it, or set its fate.
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng);
}

/// The kind of effect with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    EFFECTS.iter().find(|entry| entry.about.name == name)
}

/// Kind of a parameter that is a share of packets, from 0 to 1.
pub(crate) const SHARE: Kind = Kind::from(Unit::None, 0.0, 1.0);
/// Kind of a parameter that is a time, zero included.
pub(crate) const TIME: Kind = Kind::from(Unit::Time, 0.0, 1e6);
/// Kind of a parameter that is a time above zero.
pub(crate) const SPAN: Kind = Kind::above(Unit::Time, 0.0, 1e6);

/// The parameter `correlation`: how much a random number depends on the last one.
pub(crate) const CORRELATION: Field =
    Field::new("correlation", Kind::from(Unit::None, 0.0, 0.99), Value::Real(0.0))
        .meaning(
            "Share of the last random number in the next one, as netem computes it: \
             the spread of the numbers shrinks with it, so that a share is met only at 0.",
        )
        .source("tc-netem(8); sch_netem.c, get_crandom");

/// The parameter `keep_order`: whether packets stay in their order.
pub(crate) const KEEP_ORDER: Field = Field::new("keep_order", Kind::Switch, Value::Switch(true))
    .meaning(
        "Whether a packet whose delay is shorter waits for those before it; if not, it overtakes \
             them, as in netem.",
    )
    .source("constructed: a link keeps the order of its packets");

/// The parameter `repeat`: the time after which tables of steps begin anew.
pub(crate) const REPEAT: Field = Field::new("repeat", SPAN, Value::Unset)
    .meaning("After which time the steps begin anew; without it the last one lasts.")
    .source("constructed");

/// Delays packets; with `keep`, no packet overtakes an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    keep: bool,
    last: Instant,
}

impl Order {
    pub(crate) fn new(params: &Params) -> Self {
        Order { keep: params.switch("keep_order"), last: Instant::ZERO }
    }

    /// Delays a packet by `seconds`; a negative delay counts as zero.
    pub(crate) fn delay(&mut self, packet: &mut Passing, seconds: f64) {
        let nanos = (seconds.clamp(0.0, 1e9) * 1e9 + 0.5) as u64;
        let at = packet.at + Duration::from_nanos(nanos);
        packet.at = if self.keep { at.max(self.last) } else { at };
        self.last = self.last.max(packet.at);
    }
}

#[cfg(test)]
mod tests;
