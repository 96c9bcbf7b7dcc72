//! Which station an access point serves next.

use packet::{Duration, Instant, Packet};

use super::WifiPort;

/// How an access point serves its stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// One aggregate for each station in turn.
    RoundRobin,
    /// Equal airtime for all stations, with this quantum in a round (deficits, as in mac80211).
    Airtime(Duration),
    /// First the station whose first packet arrived first (ns-3's FcfsWifiQueueScheduler).
    Oldest,
}

impl WifiPort {
    /// Chooses the station that sends, or is sent to, next.
    pub(super) fn next_station(
        &mut self,
        contender: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<usize> {
        if !self.settings.access_point {
            return self.has_frames(contender).then_some(contender);
        }
        if !(0..self.frames.len()).any(|station| self.has_frames(station)) {
            return None;
        }
        match self.settings.turns {
            Turns::RoundRobin => Some(self.next_in_turn()),
            Turns::Airtime(quantum) => Some(self.next_by_airtime(quantum)),
            Turns::Oldest => self.with_oldest_packet(now, lost),
        }
    }

    fn next_in_turn(&mut self) -> usize {
        loop {
            self.turn += 1;
            let station = self.turn % self.frames.len();
            if self.has_frames(station) {
                return station;
            }
        }
    }

    fn next_by_airtime(&mut self, quantum: Duration) -> usize {
        let stations = self.frames.len();
        for station in 0..stations {
            let received = self.medium().take_received(station);
            self.deficits[station] -= received.nanos() as i64;
        }
        loop {
            let station = self.turn % stations;
            if self.has_frames(station) && self.deficits[station] > 0 {
                return station;
            }
            if self.has_frames(station) {
                self.deficits[station] += quantum.nanos() as i64;
            } else {
                self.deficits[station] = self.deficits[station].min(0);
            }
            self.turn += 1;
        }
    }

    /// The station whose first packet arrived first. The first packet of each station is taken out
    /// of its discipline for this.
    fn with_oldest_packet(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) -> Option<usize> {
        let mut oldest: Option<(Instant, usize)> = None;
        for station in 0..self.frames.len() {
            if !self.has_frames(station) {
                continue;
            }
            let first = match self.frames[station].front() {
                Some(frame) => Some(frame.packet.arrived),
                None if self.airtime.is_some() => self.front.queues.first_held(station),
                None => self.front.first(station, now, lost),
            };
            match first {
                Some(arrived) if oldest.is_none_or(|(least, _)| arrived < least) => {
                    oldest = Some((arrived, station));
                }
                Some(_) => {}
                None => self.held_back[station] = true,
            }
        }
        oldest.map(|(_, station)| station)
    }
}
