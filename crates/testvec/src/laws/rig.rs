//! Test rig for the laws: a discipline with a line, and an independent account of its packets.

use std::collections::{HashMap, VecDeque};

use aqm::{Built, Cx, Discipline, Entry, Line};
use packet::params::{Params, Raw};
use packet::{Ack, Backlog, Ecn, Event, Header, Instant, Packet, Rate, Rng};

/// The line behind the discipline in the runs of all laws.
pub(super) const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));

/// Parameters as a user writes them.
pub type Written = Vec<(String, Raw)>;

pub(super) fn build(entry: &Entry, set: &Written) -> Built {
    let params = Params::check(entry.about.fields, set).expect("the table's own values");
    (entry.build)(&params, &LINE).expect("it accepted them before")
}

/// Whether the discipline may reorder packets of a flow. Linux's sch_hhf moves a heavy hitter's
/// packets to another queue, and back when the flow is evicted, while packets of it wait (its
/// evict_timeout "should be large enough to avoid reordering"). With `any_ect` a dual queue puts
/// ECT(0) and Not-ECT packets of one flow into different queues. Queue protection (RFC 9957) moves
/// packets of a queue-building flow to the classic queue.
fn reorders(entry: &Entry, set: &Written) -> bool {
    let splits =
        |(name, value): &(String, Raw)| name == "any_ect" && matches!(value, Raw::Bool(true));
    matches!(entry.about.name, "hhf" | "docsis_lld") || set.iter().any(splits)
}

/// An entry of the rig's log.
#[derive(Debug, PartialEq)]
pub(super) enum Seen {
    /// An event that the discipline reported.
    Told(Event),
    /// A packet (number, ECN field) began its transmission.
    Sent(u32, Ecn),
}

/// A discipline with a line, and the rig's own counts of its packets, by which the laws check it.
pub(super) struct Rig {
    pub discipline: Box<dyn Discipline>,
    rng: Rng,
    busy_until: Option<u64>,
    /// Waiting packets as the rig has recorded them: (flow, bytes, ECN field), by packet number.
    waiting: HashMap<u32, (u64, u32, Ecn)>,
    /// Bytes of the waiting packets.
    bytes: u64,
    /// Numbers of each flow's waiting packets in the order of arrival.
    order: HashMap<u64, VecDeque<u32>>,
    pub offered: u64,
    pub sent: u64,
    pub dropped: u64,
    pub marked: u64,
    /// All events and transmissions, with their time since the start in ns.
    pub log: Vec<(u64, Seen)>,
    start: u64,
    /// Whether a flow's packets may overtake each other; see [`reorders`].
    reorders: bool,
}

impl Rig {
    pub(super) fn new(entry: &Entry, set: &Written, start: u64, seed: u64) -> Self {
        Rig {
            discipline: build(entry, set).into_discipline(),
            reorders: reorders(entry, set),
            rng: Rng::named(seed, "laws"),
            busy_until: None,
            waiting: HashMap::new(),
            bytes: 0,
            order: HashMap::new(),
            offered: 0,
            sent: 0,
            dropped: 0,
            marked: 0,
            log: Vec::new(),
            start,
        }
    }

