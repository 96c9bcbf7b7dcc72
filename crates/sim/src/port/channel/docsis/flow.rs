//! A service flow of a modem: what it has requested, and the frame of which a part was sent.

use packet::{Instant, Packet};

/// The state of a service flow in the modem.
#[derive(Default)]
pub(super) struct Flow {
    /// Bytes that were requested, or are granted without a request, and not sent yet.
    pub outstanding: u64,
    /// The frame of which a part was sent.
    pub partial: Option<Partial>,
    /// Whether an opportunity to request is planned.
    pub waits: bool,
    /// The last interval for which an opportunity was drawn, and the time of the opportunity.
    pub drawn_for: Option<(u64, Instant)>,
    /// The last two intervals in which the flow has a grant: the MAP of one is made in the one before.
    granted_in: [Option<u64>; 2],
    /// The last interval for which a grant without request is planned.
    pub guaranteed: u64,
    /// Contention requests that collided in a row.
    pub tries: u32,
}

/// A frame whose transmission has begun.
pub(super) struct Partial {
    packet: Packet,
    left: u64,
    began: Instant,
}

impl Flow {
    /// Records that the flow has a grant in an interval.
    pub fn grant_in(&mut self, interval: u64) {
        self.granted_in = [Some(interval), self.granted_in[0]];
    }

    /// Whether the flow has a grant in an interval whose MAP was made.
    pub fn has_grant_in(&self, interval: u64) -> bool {
        self.granted_in.contains(&Some(interval))
    }

    /// The transmission of a frame of `size` bytes begins.
    pub fn begin(&mut self, packet: Packet, size: u64, began: Instant) {
        self.partial = Some(Partial { packet, left: size, began });
    }

    /// Sends up to `room` bytes of the frame. Returns their number.
    pub fn send(&mut self, room: u64) -> u64 {
        let Some(partial) = &mut self.partial else { return 0 };
        let sent = partial.left.min(room);
        partial.left -= sent;
        sent
    }

    /// Removes the frame if it was sent completely. Returns it with the time of its first byte.
    pub fn finished(&mut self) -> Option<(Packet, Instant)> {
        let done = self.partial.take_if(|partial| partial.left == 0)?;
        Some((done.packet, done.began))
    }

    /// Bytes of the begun frame that are still to be sent.
    pub fn left(&self) -> u64 {
        self.partial.as_ref().map_or(0, |partial| partial.left)
    }

    /// The packet of which a part was sent.
    pub fn held(&self) -> Option<&Packet> {
        self.partial.as_ref().map(|partial| &partial.packet)
    }
}
