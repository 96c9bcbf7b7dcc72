//! A port: a queue feeding a line, in two forms that give identical departure times.
//!
//! *Explicit*: the discipline holds its packets and an event marks the end of every transmission.
//! Only this form shows gauges and traces packets.
//! *Folded*: for disciplines that decide at arrival and serve in order, the departure time is
//! known at arrival (departure = max(last departure, arrival) + transmission time, Lindley's
//! recursion), so neither the packet nor the end of its transmission needs an event; the queue
//! is a ring of service starts that is popped when somebody looks.

use std::collections::VecDeque;

use aqm::{Admission, Cx, Discipline, Gate};
use packet::{Backlog, Duration, Event, Instant, Packet, Rate, Rng};
use record::{Meter, Nature, PacketTrace};

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

/// What becomes of a packet offered to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It will have left the line at this time, marked or not (folded ports).
    Leaves {
        /// End of its transmission.
        at: Instant,
        /// Whether the queue marked it.
        marked: bool,
    },
    /// It was dropped.
    Dropped,
    /// The port keeps it and will say when it leaves (explicit ports).
    Kept,
}

/// A queue without end: a machine's own output.
pub struct Unlimited;

impl Gate for Unlimited {
    fn admit(&mut self, _: &mut Packet, _: Backlog, _: Instant, _: &mut Rng) -> Admission {
        Admission::Queued
    }
}

/// A packet waiting at a folded port.
#[derive(Clone, Copy)]
struct Waiting {
    start: Instant,
    finish: Instant,
    arrived: Instant,
    flow: u64,
    bytes: u32,
}

/// The folded form.
pub struct FoldedPort {
    gate: Box<dyn Gate>,
    wire: Wire,
    rng: Rng,
    meter: Meter,
    ring: VecDeque<Waiting>,
    backlog: Backlog,
    busy_until: Instant,
    /// Whether the gate knows that the line is idle.
    idle: bool,
    /// When the gate's next update is due: asked after each update, not for each packet.
    next_tick: Instant,
}

impl FoldedPort {
    /// An idle port.
    pub fn new(gate: Box<dyn Gate>, wire: Wire, rng: Rng, meter: Meter) -> Self {
        FoldedPort {
            next_tick: gate.next_tick().unwrap_or(Instant::NEVER),
            gate,
            wire,
            rng,
            meter,
            ring: VecDeque::new(),
            backlog: Backlog::default(),
            busy_until: Instant::ZERO,
            idle: true,
        }
    }

    /// A packet arrives at `packet.arrived`.
    #[inline]
    pub fn offer(&mut self, packet: &mut Packet, nature: Nature) -> Offered {
        let now = packet.arrived;
        self.advance(now);
        self.meter.arrival(now, packet.bytes, nature);
        let marked = match self.gate.admit(packet, self.backlog, now, &mut self.rng) {
            Admission::Dropped(why) => {
                self.meter.dropped(now, packet.bytes, why);
                self.meter.refused(now);
                return Offered::Dropped;
            }
            Admission::Marked(why) => {
                self.meter.marked(now, why);
                true
            }
            Admission::Queued => false,
        };
        self.meter.admitted(now);
        let start = now.max(self.busy_until);
        let finish = start + self.wire.time_for(packet.bytes);
        if self.idle {
            self.idle = false;
            self.meter.started(start, finish, now, packet.bytes, packet.flow);
        } else {
            let Packet { flow, bytes, .. } = *packet;
            self.ring.push_back(Waiting { start, finish, arrived: now, flow, bytes });
            self.backlog.packets += 1;
            self.backlog.bytes += u64::from(bytes);
            self.meter.queue(now, self.backlog);
        }
        self.busy_until = finish;
        Offered::Leaves { at: finish, marked }
    }

    /// Serves what began before or at `now`, and the ticks due by then.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        while let Some(&next) = self.ring.front() {
            if next.start > now {
                break;
            }
            self.tick(next.start);
            self.ring.pop_front();
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(next.bytes);
            self.meter.started(next.start, next.finish, next.arrived, next.bytes, next.flow);
            self.meter.queue(next.start, self.backlog);
        }
        if !self.idle && self.busy_until <= now {
            self.tick(self.busy_until);
            self.idle = true;
            self.gate.on_idle(self.busy_until);
        }
        self.tick(now);
    }

    /// Runs the discipline's updates due at or before `now`.
    #[inline]
    fn tick(&mut self, now: Instant) {
        while self.next_tick <= now {
            self.gate.on_tick(self.backlog, self.next_tick, &mut self.rng);
            self.next_tick = self.gate.next_tick().unwrap_or(Instant::NEVER);
        }
    }

    /// The meter.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
    /// The meter, to finish it or to tell it what the port does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
}

/// The explicit form.
pub struct ExplicitPort {
    discipline: Box<dyn Discipline>,
    wire: Wire,
    rng: Rng,
    meter: Meter,
    in_service: Option<Packet>,
    reported: Vec<Event>,
    /// Whether gauges are sampled or packets traced.
    watched: bool,
}

impl ExplicitPort {
    /// An idle port.
    pub fn new(discipline: Box<dyn Discipline>, wire: Wire, rng: Rng, meter: Meter) -> Self {
        let watched = meter.watches();
        let (in_service, reported) = (None, Vec::new());
        ExplicitPort { discipline, wire, rng, meter, in_service, reported, watched }
    }

