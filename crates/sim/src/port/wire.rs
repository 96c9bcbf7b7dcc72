//! The line behind a queue.

use packet::{Framing, Instant, Rate};
use record::Capacity;

use super::capacity::Changing;

/// The line behind a queue.
#[derive(Clone, Debug)]
pub struct Wire {
    pace: Pace,
    framing: Framing,
}

/// How fast the line sends.
#[derive(Clone, Debug)]
enum Pace {
    /// A whole number of nanoseconds for each byte: spares a division per packet.
    PerByte(u64),
    /// A rate.
    Rate(Rate),
    /// A rate that changes.
    Changing(Box<Changing>),
}

impl Wire {
    /// A line of `rate` that adds `framing`.
    pub fn new(rate: Rate, framing: Framing) -> Self {
        let exact = 8_000_000_000 % rate.bits_per_s() == 0;
        let pace = match exact {
            true => Pace::PerByte(8_000_000_000 / rate.bits_per_s()),
            false => Pace::Rate(rate),
        };
        Wire { pace, framing }
    }

    /// A line whose rate changes, that adds `framing`.
    pub fn changing(capacity: Changing, framing: Framing) -> Self {
        Wire { pace: Pace::Changing(Box::new(capacity)), framing }
    }

    /// When the transmission of a packet of `ip_bytes` that begins at `start` will end. Packets are
    /// told in the order in which they are sent; one is `fresh` if the line rested before it.
    #[inline]
    pub fn end_of(&mut self, start: Instant, ip_bytes: u32, fresh: bool) -> Instant {
        let bytes = self.framing.size(ip_bytes);
        match &mut self.pace {
            Pace::PerByte(nanos) => Instant::from_nanos(start.nanos() + bytes * *nanos),
            Pace::Rate(rate) => start + rate.time_for(bytes),
            Pace::Changing(capacity) => capacity.end_of(start, bytes, fresh),
        }
    }

    /// What the line offered in the measured interval, and how much of it was used.
    pub fn capacity(&mut self) -> Capacity {
        let constant = |bits_per_s: f64| Capacity { mean_bits_per_s: bits_per_s, used: None };
        match &mut self.pace {
            Pace::PerByte(nanos) => constant(8e9 / *nanos as f64),
            Pace::Rate(rate) => constant(rate.bits_per_s() as f64),
            Pace::Changing(capacity) => capacity.measured(),
        }
    }
}
