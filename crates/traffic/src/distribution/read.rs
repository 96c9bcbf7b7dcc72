//! Reads distributions from the fields of a scenario.
//!
//! A distribution is written as one value (`"15 s"`, `4000`), as the name of a shipped table
//! (`"mah_reply_bytes"`), or as a table with `dist` and its parameters:
//!
//! | `dist` | parameters |
//! | --- | --- |
//! | `constant` | `value` |
//! | `uniform` | `min`, `max` |
//! | `exponential` | `mean` |
//! | `pareto` | `shape`, and `min` or `mean` |
//! | `lomax` | `shape`, and `scale` or `mean` (Pareto's second distribution) |
//! | `lognormal` | `median` and `sigma` (of the natural logarithm), or `mean` and `sd` |
//! | `weibull` | `shape`, and `scale` or `mean` |
//! | `table` | `text` (a CSV file's content) or `rows`; or `name`, a shipped table |
//! | `discrete` | `values`, `probs` |
//! | `mixture` | `parts`, `weights` |
//!
//! Each may add `at_least` and `at_most` (what lies outside is drawn again), `times` and `plus`
//! (in this order).

use std::sync::Arc;

use packet::params::{BadParams, Params, Raw, quantity, unknown};
use packet::units::Unit;

use super::{
    Affine, Constant, Discrete, Distribution, Exponential, Knot, LogNormal, Lomax, Mixture, Pareto,
    Table, Truncated, Uniform, Weibull, shipped,
};

type Shared = Arc<dyn Distribution>;

const NAMES: &[&str] = &[
    "constant",
    "uniform",
    "exponential",
    "pareto",
    "lomax",
    "lognormal",
    "weibull",
    "table",
    "discrete",
    "mixture",
];
const SHAPING: &[&str] = &["at_least", "at_most", "times", "plus"];

/// The distribution written for `field`, of a quantity with this unit.
///
/// # Errors
/// One sentence with the path of what is wrong (`reply.shape`), the value and the remedy.
pub fn read(field: &str, raw: &Raw, unit: Unit) -> Result<Shared, BadParams> {
    let distribution = unchecked(field, raw, unit)?;
    let bad = |why: String| Err(BadParams::new(field, why));
    let smallest = distribution.quantile(0.0);
    if smallest < 0.0 {
        return bad(format!("goes down to {smallest}, but must not be negative; add at_least = 0"));
    }
    if !distribution.mean().is_finite() {
        return bad(
            "its mean is not finite, so no load follows from it; bound it with at_most".into()
        );
    }
    Ok(distribution)
}

/// The distribution that a scenario names in `field`, or else `default`.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_or(
    params: &Params,
    field: &str,
    unit: Unit,
    default: Shared,
) -> Result<Shared, BadParams> {
    params.distribution(field).map_or(Ok(default), |raw| read(field, raw, unit))
}

/// A distribution from the content of a CSV file in the format of the shipped ones: header
/// `p,<name>,k` for quantiles, `value,prob` for a list of values.
///
/// # Errors
/// What is wrong, with the line.
pub fn parse(text: &str) -> Result<Shared, super::BadTable> {
    let content = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let header = text.lines().map(str::trim).find(content).unwrap_or("");
    if header.starts_with("value") {
        Ok(Arc::new(Discrete::parse(text)?))
    } else {
        Ok(Arc::new(Table::parse(text)?))
    }
}

fn unchecked(field: &str, raw: &Raw, unit: Unit) -> Result<Shared, BadParams> {
    match raw {
        Raw::Table(fields) => Reader { path: field, fields, unit }.read(),
        Raw::Text(name) if !name.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            named(field, name, unit)
        }
        _ => Ok(Arc::new(Constant(quantity(field, raw, unit)?))),
    }
}

fn named(field: &str, name: &str, unit: Unit) -> Result<Shared, BadParams> {
    let fits = |table: &&shipped::Shipped| table.unit == unit;
    let table = shipped::find(name).filter(|table| fits(table)).ok_or_else(|| {
        let known: Vec<&str> = shipped::TABLES.iter().filter(fits).map(|t| t.name).collect();
        BadParams::new(field, unknown("table", name, &known))
    })?;
    Ok(table.distribution())
}

/// The parameters that a scenario gives for one distribution.
struct Reader<'a> {
    path: &'a str,
    fields: &'a [(String, Raw)],
    unit: Unit,
}

