//! A port to a radio channel (802.11n and ac): frames of one station go out together (A-MPDU) in a
//! transmission opportunity, which access point and stations contend for, and are acknowledged
//! together. A frame that did not arrive is retransmitted, and what came behind it waits for it, so that order is kept.
//!
//! The queues stand as in Linux. With the stack `driver` the link's discipline is one queue, from which
//! the driver takes packets into a FIFO for each station until it holds as many as it may; with `stations` there is one
//! discipline for each station (FQ-CoDel for each TID, as mac80211 has), and none below. The channel is served station by
//! station in turn, or so that all get equal airtime (deficits, as in mac80211).

mod medium;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use aqm::Discipline;
use packet::{Duration, Instant, Packet, Rate, Rng};
use record::{Capacity, Meter, PacketClass};

use super::queues::Queues;
use super::{Channel, ChannelReport, Front};
pub use medium::{Medium, Share, Timing};

/// What a port to a radio channel is made of, apart from its queues.
#[derive(Clone, Debug)]
pub struct WifiSettings {
    /// Rate of the physical layer of each station.
    pub rates: Vec<Rate>,
    /// Whether this is the access point's port; else the stations'.
    pub access_point: bool,
    /// Packets that the driver holds, where there is one discipline for all; none without such a driver.
    pub driver: Option<u32>,
    /// Airtime that a station gets in turn; none if stations take turns of any length.
    pub quantum: Option<Duration>,
    /// Frames of an aggregate at most.
    pub frames: usize,
    /// Their bytes at most.
    pub bytes: u64,
    /// How long they may take on the air.
    pub longest: Duration,
    /// The share of frames that do not arrive.
    pub error: f64,
}

/// Delimiter, MAC header, check sequence and mean padding of a frame in an aggregate, bytes.
const FRAME_BYTES: u64 = 4 + 34 + 4 + 2;

/// A frame of an aggregate, and whether it has arrived.
struct Frame {
    packet: Packet,
    arrived: bool,
}

/// A transmission under way.
struct Sending {
    station: usize,
    began: Instant,
    lasts: Duration,
    ends: Instant,
}

