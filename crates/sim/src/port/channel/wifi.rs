//! A port to a Wi-Fi channel (802.11n and ac): frames of one station are sent together (A-MPDU) in
//! a transmission opportunity, for which access point and stations contend, and are acknowledged
//! together. A frame that did not arrive is retransmitted, and frames behind it wait for it, so
//! that order is kept.
//!
//! The queues are arranged as in Linux. With the stack `driver` the link's discipline is one queue,
//! from which the driver takes packets, up to its limit, into a FIFO for each station. With
//! `stations` there is one discipline for each station (as mac80211 has FQ-CoDel for each TID), and
//! below it no queue, or what airtime queue limits let the driver take. [`Turns`] says how the
//! access point serves the stations.

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

/// Settings of a port to a Wi-Fi channel, apart from its queues.
#[derive(Clone, Debug)]
pub struct WifiSettings {
    /// Rate of the physical layer of each station.
    pub rates: Vec<Rate>,
    /// Whether this is the access point's port; otherwise it is that of the stations.
    pub access_point: bool,
    /// Largest number of packets in the driver, below one discipline for all; `None` without it.
    pub driver: Option<u32>,
    /// Largest number of packets of a device, from arrival to acknowledgement; `None` for no limit.
    pub room: Option<u32>,
    /// Limits of the airtime of each station's frames in the driver; `None` for no limits.
    pub aql: Option<AirtimeLimits>,
    /// How the access point serves the stations.
    pub turns: Turns,
    /// Largest number of frames in an aggregate.
    pub frames: usize,
    /// Largest size of an aggregate, bytes.
    pub bytes: u64,
    /// Longest time of an aggregate on the air.
    pub longest: Duration,
    /// The share of frames that do not arrive.
    pub error: f64,
    /// Largest number of transmissions of a frame.
    pub tries: u32,
    /// Whether a sender without an acknowledgement requests one before it retransmits.
    pub requests: bool,
}

impl WifiSettings {
    /// Largest size of an aggregate that is sent at `rate`, bytes.
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
    /// Number of frames in the aggregate; 0 for a request for an acknowledgement.
    frames: u64,
    /// Whether the first slot is over, so that collisions and the frames that arrive are known.
    settled: bool,
}

/// A port to a Wi-Fi channel.
pub struct WifiPort {
    settings: WifiSettings,
    medium: Arc<Mutex<Medium>>,
    timing: Timing,
    front: Front,
    /// Largest size of an aggregate for each station, bytes, from the limits in bytes and in time.
    most_bytes: Vec<u64>,
    /// Frames on the air or to be retransmitted, by station; in order.
    frames: Vec<VecDeque<Frame>>,
    /// Transmissions under way, by contender of this port.
    sending: Vec<Option<Sending>>,
    /// Stations from which an acknowledgement is to be requested, by contender of this port.
    requests: Vec<Option<usize>>,
    /// Whether each contender of this port waits for the channel, as the medium knows.
    waiting: Vec<bool>,
    /// The station to serve next, and the airtime that each station has left, ns.
    turn: usize,
    deficits: Vec<i64>,
    /// Airtime of the frames in the driver, if it is limited.
    airtime: Option<Airtime>,
    /// Airtime and frames that a station's next acknowledgement frees in the driver, by station.
    leaving: Vec<(Duration, u32)>,
    /// Number of frames that left the queues and are not acknowledged or given up, by contender.
    under_way: Vec<u32>,
    /// Whether a station's discipline has packets but gave none at its last call, as a shaper may.
    held_back: Vec<bool>,
    /// Airtime of this direction in the measured interval.
    used: Duration,
    rate: Rate,
}

impl WifiPort {
    /// An idle port. `queues` is one discipline, or one per station; `rate` is the nominal rate.
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

    /// The number on the channel of a contender of this port.
    fn number(&self, contender: usize) -> usize {
        if self.settings.access_point { 0 } else { contender + 1 }
    }

    /// Lets an idle contender with frames wait for the channel. Returns when it may send.
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

    /// A contender gets the channel: it sends a request for an acknowledgement, or an aggregate.
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

    /// Builds an aggregate. Returns its station, its time on the air and its number of frames.
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

    /// The slot of a transmission is over: its frames arrive or, after a collision, all are lost.
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

    /// Delivers frames that arrived, in order; gives up those that were sent too often.
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

    /// Time of a contender's next step: it begins to send, learns who else began in its slot, or
    /// ends its transmission, with the acknowledgement or its timeout.
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

    /// The first contender, from `from` on, that may begin to send now.
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

    /// A transmission has ended, with or without its acknowledgement.
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
        // A single frame has an acknowledgement of its own, not a block acknowledgement.
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

    /// Whether a device has its largest number of packets, those being sent included.
    fn is_full(&self, header: &Header) -> bool {
        let Some(most) = self.settings.room else { return false };
        if self.sending.len() == 1 {
            return self.is_closed();
        }
        let station = self.station(header);
        self.front.queues.waits_for(station) + self.under_way[station] >= most
    }

    fn is_closed(&self) -> bool {
        // The limit holds for all packets together: of the access point, or of the only station.
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
