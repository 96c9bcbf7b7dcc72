//! The queues before a channel: one discipline and the driver's FIFOs, or a discipline for each
//! station.

use std::collections::VecDeque;

use aqm::{Cx, Discipline};
use packet::{Backlog, Event, Instant, Packet, Rng};
use record::Meter;

use crate::port::guests::Guests;

/// One discipline for all stations, or one for each.
pub(super) struct Queues {
    disciplines: Vec<Box<dyn Discipline>>,
    /// Backlog of each discipline, and time of its next update, both as of its last call; then the
    /// sum of the backlogs.
    known: Vec<(Backlog, Instant)>,
    waits: Backlog,
    /// Time of the first update that a discipline needs; [`Instant::NEVER`] if none needs one.
    next_tick: Instant,
    /// Packets that have left their discipline, by station: those in the driver's FIFOs, or one for
    /// which an aggregate had no room.
    held: Vec<VecDeque<Packet>>,
    holds: Backlog,
    /// Largest number of packets in the driver; `None` if each station has a discipline.
    driver: Option<u32>,
    pub guests: Guests,
}

impl Queues {
    pub fn new(
        disciplines: Vec<Box<dyn Discipline>>,
        stations: usize,
        driver: Option<u32>,
    ) -> Self {
        let known = disciplines.iter().map(|of| (of.backlog(), update_of(&**of))).collect();
        Queues {
            driver,
            known,
            waits: Backlog::default(),
            next_tick: disciplines
                .iter()
                .map(|of| update_of(&**of))
                .min()
                .unwrap_or(Instant::NEVER),
            disciplines,
            held: (0..stations).map(|_| VecDeque::new()).collect(),
            holds: Backlog::default(),
            guests: Guests::default(),
        }
    }

    fn of(&self, station: usize) -> usize {
        if self.disciplines.len() == 1 { 0 } else { station }
    }

    /// Queues a packet for a station. Returns whether it was dropped on arrival.
    pub fn put(
        &mut self,
        station: usize,
        packet: Packet,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
    ) -> bool {
        let (own, id) = (self.of(station), packet.id);
        let mut refused = false;
        let mut lost = |packet: Packet| {
            refused |= packet.id == id;
            lost(packet);
        };
        self.call(own, now, rng, meter, &mut lost, |d, cx| d.enqueue(packet, cx));
        if self.driver.is_some() {
            self.refill(now, rng, meter, &mut lost);
        }
        refused
    }

    /// The driver takes packets until it holds as many as it may.
    fn refill(
        &mut self,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
    ) {
        let Some(most) = self.driver else { return };
        while self.holds.packets < most {
            let taken = self.call(0, now, rng, meter, lost, |d, cx| d.dequeue(cx));
            let Some(packet) = taken else { return };
            let station = self.place(&packet);
            self.hold(station, packet, false);
        }
    }

    /// The station of a packet that the driver of an access point has taken.
    fn place(&self, packet: &Packet) -> usize {
        let stations = self.held.len();
        usize::from(packet.header.destination) % stations
    }

    fn hold(&mut self, station: usize, packet: Packet, first: bool) {
        self.holds.packets += 1;
        self.holds.bytes += u64::from(packet.bytes);
        match first {
            true => self.held[station].push_front(packet),
            false => self.held[station].push_back(packet),
        }
    }

