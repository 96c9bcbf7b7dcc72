//! Copies of a line, as homes have them: their figures together, and the spread of the figures.

use super::Meter;
use crate::measure::{AS_MS, BARE, Measure, SHARE, Unit, real, whole};
use crate::{Capacity, Column, Summary, Table, quantile, ratio};

impl Meter {
    /// A meter of several lines together: sums of counts and bytes, all delays, the largest queue
    /// and run of drops, and means over the lines of rates, utilisation, capacity and queue.
    ///
    /// # Panics
    /// If `copies` is empty.
    pub fn together(copies: &[&Meter]) -> Meter {
        let (first, others) = copies.split_first().expect("a link has a copy");
        let mut all = (*first).clone();
        others.iter().for_each(|copy| all.absorb(copy));
        let bits = |of: &Meter| of.capacity.map_or(0.0, |capacity| capacity.mean_bits_per_s);
        let used = |of: &Meter| of.capacity.and_then(|capacity| capacity.used);
        let mean = |of: &dyn Fn(&Meter) -> f64| {
            copies.iter().map(|copy| of(copy)).sum::<f64>() / copies.len() as f64
        };
        let used = used(first).map(|_| mean(&|of| used(of).unwrap_or(0.0)));
        all.capacity = Some(Capacity { mean_bits_per_s: mean(&bits), used });
        all.delays = all.sojourns.all();
        all
    }

    fn absorb(&mut self, more: &Meter) {
        self.copies += more.copies;
        for i in 0..2 {
            self.arrived[i].merge(&more.arrived[i]);
            self.arrived_bytes[i] += more.arrived_bytes[i];
        }
        let (own, its) = (&mut self.measured, &more.measured);
        own.departures += its.departures;
        own.departure_bytes += its.departure_bytes;
        own.busy_ns += its.busy_ns;
        own.drops.iter_mut().zip(its.drops).for_each(|(sum, n)| *sum += n);
        own.marks.iter_mut().zip(its.marks).for_each(|(sum, n)| *sum += n);
        own.drop_bytes += its.drop_bytes;
        own.lost.merge(&its.lost);
        own.own_drops += its.own_drops;
        own.own_lost.merge(&its.own_lost);
        own.own_marks += its.own_marks;
        own.packet_ns += its.packet_ns;
        own.byte_ns += its.byte_ns;
        self.peak_packets = self.peak_packets.max(more.peak_packets);
        self.drop_run.merge(&more.drop_run);
        self.sojourns.merge(&more.sojourns);
    }
}

/// The measures of each copy of a link.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    rows: Vec<Row>,
}

/// The measures of one copy of a link.
#[derive(Clone, Copy, Debug)]
struct Row {
    arrivals: u64,
    drops: u64,
    marks: u64,
    throughput: f64,
    utilisation: f64,
    drop_rate: f64,
    delay_mean_s: f64,
    delay_p50_s: f64,
    delay_p99_s: f64,
    delay_max_s: f64,
}

impl Copies {
    /// Computes the measures of the copies from their meters, in order.
    pub fn of(copies: &[&Meter]) -> Copies {
        let row = |m: &&Meter| Row {
            arrivals: m.arrived[1].total(),
            drops: m.drops(),
            marks: m.marks(),
            throughput: m.measured.departure_bytes as f64 / m.seconds(),
            utilisation: m.utilisation(),
            drop_rate: ratio(m.measured.own_drops, m.arrived[1].total()),
            delay_mean_s: m.delays.mean_s,
            delay_p50_s: m.delays.quantiles_s[0],
            delay_p99_s: m.delays.quantiles_s[3],
            delay_max_s: m.delays.longest_s,
        };
        Copies { rows: copies.iter().map(row).collect() }
    }

    /// Writes how the figures are spread over the copies.
    pub fn summarise(&self, out: &mut Summary) {
        out.write(MEASURES, self);
    }

