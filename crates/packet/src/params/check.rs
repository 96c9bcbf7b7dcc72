//! Checks values that a user wrote, and words the errors about them.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{BadParams, Field, Kind, Params, Raw, Value};
use crate::About;
use crate::units::{self, Unit};

impl Field {
    /// Checks a value that the user wrote for this field.
    ///
    /// # Errors
    /// A sentence with this field's name, the value, what is allowed and why.
    pub fn read(&self, raw: &Raw) -> Result<Value, BadParams> {
        match (self.kind, raw) {
            (Kind::Switch, Raw::Bool(v)) => Ok(Value::Switch(*v)),
            (Kind::Choice(names), Raw::Text(text)) => {
                let former =
                    FORMER_CHOICES.iter().find(|[old, new]| old == text && names.contains(new));
                let text = former.map_or(text.as_str(), |[_, new]| new);
                let found = names.iter().find(|name| **name == text);
                let name = found.ok_or_else(|| self.bad(unknown("value", text, names)))?;
                Ok(Value::Choice(name))
            }
            (Kind::Variant(known), _) => {
                self.read_variant(known, raw).map(|(about, _)| Value::Choice(about.name))
            }
            (Kind::Distribution { .. }, Raw::Number(_) | Raw::Text(_) | Raw::Table(_)) => {
                Ok(Value::Written(0))
            }
            (Kind::File, Raw::Table(fields)) if is_content(fields) => Ok(Value::Written(0)),
            (Kind::Whole { unit, .. } | Kind::Real { unit, .. }, _) => {
                self.read_number(raw, unbounded(self.name, raw, unit)?)
            }
            (kind, _) => Err(self.bad(misfit(kind, raw))),
        }
    }

    fn bad(&self, why: impl Into<String>) -> BadParams {
        BadParams::new(self.name, why)
    }

    /// Checks a number against this field's range.
    fn read_number(&self, raw: &Raw, v: f64) -> Result<Value, BadParams> {
        let out = |said: String| self.bad(format!("{said} ({})", self.in_short()));
        match self.kind {
            Kind::Whole { min, max, .. } => {
                let range = format!("between {min} and {max}");
                if v != crate::math::floor(v) {
                    return Err(self.bad(format!("{raw} is not a whole number {range}")));
                }
                if v < min as f64 || v > max as f64 {
                    return Err(out(format!("{raw} is out of range: it must lie {range}")));
                }
                Ok(Value::Whole(v as u64))
            }
            Kind::Real { unit, min, max, open } => {
                let max = max.min(unit.most());
                if !within(v, (min, max), open) {
                    return Err(out(range_sentence(raw, unit, (min, max), open)));
                }
                units::not_lost(v, unit, &raw.to_string()).map_err(|why| self.bad(why))?;
                Ok(Value::Real(v))
            }
            other => unreachable!("{other:?} is no number"),
        }
    }
}

fn within(v: f64, (min, max): (f64, f64), open: bool) -> bool {
    v <= max && if open { v > min } else { v >= min }
}

/// Whether a table gives a file's name (`file`) and its content (`text`).
fn is_content(fields: &[(String, Raw)]) -> bool {
    let text = |key: &str| fields.iter().any(|(k, v)| k == key && matches!(v, Raw::Text(_)));
    text("file") && text("text")
}

/// The error about a value whose type does not fit the field.
fn misfit(kind: Kind, raw: &Raw) -> String {
    match (kind, raw) {
        (Kind::Switch, _) => format!("{raw} is neither true nor false"),
        (Kind::Choice(names), _) => format!("{raw} is not one of {}", names.join(", ")),
        (Kind::Distribution { unit }, _) => format!(
            "{raw} is not a distribution; write one value ({}), the name of a shipped table, or \
             {{ dist = \"exponential\", mean = … }}",
            unit.example()
        ),
        (Kind::File, Raw::Text(_)) => format!(
            "the file {raw} was not read; start the run with the aqmlab command or aqmlab.run, \
             which read it"
        ),
        (Kind::File, _) => format!("{raw} is not the name of a file"),
        (other, _) => unreachable!("{other:?} is read by itself"),
    }
}

