//! The description of a parameter: name, meaning, type, unit, range, default and source.

use super::Value;
use crate::About;
use crate::units::Unit;

/// One parameter of a registry entry, such as a queue discipline.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name of the parameter: the symbol of its source where that has one (`min_th`, `w_q`).
    pub name: &'static str,
    /// What the parameter means, in one sentence.
    pub meaning: &'static str,
    /// Type, unit and range of the parameter.
    pub kind: Kind,
    /// Value if the user gives none; [`Value::Unset`] where the constructor chooses one, which
    /// `meaning` then says.
    pub default: Value,
    /// Where the default comes from: paper, RFC section or program, or "constructed" if it is our
    /// own choice, without a source.
    pub source: &'static str,
}

impl Field {
    /// A field called `name`, to which [`Field::meaning`] and [`Field::source`] add the rest.
    pub const fn new(name: &'static str, kind: Kind, default: Value) -> Self {
        Field { name, meaning: "", kind, default, source: "" }
    }
    /// This field, with `meaning` as the sentence that documentation shows for it.
    #[must_use]
    pub const fn meaning(self, meaning: &'static str) -> Self {
        Field { meaning, ..self }
    }
    /// This field, with `source` as the paper, RFC or program that its default comes from.
    #[must_use]
    pub const fn source(self, source: &'static str) -> Self {
        Field { source, ..self }
    }
}

/// Type, unit and range of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number in `min..=max`.
    Whole {
        /// Unit of the values.
        unit: Unit,
        /// Smallest allowed value.
        min: u64,
        /// Largest allowed value.
        max: u64,
    },
    /// A number in `min..=max`, or above `min` if `open`. Times are in seconds, rates in bit/s.
    Real {
        /// Unit of the values.
        unit: Unit,
        /// Lower end of the range.
        min: f64,
        /// Upper end of the range.
        max: f64,
        /// Whether `min` itself is excluded.
        open: bool,
    },
    /// A choice between the given names.
    Choice(&'static [&'static str]),
    /// One of the given registry entries: its name, or a table `{ name = …, … }` that also sets
    /// parameters of the entry ([`Params::variant`](super::Params::variant)).
    Variant(&'static [&'static About]),
    /// A distribution of a quantity with the given unit: one value, the name of a shipped table, or
    /// a table `{ dist = … }`. The text is kept as written
    /// ([`Params::distribution`](super::Params::distribution)); the code that draws from the
    /// distribution parses it.
    Distribution {
        /// Unit of the values that are drawn.
        unit: Unit,
    },
    /// The content of a file: a table `{ file = …, text = … }`, kept as it is
    /// ([`Params::content`](super::Params::content)).
    File,
}

impl Kind {
    /// A whole number in `min..=max`.
    pub const fn whole(unit: Unit, min: u64, max: u64) -> Self {
        Kind::Whole { unit, min, max }
    }
    /// A number in `min..=max`.
    pub const fn from(unit: Unit, min: f64, max: f64) -> Self {
        Kind::Real { unit, min, max, open: false }
    }
    /// A number above `min` and at most `max`.
    pub const fn above(unit: Unit, min: f64, max: f64) -> Self {
        Kind::Real { unit, min, max, open: true }
    }
}