    /// A packet arrives. Dropped packets (this or others) go to `lost`. Returns when the
    /// transmission that this arrival started will end, if it started one.
    pub fn offer(
        &mut self,
        packet: Packet,
        nature: Nature,
        lost: &mut impl FnMut(Packet),
    ) -> Option<Instant> {
        let (now, id) = (packet.arrived, packet.id);
        if self.watched {
            self.sample_gauges(now.nanos() + 1);
        }
        self.meter.arrival(now, packet.bytes, nature);
        let mut refused = false;
        let mut lose = |gone: Packet| {
            refused |= gone.id == id;
            lost(gone);
        };
        self.call(now, &mut lose, |d, cx| d.enqueue(packet, cx));
        if refused {
            self.meter.refused(now);
        } else {
            self.meter.admitted(now);
        }
        // An arrival that is dropped at an idle line must not start a second idle time.
        if self.in_service.is_none() && self.discipline.backlog().packets > 0 {
            return self.serve(now, lost);
        }
        self.meter.queue(now, self.discipline.backlog());
        None
    }

    /// The transmission in progress ends at `now`: returns its packet, and the end of the next
    /// transmission if one begins.
    pub fn finish_transmission(
        &mut self,
        now: Instant,
        lost: &mut impl FnMut(Packet),
    ) -> (Packet, Option<Instant>) {
        let sent = self.in_service.take().expect("a transmission ends only after it began");
        (sent, self.serve(now, lost))
    }

    fn serve(&mut self, now: Instant, lost: &mut impl FnMut(Packet)) -> Option<Instant> {
        let Some(next) = self.call(now, lost, |d, cx| d.dequeue(cx)) else {
            self.meter.queue(now, self.discipline.backlog()); // a shaper holds it back
            return None;
        };
        let finish = now + self.wire.time_for(next.bytes);
        self.meter.started(now, finish, next.arrived, next.bytes, next.flow);
        if self.watched
            && let Some(trace) = self.meter.packet_trace()
        {
            trace.started(now, next.id);
        }
        self.meter.queue(now, self.discipline.backlog());
        self.in_service = Some(next);
        Some(finish)
    }

    fn call<T>(
        &mut self,
        now: Instant,
        lost: &mut impl FnMut(Packet),
        ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T,
    ) -> T {
        if self.watched {
            self.sample_gauges(now.nanos());
        }
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
                Event::Marked { why, .. } => self.meter.marked(now, why),
                Event::Dropped { packet, why } => {
                    self.meter.dropped(now, packet.bytes, why);
                    lost(packet);
                }
            }
        }
        answer
    }

    /// When [`ExplicitPort::tick`] must be called next.
    pub fn next_tick(&self) -> Option<Instant> {
        self.discipline.next_tick()
    }

    /// Runs the discipline's update due at `now`. Returns the end of the transmission that it
    /// let begin, if it did: a shaper holds packets back although the line rests.
    pub fn tick(&mut self, now: Instant, lost: &mut impl FnMut(Packet)) -> Option<Instant> {
        self.call(now, lost, |d, cx| d.on_tick(cx));
        let waits = self.in_service.is_none() && self.discipline.backlog().packets > 0;
        if waits {
            return self.serve(now, lost);
        }
        self.meter.queue(now, self.discipline.backlog());
        None
    }

    /// The trace of packets, if there is one: arrivals are told to it before they are offered.
    #[inline]
    pub fn packet_trace(&mut self) -> Option<&mut PacketTrace> {
        self.meter.packet_trace()
    }

    /// Tells the trace what the discipline has reported.
    #[cold]
    fn trace_reported(&mut self, now: Instant) {
        if let Some(trace) = self.meter.packet_trace() {
            self.reported.iter().for_each(|event| trace.reported(now, event));
        }
    }

    /// Takes the samples of the gauges due before `before_ns`.
    #[cold]
    fn sample_gauges(&mut self, before_ns: u64) {
        if self.meter.gauges_due(before_ns) {
            self.meter.take_gauges(before_ns, |show| self.discipline.gauges(show));
        }
    }

    /// The meter.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
    /// The meter, to finish it or to tell it what the port does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }
}

/// A port of either form.
pub enum Port {
    /// See [`FoldedPort`].
    Folded(Box<FoldedPort>),
    /// See [`ExplicitPort`].
    Explicit(Box<ExplicitPort>),
}

impl Port {
    /// The meter.
    pub fn meter(&self) -> &Meter {
        match self {
            Port::Folded(p) => p.meter(),
            Port::Explicit(p) => p.meter(),
        }
    }

    /// The meter, to finish it or to tell it what the port does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        match self {
            Port::Folded(p) => p.meter_mut(),
            Port::Explicit(p) => p.meter_mut(),
        }
    }

    /// Brings the measurements up to the end of the run.
    pub fn finish(&mut self, end: Instant) {
        match self {
            Port::Folded(p) => p.advance(end),
            Port::Explicit(p) => p.sample_gauges(end.nanos()),
        }
        self.meter_mut().finish();
    }

    /// Asserts conservation (every packet and byte that came in was sent, dropped, or waits) and
    /// work conservation (the line rests only when nothing waits).
    pub fn check(&self) {
        let (meter, backlog) = match self {
            Port::Folded(p) => (p.meter(), p.backlog),
            Port::Explicit(p) => (p.meter(), p.backlog()),
        };
        let t = meter.totals();
        let waiting = u64::from(backlog.packets);
        assert_eq!(t.arrived.0, t.started.0 + t.dropped.0 + waiting, "packets are conserved");
        assert_eq!(t.arrived.1, t.started.1 + t.dropped.1 + backlog.bytes, "bytes are conserved");
        if let Some(traced) = meter.traced_backlog() {
            assert_eq!(traced, backlog.packets, "what is traced is what waits");
        }
        let resting = match self {
            Port::Folded(p) => p.idle,
            // A shaper holds packets back until it asks to be called.
            Port::Explicit(p) => p.in_service.is_none() && p.next_tick().is_none(),
        };
        assert!(!resting || waiting == 0, "a line rests while {waiting} packets wait");
    }
}
