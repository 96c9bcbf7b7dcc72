//! Ports whose line is no wire: packets leave together, when the channel's own rules say so. Each kind is a file.

mod agenda;
mod cell;
mod docsis;
mod queues;
mod wifi;

use packet::{Backlog, Instant, Packet};
use record::{Capacity, Meter, PacketClass};

pub use cell::{CellPort, CellSettings, Marking, Quality, UeShare};
pub use docsis::{DocsisPort, DocsisSettings, Grants};
pub use wifi::{Medium, Share, Timing, WifiPort, WifiSettings};

/// A port with a schedule of its own.
pub trait Channel: Send {
    /// A packet arrives; those that are dropped go to `lost`.
    fn offer(&mut self, packet: Packet, class: PacketClass, lost: &mut dyn FnMut(Packet));
    /// When [`Channel::tick`] must be called next.
    fn next_tick(&self) -> Option<Instant>;
    /// Runs what is due at `now`. Returns `now` if packets have arrived at the other side, which
    /// [`Channel::next_arrived`] hands out.
    fn tick(&mut self, now: Instant, lost: &mut dyn FnMut(Packet)) -> Option<Instant>;
    /// A packet that has arrived at the other side, and `now` if there is another.
    fn next_arrived(&mut self, now: Instant) -> (Packet, Option<Instant>);
    /// Changes a parameter of the disciplines; answers whether they have it.
    fn set(&mut self, name: &str, value: f64) -> bool;
    /// What waits, in IP bytes.
    fn backlog(&self) -> Backlog;
    /// The meter.
    fn meter(&self) -> &Meter;
    /// The meter, for the driver to finish it or to record what the port does not know.
    fn meter_mut(&mut self) -> &mut Meter;
    /// What the channel offered in a measured interval of this length, and the share of it that was used.
    fn capacity(&self, seconds: f64) -> Capacity;
    /// What the channel counted in the measured interval.
    fn report(&self) -> Option<ChannelReport>;
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
