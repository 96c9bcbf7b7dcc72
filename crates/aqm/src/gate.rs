//! The decision at arrival.

use packet::{Backlog, Instant, Packet, Rate, Rng, Why};

/// The line behind the queue, as an algorithm may know it (RED ages its average by it).
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Transmission rate.
    pub rate: Rate,
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It joins the tail of the queue.
    Queued,
    /// It joins the tail, marked "congestion experienced" (the gate has set the ECN field).
    Marked(Why),
    /// It is dropped.
    Dropped(Why),
}

/// A discipline that decides everything at arrival and serves first come, first served:
/// drop-tail, the RED family, PI, REM, BLUE, …
///
/// The holder asks [`Gate::admit`] once per arrival, tells [`Gate::on_idle`] when a departure
/// leaves nothing to send, and runs due ticks ([`Gate::next_tick`]) before packet events of the
/// same instant.
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

    /// Shows inner state (average, probability, …) by name, for probes and tests.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}
