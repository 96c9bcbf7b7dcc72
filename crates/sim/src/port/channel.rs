//! Ports to channels such as Wi-Fi, which are not wires: packets leave in groups, as the channel's
//! own rules allow. Each kind is a file.

mod agenda;
mod cell;
mod docsis;
mod front;
mod queues;
mod wifi;

use packet::{Backlog, Header, Instant, Packet};
use record::{Capacity, Meter, PacketClass};

pub use cell::{CellPort, CellSettings, Marking, Quality, UeShare};
pub use docsis::{DocsisPort, DocsisSettings, Grants};
pub use front::Front;
pub use wifi::{AirtimeLimits, Medium, Share, Timing, Turns, WifiPort, WifiSettings};

/// A port to a channel, which has a schedule of its own. Each kind of channel decides what it does
/// with an arriving packet and with events that are due; the rest is common to all.
pub trait Channel: Send {
    /// The queues before the channel, and the packets that have come through.
    fn front(&self) -> &Front;
    /// The queues before the channel and the packets that have come through, mutable.
    fn front_mut(&mut self) -> &mut Front;
    /// Whether there is no room for a packet with this header, whatever the disciplines say.
    fn is_full(&self, _header: &Header) -> bool {
        false
    }
    /// Whether no packet that arrives before the next [`Channel::tick`] finds room, whatever its header.
    fn is_closed(&self) -> bool {
        false
    }
    /// Queues a packet that has arrived and is counted; called by [`Channel::admit`], which
    /// explains the result.
    fn queue(&mut self, packet: Packet, lost: &mut dyn FnMut(Packet)) -> Option<Instant>;
    /// Time of the next event that [`Channel::run`] must serve.
    fn next_event(&self) -> Option<Instant>;
    /// Serves the events that are due at `now`. Packets that arrive at the other side, now or
    /// later, are put into the front, from which they are taken.
    fn run(&mut self, now: Instant, lost: &mut dyn FnMut(Packet));
    /// The disciplines were updated: a discipline that held packets back may release some now.
    fn updated(&mut self, _now: Instant, _lost: &mut dyn FnMut(Packet)) {}
    /// Capacity of the channel in a measured interval of this length, and the share that was used.
    fn capacity(&self, seconds: f64) -> Capacity;
    /// Counters of the channel in the measured interval.
    fn report(&self) -> Option<ChannelReport>;

    /// Counts a packet that arrives and finds no room ([`Channel::is_full`]), except for the class
    /// of the dropped packet.
    fn refuse(&mut self, now: Instant, bytes: u32, class: PacketClass) {
        self.front_mut().count_refused(now, bytes, class);
    }

    /// A packet arrives that finds room; dropped packets are passed to `lost`. Returns the time at
    /// which [`Channel::tick`] must be called for the packet, if that may be earlier than planned.
    fn admit(
        &mut self,
        packet: Packet,
        class: PacketClass,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Instant> {
        self.front_mut().count_arrival(&packet, class);
        self.queue(packet, lost)
    }

    /// Packets that wait, and their IP bytes.
    fn backlog(&self) -> Backlog {
        self.front().queues.backlog()
    }

    /// When [`Channel::tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        self.next_event().into_iter().chain(self.front().queues.next_tick()).min()
    }

    /// Serves what is due at `now`. Returns when the first packet for [`Channel::next_arrived`]
    /// arrives at the other side, if no packet was waiting there before.
    fn tick(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) -> Option<Instant> {
        let idle = self.front().ready.is_empty();
        if self.front_mut().update(now, lost) {
            self.updated(now, lost);
        }
        self.run(now, lost);
        let waits = self.backlog();
        let front = self.front_mut();
        front.meter.queue(now, waits);
        front.ready.front().filter(|_| idle).map(|(at, _)| *at)
    }

    /// Removes the next packet that has come through. Returns it with its time of arrival at the
    /// other side, which may lie ahead.
    fn take_carried(&mut self) -> Option<(Instant, Packet)> {
        self.front_mut().ready.pop_front()
    }

    /// Removes a packet that has arrived at the other side. Returns it with the time at which the
    /// next one arrives.
    fn next_arrived(&mut self, now: Instant) -> (Packet, Option<Instant>) {
        let ready = &mut self.front_mut().ready;
        let (_, packet) = ready.pop_front().expect("the port said that there is one");
        (packet, ready.front().map(|(at, _)| now.max(*at)))
    }

    /// Changes a parameter of the disciplines. Returns whether they can change it.
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.front_mut().queues.set(name, value)
    }

    /// The meter that counts the port's packets.
    fn meter(&self) -> &Meter {
        &self.front().meter
    }

    /// The meter, to finish it, or to record what the port itself does not know.
    fn meter_mut(&mut self) -> &mut Meter {
        &mut self.front_mut().meter
    }
}

/// The counters of a channel.
#[derive(Clone, Debug)]
pub enum ChannelReport {
    /// Use of a Wi-Fi channel by each station, both directions together.
    Wifi(Vec<Share>),
    /// Requests and grants of a cable modem.
    Docsis(Grants),
    /// Resources that each UE of a cell got in one direction.
    Cell(Vec<UeShare>),
}
