//! Order keys, which decide the order of the events of one instant, by what an event is about.

use super::connection::Serial;
use crate::event_queue::{Priority, order};

/// Bit that distinguishes the events of server programs from those of sources; it is above every
/// source number.
const SERVERS: u64 = 1 << 32;

/// Bit that distinguishes the starts of groups from the events of sources and server programs.
const BEGINNINGS: u64 = 1 << 33;

/// Number of one end of a connection or stream.
#[inline]
pub fn end(serial: u32, end: u8) -> u64 {
    u64::from(serial) << 1 | u64::from(end)
}

/// Key of a packet's arrival at a port or at its host; `about` is the [`end`] that receives the
/// packet.
#[inline]
pub fn arrival(about: u64) -> u64 {
    order(Priority::Arrival, about)
}

/// Key of the end of a transmission at a port.
#[inline]
pub fn departure(port: u32) -> u64 {
    order(Priority::Departure, u64::from(port))
}

/// Key of an update at a port.
#[inline]
pub fn tick(port: u32) -> u64 {
    order(Priority::Tick, u64::from(port))
}

/// Key of a timer of an [`end`]; timers of delayed acknowledgements (the 200 ms clock) come after
/// all others.
#[inline]
pub fn timer(about: u64, delays_acknowledgement: bool) -> u64 {
    order(if delays_acknowledgement { Priority::Acknowledge } else { Priority::Timer }, about)
}

/// Key of a source's wake-up.
#[inline]
pub fn source(source: u32) -> u64 {
    order(Priority::Wake, u64::from(source))
}

/// Key of the event that the server program of a connection has finished a reply.
#[inline]
pub fn server(serial: Serial) -> u64 {
    order(Priority::Wake, SERVERS | u64::from(serial.number()))
}

/// Key of the start of a group.
#[inline]
pub fn beginning(group: u16) -> u64 {
    order(Priority::Wake, BEGINNINGS | u64::from(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_of_an_instant_has_a_turn_of_its_own() {
        let mut given = 0;
        let serials = [(); 4].map(|()| Serial::take(&mut given));
        // The keys in their order; both ends of a connection come before those of the next
        // connection.
        let mut turns: Vec<u64> = [0, 1, u32::MAX].map(tick).to_vec();
        turns.extend([0, 1, u32::MAX].map(departure));
        let ends: Vec<u64> =
            [0, 1, 2, 3, u32::MAX].iter().flat_map(|&n| [end(n, 0), end(n, 1)]).collect();
        turns.extend(ends.iter().map(|&about| arrival(about)));
        turns.extend(ends.iter().map(|&about| timer(about, false)));
        turns.extend([0, 1, 2, 3, u32::MAX].map(source));
        turns.extend(serials.map(server));
        turns.extend([0, 1, 2, 3, u16::MAX].map(beginning));
        turns.extend(ends.iter().map(|&about| timer(about, true)));
        assert!(turns.is_sorted_by(|a, b| a < b), "{turns:x?}");
    }
}