/// The port.
pub struct WifiPort {
    settings: WifiSettings,
    medium: Arc<Mutex<Medium>>,
    front: Front,
    /// Frames on the air, or to be retransmitted, by station; in order.
    frames: Vec<VecDeque<Frame>>,
    /// Transmissions under way, by contender of this port.
    sending: Vec<Option<Sending>>,
    /// The station whose turn it is, and the airtime that each has left, ns.
    turn: usize,
    deficits: Vec<i64>,
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
        WifiPort {
            front: Front::new(Queues::new(queues, stations, settings.driver), rng, meter),
            frames: (0..stations).map(|_| VecDeque::new()).collect(),
            sending: (0..contenders).map(|_| None).collect(),
            turn: 0,
            deficits: vec![0; stations],
            settings,
            medium,
            used: Duration::ZERO,
            rate,
        }
    }

    fn medium(&self) -> MutexGuard<'_, Medium> {
        self.medium.lock().expect("nobody panics with the channel")
    }

    /// The station that a packet goes to or comes from.
    fn station(&self, packet: &Packet) -> usize {
        let header = &packet.header;
        let host = if self.settings.access_point { header.destination } else { header.source };
        usize::from(host) % self.settings.rates.len()
    }

    /// The number on the channel of this port's contender.
    fn number(&self, contender: usize) -> usize {
        if self.settings.access_point { 0 } else { contender + 1 }
    }

    /// A contender that has frames and does not send waits for its turn.
    fn contend(&mut self, contender: usize, now: Instant) {
        let stations = self.stations_of(contender);
        if self.sending[contender].is_none() && stations.clone().any(|s| self.has_frames(s)) {
            let number = self.number(contender);
            let mut medium = self.medium.lock().expect("nobody panics with the channel");
            medium.wait(number, now, &mut self.front.rng);
        }
    }

    fn stations_of(&self, contender: usize) -> std::ops::Range<usize> {
        match self.settings.access_point {
            true => 0..self.settings.rates.len(),
            false => contender..contender + 1,
        }
    }

    fn has_frames(&self, station: usize) -> bool {
        !self.frames[station].is_empty() || self.front.queues.has(station)
    }

    /// A contender gets the channel: the frames of a station leave together.
    fn begin(&mut self, contender: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let Some(station) = self.next_station(contender) else { return };
        let retransmissions = self.frames[station].iter().filter(|frame| !frame.arrived).count();
        let lasts = self.aggregate(station, now, retransmissions, lost);
        let number = self.number(contender);
        let sent = self.frames[station].iter().filter(|frame| !frame.arrived).count() as u64;
        let mut medium = self.medium();
        medium.begin(number, now, lasts);
        medium.took(station, now, lasts, sent);
        medium.repeats(station, now, retransmissions as u64);
        drop(medium);
        if self.front.meter.measures(now) {
            self.used += lasts;
        }
        self.deficits[station] -= lasts.nanos() as i64;
        let ends = now + lasts;
        self.sending[contender] = Some(Sending { station, began: now, lasts, ends });
    }

    /// Fills the frames of a station as far as a transmission goes. Returns how long that takes with the block
    /// acknowledgement. `again` of them are there already.
    fn aggregate(
        &mut self,
        station: usize,
        now: Instant,
        retransmissions: usize,
        lost: &mut dyn FnMut(Packet),
    ) -> Duration {
        let size = |packet: &Packet| u64::from(packet.bytes) + FRAME_BYTES;
        let resent = self.frames[station].iter().filter(|frame| !frame.arrived);
        let mut bytes: u64 = resent.map(|frame| size(&frame.packet)).sum();
        let (rate, timing) = (self.settings.rates[station], self.medium().timing);
        let (mut fresh, mut count) = (Vec::new(), retransmissions);
        // What waits for a frame that is retransmitted occupies the window of the block acknowledgement.
        while self.frames[station].len() + fresh.len() < self.settings.frames {
            let next = self.front.take(station, now, lost);
            let Some(packet) = next else { break };
            let more = bytes + size(&packet);
            let long = rate.time_for(more) > self.settings.longest || more > self.settings.bytes;
            if count > 0 && long {
                self.front.queues.put_back(station, packet);
                break;
            }
            (bytes, count) = (more, count + 1);
            fresh.push(packet);
        }
        let air = timing.preamble + rate.time_for(bytes);
        let lasts = air + timing.sifs + timing.block_ack;
        for packet in fresh {
            self.front.carries(&packet, now, now + air);
            self.frames[station].push_back(Frame { packet, arrived: false });
        }
        lasts
    }

    /// The station that sends, or is sent to, next.
    fn next_station(&mut self, contender: usize) -> Option<usize> {
        if !self.settings.access_point {
            return self.has_frames(contender).then_some(contender);
        }
        let stations = self.settings.rates.len();
        if !(0..stations).any(|station| self.has_frames(station)) {
            return None;
        }
        if let Some(quantum) = self.settings.quantum {
            for station in 0..stations {
                let received = self.medium().take_received(station);
                self.deficits[station] -= received.nanos() as i64;
            }
            loop {
                let station = self.turn % stations;
                if self.has_frames(station) && self.deficits[station] > 0 {
                    return Some(station);
                }
                if self.has_frames(station) {
                    self.deficits[station] += quantum.nanos() as i64;
                } else {
                    self.deficits[station] = self.deficits[station].min(0);
                }
                self.turn += 1;
            }
        }
        loop {
            self.turn += 1;
            let station = self.turn % stations;
            if self.has_frames(station) {
                return Some(station);
            }
        }
    }

    /// A transmission has ended, and its block acknowledgement come or not.
    fn complete(&mut self, contender: usize, now: Instant) {
        let Some(sent) = self.sending[contender].take() else { return };
        let (station, number) = (sent.station, self.number(contender));
        let collided = self.medium().was_lost(sent.began);
        let error = self.settings.error;
        if !collided {
            for frame in self.frames[station].iter_mut().filter(|frame| !frame.arrived) {
                frame.arrived = self.front.rng.uniform() >= error;
            }
        }
        while self.frames[station].front().is_some_and(|frame| frame.arrived) {
            self.front.ready.extend(self.frames[station].pop_front().map(|frame| frame.packet));
        }
        let mut medium = self.medium.lock().expect("nobody panics with the channel");
        medium.ended(number, !collided);
        if !self.settings.access_point {
            medium.receive(station, sent.lasts);
        }
        drop(medium);
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

    fn offer(&mut self, packet: Packet, class: PacketClass, lost: &mut dyn FnMut(Packet)) {
        let now = packet.arrived;
        self.front.count_arrival(&packet, class);
        let station = self.station(&packet);
        self.front.put(station, packet, lost);
        self.front.meter.queue(now, self.backlog());
        let contender = if self.settings.access_point { 0 } else { station };
        self.contend(contender, now);
    }

    fn next_event(&self) -> Option<Instant> {
        let medium = self.medium();
        let of = |contender: usize| match &self.sending[contender] {
            Some(sending) => Some(sending.ends),
            None => medium.turn(self.number(contender)),
        };
        (0..self.sending.len()).filter_map(of).min()
    }

    fn run(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) {
        for contender in 0..self.sending.len() {
            if self.sending[contender].as_ref().is_some_and(|sending| sending.ends <= now) {
                self.complete(contender, now);
            }
        }
        for contender in 0..self.sending.len() {
            let turn = self.medium().turn(self.number(contender));
            if self.sending[contender].is_none() && turn.is_some_and(|at| at <= now) {
                self.begin(contender, now, lost);
            }
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
