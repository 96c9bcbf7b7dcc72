//! The classic format, pcap (draft-ietf-opsawg-pcap): a header of 24 bytes, then records.

use super::{Frame, LONGEST, Next};
use crate::bytes::Order;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
/// Magic number of a file whose time stamps have nanoseconds.
pub const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Magic number of a patched libpcap of the 1990s, whose records have eight more bytes.
const PATCHED: u32 = 0xa1b2_cd34;
const HEADER: usize = 24;

/// Byte order, time unit and link type of a file, from its magic number and its header.
pub struct Pcap {
    order: Order,
    /// Unit of the fraction of a time stamp, nanoseconds.
    unit_ns: i64,
    record: usize,
    /// The link type, known once the header is complete.
    link: Option<u32>,
}

impl Pcap {
    /// A reader, if `front` (four bytes or more) begins a pcap file.
    pub fn of(front: &[u8]) -> Option<Self> {
        for order in [Order::Big, Order::Little] {
            let (unit_ns, record) = match order.u32(front, 0)? {
                MICROSECONDS => (1_000, 16),
                NANOSECONDS => (1, 16),
                PATCHED => (1_000, 24),
                _ => continue,
            };
            return Some(Pcap { order, unit_ns, record, link: None });
        }
        None
    }

    /// Whether the file's header has been read.
    pub fn begun(&self) -> bool {
        self.link.is_some()
    }

    pub fn next<'a>(&mut self, front: &'a [u8]) -> Next<'a> {
        let Some(link) = self.link else {
            let Some(network) = self.order.u32(front, 20) else { return Next::More };
            // The upper bits may hold the length of a frame check sequence.
            self.link = Some(network & 0x0fff_ffff);
            return Next::Skip(HEADER as u64);
        };
        let field = |at| self.order.u32(front, at);
        let (Some(s), Some(fraction), Some(kept), Some(length)) =
            (field(0), field(4), field(8), field(12))
        else {
            return Next::More;
        };
        let kept = kept as usize;
        if kept > LONGEST || i64::from(fraction) * self.unit_ns >= 4_000_000_000 {
            return Next::Damaged("no record that makes sense".to_owned());
        }
        let Some(data) = front.get(self.record..self.record + kept) else { return Next::More };
        let at_ns = i64::from(s) * 1_000_000_000 + i64::from(fraction) * self.unit_ns;
        let frame = Frame { at_ns, link, data, length: length.max(kept as u32), outbound: None };
        Next::Packet(frame, self.record + kept)
    }
}
