//! The interface of disciplines that decide at arrival only, and the line behind the queue.

use packet::{Backlog, DropReason, Instant, Packet, Rate, Rng};

/// The line behind the queue, as far as an algorithm needs it (RED ages its average by the rate).
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Transmission rate.
    pub rate: Rate,
    /// Bytes of link-layer header that packet sizes include; 0 if sizes are IP lengths. Linux's
    /// qdiscs count 14 on Ethernet (`hard_header_len`).
    pub header_bytes: u32,
}

/// Largest IP packet on Ethernet, the MTU that an operating system's queues use.
const IP_MTU: u64 = 1_500;

impl Line {
    /// A line that sends at `rate`; packet sizes are IP lengths.
    pub const fn of(rate: Rate) -> Self {
        Line { rate, header_bytes: 0 }
    }

    /// Size of the largest packet as disciplines see it (Linux `psched_mtu`).
    pub(crate) const fn mtu(&self) -> u64 {
        IP_MTU + self.header_bytes as u64
    }
}

/// A gate's decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The packet joins the tail of the queue.
    Queued,
    /// The packet joins the tail, marked "congestion experienced" (the gate has set the ECN field).
    Marked(DropReason),
    /// The packet is dropped.
    Dropped(DropReason),
}

/// A discipline that decides everything at arrival and serves first come, first served:
/// drop-tail, the RED family, PI, REM, BLUE, …
///
/// The queue behind the gate calls [`Gate::admit`] once per arrival and [`Gate::on_idle`] when the
/// line finds nothing to send, and runs due ticks ([`Gate::next_tick`]) before packet events of
/// that instant.
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

    /// The line finished its last packet at `now` and found the queue empty: an idle time begins.
    fn on_idle(&mut self, _now: Instant) {}

    /// When [`Gate::on_tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        None
    }
    /// The algorithm's periodic update.
    fn on_tick(&mut self, _backlog: Backlog, _now: Instant, _rng: &mut Rng) {}

    /// Changes a parameter during a run. Returns whether the gate has a parameter `name` that can
    /// be changed, and accepts `value`.
    fn set(&mut self, _name: &str, _value: f64) -> bool {
        false
    }

    /// Shows inner state (average, probability, …) by name, for probes and tests.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}
