//! Parameters that know their name, meaning, unit, range, default and source.
//!
//! One table of [`Field`]s per registry entry serves four readers: the check of user input, the
//! `describe` command, the generated documentation, and the constructor. No third-party code is
//! used, so that the algorithm crates stay usable alone.

mod check;
mod field;
#[cfg(test)]
mod tests;

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{cell::Cell, fmt};

pub(crate) use check::near;
pub use check::{nearest, quantity, unknown};
pub use field::{Field, Kind};

use crate::{About, Duration, Rate};

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The user gave no value, and there is no fixed default.
    Unset,
    /// Value of a [`Kind::Switch`].
    Switch(bool),
    /// Value of a [`Kind::Whole`].
    Whole(u64),
    /// Value of a [`Kind::Real`].
    Real(f64),
    /// Value of a [`Kind::Choice`] or [`Kind::Variant`].
    Choice(&'static str),
    /// Value of a [`Kind::Distribution`] or [`Kind::File`]: an index into the list of texts and
    /// tables that [`Params`] keeps as the user wrote them (read by [`Params::distribution`] and
    /// [`Params::content`]).
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

/// A value as the user wrote it, before it is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// `true` or `false`.
    Bool(bool),
    /// A number without a unit.
    Number(f64),
    /// Text, perhaps with a unit.
    Text(String),
    /// A list of values.
    List(Vec<Raw>),
    /// A table: values with names.
    Table(Vec<(String, Raw)>),
    /// A value of a type that no parameter takes; holds the name of that type.
    Other(&'static str),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Bool(v) => write!(f, "{v}"),
            // Rust would write such a number with up to 300 digits: use an exponent instead.
            Raw::Number(v) if v.is_finite() && !(1e-9..1e21).contains(&v.abs()) && *v != 0.0 => {
                write!(f, "{v:e}")
            }
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
    /// Rest of the sentence after the field's name.
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

/// Checked parameters of one registry entry, such as a queue discipline.
///
/// They also record what a constructor decides where the user gave no value (the `_or` methods,
/// [`Params::settle`], [`Params::ignore`]): the effective values are those that were used, and no
/// table of defaults can disagree with the code.
#[derive(Clone, Debug)]
pub struct Params {
    fields: &'static [Field],
    values: Vec<Value>,
    given: Vec<bool>,
    written: Vec<Raw>,
    /// For each field that names a variant: the parameters in that variant's own table.
    variants: Vec<(usize, Params)>,
    effective: Vec<Cell<Value>>,
}

impl Params {
    /// Parameters with every field at its default.
    pub fn defaults(fields: &'static [Field]) -> Self {
        Params {
            fields,
            values: fields.iter().map(|f| f.default).collect(),
            given: alloc::vec![false; fields.len()],
            written: Vec::new(),
            variants: Vec::new(),
            effective: fields.iter().map(|f| Cell::new(f.default)).collect(),
        }
    }

    /// Checks the names and values that a user wrote against the table `fields`.
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
            if let Some(own) = fields[index].read_table(value)? {
                params.variants.push((index, own));
            }
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
    /// Value of a field of any type.
    pub fn value(&self, name: &str) -> Value {
        self.values[self.index(name)]
    }
    /// Value of a field as text for a sentence: a quantity with its unit, a name in quotes.
    pub fn written(&self, name: &str) -> String {
        let index = self.index(name);
        match (self.values[index], self.fields[index].kind) {
            (Value::Choice(v), _) => format!("\"{v}\""),
            (Value::Real(v), Kind::Real { unit, .. }) => format!("{v}{}", unit.suffix()),
            (value, _) => value.to_string(),
        }
    }
    /// Value of a field that is a switch.
    pub fn switch(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Switch(v) => v,
            other => panic!("{name} is not a switch but {other:?}"),
        }
    }
    /// Value of a field that is a whole number.
    pub fn whole(&self, name: &str) -> u64 {
        self.whole_or(name, u64::MAX)
    }
    /// Value of a field that is a whole number, or `otherwise` if unset. An `otherwise` of
    /// [`u64::MAX`] stands for "unlimited" and is recorded as unset.
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
    /// Value of a field that is a real number.
    pub fn real(&self, name: &str) -> f64 {
        self.real_or(name, f64::NAN)
    }
    /// Value of a field that is a real number, or `otherwise` if unset. An `otherwise` of NaN
    /// stands for "no value" and is recorded as unset.
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
    /// Value of a field that is a time.
    pub fn time(&self, name: &str) -> Duration {
        Duration::from_secs_f64(self.real(name))
    }
    /// Value of a field that is a rate.
    pub fn rate(&self, name: &str) -> Rate {
        Rate::from_bits_per_s((self.real(name) + 0.5) as u64)
    }
    /// Value of a field that is a switch, or `otherwise` if unset.
    pub fn switch_or(&self, name: &str, otherwise: bool) -> bool {
        if self.value(name) != Value::Unset {
            return self.switch(name);
        }
        self.settle(name, Value::Switch(otherwise));
        otherwise
    }
    /// Value of a field that is one of a list of names, or `otherwise` if unset.
    pub fn choice_or(&self, name: &str, otherwise: &'static str) -> &'static str {
        if self.value(name) != Value::Unset {
            return self.choice(name);
        }
        self.settle(name, Value::Choice(otherwise));
        otherwise
    }
    /// Value of a field that is one of a list of names.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Choice(v) => v,
            other => panic!("{name} is not a choice but {other:?}"),
        }
    }
    /// The variant that a field names, with the parameters of that variant; `None` if the field is
    /// unset.
    pub fn variant(&self, name: &str) -> Option<(&'static About, Params)> {
        let index = self.index(name);
        let (Kind::Variant(known), Value::Choice(chosen)) =
            (self.fields[index].kind, self.values[index])
        else {
            return None;
        };
        let about = known.iter().find(|about| about.name == chosen)?;
        let own = self.table(index).cloned();
        Some((about, own.unwrap_or_else(|| Params::defaults(about.fields))))
    }
    /// Parameters that the user set in the table of a field that names a variant; `None` if the
    /// user wrote no table.
    pub fn variant_table(&self, name: &str) -> Option<&Params> {
        self.table(self.index(name))
    }
    fn table(&self, index: usize) -> Option<&Params> {
        self.variants.iter().find(|(of, _)| *of == index).map(|(_, own)| own)
    }
    /// A distribution as the user wrote it; `None` if the user gave none.
    pub fn distribution(&self, name: &str) -> Option<&Raw> {
        match self.value(name) {
            Value::Written(place) => Some(&self.written[usize::from(place)]),
            Value::Unset => None,
            other => panic!("{name} is not a distribution but {other:?}"),
        }
    }
    /// The name of a file and its content; `None` if the user gave no file.
    pub fn content(&self, name: &str) -> Option<[&str; 2]> {
        let Some(Raw::Table(fields)) = self.distribution(name) else { return None };
        let text = |key: &str| match fields.iter().find(|(k, _)| k == key) {
            Some((_, Raw::Text(text))) => text.as_str(),
            other => panic!("{name}.{key} was checked to be text, but is {other:?}"),
        };
        Some([text("file"), text("text")])
    }
    /// These parameters with `value` for a field that the user did not set. The field still counts
    /// as not set by the user.
    #[must_use]
    pub fn with_default(&self, name: &str, value: Value) -> Self {
        let mut params = self.clone();
        let index = params.index(name);
        if !params.given[index] {
            params.values[index] = value;
            params.effective[index].set(value);
        }
        params
    }
    /// Records the value that a constructor finally used for this field, whether or not the user
    /// set it.
    pub fn settle(&self, name: &str, value: Value) {
        self.effective[self.index(name)].set(value);
    }
    /// Records that this field has no effect because of the values of other fields.
    pub fn ignore(&self, name: &str) {
        self.settle(name, Value::Unset);
    }
    /// Records that this field has no effect with the values of the others, or refuses the field if
    /// the user set it.
    ///
    /// # Errors
    /// An error that names the field, with `why` as its reason, if the user set it.
    pub fn without_effect(&self, name: &'static str, why: &str) -> Result<(), BadParams> {
        if self.given(name) {
            return Err(BadParams::new(name, why));
        }
        self.ignore(name);
        Ok(())
    }
    /// These parameters, with the effective values reset to the given ones.
    pub fn without_notes(&self) -> Self {
        let effective = self.values.iter().copied().map(Cell::new).collect();
        Params { effective, ..self.clone() }
    }
    /// Every field with the value that the constructor used, in the order of the table;
    /// [`Value::Unset`] where there is no value or the field has no effect.
    pub fn effective(&self) -> impl Iterator<Item = (&'static Field, Value)> + '_ {
        self.fields.iter().zip(self.effective.iter().map(Cell::get))
    }
    /// Name and value of every field, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Field, Value)> + '_ {
        self.fields.iter().zip(self.values.iter().copied())
    }
}
