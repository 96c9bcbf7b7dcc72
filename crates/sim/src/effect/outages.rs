//! Outages: times in which the line sends nothing, and packets wait.

use packet::params::{BadParams, Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Rng};

use super::timed::Timed;
use super::timetable::{Draw, Drawn, FAR};
use super::{Built, Entry, Given, SPAN, Table};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "outages",
        summary: "Stops the line at times: packets wait in the queue until it goes on.",
        year: 2026,
        source: "constructed",
        deviations: "A packet under way goes on after the outage. What is lost in an outage is effect \
                     loss-steps with a share of 1.",
        fields: FIELDS,
    },
    tables: &[Table {
        name: "times",
        meaning: "When each outage begins and how long it lasts: [[\"0 s\", \"0 s\"], [\"10 s\", \"0.5 s\"]].",
        unit: Unit::Time,
        most: 1e6,
        column: "outage",
    }],
    acts: "on the line",
    discarded: false,
    build,
};

const FIELDS: &[Field] = &[
    Field::new("every", SPAN, Value::Real(15.0))
        .meaning("From the begin of one outage to that of the next, the mean if they are drawn. Not with times.")
        .source("Starlink reallocates every 15 s (Garcia et al., LEO-NET 2023)"),
    Field::new("length", SPAN, Value::Real(0.1))
        .meaning("How long an outage lasts, the mean if it is drawn. Not with times.")
        .source("constructed"),
    Field::new("first", Kind::from(Unit::Time, 0.0, 1e6), Value::Unset)
        .meaning("When the first outage begins; by default after one interval.")
        .source("constructed"),
    Field::new("drawn", Kind::Choice(&["no", "exponential"]), Value::Choice("no"))
        .meaning("Whether the times between outages and their lengths are drawn from exponential distributions.")
        .source("constructed"),
    Field::new("repeat", SPAN, Value::Unset)
        .meaning("After which time the listed times begin anew.")
        .source("constructed"),
];

fn build(given: &Given) -> Result<Built, BadParams> {
    let params = given.params;
    if let Some(times) = given.tables.get("times") {
        let listed = Listed { times: times.clone(), number: 0 };
        listed.check()?;
        return Ok(Built::Line(Box::new(Drawn::new(listed)), 1.0));
    }
    let [every, length] = ["every", "length"].map(|name| params.real(name));
    if length >= every {
        let why =
            format!("{length} s is not shorter than every, {every} s; the line would never send");
        return Err(BadParams::new("length", why));
    }
    let first = if params.given("first") { params.real("first") } else { every };
    let drawn = params.choice("drawn") == "exponential";
    let (first, begun) = ((first * 1e9 + 0.5) as u64, None);
    Ok(Built::Line(
        Box::new(Drawn::new(Outages {
            every,
            length,
            first,
            drawn,
            begun,
            rng: given.rng.clone(),
        })),
        1.0,
    ))
}

#[derive(Clone, Debug)]
struct Outages {
    every: f64,
    length: f64,
    first: u64,
    drawn: bool,
    begun: Option<u64>,
    rng: Rng,
}

impl Draw for Outages {
    fn next(&mut self, after: u64) -> (u64, u64) {
        let nanos = |seconds: f64| (seconds * 1e9 + 0.5).min(FAR as f64) as u64;
        let begin = match (self.begun, self.drawn) {
            (None, false) => self.first,
            (Some(begun), false) => begun + nanos(self.every),
            // The time between an outage's end and the next one's begin is memoryless.
            (None, true) => nanos(self.rng.exponential(self.first as f64 / 1e9)),
            (_, true) => after + nanos(self.rng.exponential(self.every - self.length)),
        };
        let length = if self.drawn { self.rng.exponential(self.length) } else { self.length };
        self.begun = Some(begin);
        (begin, begin + nanos(length))
    }
}

/// Outages by a table of begins and lengths.
#[derive(Clone, Debug)]
struct Listed {
    times: Timed,
    number: u64,
}

impl Listed {
    fn check(&self) -> Result<(), BadParams> {
        let ends = self.times.starts.iter().skip(1).copied();
        let ends = ends.chain([self.times.period.unwrap_or(FAR)]);
        for ((begin, length), end) in self.times.starts.iter().zip(&self.times.values).zip(ends) {
            if *begin as f64 + length * 1e9 >= end as f64 {
                let why = format!(
                    "the outage at {} s lasts {length} s, until the next one or the end of the round; shorten it",
                    *begin as f64 / 1e9
                );
                return Err(BadParams::new("times", why));
            }
        }
        Ok(())
    }
}

impl Draw for Listed {
    fn next(&mut self, _: u64) -> (u64, u64) {
        let count = self.times.starts.len() as u64;
        let (round, place) = (self.number / count, (self.number % count) as usize);
        let base = match self.times.period {
            Some(period) => round.saturating_mul(period),
            None if round > 0 => return (FAR, FAR),
            None => 0,
        };
        self.number += 1;
        let begin = (base + self.times.starts[place]).min(FAR);
        (begin, begin + (self.times.values[place] * 1e9 + 0.5) as u64)
    }
}