impl Field {
    /// The registry entry that a user chose, by its name or by a table that also sets parameters.
    fn read_variant(
        &self,
        known: &'static [&'static About],
        raw: &Raw,
    ) -> Result<(&'static About, Params), BadParams> {
        let bad = |why: String| self.bad(why);
        let names: Vec<&str> = known.iter().map(|about| about.name).collect();
        let fields: &[(String, Raw)] = if let Raw::Table(fields) = raw { fields } else { &[] };
        let name = match (raw, fields.iter().find(|(key, _)| key == "name")) {
            (Raw::Text(name), _) | (_, Some((_, Raw::Text(name)))) => name,
            (Raw::Table(_), _) => {
                let first = names.first().unwrap_or(&"");
                return Err(bad(format!(
                    "name is missing; write for example {{ name = \"{first}\" }}"
                )));
            }
            _ => return Err(bad(format!("{raw} is not one of {}", names.join(", ")))),
        };
        let found = known.iter().find(|about| about.name == name);
        let about = found.ok_or_else(|| bad(unknown("value", name, &names)))?;
        let own: Vec<_> = fields.iter().filter(|(key, _)| key != "name").cloned().collect();
        let at = |bad: BadParams| BadParams::new(&format!("{}.{}", self.name, bad.field), bad.why);
        Ok((about, Params::check(about.fields, &own).map_err(at)?))
    }

    /// The parameters of a variant that is written as a table; `None` for anything else.
    pub(super) fn read_table(&self, raw: &Raw) -> Result<Option<Params>, BadParams> {
        match (self.kind, raw) {
            (Kind::Variant(known), Raw::Table(_)) => {
                self.read_variant(known, raw).map(|(_, own)| Some(own))
            }
            _ => Ok(None),
        }
    }

    /// Whether a user could write this value. A value that a constructor derives may lie outside
    /// the range.
    pub fn holds(&self, value: Value) -> bool {
        match (self.kind, value) {
            (Kind::Whole { min, max, .. }, Value::Whole(v)) => (min..=max).contains(&v),
            (Kind::Real { unit, min, max, open }, Value::Real(v)) => {
                within(v, (min, max.min(unit.most())), open) && units::not_lost(v, unit, "").is_ok()
            }
            _ => true,
        }
    }

    /// The field's meaning up to its first punctuation mark, which error messages give as the
    /// reason for the range.
    fn in_short(&self) -> String {
        let first = self.meaning.split(['.', ';', ':', '(']).next().unwrap_or(self.meaning).trim();
        let mut letters = first.chars();
        let (head, rest) = (letters.next(), letters.as_str());
        match head {
            // "IP bytes" and "ECN" keep their capitals.
            Some(head) if !rest.starts_with(char::is_uppercase) => {
                head.to_lowercase().chain(rest.chars()).collect()
            }
            _ => first.into(),
        }
    }
}

/// A number with a unit as people write it, in base units (seconds, bit/s, bytes, packets, plain);
/// at most [`Unit::most`].
///
/// # Errors
/// A sentence with the field's name, if a unit is missing or of another kind, there is no number,
/// or it is too large.
pub fn quantity(name: &str, raw: &Raw, unit: Unit) -> Result<f64, BadParams> {
    let value = unbounded(name, raw, unit)?;
    units::bounded(value, unit, &raw.to_string()).map_err(|why| BadParams::new(name, why))
}

fn unbounded(name: &str, raw: &Raw, unit: Unit) -> Result<f64, BadParams> {
    let bare = unit.may_be_bare();
    match raw {
        Raw::Number(v) if v.is_finite() && bare => Ok(*v),
        Raw::Number(v) if !bare => Err(BadParams::new(
            name,
            format!("{v} has no unit; write for example {}", unit.example()),
        )),
        Raw::Text(text) => units::unbounded(text, unit).map_err(|why| BadParams::new(name, why)),
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

/// The error about an unknown name: with the most similar known name, if one is similar.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let hint = near(name, known);
    let list = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    format!("unknown {what} \"{name}\"{hint} (known: {list})")
}

/// The known name most likely meant by `name`: the one that differs in the fewest letters, if these
/// are few; otherwise the first that begins with `name`.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let few = 2.max(name.chars().count() / 3);
    let close = known.iter().map(|k| (distance(name, k), *k)).min().filter(|(d, _)| *d <= few);
    let begun = || known.iter().find(|k| name.len() >= 3 && k.starts_with(name)).copied();
    close.map(|(_, k)| k).or_else(begun)
}

/// Names that were changed: the old one and the one in force.
const RENAMED: &[[&str; 2]] = &[["flavour", "profile"]];

/// Values of choices that were changed in this version and are still read: the old one and the one in force.
const FORMER_CHOICES: &[[&str; 2]] = &[["member", "source"]];

/// `; it is called "x" now` if `name` was renamed, `; did you mean "x"?` if one of `known` is near
/// it, else nothing.
pub(crate) fn near(name: &str, known: &[&str]) -> String {
    if let Some([_, new]) = RENAMED.iter().find(|[old, new]| *old == name && known.contains(new)) {
        return format!("; it is called \"{new}\" now");
    }
    nearest(name, known).map(|k| format!("; did you mean \"{k}\"?")).unwrap_or_default()
}

/// Edit distance of two names: the number of letters to insert, delete, change, or swap with their
/// neighbour (Damerau's distance, each letter touched once).
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
}
