//! Changes of a link's rate, as a scenario describes them: steps, a trace of opportunities, or a
//! model from which such a trace is drawn.

use packet::params::Params;
use packet::units::{self, Unit};
use packet::{Rate, Rng};
use record::Window;
use serde_json::{Map, Value as Json, json};

use crate::effect::timed::Timed;
use crate::error::ScenarioError;
use crate::port::capacity::{
    Changing, Listed, OPPORTUNITY_BYTES, Opportunities, Schedule, Steps, Walk, WalkSettings,
};
use crate::scenario::effects::Effect;
use crate::scenario::recording::{self, Recording};
use crate::scenario::schema;
use crate::scenario::section::Section;
use crate::topology::Direction;

/// Largest time (s) and rate in a table, and its largest numbers of steps and opportunities. Longer
/// times would lose nanoseconds when they are written.
const MOST_S: f64 = 1e6;
const MOST_BITS_PER_S: f64 = 1e15;
const MOST_STEPS: usize = 1_000_000;
const MOST_OPPORTUNITIES: usize = 4_000_000;
/// Value of `rate_trace` for a rate that does not change although its access has changes.
const CONSTANT: &str = "none";

/// Changes of a rate.
#[derive(Clone, Debug)]
pub enum Changes {
    /// A table of steps, which may repeat.
    Steps {
        /// Begin (ns) and rate (bit/s) of each step, as written.
        table: Vec<(u64, u64)>,
        /// Time after which the table repeats, ns.
        period: Option<u64>,
        /// The capacity over time that these numbers describe, in the form for computations.
        steps: Steps,
    },
    /// A list of transmission opportunities.
    Trace {
        /// Name of the file from which the list was read, if there is one.
        file: Option<String>,
        /// Times of the opportunities, ms.
        milliseconds: Vec<u64>,
        /// Bytes that leave at each opportunity, if the scenario gives their number.
        bytes: Option<u64>,
        /// The capacity over time that these numbers describe, in the form for computations.
        listed: Listed,
    },
    /// Transmission opportunities drawn from a model; see [`schema::TRACE`].
    Drawn(Params),
}

impl Changes {
    /// The nominal rate, for code that needs one number: the mean of steps that repeat and of
    /// traces, the first positive rate of other steps; `None` where the scenario must give it.
    fn nominal(&self) -> Option<Rate> {
        let rate = |bits: f64| Rate::from_bits_per_s((bits + 0.5).max(1.0) as u64);
        match self {
            Changes::Steps { table, period: None, .. } => {
                table.iter().find(|step| step.1 > 0).map(|step| Rate::from_bits_per_s(step.1))
            }
            Changes::Steps { steps, .. } => Some(rate(steps.mean_bits_per_s())),
            Changes::Trace { listed, .. } => Some(rate(listed.mean_bits_per_s())),
            Changes::Drawn(_) => None,
        }
    }

    /// The line's capacity over time. `middle` is the nominal rate; a model draws from `rng`.
    pub fn capacity(&self, middle: Rate, rng: Rng, window: Window) -> Changing {
        let (from, to) = window.nanos();
        match self {
            Changes::Steps { steps, .. } => Changing::steps(steps.clone(), window),
            Changes::Trace { listed, .. } => {
                let schedule = Schedule::Listed(listed.clone());
                Changing::opportunities(Opportunities::new(schedule), window)
            }
            Changes::Drawn(params) => {
                let settings = WalkSettings {
                    middle_bits_per_s: middle.bits_per_s() as f64,
                    volatility_bits_per_s: params.real("volatility"),
                    outage_s: params.real("outage"),
                };
                let walk = Walk::new(&settings, rng, from, to);
                Changing::opportunities(Opportunities::new(Schedule::Walk(Box::new(walk))), window)
            }
        }
    }

    /// Whether the capacity differs from seed to seed.
    pub fn is_drawn(&self) -> bool {
        matches!(self, Changes::Drawn(_))
    }

    /// Writes the fields that describe the changes; their names begin with `prefix`.
    pub(super) fn write(&self, prefix: &str, object: &mut Map<String, Json>) {
        let time = |nanos: u64| json!(format!("{} s", nanos as f64 / 1e9));
        match self {
            Changes::Steps { table, period, .. } => {
                let row = |step: &(u64, u64)| json!([time(step.0), format!("{} bit/s", step.1)]);
                object.insert(format!("{prefix}rate_steps"), table.iter().map(row).collect());
                if let Some(period) = period {
                    object.insert(format!("{prefix}rate_repeat"), time(*period));
                }
            }
            Changes::Trace { file, milliseconds, bytes, .. } => {
                let lines: Vec<String> = milliseconds.iter().map(u64::to_string).collect();
                let mut trace = Map::new();
                if let Some(file) = file {
                    trace.insert("file".into(), json!(file));
                }
                trace.insert("text".into(), json!(lines.join("\n")));
                if let Some(bytes) = bytes {
                    trace.insert("bytes".into(), json!(bytes));
                }
                object.insert(format!("{prefix}rate_trace"), Json::Object(trace));
            }
            Changes::Drawn(params) => {
                let trace = Json::Object(testvec::parameters::write(params));
                object.insert(format!("{prefix}rate_trace"), trace);
            }
        }
    }

