//! A port to a radio channel (802.11n and ac): frames of one station go out together (A-MPDU) in a
//! transmission opportunity, which access point and stations contend for, and are acknowledged
//! together. A frame is handed on as soon as it has arrived, and one that did not arrive is retransmitted; what came
//! behind it waits for it, so that order is kept.
//!
//! The queues stand as in Linux. With the stack `driver` the link's discipline is one queue, from which
//! the driver takes packets into a FIFO for each station until it holds as many as it may; with `stations` there is one
//! discipline for each station (FQ-CoDel for each TID, as mac80211 has), and below it none, or what airtime queue limits
//! let the driver take. How the access point serves the stations, [`Turns`] says.

mod aggregate;
mod aql;
mod medium;
mod turns;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use aqm::Discipline;
use packet::{Duration, Header, Instant, Packet, Rate, Rng};
use record::{Capacity, Meter};

use super::queues::Queues;
use super::{Channel, ChannelReport, Front};
use aggregate::{Aggregate, Frame};
use aql::Airtime;
pub use aql::AirtimeLimits;
pub use medium::{Medium, Share, Timing};
pub use turns::Turns;

/// What a port to a radio channel is made of, apart from its queues.
#[derive(Clone, Debug)]
pub struct WifiSettings {
    /// Rate of the physical layer of each station.
    pub rates: Vec<Rate>,
    /// Whether this is the access point's port; else the stations'.
    pub access_point: bool,
    /// Packets that the driver holds, where there is one discipline for all; none without such a driver.
    pub driver: Option<u32>,
    /// Packets that a device may have from their arrival until they are acknowledged; none without such a limit.
    pub room: Option<u32>,
    /// Airtime of the frames that the driver takes from a station's discipline at most; none without such limits.
    pub aql: Option<AirtimeLimits>,
    /// How the access point serves the stations.
    pub turns: Turns,
    /// Frames of an aggregate at most.
    pub frames: usize,
    /// Their bytes at most.
    pub bytes: u64,
    /// How long they may take on the air.
    pub longest: Duration,
    /// The share of frames that do not arrive.
    pub error: f64,
    /// How often a frame is sent at most.
    pub tries: u32,
    /// Whether a sender without an acknowledgement requests one before it retransmits.
    pub requests: bool,
}

impl WifiSettings {
    /// Bytes of an aggregate at most at this rate.
    fn most_bytes(&self, rate: Rate) -> u64 {
        let fit = u128::from(self.longest.nanos()) * u128::from(rate.bits_per_s()) / 8_000_000_000;
        u64::try_from(fit).unwrap_or(u64::MAX).min(self.bytes)
    }
}

/// A transmission under way.
struct Sending {
    station: usize,
    began: Instant,
    air: Duration,
    /// Frames of its aggregate; a request for an acknowledgement has none.
    frames: u64,
    /// Whether it is known who else began in its slot, and so what arrives.
    settled: bool,
}

/// The port.
pub struct WifiPort {
    settings: WifiSettings,
    medium: Arc<Mutex<Medium>>,
    timing: Timing,
    front: Front,
    /// Bytes of an aggregate at most, by station: as many as are allowed, and as fit in the longest time.
    most_bytes: Vec<u64>,
    /// Frames on the air, or to be retransmitted, by station; in order.
    frames: Vec<VecDeque<Frame>>,
    /// Transmissions under way, by contender of this port.
    sending: Vec<Option<Sending>>,
    /// Stations of which an acknowledgement is to be requested, by contender of this port.
    requests: Vec<Option<usize>>,
    /// Whether it waits for its turn, by contender of this port: what the medium knows of it.
    waiting: Vec<bool>,
    /// The station whose turn it is, and the airtime that each has left, ns.
    turn: usize,
    deficits: Vec<i64>,
    /// Airtime that the driver holds, where it is limited.
    airtime: Option<Airtime>,
    /// Airtime of the frames under way, which leave the driver with their acknowledgement, and how many; by station.
    leaving: Vec<(Duration, u32)>,
    /// Frames taken from the queues and not yet acknowledged or given up, by contender of this port.
    under_way: Vec<u32>,
    /// Stations whose discipline has packets and gave none, as a shaper does, until it is updated or another packet comes.
    held_back: Vec<bool>,
    /// Airtime of this direction in the measured interval.
    used: Duration,
    rate: Rate,
}

