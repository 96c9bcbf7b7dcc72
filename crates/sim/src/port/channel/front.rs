//! The parts that all channels share: the queues before the channel, the packets that have come
//! through, the meter and the random numbers.

use std::collections::VecDeque;

use packet::{Backlog, DropReason, Instant, Packet, Rng};
use record::{DelayClass, Meter, PacketClass};

use super::queues::Queues;

/// The queues before a channel, and the packets that have come through it.
pub struct Front {
    pub(super) queues: Queues,
    /// Packets that have come through, each with its time of arrival at the other side; in order.
    pub(super) ready: VecDeque<(Instant, Packet)>,
    pub(super) rng: Rng,
    pub(super) meter: Meter,
}

impl Front {
    pub(super) fn new(queues: Queues, rng: Rng, meter: Meter) -> Self {
        Front { queues, ready: VecDeque::new(), rng, meter }
    }

    /// A packet arrives at the port: it is counted, before any discipline sees it.
    pub(super) fn count_arrival(&mut self, packet: &Packet, class: PacketClass) {
        let now = packet.arrived;
        self.meter.arrival(now, packet.bytes, class);
        let delay_class = DelayClass::new(class, packet.ecn);
        self.queues.guests.set(packet.id, delay_class, self.meter.measures(now));
    }

    /// A packet that was counted is queued for a station. Returns whether it was admitted.
    pub(super) fn put(
        &mut self,
        station: usize,
        packet: Packet,
        lost: &mut dyn FnMut(Packet),
    ) -> bool {
        let now = packet.arrived;
        let refused = self.queues.put(station, packet, now, &mut self.rng, &mut self.meter, lost);
        match refused {
            true => self.meter.dropped_on_arrival(now),
            false => self.meter.admitted(now),
        }
        !refused
    }

    /// Counts a packet that arrives and finds no room.
    pub(super) fn count_refused(&mut self, now: Instant, bytes: u32, class: PacketClass) {
        self.meter.arrival(now, bytes, class);
        self.meter.dropped(now, now, bytes, DropReason::Overflow);
        self.meter.dropped_on_arrival(now);
    }

    /// Removes and returns the next packet for a station.
    pub(super) fn take(
        &mut self,
        station: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Packet> {
        self.queues.take(station, now, &mut self.rng, &mut self.meter, lost)
    }

    /// Arrival time of the next packet for a station, which is moved out of its discipline to be
    /// examined.
    pub(super) fn first(
        &mut self,
        station: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Instant> {
        if self.queues.first_held(station).is_none() {
            let packet = self.take(station, now, lost)?;
            self.queues.put_back(station, packet);
        }
        self.queues.first_held(station)
    }

    /// Moves a station's next packet from its discipline to the driver. Returns its length in
    /// bytes.
    pub(super) fn lower(
        &mut self,
        station: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<u32> {
        self.queues.lower(station, now, &mut self.rng, &mut self.meter, lost)
    }

    /// Removes and returns the next packet of a service flow of the first discipline.
    pub(super) fn take_flow(
        &mut self,
        flow: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Packet> {
        self.queues.take_flow(flow, now, &mut self.rng, &mut self.meter, lost)
    }

    /// The channel carries a packet from `began` to `ends`.
    pub(super) fn carries(&mut self, packet: &Packet, began: Instant, ends: Instant) {
        let class = self.queues.guests.class(packet.id);
        let Packet { arrived, bytes, flow, .. } = *packet;
        self.meter.started(began, ends, arrived, bytes, flow, class);
    }

    /// A packet arrives at the other side at `at`, but not before the packets ahead of it.
    pub(super) fn hand_on(&mut self, packet: Packet, at: Instant) {
        let before = self.ready.back().map_or(at, |(last, _)| *last);
        self.ready.push_back((at.max(before), packet));
    }

    /// Packets and bytes that wait, including the packets `begun`, of which a part was sent.
    pub(super) fn backlog_with<'a>(&self, begun: impl Iterator<Item = &'a Packet>) -> Backlog {
        begun.fold(self.queues.backlog(), |sum, packet| Backlog {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(packet.bytes),
        })
    }

    /// Runs the updates of the disciplines that are due. Returns whether there was one.
    pub(super) fn update(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) -> bool {
        self.queues.tick(now, &mut self.rng, &mut self.meter, lost)
    }
}