    /// A table with a row for each copy of several ports; ports have the numbers of the table of
    /// delays.
    pub fn table<'a>(ports: impl Iterator<Item = (u32, &'a Copies)>) -> Option<Table> {
        let rows = |(port, of): (u32, &'a Copies)| {
            (0u32..).zip(&of.rows).map(move |(copy, row)| (port, copy, row))
        };
        let all: Vec<(u32, u32, &Row)> = ports.flat_map(rows).collect();
        let reals = |of: fn(&Row) -> f64| Column::F64(all.iter().map(|row| of(row.2)).collect());
        let wholes = |of: fn(&Row) -> u64| Column::U64(all.iter().map(|row| of(row.2)).collect());
        let columns = vec![
            ("port".to_owned(), Column::U32(all.iter().map(|row| row.0).collect())),
            ("copy".to_owned(), Column::U32(all.iter().map(|row| row.1).collect())),
            ("arrivals".to_owned(), wholes(|row| row.arrivals)),
            ("drops".to_owned(), wholes(|row| row.drops)),
            ("marks".to_owned(), wholes(|row| row.marks)),
            ("throughput_bytes_per_s".to_owned(), reals(|row| row.throughput)),
            ("utilisation".to_owned(), reals(|row| row.utilisation)),
            ("queue_delay_mean_s".to_owned(), reals(|row| row.delay_mean_s)),
            ("queue_delay_p50_s".to_owned(), reals(|row| row.delay_p50_s)),
            ("queue_delay_p99_s".to_owned(), reals(|row| row.delay_p99_s)),
            ("queue_delay_max_s".to_owned(), reals(|row| row.delay_max_s)),
        ];
        (!all.is_empty()).then_some(Table { name: "copies", columns, every_s: None })
    }

    /// The quantile `p` of a figure over the copies that have it; NaN if none has it.
    fn over(&self, p: f64, of: fn(&Row) -> f64) -> f64 {
        let mut all: Vec<f64> = self.rows.iter().map(of).filter(|value| !value.is_nan()).collect();
        all.sort_by(f64::total_cmp);
        if all.is_empty() { f64::NAN } else { quantile(&all, p) }
    }
}

/// Prefix of the measures over copies in a summary.
pub(crate) const PLACES: &[&str] = &["copies.<port>."];

const BYTES_PER_S: Unit = Unit::of("bytes/s").shown("kB/s", 1e-3);
const DELAY: &str =
    "quantile over the copies of a link of the 99 % quantile of each one's queueing delay";
const THROUGHPUT: &str = "quantile over the copies of a link of what departed from each";

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Copies>] = &[
    whole("copies", BARE, "copies", |c: &Copies| c.rows.len() as u64,
        "of a link with `clients_per_link`: lines with queues of their own, as homes have"),
    real("throughput_p5_bytes_per_s", BYTES_PER_S, "throughput of a copy, 5 %", |c| c.over(0.05, |row| row.throughput), THROUGHPUT),
    real("throughput_p50_bytes_per_s", BYTES_PER_S, "throughput of a copy, median", |c| c.over(0.5, |row| row.throughput), THROUGHPUT),
    real("throughput_p95_bytes_per_s", BYTES_PER_S, "throughput of a copy, 95 %", |c| c.over(0.95, |row| row.throughput), THROUGHPUT),
    real("utilisation_p95", SHARE, "utilisation of a copy, 95 %", |c| c.over(0.95, |row| row.utilisation),
        "quantile over the copies of a link of each one's utilisation"),
    real("drop_rate_p95", SHARE.digits(2), "loss of a copy, 95 %", |c| c.over(0.95, |row| row.drop_rate),
        "quantile over the copies of a link of the share of arrivals that each one dropped"),
    real("queue_delay_p99_p50_s", AS_MS.digits(1), "queueing delay (99 %) of a copy, median", |c| c.over(0.5, |row| row.delay_p99_s), DELAY),
    real("queue_delay_p99_p95_s", AS_MS.digits(1), "queueing delay (99 %) of a copy, 95 %", |c| c.over(0.95, |row| row.delay_p99_s), DELAY),
    real("queue_delay_p99_max_s", AS_MS.digits(1), "queueing delay (99 %) of a copy, worst", |c| c.over(1.0, |row| row.delay_p99_s),
        "largest over the copies of a link of the 99 % quantile of each one's queueing delay"),
];
