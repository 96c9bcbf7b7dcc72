//! Builds the effects of links.

use packet::{Duration, Rng};
use record::{Meter, MeterSettings, Window};

use super::Builder;
use crate::effect::timetable::All;
use crate::effect::{Built, Effect, Fate, Passing};
use crate::error::ScenarioError;
use crate::port::capacity::{Changing, Gated, Steps};
use crate::port::{EffectPort, Port};
use crate::scenario::{self, Changes, Link};
use crate::topology::Direction;

/// An effect with its name and its stream of random numbers.
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) effect: Box<dyn Effect>,
    pub(super) rng: Rng,
}

/// The effects before and behind the queue in one direction of a link.
#[derive(Default)]
pub(super) struct Effects {
    pub(super) arrival: Vec<Placed>,
    pub(super) exit: Vec<Placed>,
}

impl Effects {
    /// Indices of the elements in a link's direction, in order: effects before the queue, the port,
    /// effects behind it.
    pub(super) fn around(self, port: u32, builder: &mut Builder) -> Vec<u32> {
        let before = self.arrival.into_iter().map(|effect| builder.effect_port(effect));
        let mut places: Vec<u32> = before.collect();
        places.push(port);
        places.extend(self.exit.into_iter().map(|effect| builder.effect_port(effect)));
        places
    }
}

/// The times at which the line is open in one direction of a link, and its speed then.
pub(super) struct Gates {
    open: All,
    /// Factor by which the line is faster than its rate while it is open.
    faster: f64,
}

/// The effects of one direction, each with its index in the scenario's list and its name; the
/// second of a kind has a 2 at the end of its name. Streams of random numbers have these names too,
/// so that an effect of another kind, or a later one, does not change the draws of an effect.
fn named(link: &Link, direction: Direction) -> Vec<(usize, String, &scenario::Effect)> {
    let mut named: Vec<(usize, String, &scenario::Effect)> = Vec::new();
    for (place, effect) in link.effects.iter().enumerate().filter(|(_, e)| e.acts_on(direction)) {
        let kind = effect.entry.about.name;
        let before = named.iter().filter(|(_, _, other)| other.entry.about.name == kind).count();
        let number = if before == 0 { String::new() } else { (before + 1).to_string() };
        named.push((place, format!("{}.{kind}{number}", link.port(direction)), effect));
    }
    named
}

fn built(
    seed: u64,
    index: usize,
    link: &Link,
    direction: Direction,
) -> Result<Vec<(String, Built, Rng)>, ScenarioError> {
    let build = |(place, name, effect): (usize, String, &scenario::Effect)| {
        let rng = Rng::named(seed, &format!("effect.{name}"));
        let built = effect.build(link.rate_of(direction), rng.clone());
        let built = built.map_err(|bad| {
            ScenarioError(format!("link.{index}.effects.{place}.{}: {}", bad.field, bad.why))
        })?;
        let trace = !matches!(link.changes_of(direction), None | Some(Changes::Steps { .. }));
        if trace && matches!(built, Built::Line(..)) {
            return Err(ScenarioError(format!(
                "link.{index}.effects.{place}: {} closes the line at times, which a trace of opportunities does itself; give a rate or steps",
                effect.entry.about.name
            )));
        }
        Ok((name, built, rng))
    };
    named(link, direction).into_iter().map(build).collect()
}

/// Builds the effects that act on packets in one direction of a link.
pub(super) fn build(
    seed: u64,
    index: usize,
    link: &Link,
    direction: Direction,
) -> Result<Effects, ScenarioError> {
    let mut effects = Effects::default();
    for (name, built, rng) in built(seed, index, link, direction)? {
        match built {
            Built::Arrival(effect) => effects.arrival.push(Placed { name, effect, rng }),
            Built::Exit(effect) => effects.exit.push(Placed { name, effect, rng }),
            Built::Line(..) => {}
        }
    }
    Ok(effects)
}

/// The times at which effects close the line, if any does. An effect that cannot be built is left
/// out here, and refused elsewhere.
pub(super) fn gates(seed: u64, link: &Link, direction: Direction) -> Option<Gates> {
    let (mut open, mut faster) = (Vec::new(), 1.0);
    for (_, built, _) in built(seed, 0, link, direction).unwrap_or_default() {
        if let Built::Line(timetable, times) = built {
            open.push(timetable);
            faster *= times;
        }
    }
    (!open.is_empty()).then_some(Gates { open: All(open), faster })
}

impl Builder<'_> {
    /// Adds an effect to the elements of the network. Returns its index.
    pub(super) fn effect_port(&mut self, effect: Placed) -> u32 {
        let window = self.scenario.window();
        let meter = Meter::new(MeterSettings::counts(window));
        let port = EffectPort::new(effect.effect, effect.rng, window, meter);
        self.ports.push((Port::Effect(Box::new(port)), Duration::ZERO));
        self.names.push(effect.name);
        (self.ports.len() - 1) as u32
    }
}

impl Gates {
    /// The line's capacity over time.
    pub(super) fn capacity(self, link: &Link, direction: Direction, window: Window) -> Changing {
        let (table, period) = match link.changes_of(direction) {
            Some(Changes::Steps { table, period, .. }) => (table.clone(), *period),
            _ => (vec![(0, link.rate_of(direction).bits_per_s())], None),
        };
        let faster = |rate: u64| (rate as f64 * self.faster + 0.5) as u64;
        let table: Vec<(u64, u64)> = table.iter().map(|(at, rate)| (*at, faster(*rate))).collect();
        let steps = Steps::new(&table, period).expect("steps that were read");
        Changing::gated(Gated::new(steps, self.open), window)
    }
}

/// An effect that drops every packet: the end of the route of packets that their hosts discard.
pub(super) fn discard() -> Placed {
    struct Discard;
    impl Effect for Discard {
        fn pass(&mut self, packet: &mut Passing, _: &mut Rng) {
            packet.fate = Fate::Lost;
        }
    }
    Placed { name: "discarded".to_owned(), effect: Box::new(Discard), rng: Rng::named(0, "") }
}
