//! The explicit form of a port: the discipline holds its packets.

use std::collections::VecDeque;

use aqm::{Cx, Discipline};
use packet::{Backlog, Event, Instant, Packet, Rng, TcpHeader};
use record::{Capacity, DelayClass, Meter, PacketClass, PacketTrace};

use super::Wire;
use super::guests::Guests;

/// A port in the explicit form.
pub struct ExplicitPort {
    discipline: Box<dyn Discipline>,
    wire: Wire,
    rng: Rng,
    meter: Meter,
    /// Packets in the device, each with the end of its transmission; the first is being
    /// transmitted.
    device: VecDeque<(Packet, Instant)>,
    reported: Vec<Event>,
    /// Whether gauges are sampled or packets traced.
    watched: bool,
    reads_tcp: bool,
    guests: Guests,
    /// Handle of the last arrival, and whether that packet was dropped during its `offer`.
    arriving: u32,
    refused: bool,
}

impl ExplicitPort {
    /// An idle port.
    pub fn new(discipline: Box<dyn Discipline>, wire: Wire, rng: Rng, meter: Meter) -> Self {
        let (watched, reads_tcp) = (meter.watches(), discipline.reads_tcp());
        ExplicitPort {
            discipline,
            wire,
            rng,
            meter,
            device: VecDeque::new(),
            reported: Vec::new(),
            watched,
            reads_tcp,
            guests: Guests::default(),
            arriving: 0,
            refused: false,
        }
    }

    /// Whether the discipline reads TCP headers, which [`ExplicitPort::offer`] then needs.
    #[inline]
    pub fn reads_tcp(&self) -> bool {
        self.reads_tcp
    }

    /// A packet arrives, with its TCP header if the discipline reads it. Dropped packets (this or
    /// others) go to `lost`. Returns when the transmission that this arrival started will end, if
    /// it started one.
    pub fn offer(
        &mut self,
        mut packet: Packet,
        header: Option<&TcpHeader>,
        class: PacketClass,
        lost: &mut impl FnMut(Packet),
    ) -> Option<Instant> {
        let (now, id) = (packet.arrived, packet.id);
        self.look_at_gauges(now.nanos() + 1);
        self.meter.arrival(now, packet.bytes, class);
        (self.arriving, self.refused) = (id, false);
        let delay_class = DelayClass::new(class, packet.ecn);
        self.guests.set(id, delay_class, self.meter.measures(now));
        packet.bytes += self.wire.header();
        self.call(now, lost, |d, cx| match header {
            Some(header) => d.enqueue_tcp(packet, header, cx),
            None => d.enqueue(packet, cx),
        });
        if self.refused {
            self.meter.dropped_on_arrival(now);
        } else {
            self.meter.admitted(now);
        }
        // An arrival that is dropped at an idle line must not start a second idle time.
        if self.has_room() && self.discipline.backlog().packets > 0 {
            return self.serve(now, true, lost);
        }
        self.meter.queue(now, self.backlog());
        None
    }

    /// Whether the device takes another packet.
    fn has_room(&self) -> bool {
        self.device.len() < self.wire.ring()
    }

    /// The transmission in progress ends at `now`: returns its packet, and the end of the next
    /// transmission if one begins.
    pub fn finish_transmission(
        &mut self,
        now: Instant,
        lost: &mut impl FnMut(Packet),
    ) -> (Packet, Option<Instant>) {
        let was_full = !self.has_room();
        let (sent, _) = self.device.pop_front().expect("a transmission ends only after it began");
        // A device that had room has found the queue empty already.
        if was_full {
            self.serve(now, false, lost);
        }
        (sent, self.device.front().map(|(_, finish)| *finish))
    }

    /// Hands packets to the device until it is full or the queue gives none, which begins the
    /// queue's idle time. Returns when the first transmission will end, if the device was empty;
    /// `fresh` says that the line was idle until now.
    fn serve(
        &mut self,
        now: Instant,
        fresh: bool,
        lost: &mut impl FnMut(Packet),
    ) -> Option<Instant> {
        let begins = self.device.is_empty();
        while self.has_room() && self.hand_over(now, fresh, lost) {}
        self.device.front().filter(|_| begins).map(|(_, finish)| *finish)
    }

    /// Hands the next packet to the device. Returns whether there was one.
    fn hand_over(&mut self, now: Instant, fresh: bool, lost: &mut impl FnMut(Packet)) -> bool {
        self.look_at_gauges(now.nanos());
        let Some(mut next) = self.call(now, lost, |d, cx| d.dequeue(cx)) else {
            self.meter.queue(now, self.backlog()); // a shaper may hold some back
            return false;
        };
        next.bytes -= self.wire.header();
        let before = self.device.back().map(|(_, finish)| *finish);
        let start = before.unwrap_or(now);
        let finish = self.wire.end_of(start, next.bytes, fresh && before.is_none());
        let class = self.guests.class(next.id);
        self.meter.started(start, finish, next.arrived, next.bytes, next.flow, class);
        if self.watched
            && let Some(trace) = self.meter.packet_trace()
        {
            trace.started(now, next.id);
        }
        self.meter.queue(now, self.backlog());
        self.device.push_back((next, finish));
        true
    }