impl Reader<'_> {
    fn read(&self) -> Result<Shared, BadParams> {
        let name = match self.get("dist") {
            Some(Raw::Text(name)) if NAMES.contains(&name.as_str()) => name.as_str(),
            Some(Raw::Text(name)) => return self.bad("dist", unknown("distribution", name, NAMES)),
            _ => {
                let list = NAMES.join(", ");
                return self.bad("dist", format!("is missing; choose one of {list}"));
            }
        };
        let distribution = match name {
            "constant" => Arc::new(Constant(self.needed("value", self.unit)?)),
            "uniform" => self.uniform()?,
            "exponential" => Arc::new(Exponential { mean: self.positive("mean", self.unit)? }),
            "pareto" => self.pareto()?,
            "lomax" => self.lomax()?,
            "lognormal" => self.lognormal()?,
            "weibull" => self.weibull()?,
            "table" => self.table()?,
            "discrete" => self.discrete()?,
            _ => self.mixture()?,
        };
        self.known_only(allowed(name))?;
        self.shaped(distribution)
    }

    fn get(&self, name: &str) -> Option<&Raw> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, raw)| raw)
    }

    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn bad<T>(&self, name: &str, why: impl Into<String>) -> Result<T, BadParams> {
        Err(BadParams::new(&self.at(name), why))
    }

    fn known_only(&self, allowed: &[&str]) -> Result<(), BadParams> {
        for (name, _) in self.fields {
            let known: Vec<&str> = ["dist"].iter().chain(allowed).chain(SHAPING).copied().collect();
            if !known.contains(&name.as_str()) {
                return self.bad(name, unknown("field", name, &known));
            }
        }
        Ok(())
    }

    fn given(&self, name: &str, unit: Unit) -> Result<Option<f64>, BadParams> {
        self.get(name).map(|raw| quantity(&self.at(name), raw, unit)).transpose()
    }

    fn needed(&self, name: &str, unit: Unit) -> Result<f64, BadParams> {
        match self.given(name, unit)? {
            Some(value) => Ok(value),
            None => self.bad(name, format!("is missing; write for example {}", unit.example())),
        }
    }

    fn positive(&self, name: &str, unit: Unit) -> Result<f64, BadParams> {
        let value = self.needed(name, unit)?;
        if value > 0.0 {
            Ok(value)
        } else {
            self.bad(name, format!("{value} is out of range: it must be above 0"))
        }
    }

    /// The value of one of two parameters, of which exactly one must be given; true if it is the
    /// first.
    fn either(&self, first: &str, second: &str) -> Result<(bool, f64), BadParams> {
        match (self.get(first), self.get(second)) {
            (Some(_), Some(_)) => {
                self.bad(second, format!("is given beside {first}; give one of them"))
            }
            (None, None) => self.bad(second, format!("is missing; give it or {first}")),
            (Some(_), None) => Ok((true, self.positive(first, self.unit)?)),
            (None, Some(_)) => Ok((false, self.positive(second, self.unit)?)),
        }
    }

    fn uniform(&self) -> Result<Shared, BadParams> {
        let (low, high) = (self.needed("min", self.unit)?, self.needed("max", self.unit)?);
        if low > high {
            return self.bad("min", format!("{low} is larger than max ({high}); swap them"));
        }
        Ok(Arc::new(Uniform { low, high }))
    }

    /// The shape of a power law that is given by its mean or by `other`. A shape of at most 1 has
    /// no mean: it is refused with a mean, and if nothing bounds the values.
    fn tail_index(&self, by_mean: bool, other: &str) -> Result<f64, BadParams> {
        let shape = self.positive("shape", Unit::None)?;
        if shape <= 1.0 && by_mean {
            return self.bad(
                "shape",
                format!("{shape} has no mean; give a shape above 1, or {other} instead of mean"),
            );
        }
        if shape <= 1.0 && self.get("at_most").is_none() {
            return self.bad(
                "shape",
                format!(
                    "{shape} has no mean; give a shape above 1, or bound the values with at_most"
                ),
            );
        }
        Ok(shape)
    }

    fn pareto(&self) -> Result<Shared, BadParams> {
        let (by_min, value) = self.either("min", "mean")?;
        let shape = self.tail_index(!by_min, "min")?;
        let min = if by_min { value } else { value * (shape - 1.0) / shape };
        Ok(Arc::new(Pareto { min, shape }))
    }

    fn lomax(&self) -> Result<Shared, BadParams> {
        let (by_scale, value) = self.either("scale", "mean")?;
        let shape = self.tail_index(!by_scale, "scale")?;
        let scale = if by_scale { value } else { value * (shape - 1.0) };
        Ok(Arc::new(Lomax { scale, shape }))
    }

    fn lognormal(&self) -> Result<Shared, BadParams> {
        let (by_median, value) = self.either("median", "mean")?;
        if by_median {
            let sigma = self.positive("sigma", Unit::None)?;
            return Ok(Arc::new(LogNormal { mu: packet::math::ln(value), sigma }));
        }
        Ok(Arc::new(LogNormal::with_mean(value, self.positive("sd", self.unit)?)))
    }

    fn weibull(&self) -> Result<Shared, BadParams> {
        let (by_scale, value) = self.either("scale", "mean")?;
        let shape = self.positive("shape", Unit::None)?;
        Ok(Arc::new(if by_scale {
            Weibull { shape, scale: value }
        } else {
            Weibull::with_mean(shape, value)
        }))
    }

    fn table(&self) -> Result<Shared, BadParams> {
        if let Some(Raw::Text(name)) = self.get("name") {
            return named(&self.at("name"), name, self.unit);
        }
        if let Some(Raw::Text(text)) = self.get("text") {
            let file = match self.get("file") {
                Some(Raw::Text(file)) => format!("{file}, "),
                _ => String::new(),
            };
            return parse(text).or_else(|why| self.bad("file", format!("{file}{why}")));
        }
        if self.get("file").is_some() {
            return self.bad(
                "file",
                "was not read; start the run with the aqmlab command or aqmlab.run, which read it",
            );
        }
        let knots = self.rows::<3>("rows")?;
        let knots = knots.into_iter().map(|[p, x, k]| Knot { p, x, k }).collect();
        match Table::new(knots) {
            Ok(table) => Ok(Arc::new(table)),
            Err(bad) => self.bad("rows", format!("row {}: {}", bad.line, bad.why)),
        }
    }

    fn discrete(&self) -> Result<Shared, BadParams> {
        let (values, probs) = (self.numbers("values")?, self.numbers("probs")?);
        if values.len() != probs.len() {
            let why =
                format!("{} are given for {} values; give as many", probs.len(), values.len());
            return self.bad("probs", why);
        }
        let pairs: Vec<(f64, f64)> = values.into_iter().zip(probs).collect();
        match Discrete::new(&pairs) {
            Ok(discrete) => Ok(Arc::new(discrete)),
            Err(bad) => self.bad("probs", format!("{} (value {}); mend them", bad.why, bad.line)),
        }
    }

    fn mixture(&self) -> Result<Shared, BadParams> {
        let Some(Raw::List(parts)) = self.get("parts") else {
            return self.bad("parts", "is missing; write a list of distributions");
        };
        let weights = self.numbers("weights")?;
        if parts.len() != weights.len() || parts.is_empty() {
            let why =
                format!("{} are given for {} parts; give as many", weights.len(), parts.len());
            return self.bad("weights", why);
        }
        if let Some(weight) = weights.iter().find(|&&weight| weight < 0.0) {
            return self.bad("weights", format!("{weight} is negative; a share is at least 0"));
        }
        let part = |(i, raw)| unchecked(&format!("{}.parts.{i}", self.path), raw, self.unit);
        let parts = parts.iter().enumerate().map(part).collect::<Result<Vec<_>, _>>()?;
        match Mixture::new(parts.into_iter().zip(weights).collect()) {
            Ok(mixture) => Ok(Arc::new(mixture)),
            Err(sum) => self.bad("weights", format!("sum to {sum}, not to 1; mend them")),
        }
    }

    fn list(&self, name: &str) -> Result<&[Raw], BadParams> {
        match self.get(name) {
            Some(Raw::List(items)) => Ok(items),
            Some(other) => self.bad(name, format!("{other} is not a list")),
            None => self.bad(name, "is missing; write a list of numbers"),
        }
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, BadParams> {
        let at = self.at(name);
        self.list(name)?.iter().map(|raw| number(&at, raw)).collect()
    }

    fn rows<const N: usize>(&self, name: &str) -> Result<Vec<[f64; N]>, BadParams> {
        let at = self.at(name);
        let row = |(i, raw): (usize, &Raw)| {
            let cells = match raw {
                Raw::List(cells) => {
                    cells.iter().map(|c| number(&at, c)).collect::<Result<Vec<_>, _>>()?
                }
                _ => Vec::new(),
            };
            cells.try_into().or_else(|_| {
                self.bad(name, format!("row {}: needs {N} numbers, written [p, x, k]", i + 1))
            })
        };
        self.list(name)?.iter().enumerate().map(row).collect()
    }

    /// Applies `at_least`, `at_most`, `times` and `plus`.
    fn shaped(&self, mut distribution: Shared) -> Result<Shared, BadParams> {
        let low = self.given("at_least", self.unit)?;
        let high = self.given("at_most", self.unit)?;
        if low.is_some() || high.is_some() {
            let (from, to) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::MAX));
            let field = if high.is_some() { "at_most" } else { "at_least" };
            distribution = match Truncated::new(distribution, from, to) {
                Some(kept) => Arc::new(kept),
                None => return self.bad(field, "leaves no value; widen the range"),
            };
        }
        let times =
            if self.get("times").is_some() { self.positive("times", Unit::None)? } else { 1.0 };
        let plus = self.given("plus", self.unit)?.unwrap_or(0.0);
        if times != 1.0 || plus != 0.0 {
            distribution = Arc::new(Affine { inner: distribution, times, plus });
        }
        Ok(distribution)
    }
}

fn number(at: &str, raw: &Raw) -> Result<f64, BadParams> {
    quantity(at, raw, Unit::None)
}

/// The parameters of a distribution besides those that all distributions have.
fn allowed(name: &str) -> &'static [&'static str] {
    match name {
        "constant" => &["value"],
        "uniform" => &["min", "max"],
        "exponential" => &["mean"],
        "pareto" => &["shape", "min", "mean"],
        "lomax" | "weibull" => &["shape", "scale", "mean"],
        "lognormal" => &["median", "sigma", "mean", "sd"],
        "table" => &["file", "text", "rows", "name"],
        "discrete" => &["values", "probs"],
        _ => &["parts", "weights"],
    }
}
