//! Distributions over a list of values.

use super::Distribution;
use super::parse::{BadTable, rows};

/// Largest permitted difference between 1 and the sum of a table's probabilities, which are rounded
/// where they are printed.
const SUM_TOLERANCE: f64 = 1e-6;

/// A distribution over finitely many values.
#[derive(Clone, Debug, PartialEq)]
pub struct Discrete {
    /// Each value, with the probability of it or a smaller one; the last probability is exactly 1.
    steps: Vec<(f64, f64)>,
}

impl Discrete {
    /// A distribution from text: `#` comments, the header `value,prob`, then the rows in
    /// increasing order of value. The probabilities are normalised.
    ///
    /// # Errors
    /// If a cell is not a number, a probability is negative, values do not grow, or the sum differs
    /// from 1 by more than 1e-6; with the line of the text.
    pub fn parse(text: &str) -> Result<Self, BadTable> {
        let rows = rows(text, [Some("value"), Some("prob")])?;
        Discrete::from_rows(rows.iter().map(|row| (row.cells, row.line)))
    }

    /// A distribution from values and their probabilities, the values growing.
    ///
    /// # Errors
    /// As [`Discrete::parse`]; the error's line is the number of the pair, from 1.
    pub fn new(pairs: &[(f64, f64)]) -> Result<Self, BadTable> {
        if pairs.is_empty() {
            return Err(BadTable::new(1, "there is no value"));
        }
        Discrete::from_rows(pairs.iter().map(|&(value, prob)| [value, prob]).zip(1..))
    }

    fn from_rows(rows: impl Iterator<Item = ([f64; 2], usize)>) -> Result<Self, BadTable> {
        let mut steps: Vec<(f64, f64)> = Vec::new();
        let (mut sum, mut last) = (0.0, 1);
        for ([value, prob], line) in rows {
            last = line;
            let bad = |why: String| Err(BadTable::new(line, why));
            if prob < 0.0 {
                return bad(format!("the probability is {prob}, but it must not be negative"));
            }
            if let Some(&(before, _)) = steps.last()
                && value <= before
            {
                return bad(format!("the value must grow, but {value} follows {before}"));
            }
            sum += prob;
            steps.push((value, sum));
        }
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(BadTable::new(last, format!("the probabilities sum to {sum}, not to 1")));
        }
        for step in &mut steps {
            step.1 /= sum;
        }
        Ok(Discrete { steps })
    }

    /// The values with their probabilities.
    pub fn values(&self) -> impl Iterator<Item = (f64, f64)> {
        let mut before = 0.0;
        self.steps
            .iter()
            .map(move |&(value, up_to)| (value, up_to - std::mem::replace(&mut before, up_to)))
    }
}

impl Distribution for Discrete {
    fn quantile(&self, u: f64) -> f64 {
        let first_above = self.steps.partition_point(|&(_, up_to)| up_to <= u);
        self.steps[first_above.min(self.steps.len() - 1)].0
    }

    fn below(&self, x: f64) -> f64 {
        let first_not_below = self.steps.partition_point(|&(value, _)| value < x);
        if first_not_below == 0 { 0.0 } else { self.steps[first_not_below - 1].1 }
    }

    fn mean(&self) -> f64 {
        self.values().map(|(value, prob)| value * prob).sum()
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.values().take_while(|&(value, _)| value < x).map(|(value, prob)| value * prob).sum()
    }

    fn variance(&self) -> f64 {
        let mean = self.mean();
        let square = |value: f64| {
            let off = value - mean;
            off * off
        };
        self.values().map(|(value, prob)| square(value) * prob).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_running_sum_above_u_decides() {
        let d = Discrete::parse("value,prob\n1,0.5\n3,0.25\n8,0.25\n").unwrap();
        let cases = [(0.0, 1.0), (0.4999, 1.0), (0.5, 3.0), (0.7499, 3.0), (0.75, 8.0), (1.0, 8.0)];
        for (u, value) in cases {
            assert_eq!(d.quantile(u), value, "u = {u}");
        }
        assert_eq!(d.mean(), 0.5 + 0.75 + 2.0);
        assert_eq!((d.below(1.0), d.below(1.5), d.below(8.0), d.below(9.0)), (0.0, 0.5, 0.75, 1.0));
        assert_eq!([1.0, 3.0, 3.1, 9.0].map(|x| d.mean_below(x)), [0.0, 0.5, 1.25, 3.25]);
    }

    #[test]
    fn a_value_may_have_no_probability() {
        let d = Discrete::parse("value,prob\n1,0\n2,1\n").unwrap();
        assert_eq!((d.quantile(0.0), d.mean()), (2.0, 2.0));
    }

    #[test]
    fn printed_thirds_are_normalised() {
        let d = Discrete::parse("value,prob\n1,0.3333333\n2,0.3333333\n3,0.3333333\n").unwrap();
        assert!((d.mean() - 2.0).abs() < 1e-9);
        assert_eq!(d.quantile(1.0 - f64::EPSILON / 2.0), 3.0);
        assert_eq!(d.below(4.0), 1.0);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| Discrete::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("value,prob\n1,0.5\n2,0.49"),
            "line 3: the probabilities sum to 0.99, not to 1"
        );
        assert_eq!(
            error("# c\nvalue,prob\n1,-0.5\n2,1.5"),
            "line 3: the probability is -0.5, but it must not be negative"
        );
        assert_eq!(
            error("value,prob\n2,0.5\n2,0.5"),
            "line 3: the value must grow, but 2 follows 2"
        );
        assert_eq!(error("value,prob\n"), "line 1: no rows follow the header");
        assert_eq!(
            error("v,p\n1,1"),
            "line 1: the header is \"v,p\", but it must be \"value,prob\""
        );
    }
}
