//! Whose turn it is among the events of one instant: their order keys, by what they are about.

use super::connection::Serial;
use crate::event_queue::{Priority, order};

/// Sets servers' waking apart from sources': above any number of them.
const SERVERS: u64 = 1 << 32;

/// Sets the beginnings of groups apart from sources' and servers' waking.
const BEGINNINGS: u64 = 1 << 33;

/// One end of a connection or stream.
#[inline]
pub fn end(serial: u32, end: u8) -> u64 {
    u64::from(serial) << 1 | u64::from(end)
}

/// A packet comes to a port or to its host: an [`end`] gets it.
#[inline]
pub fn arrival(about: u64) -> u64 {
    order(Priority::Arrival, about)
}

/// A port has finished a transmission.
#[inline]
pub fn departure(port: u32) -> u64 {
    order(Priority::Departure, u64::from(port))
}

/// A port's discipline is called.
#[inline]
pub fn tick(port: u32) -> u64 {
    order(Priority::Tick, u64::from(port))
}

/// A timer of an [`end`] is due; the 200 ms clock of delayed acknowledgements comes after others.
#[inline]
pub fn timer(about: u64, delays_acknowledgement: bool) -> u64 {
    order(if delays_acknowledgement { Priority::Acknowledge } else { Priority::Timer }, about)
}

/// A source is woken.
#[inline]
pub fn source(source: u32) -> u64 {
    order(Priority::Wake, u64::from(source))
}

/// The server program of a connection has finished an answer.
#[inline]
pub fn server(serial: Serial) -> u64 {
    order(Priority::Wake, SERVERS | u64::from(serial.number()))
}

/// A group begins.
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
        // In their order; `end` of every connection before the next connection's.
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
