//! What travels: a TCP segment without its payload's content.

use packet::Ecn;

/// TCP flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// Synchronise: opens a connection; occupies one sequence number.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(2);
    /// The sender has no more data; occupies one sequence number.
    pub const FIN: Flags = Flags(4);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(8);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(16);
    /// Not in the header's flags: the segment has the timestamps option (RFC 7323).
    pub const STAMPED: Flags = Flags(32);
    /// Not in the header either: a retransmission, which begins with a number that was sent before.
    pub const AGAIN: Flags = Flags(64);
    /// Accurate ECN (RFC 9768), once the nonce sum of RFC 3540.
    pub const AE: Flags = Flags(128);
    /// The ACE field of RFC 9768: three flags read as one number.
    pub const ACE: Flags = Flags(8 | 16 | 128);

    /// Whether all of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any of `other` is set.
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// Those that are in both sets.
    pub const fn and(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }
    /// The three low bits of `count` as the ACE field: AE, CWR, ECE.
    pub(crate) const fn ace(count: u8) -> Flags {
        Flags((count & 3) << 3 | (count & 4) << 5)
    }
    /// The number in the ACE field.
    pub const fn ace_value(self) -> u8 {
        self.0 >> 3 & 3 | self.0 >> 5 & 4
    }
    /// [`Flags::AGAIN`] if `again`, else none.
    pub(crate) const fn again(again: bool) -> Flags {
        Flags((again as u8) << 6)
    }
    /// These without the others.
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// Both sets together.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Up to three SACK blocks (RFC 2018), latest first, as offsets above the segment's `ack`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SackBlocks {
    len: u8,
    /// The third block tells of a duplicate (RFC 2883); its offsets may be negative.
    duplicate: bool,
    blocks: [(u32, u32); 3],
}

impl SackBlocks {
    /// No block.
    pub const NONE: SackBlocks = SackBlocks { len: 0, duplicate: false, blocks: [(0, 0); 3] };

    /// Adds the block `start..end` (offsets above `ack`); ignored when three are there.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (start, end);
            self.len += 1;
        }
    }
    /// Forgets all blocks.
    pub fn clear(&mut self) {
        (self.len, self.duplicate) = (0, false);
    }
    /// Reports that the numbers `start..end` have come twice (RFC 2883), to an `ack`; leaves room
    /// for two blocks. Like the blocks travels as offsets.
    pub(crate) fn set_duplicate(&mut self, start: u64, end: u64, ack: u64) {
        self.len = self.len.min(2);
        self.duplicate = true;
        self.blocks[2] = (start.wrapping_sub(ack) as u32, end.wrapping_sub(ack) as u32);
    }
    /// The numbers that have come twice, reported to `ack`.
    pub(crate) fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let number = |offset: u32| ack.wrapping_add_signed(i64::from(offset as i32));
        let (start, end) = self.blocks[2];
        self.duplicate.then(|| (number(start), number(end)))
    }
    /// Whether there is a block or a duplicate.
    pub(crate) fn is_telling(&self) -> bool {
        self.len > 0 || self.duplicate
    }
    /// The blocks, latest first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice() && self.duplicate(0) == other.duplicate(0)
    }
}
impl Eq for SackBlocks {}

/// Bytes of the timestamps option with its padding (RFC 7323 appendix A).
pub(crate) const STAMP_BYTES: u32 = 12;

/// A TCP segment. Sequence numbers are 64-bit and start at 0 with the SYN, so data byte n
/// (counted from 1) has sequence number n and numbers never wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte (or of the SYN, or of a bare FIN).
    pub seq: u64,
    /// All below this number has arrived in order.
    pub ack: u64,
    /// Payload bytes.
    pub len: u32,
    /// Flags.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// IP bytes besides 40 B of headers and the payload: options, and in agents that count packets
    /// what fills up a short one. SACK blocks are not counted (constructed).
    pub extra: u16,
    /// With [`Flags::STAMPED`]: the sender's clock (TSval)...
    pub stamp: u32,
    /// ... and the stamp it answers (TSecr).
    pub echo: u32,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
}

impl Segment {
    /// Reports that the numbers `start..end` have come twice (RFC 2883), as a receiver of today.
    pub fn report_duplicate(&mut self, start: u64, end: u64) {
        self.sack.set_duplicate(start, end, self.ack);
    }
    /// IP bytes: 40 B of headers, the payload, and what else there is.
    pub const fn ip_bytes(&self) -> u32 {
        40 + self.len + self.extra as u32
    }
    /// The sequence number after this segment: payload, SYN and FIN counted.
    pub fn end(&self) -> u64 {
        self.seq
            + u64::from(self.len)
            + u64::from(self.flags.has(Flags::SYN))
            + u64::from(self.flags.has(Flags::FIN))
    }
}
