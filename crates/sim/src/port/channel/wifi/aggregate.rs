//! How a station builds an aggregate of frames, and how many packets its driver takes from the
//! queue for it.

use packet::{Duration, Instant, Packet};

use super::WifiPort;

/// Delimiter, MAC header, check sequence and mean padding of a frame in an aggregate, bytes.
const FRAME_BYTES: u64 = 4 + 34 + 4 + 2;

/// A frame of an aggregate: when it arrived at the receiver, if it did, and how often it was sent
/// without success.
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

/// An aggregate: its time on the air, its frames, and how many of them are retransmissions.
pub(super) struct Aggregate {
    pub(super) air: Duration,
    pub(super) frames: u64,
    pub(super) repeated: u64,
}

impl WifiPort {
    /// The driver takes packets of a station from its discipline up to the driver's limit.
    pub(super) fn fill(&mut self, station: usize, now: Instant, lost: &mut dyn FnMut(Packet)) {
        let rate = self.settings.rates[station];
        while let Some(airtime) = self.airtime.as_mut().filter(|airtime| airtime.allows(station)) {
            let Some(bytes) = self.front.lower(station, now, lost) else { return };
            airtime.take(station, rate.time_for(u64::from(bytes) + FRAME_BYTES));
            self.held_back[station] = false;
        }
    }

    /// Fills the station's aggregate with frames, up to the limits of one transmission.
    pub(super) fn aggregate(
        &mut self,
        station: usize,
        now: Instant,
        lost: &mut dyn FnMut(Packet),
    ) -> Aggregate {
        let unarrived = self.frames[station].iter().filter(|frame| frame.arrived.is_none());
        let (repeated, mut bytes) =
            unarrived.fold((0, 0), |(count, sum), frame| (count + 1, sum + frame.bytes()));
        let before = self.frames[station].len();
        let mut frames = repeated;
        let rate = self.settings.rates[station];
        // Frames that wait for a retransmitted one occupy the block acknowledgement's window.
        while self.frames[station].len() < self.settings.frames {
            let next = match self.airtime {
                Some(_) => self.front.queues.take_held(station),
                None => self.front.take(station, now, lost),
            };
            let Some(packet) = next else {
                self.held_back[station] = true;
                break;
            };
            let frame = Frame { packet, arrived: None, failed: 0 };
            let more = bytes + frame.bytes();
            if frames > 0 && more > self.most_bytes[station] {
                self.front.queues.put_back(station, frame.packet);
                break;
            }
            (bytes, frames) = (more, frames + 1);
            self.frames[station].push_back(frame);
        }
        let contender = if self.settings.access_point { 0 } else { station };
        self.under_way[contender] += (self.frames[station].len() - before) as u32;
        let air = self.timing.preamble + rate.time_for(bytes);
        for frame in self.frames[station].range(before..) {
            self.front.carries(&frame.packet, now, now + air);
        }
        Aggregate { air, frames, repeated }
    }
}
