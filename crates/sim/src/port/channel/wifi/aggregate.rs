//! The frames of a station that go out together, and what the driver takes for them.

use packet::{Duration, Instant, Packet};

use super::WifiPort;

/// Delimiter, MAC header, check sequence and mean padding of a frame in an aggregate, bytes.
const FRAME_BYTES: u64 = 4 + 34 + 4 + 2;

/// A frame of an aggregate: when it has arrived, if it has, and how often it was sent in vain.
pub(super) struct Frame {
    pub(super) packet: Packet,
    pub(super) arrived: Option<Instant>,
    pub(super) failed: u32,
}

impl Frame {
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.packet.bytes) + FRAME_BYTES
    }
}

impl WifiPort {
    /// Frames of a station that are to be sent, or sent again.
    pub(super) fn unarrived(&self, station: usize) -> impl Iterator<Item = &Frame> {
        self.frames[station].iter().filter(|frame| frame.arrived.is_none())
    }

    /// The driver takes frames of a station from its discipline as far as it may.
    pub(super) fn fill(&mut self, station: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let rate = self.settings.rates[station];
        while let Some(airtime) = self.airtime.as_mut().filter(|airtime| airtime.allows(station)) {
            let Some(bytes) = self.front.lower(station, now, lost) else { return };
            airtime.take(station, rate.time_for(u64::from(bytes) + FRAME_BYTES));
            self.held_back[station] = false;
        }
    }

    /// Fills the frames of a station as far as a transmission goes. Returns how long that is on the air.
    pub(super) fn aggregate(
        &mut self,
        station: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Duration {
        let size = |packet: &Packet| u64::from(packet.bytes) + FRAME_BYTES;
        let mut count = self.unarrived(station).count();
        let mut bytes: u64 = self.unarrived(station).map(Frame::bytes).sum();
        let rate = self.settings.rates[station];
        let mut fresh = Vec::new();
        // What waits for a frame that is retransmitted occupies the window of the block acknowledgement.
        while self.frames[station].len() + fresh.len() < self.settings.frames {
            let next = match self.airtime {
                Some(_) => self.front.queues.take_held(station),
                None => self.front.take(station, now, lost),
            };
            let Some(packet) = next else {
                self.held_back[station] = true;
                break;
            };
            let more = bytes + size(&packet);
            let long = rate.time_for(more) > self.settings.longest || more > self.settings.bytes;
            if count > 0 && long {
                self.front.queues.put_back(station, packet);
                break;
            }
            (bytes, count) = (more, count + 1);
            fresh.push(packet);
        }
        let air = self.timing.preamble + rate.time_for(bytes);
        for packet in fresh {
            self.front.carries(&packet, now, now + air);
            self.frames[station].push_back(Frame { packet, arrived: None, failed: 0 });
        }
        air
    }
}
