//! The fields of a TCP header that a queue with an ACK filter reads.

/// Largest number of SACK blocks in a TCP header (RFC 2018 section 3).
const MOST_BLOCKS: usize = 4;

/// The SACK blocks of a TCP header, in their order; sequence numbers have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackList {
    len: u8,
    blocks: [(u32, u32); MOST_BLOCKS],
}

impl SackList {
    /// Adds the block `start..end`; a fifth one has no room and is ignored.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.len)) {
            *block = (start, end);
            self.len += 1;
        }
    }
    /// The blocks in the order of the header.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
    /// Whether the header has no SACK block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP header as far as Linux `sch_cake` reads it to decide which acknowledgements a later one
/// makes unnecessary. Numbers of 32 bits wrap as they do on the wire (RFC 9293 section 3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// Acknowledgement number.
    pub ack: u32,
    /// Whether the flag ACK is set.
    pub acks: bool,
    /// Whether the flag SYN is set.
    pub opens: bool,
    /// Whether ECE is set (RFC 3168); with accurate ECN, the lowest bit of the counter ACE (RFC
    /// 9768).
    pub ece: bool,
    /// Whether CWR is set; with accurate ECN, the middle bit of the counter ACE (RFC 9768).
    pub cwr: bool,
    /// Whether any other flag is set: SYN, FIN, RST, PSH, URG, or one of those that were reserved
    /// in RFC 3168, of which AE (RFC 9768) is one.
    pub other_flags: bool,
    /// Length of the payload, bytes.
    pub payload: u32,
    /// TSval and TSecr of the timestamps option (RFC 7323).
    pub stamps: Option<(u32, u32)>,
    /// SACK blocks (RFC 2018); a D-SACK block (RFC 2883) is the first.
    pub sack: SackList,
    /// Whether the header has any other option than padding, such as that of accurate ECN (RFC
    /// 9768).
    pub other_options: bool,
}

impl TcpHeader {
    /// Whether sequence number `a` is later than `b`.
    #[inline]
    pub const fn is_after(a: u32, b: u32) -> bool {
        (a.wrapping_sub(b) as i32) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_a_fifth_block_has_no_room() {
        assert!(TcpHeader::is_after(5, u32::MAX) && !TcpHeader::is_after(u32::MAX, 5));
        assert!(!TcpHeader::is_after(7, 7));
        let mut list = SackList::default();
        assert!(list.is_empty());
        (0..5).for_each(|n| list.push(10 * n, 10 * n + 5));
        assert_eq!(list.as_slice(), [(0, 5), (10, 15), (20, 25), (30, 35)]);
    }
}
