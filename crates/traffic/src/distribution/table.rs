//! Continuous distributions given as a table of quantiles with bent segments.

use packet::math;

use super::Distribution;
use super::parse::{BadTable, rows};

/// One row of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// Cumulative probability.
    pub p: f64,
    /// The quantile of probability `p`.
    pub x: f64,
    /// Exponent of the segment that **ends** at this row: 1 is a straight line; above 1 the mass
    /// lies near the lower end, below 1 near the upper. Unused in the first row.
    pub k: f64,
}

/// A distribution given by some of its quantiles.
///
/// Between two knots the quantile is `x0 + (x1 - x0) s^k`, where `s` is the share of the way in
/// probability. The exponent lets a coarse table keep the mean of every segment, which a heavy
/// tail needs: straight lines would keep only the quantiles at the knots.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    knots: Vec<Knot>,
}

impl Table {
    /// A table from its rows.
    ///
    /// # Errors
    /// If `p` does not start at 0, grow strictly and end at 1, `x` decreases, or a `k` other
    /// than the first is not positive. The error's line is the row's number, from 1.
    pub fn new(knots: Vec<Knot>) -> Result<Self, BadTable> {
        check(knots.iter().copied().zip(1..))?;
        Ok(Table { knots })
    }

    /// A table from text: `#` comments, the header `p,<name>,k`, then the rows.
    ///
    /// # Errors
    /// As [`Table::new`], with the line of the text; also if a cell is not a number.
    pub fn parse(text: &str) -> Result<Self, BadTable> {
        let rows = rows(text, [Some("p"), None, Some("k")])?;
        let knot = |[p, x, k]: [f64; 3]| Knot { p, x, k };
        check(rows.iter().map(|row| (knot(row.cells), row.line)))?;
        Ok(Table { knots: rows.iter().map(|row| knot(row.cells)).collect() })
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.knots[self.knots.len() - 1].x
    }

    fn segments(&self) -> impl Iterator<Item = (&Knot, &Knot)> {
        self.knots.iter().zip(&self.knots[1..])
    }
}

fn check(knots: impl Iterator<Item = (Knot, usize)>) -> Result<(), BadTable> {
    let mut before: Option<Knot> = None;
    let mut last = 1;
    for (knot, line) in knots {
        check_row(knot, before).map_err(|why| BadTable::new(line, why))?;
        before = Some(knot);
        last = line;
    }
    match before {
        Some(Knot { p: 1.0, .. }) => Ok(()),
        Some(Knot { p, .. }) => {
            Err(BadTable::new(last, format!("p ends at {p}, it must end at 1")))
        }
        None => Err(BadTable::new(last, "the table has no rows")),
    }
}

fn check_row(knot: Knot, before: Option<Knot>) -> Result<(), String> {
    let Knot { p, x, k } = knot;
    let Some(before) = before else {
        return if p == 0.0 { Ok(()) } else { Err(format!("p starts at {p}, it must start at 0")) };
    };
    if p <= before.p {
        return Err(format!("p must grow from row to row, but {p} follows {}", before.p));
    }
    if p > 1.0 {
        return Err(format!("p is {p}, but a probability is at most 1"));
    }
    if x < before.x {
        return Err(format!("the value must not decrease, but {x} follows {}", before.x));
    }
    if k <= 0.0 {
        return Err(format!("k is {k}, but it must be positive (1 is a straight line)"));
    }
    Ok(())
}

impl Distribution for Table {
    fn quantile(&self, u: f64) -> f64 {
        let upper = self.knots.partition_point(|knot| knot.p <= u);
        let Some(b) = self.knots.get(upper) else {
            return self.max();
        };
        let a = self.knots[upper - 1];
        let s = (u - a.p) / (b.p - a.p);
        // Rounding must not carry a value above the upper knot.
        (a.x + (b.x - a.x) * math::pow(s, b.k)).min(b.x)
    }

    fn at_most(&self, u: f64) -> f64 {
        let upper = self.knots.partition_point(|knot| knot.p <= u);
        self.knots.get(upper).map_or(self.max(), |knot| knot.x)
    }

    fn below(&self, x: f64) -> f64 {
        let upper = self.knots.partition_point(|knot| knot.x < x);
        let Some(b) = self.knots.get(upper) else {
            return 1.0;
        };
        if upper == 0 {
            return 0.0;
        }
        let a = self.knots[upper - 1];
        a.p + (b.p - a.p) * math::pow((x - a.x) / (b.x - a.x), 1.0 / b.k)
    }

    fn mean(&self) -> f64 {
        self.segments().map(|(a, b)| (b.p - a.p) * (a.x + (b.x - a.x) / (1.0 + b.k))).sum()
    }

    fn mean_below(&self, x: f64) -> f64 {
        let part = |(a, b): (&Knot, &Knot)| {
            // Position of x within the segment, as a fraction of its probability.
            let s = if x > b.x {
                1.0
            } else if x <= a.x {
                0.0
            } else {
                math::pow((x - a.x) / (b.x - a.x), 1.0 / b.k)
            };
            (b.p - a.p) * (a.x * s + (b.x - a.x) * math::pow(s, b.k + 1.0) / (b.k + 1.0))
        };
        self.segments().map(part).sum()
    }

