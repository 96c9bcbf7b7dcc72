//! A packet between two hosts: a segment or a datagram, its place on its route, and what queues may
//! read of it.

use packet::{Duration, Ecn, Header, Instant, Packet};
use record::{Kind, PacketClass};
use tcp::{Flags, Segment};

use crate::world::connection::{Connection, Serial};
use crate::world::payload::Payload;
use crate::world::{Event, event_order};

/// Bytes of IPv4 and UDP headers.
pub(super) const UDP_IP_HEADERS: u32 = 28;

/// Stands for the connection of a datagram, which has none.
const NO_CONNECTION: u32 = u32::MAX;

/// A packet on its way; in two cache lines wherever it lies.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(crate) struct InFlight {
    pub(super) payload: Payload,
    pub(super) connection: u32,
    /// The serial number of its connection; `None` while the place is free.
    pub(super) serial: Option<Serial>,
    pub(super) route: u32,
    /// Ports of its route that it has passed.
    pub(super) hop: u16,
    pub(super) to: u8,
    /// Delay after the last port.
    pub(super) last_hop_delay: Duration,
    /// Header fields that queues may read, apart from size and flow. They are copied into the
    /// packet, since reading the connection at every port would cost a visit to its memory.
    pub(super) header: Header,
    /// What it is to those who count.
    pub(super) class: PacketClass,
}

/// What is seen of a packet from outside, whatever it carries.
#[derive(Clone, Copy)]
pub(super) struct Outside {
    /// IP length.
    pub bytes: u32,
    /// Its code point in the IP header.
    pub ecn: Ecn,
    /// Whether it is a segment with payload.
    pub data: bool,
    /// For the event of its arrival at the host: index of its connection; a datagram has none.
    pub connection: u32,
}

/// What a segment is to those who count.
#[inline]
fn class(segment: &Segment) -> PacketClass {
    let retransmission = segment.flags.has(Flags::RETRANSMISSION);
    if segment.len > 0 {
        PacketClass::new(Kind::Data, retransmission)
    } else if !segment.flags.any(Flags::SYN.with(Flags::FIN)) {
        PacketClass::new(Kind::Ack, false)
    } else if segment.flags.has(Flags::SYN) {
        PacketClass::new(Kind::Syn, retransmission)
    } else {
        PacketClass::new(Kind::Fin, retransmission)
    }
}

impl InFlight {
    /// Its flow as a queue sees it: the end of its connection that sent it.
    #[inline]
    pub(crate) fn flow(&self) -> u64 {
        self.about() ^ 1
    }

    /// As a port gets it at `arrived`.
    #[inline]
    pub(super) fn packet(&self, id: u32, arrived: Instant) -> Packet {
        Packet {
            id,
            flow: self.flow(),
            bytes: self.ip_bytes(),
            ecn: self.ecn(),
            arrived,
            header: self.header,
        }
    }

    /// The serial number of its connection or stream, from 0.
    #[inline]
    pub(crate) fn serial_number(&self) -> u32 {
        self.serial.map_or(0, Serial::number)
    }

    pub(crate) fn payload(&self) -> &Payload {
        &self.payload
    }

    /// Place of its connection, or of its stream of datagrams.
    pub(crate) fn place(&self) -> u32 {
        self.connection
    }

    /// The end that sent it.
    pub(crate) fn from(&self) -> usize {
        usize::from(1 - self.to)
    }

    /// Whether it is of this connection, and not of one that had the place before.
    pub(crate) fn is_of(&self, connection: &Connection) -> bool {
        connection.serial == self.serial
    }

    /// Whether it is on its way, and its place not free.
    pub(crate) fn is_on_its_way(&self) -> bool {
        self.serial.is_some()
    }

    /// Its end of its connection, for the order of events of one instant.
    #[inline]
    pub(super) fn about(&self) -> u64 {
        event_order::end(self.serial_number(), self.to)
    }