    /// Writes into a link's JSON that its rate is constant.
    pub(super) fn write_none(prefix: &str, object: &mut Map<String, Json>) {
        object.insert(format!("{prefix}rate_trace"), json!(CONSTANT));
    }
}

/// Removes the changes of both directions from a link's table, and inserts the nominal rates that
/// follow from them. The reverse direction changes as the forward one does, unless the table gives
/// a rate of the reverse direction. Columns of a recorded line that hold delays or losses become
/// effects.
pub(super) fn take(
    path: &str,
    table: &mut Map<String, Json>,
) -> Result<([Option<Changes>; 2], Vec<Effect>), ScenarioError> {
    let own = ["rate", "rate_steps", "rate_trace"].map(|name| format!("reverse_{name}"));
    let separate = own.iter().any(|name| table.contains_key(name));
    let mut recorded = [Vec::new(), Vec::new()];
    let [of_forward, of_reverse] = &mut recorded;
    let forward = read(path, Direction::Forward.prefix(), table, of_forward)?;
    let reverse = read(path, Direction::Reverse.prefix(), table, of_reverse)?;
    if !separate {
        recorded[1] = recorded[0].clone();
    }
    let effects = Direction::BOTH.into_iter().zip(recorded).flat_map(|(direction, columns)| {
        columns.into_iter().map(move |(kind, values)| Effect::of_table(kind, values, direction))
    });
    let effects = effects.collect();
    Ok(([forward.clone(), if separate { reverse } else { forward }], effects))
}

fn read(
    path: &str,
    prefix: &str,
    table: &mut Map<String, Json>,
    recorded: &mut Vec<(&'static str, Timed)>,
) -> Result<Option<Changes>, ScenarioError> {
    let mut take = |name: &str| {
        let name = format!("{prefix}{name}");
        let at = format!("{path}.{name}");
        (table.remove(&name), at)
    };
    let (steps, (repeat, repeat_path), trace) =
        (take("rate_steps"), take("rate_repeat"), take("rate_trace"));
    let trace = (trace.0.filter(|json| json.as_str() != Some(CONSTANT)), trace.1);
    if repeat.is_some() && steps.0.is_none() {
        return Err(ScenarioError(format!(
            "{repeat_path}: there are no steps to repeat; give {prefix}rate_steps as well"
        )));
    }
    let changes = match (steps, trace) {
        ((None, _), (None, _)) => return Ok(None),
        ((Some(_), steps), (Some(_), _)) => {
            return Err(ScenarioError(format!(
                "{steps}: the link has a trace as well; give one of {prefix}rate_steps and {prefix}rate_trace"
            )));
        }
        ((Some(json), at), _) => read_steps(&at, &json, repeat.as_ref(), &repeat_path)?,
        (_, (Some(json), at)) => read_trace(&at, &json, recorded)?,
    };
    let name = format!("{prefix}rate");
    if let (false, Some(rate)) = (table.contains_key(&name), changes.nominal()) {
        table.insert(name, json!(format!("{} bit/s", rate.bits_per_s())));
    } else if !table.contains_key(&name) {
        return Err(ScenarioError(format!(
            "{path}.{name}: missing; the model walks around it, so write for example {name} = \"12 Mbit/s\""
        )));
    }
    Ok(Some(changes))
}

fn quantity(at: &str, json: &Json, unit: Unit, most: f64) -> Result<f64, ScenarioError> {
    let text = json.as_str().ok_or_else(|| {
        ScenarioError(format!("{at}: {json} has no unit; write {}", unit.example()))
    })?;
    let value = units::parse(text, unit).map_err(|why| ScenarioError(format!("{at}: {why}")))?;
    if (0.0..=most).contains(&value) {
        return Ok(value);
    }
    let suffix = unit.suffix();
    Err(ScenarioError(format!("{at}: \"{text}\" is not between 0{suffix} and {most}{suffix}")))
}

fn nanos(at: &str, json: &Json) -> Result<u64, ScenarioError> {
    Ok((quantity(at, json, Unit::Time, MOST_S)? * 1e9 + 0.5) as u64)
}

fn read_steps(
    at: &str,
    json: &Json,
    repeat: Option<&Json>,
    repeat_path: &str,
) -> Result<Changes, ScenarioError> {
    let shape = || {
        ScenarioError(format!(
            "{at}: must be a list of pairs; write for example [[\"0 s\", \"10 Mbit/s\"], [\"30 s\", \"2 Mbit/s\"]]"
        ))
    };
    let rows = json.as_array().ok_or_else(shape)?;
    if rows.len() > MOST_STEPS {
        return Err(ScenarioError(format!(
            "{at}: {} steps are too many; at most {MOST_STEPS}",
            rows.len()
        )));
    }
    let mut table = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let [time, rate] = row.as_array().map(Vec::as_slice).unwrap_or(&[]) else {
            return Err(shape());
        };
        let at = format!("{at}.{i}");
        let rate = quantity(&at, rate, Unit::Rate, MOST_BITS_PER_S)?;
        table.push((nanos(&at, time)?, (rate + 0.5) as u64));
    }
    let period = repeat.map(|json| nanos(repeat_path, json)).transpose()?;
    let steps = Steps::new(&table, period).map_err(|why| ScenarioError(format!("{at}: {why}")))?;
    Ok(Changes::Steps { table, period, steps })
}