impl WifiPort {
    /// A port at rest. `queues` are one discipline, or one for each station; `rate` is the nominal one.
    pub fn new(
        settings: WifiSettings,
        medium: Arc<Mutex<Medium>>,
        queues: Vec<Box<dyn Discipline>>,
        rate: Rate,
        rng: Rng,
        meter: Meter,
    ) -> Self {
        let stations = settings.rates.len();
        let contenders = if settings.access_point { 1 } else { stations };
        let timing = medium.lock().expect("nobody panics with the channel").timing;
        WifiPort {
            front: Front::new(Queues::new(queues, stations, settings.driver), rng, meter),
            airtime: settings.aql.map(|of| Airtime::new(of, stations, settings.access_point)),
            leaving: vec![(Duration::ZERO, 0); stations],
            under_way: vec![0; contenders],
            held_back: vec![false; stations],
            frames: (0..stations).map(|_| VecDeque::new()).collect(),
            sending: (0..contenders).map(|_| None).collect(),
            requests: vec![None; contenders],
            waiting: vec![false; contenders],
            most_bytes: settings.rates.iter().map(|&rate| settings.most_bytes(rate)).collect(),
            turn: 0,
            deficits: vec![0; stations],
            settings,
            timing,
            medium,
            used: Duration::ZERO,
            rate,
        }
    }

    fn medium(&self) -> MutexGuard<'_, Medium> {
        self.medium.lock().expect("nobody panics with the channel")
    }

    /// The station that a packet goes to or comes from.
    fn station(&self, header: &Header) -> usize {
        let host = if self.settings.access_point { header.destination } else { header.source };
        usize::from(host) % self.settings.rates.len()
    }

    /// The number on the channel of this port's contender.
    fn number(&self, contender: usize) -> usize {
        if self.settings.access_point { 0 } else { contender + 1 }
    }

    /// A contender that has frames and does not send waits for its turn: when that is, if it has not waited before.
    fn contend(&mut self, contender: usize, now: Instant) -> Option<Instant> {
        if self.sending[contender].is_some() || self.waiting[contender] {
            return None;
        }
        if !self.stations_of(contender).any(|station| self.has_frames(station)) {
            return None;
        }
        self.waiting[contender] = true;
        let number = self.number(contender);
        let mut medium = self.medium.lock().expect("nobody panics with the channel");
        medium.wait(number, now, &mut self.front.rng);
        medium.turn(number)
    }

    fn stations_of(&self, contender: usize) -> std::ops::Range<usize> {
        match self.settings.access_point {
            true => 0..self.settings.rates.len(),
            false => contender..contender + 1,
        }
    }

    fn has_frames(&self, station: usize) -> bool {
        let queued = || self.front.queues.has(station) && !self.held_back[station];
        !self.frames[station].is_empty() || queued()
    }

    /// A contender gets the channel: a request for an acknowledgement leaves, or the frames of a station together.
    fn begin(&mut self, contender: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let number = self.number(contender);
        self.waiting[contender] = false;
        let request = self.requests[contender].map(|station| (station, self.timing.request, 0));
        let Some((station, air, frames)) = request.or_else(|| self.fill_one(contender, now, lost))
        else {
            return self.medium().withdraw(number);
        };
        let response = self.timing.sifs + self.timing.block_ack;
        self.medium().begin(number, now, air, response);
        let settled = false;
        self.sending[contender] = Some(Sending { station, began: now, air, frames, settled });
    }

    /// The aggregate of the next station that has one: the station, its time on the air and its frames.
    fn fill_one(
        &mut self,
        contender: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<(usize, Duration, u64)> {
        loop {
            let station = self.next_station(contender, now, lost)?;
            let Aggregate { air, frames, repeated } = self.aggregate(station, now, lost);
            if frames > 0 {
                self.medium().repeats(station, now, repeated);
                return Some((station, air, frames));
            }
        }
    }

    /// It is known who began in the slot of a transmission: its frames arrive one after the other, or none does.
    fn settle(&mut self, contender: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let is_lost = self.medium().is_lost(self.number(contender));
        let Some(sending) = self.sending[contender].as_mut() else { return };
        sending.settled = true;
        let (station, began, frames) = (sending.station, sending.began, sending.frames);
        if frames == 0 {
            return;
        }
        let (rate, error) = (self.settings.rates[station], self.settings.error);
        let preamble = self.timing.preamble;
        let mut bytes = 0;
        for frame in self.frames[station].iter_mut().filter(|frame| frame.arrived.is_none()) {
            bytes += frame.bytes();
            let arrives = !is_lost && self.front.rng.uniform() >= error;
            frame.arrived = arrives.then(|| began + preamble + rate.time_for(bytes));
            frame.failed += u32::from(!arrives);
        }
        self.hand_on(station, now, lost);
    }

    /// Frames that have arrived, with all before them, are handed on; those that were sent often enough are given up.
    fn hand_on(&mut self, station: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let tries = self.settings.tries;
        let over = |frame: &Frame| frame.arrived.is_some() || frame.failed >= tries;
        while self.frames[station].front().is_some_and(over) {
            let Some(frame) = self.frames[station].pop_front() else { return };
            self.leaving[station].1 += 1;
            if self.airtime.is_some() {
                let airtime = self.settings.rates[station].time_for(frame.bytes());
                self.leaving[station].0 += airtime;
            }
            match frame.arrived {
                Some(at) => self.front.hand_on(frame.packet, at.max(now)),
                None => {
                    self.medium().gives_up(station, now, 1);
                    lost(frame.packet);
                }
            }
        }
    }

    /// When a contender of this port has something to do: it begins to send, knows who began in its slot, or is over
    /// with its transmission, by the acknowledgement or because none has come.
    fn due(&self, contender: usize, medium: &Medium) -> Option<Instant> {
        let (number, timing) = (self.number(contender), &self.timing);
        Some(match &self.sending[contender] {
            None => return medium.turn(number),
            Some(sending) if !sending.settled => sending.began + timing.slot,
            Some(sending) if medium.is_lost(number) => sending.began + sending.air + timing.timeout,
            Some(sending) => sending.began + sending.air + timing.sifs + timing.block_ack,
        })
    }

    fn is_due(&self, contender: usize, now: Instant) -> bool {
        self.due(contender, &self.medium()).is_some_and(|at| at <= now)
    }

    /// The first contender from this one on whose turn it is.
    fn next_to_begin(&self, from: usize, now: Instant) -> Option<usize> {
        let medium = self.medium();
        let is_due = |&contender: &usize| {
            self.sending[contender].is_none()
                && medium.turn(self.number(contender)).is_some_and(|at| at <= now)
        };
        (from..self.sending.len()).find(is_due)
    }

    /// The next step of a transmission under way.
    fn proceed(&mut self, contender: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        match self.sending[contender].as_ref().is_some_and(|sending| sending.settled) {
            true => self.complete(contender, now, lost),
            false => self.settle(contender, now, lost),
        }
    }

    /// A transmission is over, and its acknowledgement has come or not.
    fn complete(&mut self, contender: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let Some(sending) = self.sending[contender].take() else { return };
        let Sending { station, began, frames, .. } = sending;
        let (left, count) = std::mem::take(&mut self.leaving[station]);
        self.under_way[contender] -= count;
        if let Some(airtime) = &mut self.airtime {
            airtime.complete(station, left);
            self.stations_of(contender).for_each(|station| self.fill(station, now, lost));
        }
        let (number, lasts) = (self.number(contender), now.since(began));
        let mut medium = self.medium.lock().expect("nobody panics with the channel");
        let waits = !self.frames[station].is_empty();
        // A frame that is alone has an acknowledgement of its own.
        let block = frames != 1 && self.settings.requests && waits;
        self.requests[contender] = (block && medium.is_lost(number)).then_some(station);
        medium.took(station, began, lasts, frames);
        medium.ended(number, now, &mut self.front.rng);
        if !self.settings.access_point {
            medium.receive(station, lasts);
        }
        drop(medium);
        self.deficits[station] -= lasts.nanos() as i64;
        if self.front.meter.measures(began) {
            self.used += lasts;
        }
        self.contend(contender, now);
    }
}