    fn variance(&self) -> f64 {
        let mean = self.mean();
        let square = |(a, b): (&Knot, &Knot)| {
            let (low, rise) = (a.x - mean, b.x - a.x);
            let bent = 2.0 * low * rise / (b.k + 1.0) + rise * rise / (2.0 * b.k + 1.0);
            (b.p - a.p) * (low * low + bent)
        };
        self.segments().map(square).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand_made() -> Table {
        Table::parse("# a comment\np,bytes,k\n0,10,7\n0.25,20,1\n\n0.75,20,3\n1,60,2\n").unwrap()
    }

    #[test]
    fn values_at_an_atom_are_not_below_it() {
        // Half of the probability is at 10; the rest is spread from 10 to 20.
        let atom = Table::parse("p,x,k\n0,10,1\n0.5,10,1\n1,20,1\n").unwrap();
        let below = |x| (atom.below(x), atom.mean_below(x));
        assert_eq!([below(10.0), below(20.0), below(21.0)], [(0.0, 0.0), (1.0, 12.5), (1.0, 12.5)]);
    }

    #[test]
    fn knots_and_bends_are_met_exactly() {
        let t = hand_made();
        let cases = [
            (0.0, 10.0),    // u = 0 is the first x, whatever the first k
            (0.125, 15.0),  // a straight segment
            (0.25, 20.0),   // a knot belongs to the segment above it, with s = 0
            (0.5, 20.0),    // a flat segment is an atom
            (0.75, 20.0),   // again s = 0
            (0.875, 30.0),  // s = 1/2 under k = 2: a quarter of the way
            (0.9375, 42.5), // s = 3/4: nine sixteenths
        ];
        for (u, x) in cases {
            assert_eq!(t.quantile(u), x, "u = {u}");
        }
        let last = 1.0 - f64::EPSILON / 2.0;
        assert!(t.quantile(last) <= 60.0 && t.quantile(last) > 59.999);
        assert_eq!(t.max(), 60.0);
        assert_eq!(t.quantile(1.0), 60.0);
    }

    #[test]
    fn no_value_is_above_the_knot_that_follows() {
        let t = hand_made();
        for (u, bound) in [(0.0, 20.0), (0.1, 20.0), (0.25, 20.0), (0.75, 60.0), (1.0, 60.0)] {
            assert_eq!(t.at_most(u), bound, "{u}");
        }
    }

    #[test]
    fn the_mean_is_exact() {
        // By hand: 0.25 (10 + 10/2) + 0.5 * 20 + 0.25 (20 + 40/3).
        let by_hand = 3.75 + 10.0 + 5.0 + 10.0 / 3.0;
        assert!((hand_made().mean() - by_hand).abs() < 1e-12);
        let t = hand_made();
        let n = 1_000_000;
        let fine = (0..n).map(|i| t.quantile((f64::from(i) + 0.5) / f64::from(n))).sum::<f64>();
        assert!((fine / f64::from(n) - by_hand).abs() < 1e-6);
    }

    #[test]
    fn below_counts_what_is_strictly_less() {
        let t = hand_made();
        assert_eq!(t.below(9.0), 0.0);
        assert_eq!(t.below(10.0), 0.0);
        assert_eq!(t.below(15.0), 0.125);
        assert_eq!(t.below(20.0), 0.25); // the atom at 20 is not below 20
        assert!((t.below(20.0 + 1e-9) - 0.75).abs() < 1e-4);
        assert!((t.below(30.0) - 0.875).abs() < 1e-12);
        assert_eq!(t.below(60.1), 1.0);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| Table::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "line 1: no header; it must be \"p,<name>,k\"");
        assert_eq!(
            error("# c\np,x\n0,1\n"),
            "line 2: the header is \"p,x\", but it must be \"p,<name>,k\""
        );
        assert_eq!(error("p,x,k\n# nothing\n"), "line 2: no rows follow the header");
        assert_eq!(error("p,x,k\n0.1,1,1\n1,2,1"), "line 2: p starts at 0.1, it must start at 0");
        assert_eq!(error("p,x,k\n0,1,1\n0.9,2,1"), "line 3: p ends at 0.9, it must end at 1");
        assert_eq!(
            error("p,x,k\n0,1,1\n\n0.5,2,1\n0.5,3,1\n1,4,1"),
            "line 5: p must grow from row to row, but 0.5 follows 0.5"
        );
        assert_eq!(
            error("p,x,k\n0,1,1\n1.5,2,1"),
            "line 3: p is 1.5, but a probability is at most 1"
        );
        assert_eq!(
            error("p,x,k\n0,5,1\n1,4,1"),
            "line 3: the value must not decrease, but 4 follows 5"
        );
        assert_eq!(
            error("p,x,k\n0,1,0\n1,2,0"),
            "line 3: k is 0, but it must be positive (1 is a straight line)"
        );
        assert_eq!(error("p,x,k\n0,1,1\n1,two,1"), "line 3: \"two\" is not a number");
        assert_eq!(error("p,x,k\n0,1,1\n1,inf,1"), "line 3: \"inf\" is not a number");
        assert_eq!(error("p,x,k\n0,1,1\n1,2"), "line 3: 2 values stand here, but there must be 3");
        assert!(Table::new(vec![]).is_err());
        assert_eq!(Table::new(vec![Knot { p: 0.5, x: 1.0, k: 1.0 }]).unwrap_err().line, 1);
    }
}
