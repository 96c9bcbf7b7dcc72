//! The description of a user's discipline, and the registry entry made from it.

use aqm::buffer::{self, ECN, LIMIT, LIMIT_BYTES};
use aqm::{Aqm, Build, Built, Entry, Judged, Line, PerFlowState};
use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};

/// Makes a text live as long as the process, as the entry that uses it does.
pub fn text(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Kind of a user's discipline: it decides about arrivals only, or keeps a queue of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judging {
    /// The discipline decides about arrivals only. The simulator keeps the queue with its limit,
    /// and marks or drops the packets.
    Admits,
    /// The discipline keeps the queue itself.
    Holds,
}

/// The description of a user's discipline.
#[derive(Clone, Debug)]
pub struct Description {
    /// Name in scenarios and results.
    pub name: &'static str,
    /// What the discipline does, in one sentence.
    pub summary: &'static str,
    /// The paper or program that the discipline follows; empty for none.
    pub source: &'static str,
    /// Parameters of the discipline.
    pub fields: Vec<Field>,
    /// Kind of the discipline.
    pub judging: Judging,
}

/// Default limit of the simulator's queue in packets, for a discipline that only admits and gives
/// no limit.
const USUAL_LIMIT: u64 = 1_000;

impl Description {
    /// The registry entry of a discipline that only admits packets; `make` constructs it. The
    /// fields `limit`, `limit_bytes` and `ecn` of the simulator's buffer are added, unless the
    /// discipline has fields of these names and kinds, with other defaults.
    ///
    /// # Errors
    /// A sentence on what is wrong with the description.
    pub fn judge<A: Aqm + 'static>(
        mut self,
        make: impl Fn(&Params, &Line) -> Result<A, BadParams> + Send + Sync + 'static,
    ) -> Result<&'static Entry, String> {
        let usual = Field::new("limit", LIMIT, Value::Whole(USUAL_LIMIT))
            .meaning("Packets that may wait.")
            .source("constructed");
        for ours in [usual, LIMIT_BYTES, ECN] {
            match self.fields.iter().find(|field| field.name == ours.name) {
                None => self.fields.push(ours),
                Some(own) if same_kind(own.kind, ours.kind) => {}
                Some(_) => {
                    return Err(format!(
                        "its parameter {} is that of the buffer before which it stands: leave it \
                         out, or give it a default of that kind",
                        ours.name
                    ));
                }
            }
        }
        self.entry(Box::leak(Box::new(move |params: &Params, line: &Line| {
            let limit = buffer::limit(params, USUAL_LIMIT);
            let judge = make(params, line)?;
            Ok(Built::Gate(Box::new(Judged::new(judge, limit, params.switch("ecn")))))
        })))
    }

    /// The registry entry of a discipline that `build` constructs.
    ///
    /// # Errors
    /// A sentence on what is wrong with the description.
    pub fn entry(self, build: &'static Build) -> Result<&'static Entry, String> {
        check_fields(self.name, &self.fields, "aqm", "the discipline")?;
        let about = About {
            name: self.name,
            summary: self.summary,
            year: 0,
            source: self.source,
            deviations: "",
            fields: Vec::leak(self.fields),
        };
        Ok(Box::leak(Box::new(Entry {
            about,
            per_flow: PerFlowState::Nothing,
            tables: &[],
            ecn: match self.judging {
                Judging::Admits => {
                    "marks ECN-capable packets in place of dropping them, if ecn is on"
                }
                Judging::Holds => "its own",
            },
            units: "its own",
            build,
        })))
    }
}

/// Checks the names and defaults of parameters. `taken` is the scenario's key for the name of
/// `what`, which no parameter may have.
///
/// # Errors
/// A sentence on what is wrong.
pub(crate) fn check_fields(
    name: &str,
    fields: &[Field],
    taken: &str,
    what: &str,
) -> Result<(), String> {
    check_name("its name", name)?;
    for (i, field) in fields.iter().enumerate() {
        check_name("the name of a parameter", field.name)?;
        if fields[..i].iter().any(|other| other.name == field.name) {
            return Err(format!("it has two parameters {}: rename one", field.name));
        }
        if field.name == taken {
            return Err(format!("{taken} names {what}: give that parameter another name"));
        }
        if !fits(field) {
            return Err(format!(
                "the default of its parameter {} is {}, which is out of its own range",
                field.name, field.default
            ));
        }
    }
    Ok(())
}

fn same_kind(one: Kind, other: Kind) -> bool {
    match (one, other) {
        (Kind::Switch, Kind::Switch) => true,
        (Kind::Whole { unit: a, .. }, Kind::Whole { unit: b, min, max }) => {
            a == b && matches!(one, Kind::Whole { min: m, max: n, .. } if m >= min && n <= max)
        }
        _ => false,
    }
}

/// Whether the default is a value of the field.
fn fits(field: &Field) -> bool {
    match (field.kind, field.default) {
        (_, Value::Unset) | (Kind::Switch, Value::Switch(_)) => true,
        (Kind::Whole { min, max, .. }, Value::Whole(v)) => (min..=max).contains(&v),
        (Kind::Real { min, max, open, .. }, Value::Real(v)) => {
            v <= max && if open { v > min } else { v >= min }
        }
        (Kind::Choice(names), Value::Choice(name)) => names.contains(&name),
        _ => false,
    }
}

/// Checks that a name is a TOML key without quotes, of at most 60 characters.
fn check_name(what: &str, name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.len() <= 60 && name.chars().all(fits) {
        return Ok(());
    }
    Err(format!("{what} is {name:?}: write letters, digits and underscores, at most 60"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::units::Unit;

    struct Passes;
    impl Aqm for Passes {}

    fn judge(fields: Vec<Field>) -> Result<&'static Entry, String> {
        let (name, summary, source) = ("mine", "Lets everything pass.", "test");
        let description = Description { name, summary, source, fields, judging: Judging::Admits };
        description.judge(|_, _| Ok(Passes))
    }

    #[test]
    fn a_judge_has_the_buffer_of_ours() {
        let names = |entry: &Entry| entry.about.fields.iter().map(|f| f.name).collect::<Vec<_>>();
        let plain = judge(Vec::new()).unwrap();
        assert_eq!(names(plain), ["limit", "limit_bytes", "ecn"]);
        let own = Field::new("limit", LIMIT, Value::Whole(7));
        let entry = judge(vec![own]).unwrap();
        assert_eq!(Params::defaults(entry.about.fields).whole("limit"), 7);
        assert_eq!(names(entry), ["limit", "limit_bytes", "ecn"]);
    }

    #[test]
    fn a_wrong_description_is_one_sentence() {
        let field = |name, default| Field::new(name, Kind::from(Unit::None, 0.0, 1.0), default);
        let why = |fields| judge(fields).unwrap_err();
        let half = Value::Real(0.5);
        assert!(why(vec![field("p q", half)]).starts_with("the name of a parameter is \"p q\""));
        assert!(why(vec![field("p", half), field("p", half)]).contains("two parameters p"));
        assert!(why(vec![field("p", Value::Real(2.0))]).contains("is 2, which is out of"));
        assert!(why(vec![field("limit", half)]).contains("that of the buffer"));
        assert!(why(vec![field("aqm", half)]).contains("names the discipline"));
    }
}
