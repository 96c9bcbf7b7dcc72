//! Conversion of a C table's parameters into fields, and of parameter values into numbers for C.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use crate::c::types::{AQMLAB_CHOICE, AQMLAB_REAL, AQMLAB_SWITCH, AQMLAB_WHOLE};

/// A parameter of a table, with C strings converted; see `PluginParameter`.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) source: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) choices: &'static str,
    pub(crate) usual: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) kind: u32,
}

impl Parameter {
    /// Converts the parameter into a field.
    ///
    /// # Errors
    /// A sentence, if its unit or its kind is unknown.
    pub(crate) fn field(&self) -> Result<Field, String> {
        let name = self.name;
        let unit = Unit::named(self.unit).ok_or_else(|| {
            format!("its parameter {name} has the unit {:?}: write time, rate, packets, bytes, count or nothing", self.unit)
        })?;
        let whole = |v: f64| v.clamp(0.0, unit.most()) as u64;
        let usual = (!self.usual.is_nan()).then_some(self.usual);
        let (kind, default) = match self.kind {
            AQMLAB_REAL => (Kind::from(unit, self.least, self.most), usual.map(Value::Real)),
            AQMLAB_WHOLE => (
                Kind::whole(unit, whole(self.least), whole(self.most)),
                usual.map(|v| Value::Whole(whole(v))),
            ),
            AQMLAB_SWITCH => (Kind::Switch, usual.map(|v| Value::Switch(v != 0.0))),
            AQMLAB_CHOICE => {
                let names: &'static [&'static str] =
                    Vec::leak(self.choices.split(',').map(str::trim).collect());
                let usual = usual.and_then(|v| names.get(whole(v) as usize));
                (Kind::Choice(names), usual.map(|name| Value::Choice(name)))
            }
            other => return Err(format!("its parameter {name} is of an unknown kind, {other}")),
        };
        let default = default.unwrap_or(Value::Unset);
        Ok(Field::new(name, kind, default).meaning(self.meaning).source(self.source))
    }
}

/// The number for a value: 0 or 1 for a switch, the index of a choice, NaN if unset.
fn number((field, value): (&'static Field, Value)) -> f64 {
    match (value, field.kind) {
        (Value::Switch(v), _) => f64::from(u8::from(v)),
        (Value::Whole(v), _) => v as f64,
        (Value::Real(v), _) => v,
        (Value::Choice(v), Kind::Choice(names)) => {
            names.iter().position(|name| *name == v).map_or(f64::NAN, |place| place as f64)
        }
        _ => f64::NAN,
    }
}

/// The numbers for all values, in the order of the fields.
pub(crate) fn numbers(params: &Params) -> Vec<f64> {
    params.iter().map(number).collect()
}