    /// The event that it reaches its host.
    #[inline]
    pub(super) fn delivery(&self, id: u32) -> Event {
        let connection = if self.is_datagram() { NO_CONNECTION } else { self.connection };
        Event::Deliver { packet: id, connection, end: self.to }
    }

    /// Header fields that queues may read, apart from size and flow.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    pub(crate) fn is_datagram(&self) -> bool {
        matches!(self.payload, Payload::Datagram(_))
    }

    /// The place where a segment is written; fields that are not written keep the values of the segment before it.
    #[inline]
    pub(super) fn segment_mut(&mut self) -> &mut Segment {
        if self.is_datagram() {
            self.payload = Payload::default();
        }
        match &mut self.payload {
            Payload::Segment(segment) => segment,
            Payload::Datagram(_) => unreachable!("it was made one"),
        }
    }

    /// The segment that was written to it goes on its way from an end of the connection in place
    /// `index`. Nothing happens to a datagram.
    #[inline(always)]
    pub(super) fn address(
        &mut self,
        index: u32,
        connection: &mut Connection,
        from: usize,
    ) -> Option<Outside> {
        let Payload::Segment(segment) = &self.payload else { return None };
        let (bytes, ecn, data) = (segment.ip_bytes(), segment.ecn, segment.len > 0);
        let outside = Outside { bytes, ecn, data, connection: index };
        self.class = class(segment).of(connection.owner);
        self.header = Header {
            dscp: connection.owner.dscp(),
            ack: connection.ack_filterable(from, segment),
            source: connection.hosts[from],
            destination: connection.hosts[1 - from],
        };
        self.connection = index;
        self.serial = connection.serial;
        self.to = (1 - from) as u8;
        self.hop = 0;
        self.route = connection.route[from];
        self.last_hop_delay = connection.last_hop_delay[from];
        Some(outside)
    }

    /// What is seen of it from outside.
    #[inline]
    pub(super) fn outside(&self) -> Outside {
        let connection = if self.is_datagram() { NO_CONNECTION } else { self.connection };
        let data = matches!(&self.payload, Payload::Segment(segment) if segment.len > 0);
        Outside { bytes: self.ip_bytes(), ecn: self.ecn(), data, connection }
    }

    /// IP length in bytes.
    #[inline]
    pub(crate) fn ip_bytes(&self) -> u32 {
        match &self.payload {
            Payload::Segment(segment) => segment.ip_bytes(),
            Payload::Datagram(datagram) => datagram.bytes + UDP_IP_HEADERS,
        }
    }

    /// Its code point in the IP header.
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Segment(segment) => segment.ecn,
            Payload::Datagram(datagram) => datagram.ecn,
        }
    }

    /// A queue or a script has set its code point.
    #[inline]
    pub(super) fn set_ecn(&mut self, ecn: Ecn) {
        match &mut self.payload {
            Payload::Segment(segment) => segment.ecn = ecn,
            Payload::Datagram(datagram) => datagram.ecn = ecn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::connection::{ACCEPTOR, OPENER};

    #[test]
    fn a_flow_is_named_by_who_sends_it() {
        let mut given = 0;
        let serials = [(); 2].map(|()| Some(Serial::take(&mut given)));
        let flow = |serial, to| InFlight { serial, to, ..InFlight::default() }.flow();
        let of = serials.map(|serial| [ACCEPTOR, OPENER].map(|to| flow(serial, to as u8)));
        assert_eq!(of, [[0, 1], [2, 3]], "from the opener, from the acceptor");
    }

    /// A late packet may find another connection in the place of its own.
    #[test]
    fn a_packet_is_of_the_connection_with_its_number() {
        let mut given = 0;
        let [first, second] = [(); 2].map(|()| Some(Serial::take(&mut given)));
        let mut connection = Connection::plain();
        connection.serial = first;
        let packet = |serial| InFlight { serial, ..InFlight::default() };
        assert!(packet(first).is_of(&connection) && !packet(second).is_of(&connection));
    }
}
