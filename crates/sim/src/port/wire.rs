//! The line behind a queue.

use packet::{Duration, Rate};

/// What surrounds an IP packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing: the line carries IP bytes.
    None,
    /// Ethernet: at least 46 B of payload, and 38 B of preamble, header, check sequence and gap.
    Ethernet,
}

/// The line behind a queue.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    rate: Rate,
    framing: Framing,
    /// Nanoseconds per byte when that is a whole number, else 0: spares a division per packet.
    ns_per_byte: u64,
}

impl Wire {
    /// A line of `rate` that adds `framing`.
    pub fn new(rate: Rate, framing: Framing) -> Self {
        let exact = 8_000_000_000 % rate.bits_per_s() == 0;
        let ns_per_byte = if exact { 8_000_000_000 / rate.bits_per_s() } else { 0 };
        Wire { rate, framing, ns_per_byte }
    }
    /// How long a packet of `ip_bytes` occupies the line.
    #[inline]
    pub fn time_for(&self, ip_bytes: u32) -> Duration {
        let bytes = match self.framing {
            Framing::None => u64::from(ip_bytes),
            Framing::Ethernet => u64::from(ip_bytes.max(46)) + 38,
        };
        if self.ns_per_byte > 0 {
            Duration::from_nanos(bytes * self.ns_per_byte)
        } else {
            self.rate.time_for(bytes)
        }
    }
}
