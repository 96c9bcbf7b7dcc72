//! Areas under the queue's length over time, in packets and in bytes, for its time averages.

use packet::{Backlog, Instant};

use super::Meter;

/// The areas up to the last change of the queue, less the present backlog times the instant of that
/// change, so that a change costs one product: up to `t` the areas are these plus `t` times the
/// present backlog. Sums wrap around; the final results do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    packet_ns: u64,
    byte_ns: i128,
    /// Next edge of the measured interval: its beginning, then its end, then [`Instant::NEVER`].
    edge: Instant,
    /// Whether the measured interval has begun.
    begun: bool,
}

impl Areas {
    /// Areas of zero; the measured interval begins at `from`.
    pub fn new(from: Instant) -> Areas {
        Areas { packet_ns: 0, byte_ns: 0, edge: from, begun: false }
    }

    /// Moves the end of the measured interval, if it is under way, to `to`.
    pub fn end_at(&mut self, to: Instant) {
        if self.begun && self.edge != Instant::NEVER {
            self.edge = to;
        }
    }

    /// Adds a change of the backlog at `now`.
    #[inline]
    fn change(&mut self, now: Instant, from: Backlog, to: Backlog) {
        let ns = now.nanos();
        let packets = u64::from(from.packets).wrapping_sub(u64::from(to.packets));
        self.packet_ns = self.packet_ns.wrapping_add(packets.wrapping_mul(ns));
        let bytes = from.bytes.wrapping_sub(to.bytes) as i64;
        self.byte_ns = self.byte_ns.wrapping_add(i128::from(bytes) * i128::from(ns as i64));
    }

    /// The areas up to `at`, where `backlog` has been the backlog since the last change.
    fn up_to(&self, at: Instant, backlog: Backlog) -> (u64, u128) {
        let ns = at.nanos();
        let packet_ns = u64::from(backlog.packets).wrapping_mul(ns);
        let byte_ns = u128::from(backlog.bytes) * u128::from(ns);
        (self.packet_ns.wrapping_add(packet_ns), (self.byte_ns as u128).wrapping_add(byte_ns))
    }
}

impl Meter {
    /// Sets the backlog after a change at `now`, and updates the areas.
    #[inline]
    pub(super) fn change(&mut self, now: Instant, backlog: Backlog) {
        if now > self.areas.edge {
            self.cross_edges(now);
        }
        self.areas.change(now, self.backlog, backlog);
        self.backlog = backlog;
    }

    /// Updates the areas under the queue's length within the measured interval. If that interval
    /// has begun before `now`, the area up to its beginning is subtracted; if it has ended before
    /// `now`, the area up to its end is added. The sum is the area within the interval.
    #[cold]
    pub(super) fn cross_edges(&mut self, now: Instant) {
        let (window, measured) = (self.settings.window, &mut self.measured);
        if self.areas.edge < now && !self.areas.begun {
            let (packet_ns, byte_ns) = self.areas.up_to(window.from, self.backlog);
            measured.packet_ns = measured.packet_ns.wrapping_sub(packet_ns);
            measured.byte_ns = measured.byte_ns.wrapping_sub(byte_ns);
            (self.areas.begun, self.areas.edge) = (true, window.to);
        }
        if self.areas.edge < now {
            let (packet_ns, byte_ns) = self.areas.up_to(window.to, self.backlog);
            measured.packet_ns = measured.packet_ns.wrapping_add(packet_ns);
            measured.byte_ns = measured.byte_ns.wrapping_add(byte_ns);
            self.areas.edge = Instant::NEVER;
        }
    }
}
