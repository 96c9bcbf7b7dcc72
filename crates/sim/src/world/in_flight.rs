//! A packet in flight between two hosts: a segment or a datagram, its position on its route, and
//! the header fields that queues may read.

use packet::{Duration, Ecn, Header, Instant, Packet};
use record::{Kind, PacketClass};
use tcp::{Flags, Segment};

use crate::world::connection::{Connection, Serial};
use crate::world::payload::Payload;
use crate::world::{Event, event_order};

/// Bytes of IPv4 and UDP headers.
pub(super) const UDP_IP_HEADERS: u32 = 28;

/// Value for the connection of a datagram, which has none.
const NO_CONNECTION: u32 = u32::MAX;

/// A packet in flight; it never takes more than two cache lines.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(crate) struct InFlight {
    pub(super) payload: Payload,
    pub(super) connection: u32,
    /// Serial number of the packet's connection or stream; `None` while the slot is free.
    pub(super) serial: Option<Serial>,
    pub(super) route: u32,
    /// Number of ports of its route that the packet has passed.
    pub(super) hop: u16,
    pub(super) to: u8,
    /// Propagation delay after the last port.
    pub(super) last_hop_delay: Duration,
    /// Header fields that queues may read, apart from size and flow. They are copied into the
    /// packet, since reading them in the connection at every port would cost an access to memory.
    pub(super) header: Header,
    /// Class under which the packet is counted.
    pub(super) class: PacketClass,
}

/// The properties of a packet that the network needs, whatever the packet carries.
#[derive(Clone, Copy)]
pub(super) struct Outside {
    /// IP length, bytes.
    pub bytes: u32,
    /// ECN code point in the IP header.
    pub ecn: Ecn,
    /// Whether the packet is a segment with payload.
    pub data: bool,
    /// Index of the packet's connection, for the event of its delivery; `NO_CONNECTION` for a
    /// datagram.
    pub connection: u32,
}

/// The class under which a segment is counted.
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
    /// Number of the packet's flow for queues: the connection's end that sent the packet.
    #[inline]
    pub(crate) fn flow(&self) -> u64 {
        self.about() ^ 1
    }

    /// The packet as a port sees it when it arrives at `arrived`.
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

    /// Serial number of the packet's connection or stream, from 0.
    #[inline]
    pub(crate) fn serial_number(&self) -> u32 {
        self.serial.map_or(0, Serial::number)
    }

    pub(crate) fn payload(&self) -> &Payload {
        &self.payload
    }

    /// Index of the packet's connection, or of its stream of datagrams.
    pub(crate) fn place(&self) -> u32 {
        self.connection
    }

    /// The end of the connection that sent the packet.
    pub(crate) fn from(&self) -> usize {
        usize::from(1 - self.to)
    }

    /// Whether the packet belongs to this connection, and not to one that had the slot before.
    pub(crate) fn is_of(&self, connection: &Connection) -> bool {
        connection.serial == self.serial
    }

    /// Whether the packet is in flight, and its slot not free.
    pub(crate) fn is_on_its_way(&self) -> bool {
        self.serial.is_some()
    }

    /// Number of the connection's end that receives the packet, for the order of events of one
    /// instant.
    #[inline]
    pub(super) fn about(&self) -> u64 {
        event_order::end(self.serial_number(), self.to)
    }

    /// The event of the packet's arrival at its host.
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

    /// The segment of this slot, to be overwritten; fields that are not written keep the values of
    /// the last segment.
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

    /// Addresses the segment of this slot, which the end `from` of the connection with index
    /// `index` sends: sets its class, header, route and delay. Does nothing to a datagram.
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

    /// The properties of the packet that the network needs.
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

    /// ECN code point in the IP header.
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Segment(segment) => segment.ecn,
            Payload::Datagram(datagram) => datagram.ecn,
        }
    }

    /// Sets the ECN code point, as a queue or a script has decided.
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

    /// A late packet may find another connection in the slot of its own.
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