impl Channel for WifiPort {
    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    /// A device has as many packets as it may, those under way included.
    fn is_full(&self, header: &Header) -> bool {
        let Some(most) = self.settings.room else { return false };
        if self.sending.len() == 1 {
            return self.is_closed();
        }
        let station = self.station(header);
        self.front.queues.waits_for(station) + self.under_way[station] >= most
    }

    fn is_closed(&self) -> bool {
        // One room for all: the access point's, or that of a station alone.
        let room = self.settings.room.filter(|_| self.sending.len() == 1);
        room.is_some_and(|most| self.front.queues.backlog().packets + self.under_way[0] >= most)
    }

    fn queue(&mut self, packet: Packet, lost: &mut dyn FnMut(Packet)) -> Option<Instant> {
        let now = packet.arrived;
        let station = self.station(&packet.header);
        self.held_back[station] = false;
        self.front.put(station, packet, lost);
        if self.airtime.is_some() {
            self.fill(station, now, lost);
        }
        self.front.meter.queue(now, self.backlog());
        let contender = if self.settings.access_point { 0 } else { station };
        let turn = self.contend(contender, now);
        turn.into_iter().chain(self.front.queues.next_tick()).min()
    }

    fn next_event(&self) -> Option<Instant> {
        let medium = self.medium();
        (0..self.sending.len()).filter_map(|contender| self.due(contender, &medium)).min()
    }

    fn updated(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) {
        self.held_back.fill(false);
        (0..self.frames.len()).for_each(|station| self.fill(station, now, lost));
        for contender in 0..self.sending.len() {
            self.contend(contender, now);
        }
    }

    fn run(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) {
        for contender in 0..self.sending.len() {
            while self.sending[contender].is_some() && self.is_due(contender, now) {
                self.proceed(contender, now, lost);
            }
        }
        let mut from = 0;
        while let Some(contender) = self.next_to_begin(from, now) {
            self.begin(contender, now, lost);
            from = contender + 1;
        }
    }

    fn capacity(&self, seconds: f64) -> Capacity {
        let used = Some((self.used.secs_f64() / seconds).min(1.0));
        Capacity { mean_bits_per_s: self.rate.bits_per_s() as f64, used }
    }

    fn report(&self) -> Option<ChannelReport> {
        let shares = || ChannelReport::Wifi(self.medium().shares().to_vec());
        self.settings.access_point.then(shares)
    }
}
