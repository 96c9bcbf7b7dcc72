//! Contents of the datagrams of one direction; the network itself carries numbers and lengths only.

use std::collections::VecDeque;

use super::receiver::Report;
use super::sender::Media;

/// The content of a datagram.
#[derive(Debug)]
pub(super) enum Parcel {
    Media(Media),
    Report(Report),
}

/// Contents of datagrams that were sent and have not arrived yet, from number `first` on.
#[derive(Debug, Default)]
pub(super) struct Wire {
    first: u64,
    parcels: VecDeque<Parcel>,
}

impl Wire {
    /// Adds the content of the next datagram.
    pub fn say(&mut self, parcel: Parcel) {
        self.parcels.push_back(parcel);
    }

    /// The content of datagram `number`; none if a later one has overtaken it.
    pub fn receive(&mut self, number: u64) -> Option<Parcel> {
        let lost = number.checked_sub(self.first)? as usize;
        drop(self.parcels.drain(..lost));
        self.first = number + 1;
        self.parcels.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Instant;

    #[test]
    fn numbers_find_what_was_said_and_what_is_overtaken_is_lost() {
        let mut wire = Wire::default();
        let report = || Parcel::Report(Report { made: Instant::ZERO, arrivals: Vec::new() });
        let media = |number| Media { number, bytes: 1, frame: 0, parts: 1, made: Instant::ZERO };
        wire.say(Parcel::Media(media(7)));
        wire.say(report());
        wire.say(Parcel::Media(media(8)));
        assert!(matches!(wire.receive(1), Some(Parcel::Report(_))));
        assert!(wire.receive(0).is_none());
        assert!(matches!(wire.receive(2), Some(Parcel::Media(Media { number: 8, .. }))));
    }
}
