//! What a parameter is: its name, meaning, type, unit, range, default and source.

use super::Value;
use crate::About;
use crate::units::Unit;

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

impl Field {
    /// The field `name`; what it means and where its default comes from follow.
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
    /// One of these variants: its name, or a table `{ name = …, … }` that sets parameters of the
    /// variant's own as well ([`Params::variant`](super::Params::variant)).
    Variant(&'static [&'static About]),
    /// A distribution of a quantity with this unit: one value, the name of a shipped table, or a
    /// table `{ dist = … }`. What is written is kept as it is
    /// ([`Params::distribution`](super::Params::distribution)); who draws
    /// from it reads it.
    Distribution {
        /// Unit of what is drawn.
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
