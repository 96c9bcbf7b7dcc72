//! Drives a CAKE, which reads headers and may hold packets back, and returns what it reports.

use aqmlab_aqm::{Cx, Discipline};
use packet::{Event, Instant, Packet, Rng, TcpHeader};

use super::super::Pairs;
use super::super::line::{Did, Product};

/// A CAKE with its stream of random numbers; its calls return what the queue reports.
pub struct Rig {
    pub discipline: Box<dyn Discipline>,
    pub rng: Rng,
}

impl Rig {
    pub fn new(pairs: Pairs, seed: u64) -> Self {
        let discipline = Product::new("cake", pairs, seed).discipline;
        Rig { discipline, rng: Rng::named(seed, "draws") }
    }

    fn call<T>(
        &mut self,
        now: u64,
        ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T,
    ) -> (T, Vec<Did>) {
        let mut did = Vec::new();
        let mut out = |event: Event| did.push(event.into());
        let mut cx = Cx { now: Instant::from_nanos(now), rng: &mut self.rng, out: &mut out };
        let answer = ask(&mut *self.discipline, &mut cx);
        (answer, did)
    }

    /// Enqueues a packet with its TCP header, or without one.
    pub fn enqueue(&mut self, packet: Packet, header: Option<&TcpHeader>) -> Vec<Did> {
        let now = packet.arrived.nanos();
        let offer = |discipline: &mut dyn Discipline, cx: &mut Cx| match header {
            Some(header) => discipline.enqueue_tcp(packet, header, cx),
            None => discipline.enqueue(packet, cx),
        };
        self.call(now, offer).1
    }

    pub fn dequeue(&mut self, now: u64) -> (Option<Packet>, Vec<Did>) {
        let (packet, mut did) = self.call(now, |discipline, cx| discipline.dequeue(cx));
        if let Some(packet) = &packet {
            did.push(Did::Send(packet.id, packet.ecn));
        }
        (packet, did)
    }

    pub fn tick(&mut self, now: u64) {
        self.call(now, |discipline, cx| discipline.on_tick(cx));
    }

    pub fn next_tick(&self) -> Option<u64> {
        self.discipline.next_tick().map(Instant::nanos)
    }

    pub fn gauge(&self, name: &str) -> f64 {
        let mut found = None;
        self.discipline.gauges(&mut |gauge, value| {
            if gauge == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no gauge {name}"))
    }
}
