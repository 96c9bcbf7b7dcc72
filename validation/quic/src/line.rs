//! A line behind one of aqmlab's queues: the datagrams that wait, and the one that is transmitted.

use std::collections::BTreeMap;

use aqm::{Cx, Discipline, Line as Described};
use packet::params::{Params, Raw};
use packet::{Event, Header, Instant, Packet, Rate, Rng};

use crate::end::Datagram;

/// Index of the connection to which a datagram belongs.
pub type Flow = usize;

/// The line in one direction, with its queue.
pub struct Line {
    rate: Rate,
    queue: Box<dyn Discipline>,
    rng: Rng,
    waiting: BTreeMap<u32, (Flow, Datagram)>,
    next_id: u32,
    /// The datagram that is transmitted, with its flow, and the time at which its transmission
    /// ends.
    sending: Option<(u64, Flow, Datagram)>,
    seen: Counts,
}

/// Counts of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub arrived: u64,
    pub dropped: u64,
    pub marked: u64,
    /// Sum of the number of waiting packets over time, in packets times ns.
    pub packet_ns: u128,
    changed: u64,
}

impl Line {
    /// A line of a rate behind a discipline with these fields.
    pub fn new(
        bits_per_s: u64,
        discipline: &str,
        fields: &[(String, Raw)],
        seed: u64,
    ) -> Result<Self, String> {
        let rate = Rate::from_bits_per_s(bits_per_s);
        let entry = aqm::find(discipline).ok_or(format!("no discipline {discipline}"))?;
        let params = Params::check(entry.about.fields, fields).map_err(|bad| bad.to_string())?;
        let queue = (entry.build)(&params, &Described::of(rate)).map_err(|bad| bad.to_string())?;
        Ok(Line {
            rate,
            queue: queue.into_discipline(),
            rng: Rng::named(seed, discipline),
            waiting: BTreeMap::new(),
            next_id: 0,
            sending: None,
            seen: Counts::default(),
        })
    }

    fn count(&mut self, now: u64) {
        let waited = u128::from(now - self.seen.changed) * self.waiting.len() as u128;
        (self.seen.packet_ns, self.seen.changed) = (self.seen.packet_ns + waited, now);
    }

    /// The queue's counts until now.
    pub fn counts(&mut self, now: u64) -> Counts {
        self.count(now);
        self.seen
    }

    /// Time of the next event: an update of the discipline, or the end of a transmission.
    pub fn due(&self) -> Option<u64> {
        let tick = self.queue.next_tick().map(Instant::nanos);
        let sent = self.sending.as_ref().map(|(until, ..)| *until);
        // With nothing waiting and nothing sent no update matters before the next arrival, which makes up for it.
        match (tick, sent) {
            (Some(tick), Some(sent)) => Some(tick.min(sent)),
            (_, sent) => sent,
        }
    }

    fn with<T>(&mut self, now: u64, call: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T) -> T {
        let (waiting, seen) = (&mut self.waiting, &mut self.seen);
        let mut out = |event| match event {
            Event::Dropped { packet, .. } => {
                waiting.remove(&packet.id);
                seen.dropped += 1;
            }
            Event::Marked { .. } => seen.marked += 1,
            _ => {}
        };
        let mut cx = Cx { now: Instant::from_nanos(now), rng: &mut self.rng, out: &mut out };
        call(&mut *self.queue, &mut cx)
    }

    fn tick(&mut self, now: u64) {
        while let Some(due) = self.queue.next_tick().filter(|due| due.nanos() <= now) {
            self.with(due.nanos(), |queue, cx| queue.on_tick(cx));
        }
    }

    /// A datagram arrives at the queue.
    pub fn take(&mut self, flow: Flow, datagram: Datagram, now: u64) {
        self.tick(now);
        self.count(now);
        self.next_id += 1;
        let packet = Packet {
            id: self.next_id,
            flow: flow as u64,
            bytes: datagram.bytes,
            ecn: datagram.ecn,
            arrived: Instant::from_nanos(now),
            header: Header::default(),
        };
        self.seen.arrived += 1;
        self.waiting.insert(packet.id, (flow, datagram));
        self.with(now, |queue, cx| queue.enqueue(packet, cx));
        self.send(now);
    }

    /// Handles the event that is due. Returns a datagram whose transmission has ended.
    pub fn wake(&mut self, now: u64) -> Option<(Flow, Datagram)> {
        self.tick(now);
        let (_, flow, datagram) = self.sending.take_if(|(until, ..)| *until <= now)?;
        self.send(now);
        Some((flow, datagram))
    }

    fn send(&mut self, now: u64) {
        if self.sending.is_some() {
            return;
        }
        self.count(now);
        let Some(packet) = self.with(now, |queue, cx| queue.dequeue(cx)) else { return };
        let Some((flow, mut datagram)) = self.waiting.remove(&packet.id) else { return };
        datagram.ecn = packet.ecn;
        let time = self.rate.time_for(u64::from(packet.bytes)).nanos();
        self.sending = Some((now + time, flow, datagram));
    }
}