fn read_trace(
    at: &str,
    json: &Json,
    recorded: &mut Vec<(&'static str, Timed)>,
) -> Result<Changes, ScenarioError> {
    let wrong = |why: String| ScenarioError(format!("{at}: {why}"));
    let mut section = Section::of(at, json)?;
    if section.has("model") {
        return Ok(Changes::Drawn(section.rest(schema::TRACE, &[])?));
    }
    let file = section.text("file")?;
    let text = section.text("text")?;
    let given = section.rest(schema::TRACE_FILE, &["file", "text", "model"])?;
    let text = text.ok_or_else(|| wrong(recording::NO_TEXT.into()))?;
    let wrong =
        |why: String| ScenarioError(format!("{}: {why}", recording::place(at, file.as_deref())));
    let bytes = given.given("bytes").then(|| given.whole("bytes"));
    if recording::is_recording(&text) {
        if bytes.is_some() {
            return Err(wrong(
                "bytes are those of an opportunity, and the file has a rate; leave them out".into(),
            ));
        }
        let recording = Recording::parse(&text).map_err(wrong)?;
        return read_recording(&recording, recorded).map_err(wrong);
    }
    let milliseconds = opportunities(&text).map_err(wrong)?;
    let listed = Listed::new(&milliseconds).map_err(wrong)?;
    let listed = listed.of_bytes(bytes.unwrap_or(OPPORTUNITY_BYTES));
    Ok(Changes::Trace { file, milliseconds, bytes, listed })
}

/// Reads the numbers, in ms, of a trace in Mahimahi's format.
///
/// # Errors
/// A sentence, if a line is no such number, or if there are too many lines.
pub(super) fn opportunities(text: &str) -> Result<Vec<u64>, String> {
    let lines = text.lines().map(str::trim).enumerate();
    let mut milliseconds = Vec::new();
    for (i, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let ms = line.parse().ok().filter(|ms| *ms as f64 <= MOST_S * 1e3);
        milliseconds.push(ms.ok_or_else(|| {
            let shown: String = line.chars().take(20).collect();
            format!(
                "line {}, {shown:?}, is not a whole number of milliseconds up to 10^9; give one a line",
                i + 1
            )
        })?);
    }
    if milliseconds.len() > MOST_OPPORTUNITIES {
        let count = milliseconds.len();
        return Err(format!("{count} lines are too many; at most {MOST_OPPORTUNITIES}"));
    }
    Ok(milliseconds)
}

/// Reads the steps of a recorded line's rate. Its other columns are appended to `others`, each with
/// the kind of effect that it becomes.
fn read_recording(
    recording: &Recording,
    others: &mut Vec<(&'static str, Timed)>,
) -> Result<Changes, String> {
    let rate = recording.column("rate")?;
    let table: Vec<(u64, u64)> =
        rate.starts.iter().zip(&rate.values).map(|(at, rate)| (*at, (rate + 0.5) as u64)).collect();
    let steps = Steps::new(&table, rate.period)?;
    for (column, there, kind) in [
        ("delay", recording.delay.is_some(), "delay-steps"),
        ("loss", recording.loss.is_some(), "loss-steps"),
    ] {
        if there {
            others.push((kind, recording.column(column)?));
        }
    }
    Ok(Changes::Steps { table, period: rate.period, steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_steps_and_opportunities_as_can_be_kept_are_read() {
        let steps = Json::from(vec![Json::Null; MOST_STEPS]);
        let why = read_steps("a", &steps, None, "b").err().unwrap().to_string();
        assert!(why.contains("must be a list of pairs"), "not too many: {why}");
        let text = "1\n".repeat(MOST_OPPORTUNITIES);
        assert!(
            read_trace("a", &serde_json::json!({"file": "f", "text": text}), &mut Vec::new())
                .is_ok()
        );
    }

    #[test]
    fn an_opportunity_may_come_as_late_as_a_run_lasts() {
        let of = |ms: u64| {
            read_trace(
                "a",
                &serde_json::json!({"file": "f", "text": ms.to_string()}),
                &mut Vec::new(),
            )
        };
        assert!(of(1_000_000_000).is_ok() && of(1_000_000_001).is_err());
    }

    #[test]
    fn the_nominal_rate_of_steps_is_the_first_that_is_none() {
        let steps =
            serde_json::json!([["0 s", "0 bit/s"], ["1 s", "5 Mbit/s"], ["2 s", "9 Mbit/s"]]);
        let read = read_steps("a", &steps, None, "b").ok().unwrap();
        assert_eq!(read.nominal(), Some(Rate::from_bits_per_s(5_000_000)));
    }
}
