//! Equally spaced samples of a queue's length.

use crate::measure::{Measure, PACKETS, Unit, figure};
use crate::{Column, Figure, Summary};

/// Statistics of the samples in the measured interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Samples {
    n: u64,
    sum: u64,
    sum_of_squares: u64,
    min: u32,
    max: u32,
}

impl Samples {
    pub fn add(&mut self, packets: u32) {
        let q = u64::from(packets);
        self.min = if self.n == 0 { packets } else { self.min.min(packets) };
        self.max = self.max.max(packets);
        self.n += 1;
        self.sum += q;
        self.sum_of_squares += q * q;
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.n as f64
    }

    fn variance(&self) -> f64 {
        (self.sum_of_squares as f64 / self.n as f64 - self.mean() * self.mean()).max(0.0)
    }

    /// The given figure; NaN if there is no sample.
    fn figure(&self, figure: Figure) -> Option<Figure> {
        Some(if self.n == 0 { Figure::Real(f64::NAN) } else { figure })
    }

    /// Writes the mean, variance, least and largest sample; NaN without samples.
    pub fn summarise(&self, out: &mut Summary) {
        out.write(MEASURES, self);
    }
}

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Samples>] = &[
    figure("queue_mean_packets", PACKETS.digits(1), "queue, mean",
        |s| s.figure(Figure::Real(s.mean())), "mean of the samples (only ports in `record.queues`)"),
    figure("queue_var_packets", Unit::of("packets²").digits(1), "queue, variance",
        |s| s.figure(Figure::Real(s.variance())), "variance of the samples"),
    figure("queue_min_packets", PACKETS, "queue, minimum",
        |s| s.figure(Figure::Whole(s.min.into())), "least sample"),
    figure("queue_max_packets", PACKETS, "queue, maximum",
        |s| s.figure(Figure::Whole(s.max.into())), "largest sample"),
];

/// The kept samples, in two bytes each until one needs four.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// Queue lengths that are all below 65,536 packets.
    Short(Vec<u16>),
    /// Queue lengths of which one exceeds 65,535 packets.
    Long(Vec<u32>),
}

impl Default for Kept {
    fn default() -> Self {
        Kept::Short(Vec::new())
    }
}

impl Kept {
    pub fn push(&mut self, packets: u32) {
        match self {
            Kept::Long(samples) => samples.push(packets),
            Kept::Short(samples) => match u16::try_from(packets) {
                Ok(short) => samples.push(short),
                Err(_) => {
                    let mut long: Vec<u32> = samples.iter().map(|&s| u32::from(s)).collect();
                    long.push(packets);
                    *self = Kept::Long(long);
                }
            },
        }
    }

    pub fn column(&self) -> Column {
        match self {
            Kept::Short(samples) => Column::U16(samples.clone()),
            Kept::Long(samples) => Column::U32(samples.clone()),
        }
    }
}