    /// Removes and returns the next packet for a station.
    pub fn take(
        &mut self,
        station: usize,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Packet> {
        let held = self.take_held(station);
        match (self.driver, &held) {
            (Some(_), Some(_)) => self.refill(now, rng, meter, lost),
            (None, None) => {
                return self.call(station, now, rng, meter, lost, |d, cx| d.dequeue(cx));
            }
            _ => {}
        }
        held
    }

    /// Moves a station's next packet from its discipline to the driver. Returns its length in
    /// bytes.
    pub fn lower(
        &mut self,
        station: usize,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<u32> {
        let packet = self.call(station, now, rng, meter, lost, |d, cx| d.dequeue(cx))?;
        let bytes = packet.bytes;
        self.hold(station, packet, false);
        Some(bytes)
    }

    /// Removes and returns the next packet of a station that has left its discipline.
    pub fn take_held(&mut self, station: usize) -> Option<Packet> {
        let packet = self.held[station].pop_front()?;
        self.holds.packets -= 1;
        self.holds.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Arrival time of the next packet of a station that has left its discipline.
    pub fn first_held(&self, station: usize) -> Option<Instant> {
        self.held[station].front().map(|packet| packet.arrived)
    }

    /// Removes and returns the next packet of a service flow of the first discipline.
    pub fn take_flow(
        &mut self,
        flow: usize,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Packet> {
        self.call(0, now, rng, meter, lost, |d, cx| d.dequeue_flow(flow, cx))
    }

    /// Backlog of a service flow of the first discipline.
    pub fn flow_backlog(&self, flow: usize) -> Backlog {
        self.disciplines[0].flow_backlog(flow)
    }

    /// Backlog of a station's discipline.
    pub fn backlog_of(&self, station: usize) -> Backlog {
        self.known[self.of(station)].0
    }

    /// Number of packets that wait for a station, in its own discipline and outside it.
    pub fn waits_for(&self, station: usize) -> u32 {
        self.known[self.of(station)].0.packets + self.held[station].len() as u32
    }

    /// Puts a packet back for which an aggregate had no room; it will be taken first.
    pub fn put_back(&mut self, station: usize, packet: Packet) {
        self.hold(station, packet, true);
    }

    /// Whether a packet waits for a station.
    pub fn has(&self, station: usize) -> bool {
        let queued = || self.known[self.of(station)].0.packets > 0;
        !self.held[station].is_empty() || (self.driver.is_none() && queued())
    }

    /// Time of the first update that a discipline needs, if any does.
    pub fn next_tick(&self) -> Option<Instant> {
        (self.next_tick < Instant::NEVER).then_some(self.next_tick)
    }

    /// Runs the updates that are due. Returns whether there was one: after it, a discipline that
    /// held packets back may release some.
    pub fn tick(
        &mut self,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
    ) -> bool {
        if now < self.next_tick {
            return false;
        }
        for own in 0..self.disciplines.len() {
            while self.known[own].1 <= now {
                self.call(own, now, rng, meter, lost, |d, cx| d.on_tick(cx));
            }
        }
        self.refill(now, rng, meter, lost);
        true
    }

    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let all = self.disciplines.iter_mut().all(|discipline| discipline.set(name, value));
        (0..self.disciplines.len()).for_each(|own| self.look_at(own));
        all
    }

    pub fn backlog(&self) -> Backlog {
        let (below, above) = (self.holds, self.waits);
        Backlog { packets: below.packets + above.packets, bytes: below.bytes + above.bytes }
    }

    /// Calls a discipline and counts what it reports. Returns the result of the call.
    fn call<T>(
        &mut self,
        own: usize,
        now: Instant,
        rng: &mut Rng,
        meter: &mut Meter,
        lost: &mut dyn FnMut(Packet),
        ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T,
    ) -> T {
        let guests = &mut self.guests;
        let mut out = |event| match event {
            Event::Queued { .. } => {}
            Event::Marked { id, why } => meter.marked(now, why, guests.marked(id)),
            Event::Dropped { packet, why } => {
                meter.dropped(now, packet.arrived, packet.bytes, why);
                lost(packet);
            }
        };
        let answer = ask(self.disciplines[own].as_mut(), &mut Cx { now, rng, out: &mut out });
        self.look_at(own);
        answer
    }

    /// After a call of a discipline: notes its backlog and the time of its next update.
    fn look_at(&mut self, own: usize) {
        let discipline = &*self.disciplines[own];
        let (backlog, update) = (discipline.backlog(), update_of(discipline));
        let (before, due) = std::mem::replace(&mut self.known[own], (backlog, update));
        self.waits.packets = self.waits.packets - before.packets + backlog.packets;
        self.waits.bytes = self.waits.bytes - before.bytes + backlog.bytes;
        if update < self.next_tick {
            self.next_tick = update;
        } else if due != update && due == self.next_tick {
            self.next_tick = self.known.iter().map(|of| of.1).min().unwrap_or(Instant::NEVER);
        }
    }
}

/// Time of a discipline's next update; [`Instant::NEVER`] if it needs none.
fn update_of(discipline: &dyn Discipline) -> Instant {
    discipline.next_tick().unwrap_or(Instant::NEVER)
}

#[cfg(test)]
mod tests;
