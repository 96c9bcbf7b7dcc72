//! A value that changes by steps in time.

use packet::Instant;

/// A table of steps: at its end it begins anew, or the last value stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Begin of each step in ns, in order; the first is 0.
    pub starts: Vec<u64>,
    /// Value of each step.
    pub values: Vec<f64>,
    /// Time after which the table begins anew, ns, if it does.
    pub period: Option<u64>,
}

impl Timed {
    /// Steps of (begin in ns, value).
    ///
    /// # Errors
    /// A sentence, if there is no step, if the first is not at 0, or if the steps are not in order.
    pub fn new(rows: &[(u64, f64)], period: Option<u64>) -> Result<Timed, String> {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let Some(first) = rows.first() else { return Err("the list is empty; give a step".into()) };
        if first.0 != 0 {
            return Err(format!(
                "the first step is at {} s; say what holds from \"0 s\" on",
                seconds(first.0)
            ));
        }
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(format!(
                "the step at {} s does not come after the one at {} s; sort them by time",
                seconds(pair[1].0),
                seconds(pair[0].0)
            ));
        }
        let (starts, values) = rows.iter().copied().unzip();
        Timed { starts, values, period: None }.repeated(period)
    }

    /// This table, which begins anew after `period` ns.
    ///
    /// # Errors
    /// A sentence, if the period does not end after the last step's begin.
    pub fn repeated(self, period: Option<u64>) -> Result<Timed, String> {
        let last = self.starts.last().copied().unwrap_or(0);
        match period {
            Some(period) if period <= last => Err(format!(
                "the steps repeat after {} s and the last is at {} s; repeat them later",
                period as f64 / 1e9,
                last as f64 / 1e9
            )),
            _ => Ok(Timed { period: period.or(self.period), ..self }),
        }
    }

    /// The value of the step at `at`.
    pub fn at(&self, at: Instant) -> f64 {
        let at = self.period.map_or(at.nanos(), |period| at.nanos() % period);
        let after = self.starts.partition_point(|start| *start <= at);
        self.values[after - 1]
    }
}
