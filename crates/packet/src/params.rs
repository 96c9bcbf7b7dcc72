//! Parameters that know their name, meaning, unit, range, default and source.
//!
//! One table of [`Field`]s per variant serves four readers: the check of what a user wrote, the
//! `describe` command, the generated documentation, and the constructor. No third-party code:
//! the algorithm crates must stay usable alone.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{cell::Cell, fmt};

use crate::units::{self, Unit};
use crate::{Duration, Rate};

/// One parameter of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The field's name, the source's symbol where it has one (`min_th`, `w_q`).
    pub name: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// Its type, unit and range.
    pub kind: Kind,
    /// What holds if the user says nothing; [`Value::Unset`] where the constructor decides
    /// (say so in `meaning`).
    pub default: Value,
    /// Where the default comes from (paper, RFC section, program), or "constructed".
    pub source: &'static str,
}

/// Type, unit and range of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number in `min..=max`.
    Whole {
        /// Unit.
        unit: Unit,
        /// Smallest allowed value.
        min: u64,
        /// Largest allowed value.
        max: u64,
    },
    /// A number in `min..=max`, or above `min` if `open`. Times are in seconds, rates in bit/s.
    Real {
        /// Unit.
        unit: Unit,
        /// Lower end of the range.
        min: f64,
        /// Upper end of the range.
        max: f64,
        /// Whether `min` itself is excluded.
        open: bool,
    },
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A distribution of a quantity with this unit: one value, the name of a shipped table, or a
    /// table `{ dist = … }`. What is written is kept as it is ([`Params::distribution`]); who draws
    /// from it reads it.
    Distribution {
        /// Unit of what is drawn.
        unit: Unit,
    },
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Not given and no fixed default.
    Unset,
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Whole`].
    Whole(u64),
    /// Of [`Kind::Real`].
    Real(f64),
    /// Of [`Kind::Choice`].
    Choice(&'static str),
    /// Of [`Kind::Distribution`]: its place among what was written, see [`Params::distribution`].
    Written(u16),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unset => write!(f, "-"),
            Value::Switch(v) => write!(f, "{v}"),
            Value::Whole(v) => write!(f, "{v}"),
            Value::Real(v) => write!(f, "{v}"),
            Value::Choice(v) => write!(f, "{v}"),
            Value::Written(_) => write!(f, "a distribution"),
        }
    }
}

/// What a user wrote, before it is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text, perhaps with a unit.
    Text(String),
    /// Several values.
    List(Vec<Raw>),
    /// Values with names.
    Table(Vec<(String, Raw)>),
    /// Something that no parameter is; the word for it.
    Other(&'static str),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Bool(v) => write!(f, "{v}"),
            Raw::Number(v) => write!(f, "{v}"),
            Raw::Text(v) => write!(f, "\"{v}\""),
            Raw::List(_) => write!(f, "a list"),
            Raw::Table(_) => write!(f, "a table"),
            Raw::Other(word) => write!(f, "{word}"),
        }
    }
}

/// A mistake in the parameters: one sentence that names the field, the value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParams {
    /// The field at fault.
    pub field: String,
    /// The rest of the sentence.
    pub why: String,
}

impl BadParams {
    /// A mistake in `field`; `why` completes the sentence "field: …".
    pub fn new(field: &str, why: impl Into<String>) -> Self {
        BadParams { field: field.to_owned(), why: why.into() }
    }
}

impl fmt::Display for BadParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}
impl core::error::Error for BadParams {}

/// Checked parameters of one variant.
///
/// They also take note of what a constructor decides where the user said nothing (the `_or`
/// methods, [`Params::settle`], [`Params::ignore`]): the effective values are those that were
/// used, and no table of defaults can disagree with the code.
#[derive(Clone, Debug)]
pub struct Params {
    fields: &'static [Field],
    values: Vec<Value>,
    given: Vec<bool>,
    written: Vec<Raw>,
    effective: Vec<Cell<Value>>,
}

impl Params {
    /// Every field at its default.
    pub fn defaults(fields: &'static [Field]) -> Self {
        Params {
            fields,
            values: fields.iter().map(|f| f.default).collect(),
            given: alloc::vec![false; fields.len()],
            written: Vec::new(),
            effective: fields.iter().map(|f| Cell::new(f.default)).collect(),
        }
    }

    /// Checks what a user wrote against `fields`.
    ///
    /// # Errors
    /// An unknown field (with the nearest known name), a value of the wrong type or unit, or
    /// one outside its range.
    pub fn check(fields: &'static [Field], raw: &[(String, Raw)]) -> Result<Self, BadParams> {
        let mut params = Params::defaults(fields);
        for (name, value) in raw {
            let known = fields.iter().position(|f| f.name == name);
            let index = known.ok_or_else(|| {
                let names: Vec<&str> = fields.iter().map(|f| f.name).collect();
                BadParams::new(name, unknown("field", name, &names))
            })?;
            params.values[index] = match fields[index].read(value)? {
                Value::Written(_) => {
                    params.written.push(value.clone());
                    Value::Written((params.written.len() - 1) as u16)
                }
                plain => plain,
            };
            params.given[index] = true;
            params.effective[index].set(params.values[index]);
        }
        Ok(params)
    }

    fn index(&self, name: &str) -> usize {
        let found = self.fields.iter().position(|f| f.name == name);
        found.unwrap_or_else(|| {
            panic!("no field named {name}: the constructor and its table disagree")
        })
    }

    /// Whether the user set this field.
    pub fn given(&self, name: &str) -> bool {
        self.given[self.index(name)]
    }
    /// The value, whatever its type.
    pub fn value(&self, name: &str) -> Value {
        self.values[self.index(name)]
    }
    /// The value for a sentence: with its unit, a name in quotes.
    pub fn written(&self, name: &str) -> String {
        let index = self.index(name);
        match (self.values[index], self.fields[index].kind) {
            (Value::Choice(v), _) => format!("\"{v}\""),
            (Value::Real(v), Kind::Real { unit, .. }) => format!("{v}{}", unit.suffix()),
            (value, _) => value.to_string(),
        }
    }
    /// A switch.
    pub fn switch(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Switch(v) => v,
            other => panic!("{name} is not a switch but {other:?}"),
        }
    }
    /// A whole number.
    pub fn whole(&self, name: &str) -> u64 {
        self.whole_or(name, u64::MAX)
    }
    /// A whole number, or `otherwise` if unset ([`u64::MAX`]: there is none).
    pub fn whole_or(&self, name: &str, otherwise: u64) -> u64 {
        match self.value(name) {
            Value::Whole(v) => v,
            Value::Unset => {
                let none = otherwise == u64::MAX;
                self.settle(name, if none { Value::Unset } else { Value::Whole(otherwise) });
                otherwise
            }
            other => panic!("{name} is not a whole number but {other:?}"),
        }
    }
    /// A number.
    pub fn real(&self, name: &str) -> f64 {
        self.real_or(name, f64::NAN)
    }
    /// A number, or `otherwise` if unset (NaN: there is none).
    pub fn real_or(&self, name: &str, otherwise: f64) -> f64 {
        match self.value(name) {
            Value::Real(v) => v,
            Value::Unset => {
                let none = otherwise.is_nan();
                self.settle(name, if none { Value::Unset } else { Value::Real(otherwise) });
                otherwise
            }
            other => panic!("{name} is not a number but {other:?}"),
        }
    }
    /// A time.
    pub fn time(&self, name: &str) -> Duration {
        Duration::from_secs_f64(self.real(name))
    }
    /// A rate.
    pub fn rate(&self, name: &str) -> Rate {
        Rate::from_bits_per_s((self.real(name) + 0.5) as u64)
    }
    /// A switch, or `otherwise` if unset.
    pub fn switch_or(&self, name: &str, otherwise: bool) -> bool {
        if self.value(name) != Value::Unset {
            return self.switch(name);
        }
        self.settle(name, Value::Switch(otherwise));
        otherwise
    }
    /// One of the field's names, or `otherwise` if unset.
    pub fn choice_or(&self, name: &str, otherwise: &'static str) -> &'static str {
        if self.value(name) != Value::Unset {
            return self.choice(name);
        }
        self.settle(name, Value::Choice(otherwise));
        otherwise
    }
    /// One of the field's names.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Choice(v) => v,
            other => panic!("{name} is not a choice but {other:?}"),
        }
    }
    /// What was written for a distribution; `None` if the user said nothing.
    pub fn distribution(&self, name: &str) -> Option<&Raw> {
        match self.value(name) {
            Value::Written(place) => Some(&self.written[usize::from(place)]),
            Value::Unset => None,
            other => panic!("{name} is not a distribution but {other:?}"),
        }
    }
    /// Takes note of what a constructor took for this field in the end, whatever the user said.
    pub fn settle(&self, name: &str, value: Value) {
        self.effective[self.index(name)].set(value);
    }
    /// Takes note that this field has no effect beside the others.
    pub fn ignore(&self, name: &str) {
        self.settle(name, Value::Unset);
    }
    /// The same parameters without any note.
    pub fn without_notes(&self) -> Self {
        let effective = self.values.iter().copied().map(Cell::new).collect();
        Params { effective, ..self.clone() }
    }
    /// Every field and what the constructor took for it, in the order of the table;
    /// [`Value::Unset`] where there is no such thing or it has no effect.
    pub fn effective(&self) -> impl Iterator<Item = (&'static Field, Value)> + '_ {
        self.fields.iter().zip(self.effective.iter().map(Cell::get))
    }
    /// Name and value of every field, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Field, Value)> + '_ {
        self.fields.iter().zip(self.values.iter().copied())
    }
}

impl Field {
    /// Checks one value.
    ///
    /// # Errors
    /// A sentence with this field's name, the value, what is allowed and why.
    pub fn read(&self, raw: &Raw) -> Result<Value, BadParams> {
        let bad = |why: String| BadParams::new(self.name, why);
        match self.kind {
            Kind::Switch => match raw {
                Raw::Bool(v) => Ok(Value::Switch(*v)),
                _ => Err(bad(format!("{raw} is neither true nor false"))),
            },
            Kind::Choice(names) => match raw {
                Raw::Text(text) => match names.iter().find(|n| *n == text) {
                    Some(name) => Ok(Value::Choice(name)),
                    None => Err(bad(unknown("value", text, names))),
                },
                _ => Err(bad(format!("{raw} is not one of {}", names.join(", ")))),
            },
            Kind::Distribution { unit } => match raw {
                Raw::Number(_) | Raw::Text(_) | Raw::Table(_) => Ok(Value::Written(0)),
                _ => Err(bad(format!(
                    "{raw} is not a distribution; write one value ({}), the name of a shipped \
                     table, or {{ dist = \"exponential\", mean = … }}",
                    unit.example()
                ))),
            },
            Kind::Whole { unit, min, max } => {
                let v = quantity(self.name, raw, unit)?;
                let range = format!("between {min} and {max}");
                if v != crate::math::floor(v) {
                    return Err(bad(format!("{raw} is not a whole number {range}")));
                }
                if v < min as f64 || v > max as f64 {
                    let why = format!("{raw} is out of range: it must lie {range}");
                    return Err(bad(why));
                }
                Ok(Value::Whole(v as u64))
            }
            Kind::Real { unit, min, max, open } => {
                let v = quantity(self.name, raw, unit)?;
                let fits = v <= max && if open { v > min } else { v >= min };
                if fits {
                    Ok(Value::Real(v))
                } else {
                    Err(bad(range_sentence(raw, unit, (min, max), open)))
                }
            }
        }
    }
}

/// A number with a unit as people write it, in base units (seconds, bit/s, bytes, packets, plain).
///
/// # Errors
/// A sentence with the field's name, if a unit is missing or of another kind or there is no number.
pub fn quantity(name: &str, raw: &Raw, unit: Unit) -> Result<f64, BadParams> {
    let bare = matches!(unit, Unit::None | Unit::Packets | Unit::Bytes | Unit::Count);
    match raw {
        Raw::Number(v) if v.is_finite() && bare => Ok(*v),
        Raw::Number(v) if !bare => Err(BadParams::new(
            name,
            format!("{v} has no unit; write for example {}", unit.example()),
        )),
        Raw::Text(text) => units::parse(text, unit).map_err(|why| BadParams::new(name, why)),
        other => Err(BadParams::new(
            name,
            format!("{other} is not a number; write for example {}", unit.example()),
        )),
    }
}

fn range_sentence(raw: &Raw, unit: Unit, (min, max): (f64, f64), open: bool) -> String {
    let (above, unit) = (if open { "above" } else { "at least" }, unit.suffix());
    if max >= 1e300 {
        format!("{raw} is out of range: it must be {above} {min}{unit}")
    } else {
        format!("{raw} is out of range: it must be {above} {min}{unit} and at most {max}{unit}")
    }
}

/// The sentence for a name that is not in a list: names the nearest if one is near.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|k| (distance(name, k), *k)).min();
    let hint = match nearest {
        Some((d, k)) if d <= 2.max(name.chars().count() / 3) => format!("; did you mean \"{k}\"?"),
        _ => String::new(),
    };
    let list = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    format!("unknown {what} \"{name}\"{hint} (known: {list})")
}

/// Number of letters to insert, delete, change, or swap with their neighbour (Damerau's distance,
/// each letter touched once).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = Vec::with_capacity(a.len() + 1);
    rows.push((0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut row = alloc::vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[
        Field {
            name: "max_p",
            meaning: "Largest early probability.",
            kind: Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: true },
            default: Value::Real(0.1),
            source: "test",
        },
        Field {
            name: "limit",
            meaning: "Room.",
            kind: Kind::Whole { unit: Unit::Packets, min: 1, max: 1_000 },
            default: Value::Unset,
            source: "test",
        },
        Field {
            name: "mode",
            meaning: "Mode.",
            kind: Kind::Choice(&["packets", "bytes"]),
            default: Value::Choice("packets"),
            source: "test",
        },
        Field {
            name: "target",
            meaning: "A time.",
            kind: Kind::Real { unit: Unit::Time, min: 0.0, max: f64::MAX, open: true },
            default: Value::Real(0.005),
            source: "test",
        },
        Field {
            name: "size",
            meaning: "A drawn size.",
            kind: Kind::Distribution { unit: Unit::Bytes },
            default: Value::Unset,
            source: "test",
        },
    ];

    fn check(name: &str, raw: Raw) -> Result<Params, String> {
        Params::check(FIELDS, &[(name.to_string(), raw)]).map_err(|e| e.to_string())
    }

    #[test]
    fn a_slip_of_the_finger_is_one_step() {
        for (a, b, steps) in [
            ("rde", "red", 1),
            ("pie", "pie2", 1),
            ("max_pp", "max_p", 1),
            ("", "ab", 2),
            ("abc", "xyz", 3),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (steps, steps), "{a} {b}");
        }
    }

    #[test]
    fn values_are_read_with_their_units() {
        assert_eq!(check("max_p", Raw::Text("1/8".into())).unwrap().real("max_p"), 0.125);
        assert_eq!(check("limit", Raw::Text("480 packets".into())).unwrap().whole("limit"), 480);
        let params = check("target", Raw::Text("20 ms".into())).unwrap();
        assert_eq!(params.time("target"), Duration::from_millis(20));
        assert!(params.given("target") && !params.given("mode"));
        assert_eq!(params.whole_or("limit", 9), 9);
        assert_eq!(params.choice("mode"), "packets");
    }

    #[test]
    fn what_a_constructor_decides_is_noted_beside_what_was_written() {
        let params = check("target", Raw::Text("20 ms".into())).unwrap();
        let shown = |params: &Params| -> Vec<String> {
            params.effective().map(|(field, value)| format!("{} {value}", field.name)).collect()
        };
        assert_eq!(
            shown(&params),
            ["max_p 0.1", "limit -", "mode packets", "target 0.02", "size -"]
        );
        assert_eq!(params.whole("limit"), u64::MAX);
        assert_eq!(shown(&params)[1], "limit -");
        assert_eq!(params.whole_or("limit", 9), 9);
        params.settle("max_p", Value::Real(0.5));
        params.ignore("mode");
        assert_eq!(shown(&params), ["max_p 0.5", "limit 9", "mode -", "target 0.02", "size -"]);
        assert_eq!((params.real("max_p"), params.value("limit")), (0.1, Value::Unset));
        assert_eq!(shown(&params.without_notes())[..2], ["max_p 0.1", "limit -"]);
    }

    #[test]
    fn every_mistake_is_one_sentence_with_the_remedy() {
        let why = |name: &str, raw| check(name, raw).unwrap_err();
        assert_eq!(
            why("max_pp", Raw::Number(0.1)),
            "max_pp: unknown field \"max_pp\"; did you mean \"max_p\"? (known: max_p, limit, mode, target, size)"
        );
        assert_eq!(
            why("max_p", Raw::Number(1.5)),
            "max_p: 1.5 is out of range: it must be above 0 and at most 1"
        );
        assert_eq!(
            why("limit", Raw::Number(0.0)),
            "limit: 0 is out of range: it must lie between 1 and 1000"
        );
        assert_eq!(
            why("limit", Raw::Number(1.5)),
            "limit: 1.5 is not a whole number between 1 and 1000"
        );
        assert!(why("limit", Raw::Text("5 ms".into())).contains("its unit measures time"));
        assert!(why("mode", Raw::Text("byte".into())).contains("did you mean \"bytes\""));
        assert!(why("target", Raw::Number(5.0)).contains("has no unit"));
        assert!(why("max_p", Raw::Other("a list")).contains("not a number"));
    }

    #[test]
    fn a_distribution_is_kept_as_it_was_written() {
        let table = Raw::Table(alloc::vec![("dist".into(), Raw::Text("uniform".into()))]);
        for raw in [Raw::Number(5.0), Raw::Text("60 kB".into()), table] {
            let params = check("size", raw.clone()).unwrap();
            assert_eq!(params.distribution("size"), Some(&raw));
            assert!(params.given("size"));
        }
        assert_eq!(Params::defaults(FIELDS).distribution("size"), None);
        let why = check("size", Raw::List(Vec::new())).unwrap_err();
        assert_eq!(
            why,
            "size: a list is not a distribution; write one value (60000 or \"60 kB\"), the name of a \
             shipped table, or { dist = \"exponential\", mean = … }"
        );
    }

    #[test]
    fn quantities_are_read_alone() {
        assert_eq!(quantity("x", &Raw::Text("60 kB".into()), Unit::Bytes), Ok(60_000.0));
        assert_eq!(quantity("x", &Raw::Number(7.0), Unit::Count), Ok(7.0));
        let why = quantity("a.b", &Raw::Number(7.0), Unit::Time).unwrap_err().to_string();
        assert_eq!(why, "a.b: 7 has no unit; write for example \"20 ms\"");
    }
}
