//! The line behind a queue.

use packet::{Backlog, Duration, Framing, Instant, Rate};
use record::Capacity;

use super::capacity::Changing;

/// The line behind a queue.
#[derive(Clone, Debug)]
pub struct Wire {
    pace: Pace,
    framing: Framing,
    header: u32,
    ring: usize,
}

/// The rate of a line, in the form that is fastest to compute with.
#[derive(Clone, Debug)]
enum Pace {
    /// A whole number of nanoseconds for each byte: spares a division per packet.
    PerByte(Duration),
    Rate(Rate),
    Changing(Box<Changing>),
}

impl Wire {
    /// A line of `rate` that adds `framing`.
    pub fn new(rate: Rate, framing: Framing) -> Self {
        let exact = 8_000_000_000 % rate.bits_per_s() == 0;
        let pace = match exact {
            true => Pace::PerByte(rate.time_for(1)),
            false => Pace::Rate(rate),
        };
        Wire { pace, framing, header: 0, ring: 1 }
    }

    /// A line whose rate changes, that adds `framing`.
    pub fn changing(capacity: Changing, framing: Framing) -> Self {
        Wire { pace: Pace::Changing(Box::new(capacity)), framing, header: 0, ring: 1 }
    }

    /// This wire, where the queue before the line counts `header` bytes of each packet's frame in
    /// addition to its IP bytes. The time on the wire stays.
    #[must_use]
    pub fn counting(self, header: u32) -> Self {
        Wire { header, ..self }
    }

    /// This wire, where the device takes `ring` packets from the queue, the one being transmitted
    /// included, as a driver's ring of descriptors does.
    #[must_use]
    pub fn behind_ring(self, ring: usize) -> Self {
        Wire { ring, ..self }
    }

    /// Packets that the device holds, the one being transmitted included.
    #[inline]
    pub fn ring(&self) -> usize {
        self.ring
    }

    /// Bytes of a packet's frame header that the discipline counts in addition to the IP bytes.
    #[inline]
    pub fn header(&self) -> u32 {
        self.header
    }

    /// Converts a backlog in IP bytes to the bytes that the discipline counts.
    #[inline]
    pub fn counted(&self, ip: Backlog) -> Backlog {
        let headers = u64::from(ip.packets) * u64::from(self.header);
        Backlog { bytes: ip.bytes + headers, ..ip }
    }

    /// Converts a backlog as the discipline counts it to IP bytes.
    #[inline]
    pub fn ip_bytes(&self, counted: Backlog) -> Backlog {
        let headers = u64::from(counted.packets) * u64::from(self.header);
        Backlog { bytes: counted.bytes - headers, ..counted }
    }

    /// When the transmission of a packet of `ip_bytes` that begins at `start` will end. Call it for
    /// packets in the order in which they are sent; one is `fresh` if the line was idle before it.
    #[inline]
    pub fn end_of(&mut self, start: Instant, ip_bytes: u32, fresh: bool) -> Instant {
        let bytes = self.framing.size(ip_bytes);
        match &mut self.pace {
            Pace::PerByte(each) => start + *each * bytes,
            Pace::Rate(rate) => start + rate.time_for(bytes),
            Pace::Changing(capacity) => capacity.end_of(start, bytes, fresh),
        }
    }

    /// Capacity of the line in the measured interval, and the share that was used.
    pub fn capacity(&mut self) -> Capacity {
        let constant = |bits_per_s: f64| Capacity { mean_bits_per_s: bits_per_s, used: None };
        match &mut self.pace {
            Pace::PerByte(each) => constant(8e9 / each.nanos() as f64),
            Pace::Rate(rate) => constant(rate.bits_per_s() as f64),
            Pace::Changing(capacity) => capacity.measured(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_line_offers_its_rate() {
        // 8 and 0.4 Mbit/s take a whole number of nanoseconds for a byte, 9.6 Mbit/s does not.
        for bits_per_s in [8_000_000, 400_000, 9_600_000] {
            let mut wire = Wire::new(Rate::from_bits_per_s(bits_per_s), Framing::NONE);
            assert_eq!(wire.capacity().mean_bits_per_s, bits_per_s as f64);
            assert!(wire.capacity().used.is_none());
        }
    }
}