    fn call<T>(
        &mut self,
        now: Instant,
        lost: &mut impl FnMut(Packet),
        ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T,
    ) -> T {
        let reported = &mut self.reported;
        let mut out = |event| reported.push(event);
        let answer =
            ask(self.discipline.as_mut(), &mut Cx { now, rng: &mut self.rng, out: &mut out });
        if self.watched {
            self.trace_reported(now);
        }
        for event in self.reported.drain(..) {
            match event {
                Event::Queued { .. } => {}
                Event::Marked { id, why } => {
                    let counts = self.guests.marked(id);
                    self.meter.marked(now, why, counts);
                }
                Event::Dropped { mut packet, why } => {
                    packet.bytes -= self.wire.header();
                    self.meter.dropped(now, packet.arrived, packet.bytes, why);
                    self.refused |= packet.id == self.arriving;
                    lost(packet);
                }
            }
        }
        answer
    }

    /// Whether the line is idle because the queue is empty: a shaper that holds packets back
    /// schedules a tick.
    pub(super) fn rests(&self) -> bool {
        self.device.is_empty() && self.next_tick().is_none()
    }

    /// Changes a parameter of the discipline.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        self.discipline.set(name, value)
    }

    /// When [`ExplicitPort::tick`] must be called next.
    pub fn next_tick(&self) -> Option<Instant> {
        self.discipline.next_tick()
    }

    /// Runs the discipline's update due at `now`. Returns the end of the transmission that it let
    /// begin, if it did: a shaper holds packets back although the line is idle.
    pub fn tick(&mut self, now: Instant, lost: &mut impl FnMut(Packet)) -> Option<Instant> {
        self.look_at_gauges(now.nanos());
        self.call(now, lost, |d, cx| d.on_tick(cx));
        let waits = self.has_room() && self.discipline.backlog().packets > 0;
        if waits {
            return self.serve(now, true, lost);
        }
        self.meter.queue(now, self.backlog());
        None
    }

    /// The trace of packets, if there is one: arrivals are recorded there before they are offered.
    #[inline]
    pub fn packet_trace(&mut self) -> Option<&mut PacketTrace> {
        self.meter.packet_trace()
    }

    /// Records in the trace what the discipline has reported.
    #[cold]
    fn trace_reported(&mut self, now: Instant) {
        if let Some(trace) = self.meter.packet_trace() {
            self.reported.iter().for_each(|event| trace.reported(now, event));
        }
    }

    /// The discipline is about to be called: takes the samples of its gauges due before `before_ns`.
    #[inline]
    pub(super) fn look_at_gauges(&mut self, before_ns: u64) {
        if self.watched {
            self.sample_gauges(before_ns);
        }
    }

    #[cold]
    fn sample_gauges(&mut self, before_ns: u64) {
        if self.meter.gauges_due(before_ns) {
            self.meter.take_gauges(before_ns, |show| self.discipline.gauges(show));
        }
    }

    /// The meter that counts the port's packets.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
    /// Capacity of the line in the measured interval.
    pub fn capacity(&mut self) -> Capacity {
        self.wire.capacity()
    }
    /// The meter, to finish it, or to record what the port itself does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
    /// Packets that wait, and their IP bytes.
    pub fn backlog(&self) -> Backlog {
        self.wire.ip_bytes(self.discipline.backlog())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use packet::{Backlog, DropReason, Ecn, Framing, Header, Rate};
    use record::{Kind, MeterSettings, Window};

    use super::*;

    /// A discipline that drops every arrival, and counts the calls of `dequeue`.
    struct Refuses(Arc<AtomicUsize>);

    impl Discipline for Refuses {
        fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
            (cx.out)(Event::Dropped { packet, why: DropReason::Early });
        }
        fn dequeue(&mut self, _: &mut Cx) -> Option<Packet> {
            self.0.fetch_add(1, Ordering::Relaxed);
            None
        }
        fn backlog(&self) -> Backlog {
            Backlog::default()
        }
    }

    /// RED's average ages from the time at which the queue was found empty; a second call of
    /// `dequeue` would restart that time.
    #[test]
    fn an_empty_queue_is_not_called_again() {
        let requested = Arc::new(AtomicUsize::new(0));
        let wire = Wire::new(Rate::from_bits_per_s(1_000_000), Framing::NONE);
        let meter = Meter::new(MeterSettings::counts(Window {
            from: Instant::ZERO,
            to: Instant::from_secs_f64(1.0),
        }));
        let refuses = Box::new(Refuses(Arc::clone(&requested)));
        let mut port = ExplicitPort::new(refuses, wire, Rng::named(1, "port"), meter);
        let (arrived, header) = (Instant::from_secs_f64(0.5), Header::default());
        let packet = Packet { flow: 0, id: 7, bytes: 1_500, header, ecn: Ecn::NotEct, arrived };
        let mut lost = Vec::new();
        let class = PacketClass::new(Kind::Data, false);
        assert_eq!(port.offer(packet, None, class, &mut |packet| lost.push(packet.id)), None);
        assert_eq!(port.tick(arrived, &mut |_| {}), None);
        assert_eq!((lost, requested.load(Ordering::Relaxed)), (vec![7], 0));
    }
}
