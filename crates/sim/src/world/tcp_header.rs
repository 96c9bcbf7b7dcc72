//! The TCP header of a segment, for queues that read it.

use packet::TcpHeader;
use tcp::{Flags, Segment};

use super::payload::Payload;

/// The modelled flags besides ACK, ECE and CWR; PSH and RST are read separately.
const OTHERS: Flags = Flags::SYN.with(Flags::FIN).with(Flags::AE);

/// The TCP header of a packet; `None` for a datagram, and for QUIC, which is encrypted.
pub(super) fn tcp_header(payload: &Payload) -> Option<TcpHeader> {
    match payload {
        Payload::Segment(segment) => (!segment.is_quic()).then(|| of_segment(segment)),
        Payload::Datagram(_) => None,
    }
}

/// The TCP header of a segment. Sequence numbers are cut to the 32 bits that they have on the wire.
fn of_segment(segment: &Segment) -> TcpHeader {
    let has = |flag| segment.flags.has(flag);
    let mut header = TcpHeader {
        ack: segment.ack as u32,
        acks: has(Flags::ACK),
        opens: has(Flags::SYN),
        ece: has(Flags::ECE),
        cwr: has(Flags::CWR),
        other_flags: segment.flags.any(OTHERS) || segment.pushes() || segment.resets(),
        payload: segment.len,
        stamps: has(Flags::STAMPED).then_some((segment.stamp, segment.echo)),
        other_options: segment.accecn().is_some(),
        ..TcpHeader::default()
    };
    segment.sack_numbers().for_each(|(start, end)| header.sack.push(start as u32, end as u32));
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_reads_what_stands_on_the_wire() {
        let mut segment = Segment { ack: (1 << 32) + 1_000, ..Segment::default() };
        segment.flags = Flags::ACK.with(Flags::ECE).with(Flags::STAMPED);
        (segment.stamp, segment.echo) = (7, 8);
        segment.sack.push(500, 900);
        segment.report_duplicate((1 << 32) + 200, (1 << 32) + 300);
        let header = of_segment(&segment);
        assert_eq!(header.sack.as_slice(), [(200, 300), (1_500, 1_900)], "the duplicate first");
        assert_eq!((header.ack, header.stamps, header.payload), (1_000, Some((7, 8)), 0));
        assert!(header.acks && header.ece && !header.cwr && !header.other_flags);
        let mut counts = Segment { flags: Flags::ACK.with(Flags::AE), ..Segment::default() };
        assert!(of_segment(&counts).other_flags, "AE was reserved");
        counts.flags = Flags::ACK.with(Flags::STAMPED).with(Flags::RETRANSMISSION);
        assert!(!of_segment(&counts).other_flags, "these two are no flags of a header");
    }
}
