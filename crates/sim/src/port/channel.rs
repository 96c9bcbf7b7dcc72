//! Ports whose line is no wire: packets leave together, when the channel's own rules say so. Each kind is a file.

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

/// A port with a schedule of its own. A kind of channel says what it does with a packet that arrives and with what
/// falls due; the rest is common to all.
pub trait Channel: Send {
    /// Its queues, and what has come through.
    fn front(&self) -> &Front;
    /// The queues, to change them.
    fn front_mut(&mut self) -> &mut Front;
    /// Whether there is no room for a packet with this header, whatever the disciplines say.
    fn is_full(&self, _header: &Header) -> bool {
        false
    }
    /// Whether no packet that arrives before the next [`Channel::tick`] finds room, whatever its header.
    fn is_closed(&self) -> bool {
        false
    }
    /// Queues a packet that has arrived and is counted, see [`Channel::admit`].
    fn queue(&mut self, packet: Packet, lost: &mut dyn FnMut(Packet)) -> Option<Instant>;
    /// When [`Channel::run`] has something to do.
    fn next_event(&self) -> Option<Instant>;
    /// Does what is due at `now`; packets that arrive at the other side, now or later, go to the front, which hands them out.
    fn run(&mut self, now: Instant, lost: &mut dyn FnMut(Packet));
    /// Disciplines were updated: one that held packets back may give some now.
    fn updated(&mut self, _now: Instant, _lost: &mut dyn FnMut(Packet)) {}
    /// What the channel offered in a measured interval of this length, and the share of it that was used.
    fn capacity(&self, seconds: f64) -> Capacity;
    /// What the channel counted in the measured interval.
    fn report(&self) -> Option<ChannelReport>;

    /// Counts a packet that arrives and finds no room ([`Channel::is_full`]), but for the class of what was dropped.
    fn refuse(&mut self, now: Instant, bytes: u32, class: PacketClass) {
        self.front_mut().count_refused(now, bytes, class);
    }

    /// A packet arrives that finds room; those that are dropped go to `lost`. Returns when [`Channel::tick`] must be
    /// called because of it, if that may be sooner than without it.
    fn admit(
        &mut self,
        packet: Packet,
        class: PacketClass,
        lost: &mut dyn FnMut(Packet),
    ) -> Option<Instant> {
        self.front_mut().count_arrival(&packet, class);
        self.queue(packet, lost)
    }

    /// What waits, in IP bytes.
    fn backlog(&self) -> Backlog {
        self.front().queues.backlog()
    }

    /// When [`Channel::tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        self.next_event().into_iter().chain(self.front().queues.next_tick()).min()
    }

    /// Runs what is due at `now`. Returns when the first of packets arrives at the other side that
    /// [`Channel::next_arrived`] hands out, if there was none before.
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

    /// The next of the packets that have come through, now or later, and when it arrives at the other side.
    fn take_carried(&mut self) -> Option<(Instant, Packet)> {
        self.front_mut().ready.pop_front()
    }

    /// A packet that has arrived at the other side, and when the next one does.
    fn next_arrived(&mut self, now: Instant) -> (Packet, Option<Instant>) {
        let ready = &mut self.front_mut().ready;
        let (_, packet) = ready.pop_front().expect("the port said that there is one");
        (packet, ready.front().map(|(at, _)| now.max(*at)))
    }

    /// Changes a parameter of the disciplines; answers whether they have it.
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.front_mut().queues.set(name, value)
    }

    /// The meter.
    fn meter(&self) -> &Meter {
        &self.front().meter
    }

    /// The meter, for the driver to finish it or to record what the port does not know.
    fn meter_mut(&mut self) -> &mut Meter {
        &mut self.front_mut().meter
    }
}

/// What a channel counted.
#[derive(Clone, Debug)]
pub enum ChannelReport {
    /// What each station of a radio channel took, both directions together.
    Wifi(Vec<Share>),
    /// Grants of a cable modem.
    Docsis(Grants),
    /// What each UE of a cell got in one direction.
    Cell(Vec<UeShare>),
}
