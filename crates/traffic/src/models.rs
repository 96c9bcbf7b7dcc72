//! Traffic models as bundles of named distributions, for describing and drawing them.

use std::sync::Arc;

use packet::units::Unit;

use crate::distribution::{Affine, Distribution};
use crate::web::{archive, http, loops, mah, packmime, threegpp, unc, webtraf};

/// A bundle of named distributions.
pub struct Model {
    /// Name of the model in `describe`.
    pub name: &'static str,
    /// The application that draws from it, by its name in the registry.
    pub app: &'static str,
    /// Makes the variables of the model.
    pub variables: fn() -> Vec<Variable>,
}

/// One variable of a model.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name of the variable.
    pub name: &'static str,
    /// Unit of the variable's values.
    pub unit: Unit,
    /// Distribution of the variable's values.
    pub distribution: Arc<dyn Distribution>,
}

impl Variable {
    /// A variable with this name, unit and distribution.
    pub fn new(name: &'static str, unit: Unit, distribution: Arc<dyn Distribution>) -> Self {
        Variable { name, unit, distribution }
    }

    /// A distribution times a factor.
    pub(crate) fn scaled(of: &Arc<dyn Distribution>, times: f64) -> Arc<dyn Distribution> {
        Arc::new(Affine { inner: Arc::clone(of), times, plus: 0.0 })
    }
}

/// Every model, in the order of the documentation.
pub static MODELS: &[Model] = &[
    mah::MODEL,
    unc::MODEL,
    packmime::MODEL,
    threegpp::MODEL,
    webtraf::MODEL,
    archive::MODEL,
    http::MODEL,
    loops::MODEL,
];

/// The model called `name`.
pub fn model(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}
