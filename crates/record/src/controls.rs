//! Windows, thresholds, round-trip times and gauges of senders' congestion controls over time.

use packet::{Duration, Instant};

use crate::{Column, Table};

/// The state of a connection's sender at one instant.
#[derive(Clone, Copy, Debug)]
pub struct ControlState {
    /// Index of the traffic group in the scenario.
    pub group: u16,
    /// Number of the user or flow, counted over all groups.
    pub user: u32,
    /// Number of the user's connection.
    pub connection: u32,
    /// Which end sends: 0 the one that opened the connection, 1 the one that accepted it.
    pub end: u8,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; [`u64::MAX`] where there is none yet.
    pub ssthresh: u64,
    /// Bytes sent and not acknowledged.
    pub outstanding: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
}

/// One gauge: a value for each row, NaN in rows of congestion controls without this gauge.
#[derive(Clone, Debug)]
struct Gauge {
    name: &'static str,
    values: Vec<f64>,
}

/// Equally spaced samples of all senders that have data in flight.
#[derive(Clone, Debug)]
pub struct Controls {
    every: Duration,
    next: Instant,
    times: Vec<u64>,
    rows: Vec<ControlState>,
    gauges: Vec<Gauge>,
}

impl Controls {
    /// A recorder without samples; the first is due at time zero, the next ones after each `every`.
    pub fn new(every: Duration) -> Self {
        Controls {
            every,
            next: Instant::ZERO,
            times: Vec::new(),
            rows: Vec::new(),
            gauges: Vec::new(),
        }
    }

    /// When the next samples are due.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Adds the sample of a sender at the instant that is due; `read` reports its gauges.
    pub fn add(
        &mut self,
        state: ControlState,
        read: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        let row = self.rows.len();
        self.times.push(self.next.nanos());
        self.rows.push(state);
        let gauges = &mut self.gauges;
        read(&mut |name, value| {
            let place = gauges.iter().position(|gauge| gauge.name == name);
            let place = place.unwrap_or_else(|| {
                gauges.push(Gauge { name, values: Vec::new() });
                gauges.len() - 1
            });
            let values = &mut gauges[place].values;
            values.resize(row, f64::NAN);
            values.push(value);
        });
    }

    /// Moves on to the next instant, after all senders were added.
    pub fn taken(&mut self) {
        self.next += self.every;
    }

    /// A table with one row for each sample.
    pub fn table(mut self) -> Table {
        let whole = |of: fn(&ControlState) -> u64| Column::U64(self.rows.iter().map(of).collect());
        let real = |of: fn(&ControlState) -> f64| Column::F64(self.rows.iter().map(of).collect());
        let mut columns = vec![
            ("group".to_owned(), Column::U16(self.rows.iter().map(|row| row.group).collect())),
            ("user".to_owned(), Column::U32(self.rows.iter().map(|row| row.user).collect())),
            (
                "connection".to_owned(),
                Column::U32(self.rows.iter().map(|r| r.connection).collect()),
            ),
            ("end".to_owned(), Column::U8(self.rows.iter().map(|row| row.end).collect())),
            ("cwnd_bytes".to_owned(), whole(|row| row.cwnd)),
            ("ssthresh_bytes".to_owned(), real(threshold)),
            ("outstanding_bytes".to_owned(), whole(|row| row.outstanding)),
            ("srtt_s".to_owned(), real(round_trip)),
        ];
        columns.insert(0, ("time_ns".to_owned(), Column::U64(self.times)));
        for gauge in &mut self.gauges {
            gauge.values.resize(self.rows.len(), f64::NAN);
            let values = Column::F64(std::mem::take(&mut gauge.values));
            columns.push((format!("gauge.{}", gauge.name), values));
        }
        Table { name: "controls", columns, every_s: None }
    }
}

fn threshold(row: &ControlState) -> f64 {
    if row.ssthresh == u64::MAX { f64::NAN } else { row.ssthresh as f64 }
}

fn round_trip(row: &ControlState) -> f64 {
    if row.srtt == Duration::ZERO { f64::NAN } else { row.srtt.secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(user: u32, cwnd: u64) -> ControlState {
        ControlState {
            group: 0,
            user,
            connection: 0,
            end: 1,
            cwnd,
            ssthresh: u64::MAX,
            outstanding: cwnd,
            srtt: Duration::ZERO,
        }
    }

    #[test]
    fn a_gauge_has_a_value_in_each_row_of_its_control_and_none_in_the_others() {
        let mut controls = Controls::new(Duration::from_millis(10));
        controls.add(state(0, 1_000), |_| {});
        controls.add(state(1, 2_000), |show| show("count", 3.0));
        controls.taken();
        assert_eq!(controls.due(), Instant::from_nanos(10_000_000));
        controls.add(state(1, 2_500), |show| show("count", 4.0));
        controls.add(state(2, 9_000), |show| show("alpha", 0.5));
        controls.taken();
        let columns = controls.table().columns;
        let named = |name: &str| &columns.iter().find(|(of, _)| of == name).unwrap().1;
        assert_eq!(*named("time_ns"), Column::U64(vec![0, 0, 10_000_000, 10_000_000]));
        assert_eq!(*named("cwnd_bytes"), Column::U64(vec![1_000, 2_000, 2_500, 9_000]));
        let Column::F64(count) = named("gauge.count") else { panic!() };
        assert_eq!(count[1..3], [3.0, 4.0]);
        assert!(count[0].is_nan() && count[3].is_nan());
        let Column::F64(alpha) = named("gauge.alpha") else { panic!() };
        assert!(alpha[..3].iter().all(|value| value.is_nan()) && alpha[3] == 0.5);
    }
}
