//! The decision at arrival.

use packet::{Backlog, DropReason, Instant, Packet, Rate, Rng};

/// The line behind the queue, as an algorithm may know it (RED ages its average by it).
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Transmission rate.
    pub rate: Rate,
    /// Bytes of link-layer header that the sizes of packets include; 0 where they are IP's. Linux's
    /// qdiscs count 14 on Ethernet (`hard_header_len`).
    pub header_bytes: u32,
}

/// Largest IP packet on Ethernet, the MTU that an operating system's queues use.
const IP_MTU: u64 = 1_500;

impl Line {
    /// A line of this rate, before which sizes are those of IP packets.
    pub const fn of(rate: Rate) -> Self {
        Line { rate, header_bytes: 0 }
    }

    /// Size of the largest packet as disciplines see it (Linux `psched_mtu`).
    pub(crate) const fn mtu(&self) -> u64 {
        IP_MTU + self.header_bytes as u64
    }
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It joins the tail of the queue.
    Queued,
    /// It joins the tail, marked "congestion experienced" (the gate has set the ECN field).
    Marked(DropReason),
    /// It is dropped.
    Dropped(DropReason),
}

/// A discipline that decides everything at arrival and serves first come, first served:
/// drop-tail, the RED family, PI, REM, BLUE, …
///
/// The holder calls [`Gate::admit`] once per arrival and [`Gate::on_idle`] when a departure leaves
/// nothing to send, and runs due ticks ([`Gate::next_tick`]) before packet events of that instant.
pub trait Gate: Send {
    /// Decides on `packet`, which finds `backlog` waiting (not counting itself, nor the packet
    /// being transmitted). Sets `packet.ecn` if it marks.
    fn admit(
        &mut self,
        packet: &mut Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Admission;

    /// The line finished its last packet at `now` and found the queue empty: an
    /// idle time begins.
    fn on_idle(&mut self, _now: Instant) {}

    /// When [`Gate::on_tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        None
    }
    /// The algorithm's periodic update.
    fn on_tick(&mut self, _backlog: Backlog, _now: Instant, _rng: &mut Rng) {}

    /// Changes a parameter of a queue that works, from the next call on; answers whether it has
    /// one of this name that can be changed, and may have this value.
    fn set(&mut self, _name: &str, _value: f64) -> bool {
        false
    }

    /// Shows inner state (average, probability, …) by name, for probes and tests.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}
