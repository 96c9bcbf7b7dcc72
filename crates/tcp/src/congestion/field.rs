//! Parameters of controls: shorter ways to write a [`Field`].

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

/// A number above the lower end of its range.
pub(super) const fn number(
    name: &'static str,
    meaning: &'static str,
    (min, max): (f64, f64),
    default: f64,
    source: &'static str,
) -> Field {
    let kind = Kind::Real { unit: Unit::None, min, max, open: min == 0.0 };
    Field { name, meaning, kind, default: Value::Real(default), source }
}

/// A number from 0 to 1.
pub(super) const fn share(
    name: &'static str,
    meaning: &'static str,
    default: f64,
    source: &'static str,
) -> Field {
    let kind = Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: false };
    Field { name, meaning, kind, default: Value::Real(default), source }
}

/// A time, seconds.
pub(super) const fn time(
    name: &'static str,
    meaning: &'static str,
    (min, max): (f64, f64),
    default: f64,
    source: &'static str,
) -> Field {
    let kind = Kind::Real { unit: Unit::Time, min, max, open: min == 0.0 };
    Field { name, meaning, kind, default: Value::Real(default), source }
}

/// A whole number of segments or round trips.
pub(super) const fn whole(
    name: &'static str,
    meaning: &'static str,
    unit: Unit,
    (min, max): (u64, u64),
    default: u64,
    source: &'static str,
) -> Field {
    let kind = Kind::Whole { unit, min, max };
    Field { name, meaning, kind, default: Value::Whole(default), source }
}

/// True or false.
pub(super) const fn switch(
    name: &'static str,
    meaning: &'static str,
    default: bool,
    source: &'static str,
) -> Field {
    Field { name, meaning, kind: Kind::Switch, default: Value::Switch(default), source }
}