    fn call(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut dyn Discipline, &mut Cx) -> Option<Packet>,
    ) -> Option<Packet> {
        let mut events = Vec::new();
        let mut out = |event| events.push(event);
        let at = Instant::from_nanos(now);
        let mut cx = Cx { now: at, rng: &mut self.rng, out: &mut out };
        let packet = act(&mut *self.discipline, &mut cx);
        for event in events {
            self.note(now, event);
        }
        packet
    }

    fn note(&mut self, now: u64, event: Event) {
        let mut shown = event.clone();
        if let Event::Dropped { packet, .. } = &mut shown {
            packet.arrived = Instant::from_nanos(packet.arrived.nanos() - self.start);
        }
        self.log.push((now - self.start, Seen::Told(shown)));
        match event {
            Event::Queued { id } => assert!(self.waiting.contains_key(&id), "queued {id} twice"),
            Event::Marked { id, .. } => {
                self.marked += 1;
                let (_, _, ecn) = self.waiting.get_mut(&id).expect("marks what waits");
                assert!(ecn.can_be_marked(), "packet {id} is not ECN-capable");
                *ecn = Ecn::Ce;
            }
            Event::Dropped { packet, .. } => {
                self.dropped += 1;
                let (flow, bytes, _) = self.waiting.remove(&packet.id).expect("dropped twice");
                assert_eq!((flow, bytes), (packet.flow, packet.bytes));
                self.bytes -= u64::from(bytes);
                self.order.get_mut(&flow).unwrap().retain(|id| *id != packet.id);
            }
        }
    }

    /// Checks that the discipline's backlog equals the packets and bytes that the rig itself has
    /// counted, and that every packet offered was sent or dropped or still waits.
    fn balance(&self) {
        let backlog = Backlog { packets: self.waiting.len() as u32, bytes: self.bytes };
        assert_eq!(self.discipline.backlog(), backlog);
        assert_eq!(self.offered, self.sent + self.dropped + u64::from(backlog.packets));
    }

    pub(super) fn arrive(&mut self, packet: Packet, now: u64) {
        self.advance(now);
        self.offered += 1;
        self.waiting.insert(packet.id, (packet.flow, packet.bytes, packet.ecn));
        self.bytes += u64::from(packet.bytes);
        self.order.entry(packet.flow).or_default().push_back(packet.id);
        self.call(now, |discipline, cx| {
            discipline.enqueue(packet, cx);
            None
        });
        self.balance();
        if self.busy_until.is_none() {
            self.send(now);
        }
    }

    fn send(&mut self, now: u64) {
        let packet = self.call(now, |discipline, cx| discipline.dequeue(cx));
        self.busy_until = packet.map(|packet| {
            self.sent += 1;
            self.log.push((now - self.start, Seen::Sent(packet.id, packet.ecn)));
            let account = self.waiting.remove(&packet.id).expect("sent what never came");
            assert_eq!(account, (packet.flow, packet.bytes, packet.ecn), "changed on the way");
            self.bytes -= u64::from(packet.bytes);
            let order = self.order.get_mut(&packet.flow).unwrap();
            let place = order.iter().position(|id| *id == packet.id).expect("it came");
            order.remove(place);
            assert!(place == 0 || self.reorders, "flow {} out of order", packet.flow);
            now + LINE.rate.time_for(u64::from(packet.bytes)).nanos()
        });
        self.balance();
    }

    /// Runs until nothing waits and nothing is being sent; a shaper is called at the times it has
    /// scheduled.
    pub(super) fn drain(&mut self) {
        let waits = |rig: &Self| rig.discipline.backlog().packets > 0;
        while let Some(next) = self.busy_until.or_else(|| {
            waits(self).then(|| {
                self.discipline
                    .next_tick()
                    .expect(
                        "a queue at rest: packets wait, nothing is sent and no tick is scheduled",
                    )
                    .nanos()
            })
        }) {
            self.advance(next);
        }
    }

    pub(super) fn advance(&mut self, now: u64) {
        loop {
            let tick = self.discipline.next_tick().map(Instant::nanos).filter(|t| *t <= now);
            let free = self.busy_until.filter(|end| *end <= now);
            match (tick, free) {
                (Some(tick), free) if free.is_none_or(|end| tick <= end) => {
                    self.call(tick, |discipline, cx| {
                        discipline.on_tick(cx);
                        None
                    });
                    // The line is idle because a shaper held packets until this tick.
                    if self.busy_until.is_none() && self.discipline.backlog().packets > 0 {
                        self.send(tick);
                    }
                }
                (_, Some(end)) => self.send(end),
                _ => return,
            }
        }
    }
}

/// Random packets of seven flows: one byte, ordinary and jumbo; bursts, gaps and idle times.
pub(super) fn packets(seed: u64, count: u32, start: u64) -> Vec<(u64, Packet)> {
    let mut rng = Rng::named(seed, "packets");
    let mut now = start;
    let mut mean_gap = 6e5;
    let mut next = |id| {
        if rng.below(100) == 0 {
            mean_gap = [1e4, 3e5, 8e5, 3e6, 2e8][rng.below(5) as usize];
        }
        now += rng.exponential(mean_gap) as u64;
        let bytes = [1, 40, 552, 1500, 1500, 1500, 9000, 65_535][rng.below(8) as usize];
        let (flow, which) = (rng.below(7), rng.below(2) as usize);
        // Each flow is either classic or scalable, because a dual queue may reorder a mixed flow.
        let classic = [Ecn::NotEct, Ecn::Ect0];
        let ecn = if flow % 2 == 0 { classic } else { [Ecn::Ect1, Ecn::Ce] }[which];
        let arrived = Instant::from_nanos(now);
        // DSCPs of best effort, voice and background; two sources and three destinations; packets
        // of 40 bytes are acknowledgements.
        let header = Header {
            dscp: [0, 46, 8][flow as usize % 3],
            ack: if bytes == 40 { Ack::Newer } else { Ack::No },
            source: flow as u16 % 2,
            destination: flow as u16 % 3,
        };
        (now, Packet { id, flow, bytes, ecn, arrived, header })
    };
    (0..count).map(&mut next).collect()
}
