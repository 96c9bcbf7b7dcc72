//! A TCP segment, without the content of its payload.

use std::fmt;

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
    /// The segment has the timestamps option (RFC 7323); this is no flag of the header.
    pub const STAMPED: Flags = Flags(32);
    /// The segment is a retransmission: its first sequence number was sent before. This is no flag
    /// of the header either.
    pub const RETRANSMISSION: Flags = Flags(64);
    /// Accurate ECN (RFC 9768), once the nonce sum of RFC 3540.
    pub const AE: Flags = Flags(128);
    /// The ACE field of RFC 9768: three flags read as one number.
    pub const ACE: Flags = Flags(8 | 16 | 128);

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any flag of `other` is set.
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// The flags that are in both sets.
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
    /// [`Flags::RETRANSMISSION`] if `retransmission`, else no flag.
    pub(crate) const fn retransmission(retransmission: bool) -> Flags {
        Flags((retransmission as u8) << 6)
    }
    /// The flags of this set that are not in `other`.
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// The flags that are in either set.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// What the space for SACK blocks holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    /// SACK blocks only.
    #[default]
    Blocks,
    /// SACK blocks; the third reports a duplicate (RFC 2883), with offsets that may be negative.
    Duplicate,
    /// The segment is a QUIC packet: the space holds the ranges of its ACK frame as on the wire.
    Quic,
    /// No block: the segment is a reset.
    Reset,
}

/// Up to three SACK blocks (RFC 2018), latest first, as offsets above the segment's `ack`.
#[derive(Clone, Copy, Default)]
pub struct SackBlocks {
    len: u8,
    kind: Kind,
    /// The segment's receive window ([`Segment::window`]); in a QUIC packet the delay of its ACK
    /// frame, in units of the wire.
    window: u16,
    blocks: [(u32, u32); 3],
}

impl SackBlocks {
    /// No SACK block, and no receive window.
    pub const NONE: SackBlocks =
        SackBlocks { len: 0, kind: Kind::Blocks, window: 0, blocks: [(0, 0); 3] };

    /// Adds the SACK block `start..end` (offsets above `ack`), unless there are three already.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (start, end);
            self.len += 1;
        }
    }
    /// Removes all SACK blocks, and the receive window that is stored next to them.
    pub fn clear(&mut self) {
        (self.len, self.kind, self.window) = (0, Kind::Blocks, 0);
    }
    /// Reports that the sequence numbers `start..end` arrived twice (RFC 2883), stored as offsets
    /// from `ack`; leaves room for two blocks.
    pub(crate) fn set_duplicate(&mut self, start: u64, end: u64, ack: u64) {
        self.len = self.len.min(2);
        self.kind = Kind::Duplicate;
        self.blocks[2] = (start.wrapping_sub(ack) as u32, end.wrapping_sub(ack) as u32);
    }
    /// The sequence numbers reported to have arrived twice, in a segment that acknowledges `ack`.
    pub(crate) fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let number = |offset: u32| ack.wrapping_add_signed(i64::from(offset as i32));
        let (start, end) = self.blocks[2];
        self.has_duplicate().then(|| (number(start), number(end)))
    }
    /// Whether a duplicate is reported.
    pub(crate) fn has_duplicate(&self) -> bool {
        self.kind == Kind::Duplicate
    }
    /// Length of the SACK option with at most `most` of the blocks and padding, bytes (RFC 2018).
    pub(crate) fn wire_bytes(&self, most: u8) -> u32 {
        if self.len == 0 { 0 } else { 4 + 8 * u32::from(self.len.min(most)) }
    }
    /// Number of SACK blocks, including a report of a duplicate.
    pub(crate) fn count(&self) -> u8 {
        self.len + u8::from(self.has_duplicate())
    }
    /// Removes the oldest SACK block.
    pub(crate) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }
    /// Index of the SACK block that the AccECN option replaces in a segment with timestamps.
    fn beside_option(&self) -> usize {
        2 - usize::from(self.has_duplicate())
    }
    /// Whether there is a SACK block or a report of a duplicate.
    pub(crate) fn reports(&self) -> bool {
        self.len > 0 || self.has_duplicate()
    }
    /// The SACK blocks, latest first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        if self.kind == Kind::Quic { &[] } else { &self.blocks[..usize::from(self.len)] }
    }
    /// Whether there is no SACK block (a report of a duplicate does not count).
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Room for the ranges of an ACK frame, bytes.
pub(crate) const RANGE_BYTES: usize = 24;

/// Ranges of an ACK frame of QUIC, kept in place of SACK blocks.
impl SackBlocks {
    /// Stores `count` encoded ranges, and the acknowledgement delay in units of the wire.
    pub(crate) fn set_ranges(&mut self, count: u8, bytes: &[u8; RANGE_BYTES], delay: u16) {
        (self.len, self.kind, self.window) = (count, Kind::Quic, delay);
        for (block, bytes) in self.blocks.iter_mut().zip(bytes.chunks_exact(8)) {
            let word = |at: usize| {
                u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
            };
            *block = (word(0), word(4));
        }
    }
    /// The number of ranges, their encoded bytes, and the acknowledgement delay in units of the
    /// wire.
    pub(crate) fn ranges(&self) -> (u8, [u8; RANGE_BYTES], u16) {
        let mut bytes = [0; RANGE_BYTES];
        for (bytes, (low, high)) in bytes.chunks_exact_mut(8).zip(self.blocks) {
            bytes[..4].copy_from_slice(&low.to_le_bytes());
            bytes[4..].copy_from_slice(&high.to_le_bytes());
        }
        (self.len, bytes, self.window)
    }
}

/// Shows the receive window only if there is one.
impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut shown = f.debug_struct("SackBlocks");
        shown.field("len", &self.len).field("duplicate", &self.has_duplicate());
        shown.field("blocks", &self.blocks);
        if self.window > 0 {
            shown.field("window", &self.window);
        }
        shown.finish()
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
            && self.duplicate(0) == other.duplicate(0)
            && self.window == other.window
            && (self.kind == Kind::Quic) == (other.kind == Kind::Quic)
            && (self.kind != Kind::Quic || self.blocks == other.blocks)
    }
}
impl Eq for SackBlocks {}

/// The AccECN option (RFC 9768 section 3.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    /// AccECN1 (kind 174), whose fields are EE1B, ECEB, EE0B; else AccECN0 (172): EE0B, ECEB, EE1B.
    pub ect1_first: bool,
    /// Number of these fields in the option, counted from the first.
    pub fields: u8,
    /// All three counters, of 24 bits, in the order of the fields.
    pub counters: [u32; 3],
}

impl AccEcn {
    /// Bytes of an option with this number of fields, padded to whole words.
    pub(crate) const fn padded(fields: usize) -> u32 {
        (2 + 3 * fields as u32).next_multiple_of(4)
    }
}

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
    /// IP bytes besides 40 B of headers and the payload: options, and the padding of short packets
    /// in agents that count packets (ns-2). SACK blocks are not counted (a simplification).
    pub extra: u16,
    /// With [`Flags::STAMPED`]: the sender's clock (TSval)...
    pub stamp: u32,
    /// ... and the peer's timestamp that it echoes (TSecr).
    pub echo: u32,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Bits 0 to 26: of the AccECN option, the counter of marked bytes and the fields present (the
    /// other counters: [`Segment::accecn`]); 27 to 30: the window scale; 31: PSH.
    pub accurate: u32,
}

/// Bit of PSH in [`Segment::accurate`], since [`Flags`] has no bit left.
const PUSHES: u32 = 1 << 31;
/// Bits of the AccECN option in [`Segment::accurate`].
const OPTION: u32 = (1 << 27) - 1;
/// Lowest bit of the window scale in [`Segment::accurate`]; largest scale (RFC 7323 section 2.3).
const SCALE_AT: u32 = 27;
const LARGEST_SCALE: u32 = 14;

/// Window scale with which the header's 16 bits hold a receive window of up to `bytes` (RFC 7323
/// section 2.2; `tcp_select_initial_window` of Linux).
pub(crate) const fn window_scale(bytes: u64) -> u8 {
    let bits = u64::BITS - bytes.leading_zeros();
    let scale = bits.saturating_sub(16);
    if scale < LARGEST_SCALE { scale as u8 } else { LARGEST_SCALE as u8 }
}

impl Segment {
    /// Whether the segment has the flag PSH: it ends a write, or a burst that Linux hands down as
    /// one.
    pub const fn pushes(&self) -> bool {
        self.accurate & PUSHES != 0
    }
    /// Sets PSH.
    pub(crate) fn push(&mut self) {
        self.accurate |= PUSHES;
    }
    /// The receive window that the segment offers, bytes; `None` from an end with a constant
    /// window, which its profile states.
    pub const fn window(&self) -> Option<u64> {
        let scale = self.accurate >> SCALE_AT & 15;
        match self.sack.window {
            0 => None,
            above => Some((above as u64 - 1) << scale),
        }
    }
    /// Offers a receive window, rounded down to units of 2^`scale` bytes, at most 65,534 of them:
    /// it is stored plus one, as 0 stands for no window.
    pub fn offer(&mut self, bytes: u64, scale: u8) {
        self.sack.window = ((bytes >> scale).min(65_534) + 1) as u16;
        self.accurate = self.accurate & !(15 << SCALE_AT) | u32::from(scale) << SCALE_AT;
    }
    /// Reports that the sequence numbers `start..end` arrived twice (RFC 2883), as Linux does.
    pub fn report_duplicate(&mut self, start: u64, end: u64) {
        self.sack.set_duplicate(start, end, self.ack);
    }
    /// What the SACK option reports, as sequence numbers in the order of the header: a duplicate
    /// first (RFC 2883 section 4), then the blocks, latest first.
    pub fn sack_numbers(&self) -> impl Iterator<Item = (u64, u64)> {
        let number = |offset: u32| self.ack + u64::from(offset);
        let blocks = self.sack.as_slice().iter();
        let blocks = blocks.map(move |&(start, end)| (number(start), number(end)));
        self.sack.duplicate(self.ack).into_iter().chain(blocks)
    }
    /// The AccECN option, if there is one. Its first and last counters are stored in the fields of
    /// the timestamps, or, if these are in use, in the last SACK block, for which no header has
    /// room then.
    pub fn accecn(&self) -> Option<AccEcn> {
        let fields = (self.accurate >> 24 & 3) as u8;
        let (first, third) = if self.flags.has(Flags::STAMPED) {
            self.sack.blocks[self.sack.beside_option()]
        } else {
            (self.stamp, self.echo)
        };
        let counters = [first, self.accurate & 0xff_ffff, third];
        let ect1_first = self.accurate >> 26 & 1 != 0;
        (fields > 0).then_some(AccEcn { ect1_first, fields, counters })
    }
    /// Adds the AccECN option; to be called last. In a segment with timestamps it replaces the
    /// third SACK block, or the second if a duplicate is reported.
    pub fn report_bytes(&mut self, option: AccEcn) {
        let [first, marked, third] = option.counters;
        if self.flags.has(Flags::STAMPED) {
            let place = self.sack.beside_option();
            self.sack.len = self.sack.len.min(place as u8);
            self.sack.blocks[place] = (first, third);
        } else {
            (self.stamp, self.echo) = (first, third);
        }
        self.accurate = self.accurate & !OPTION
            | marked
            | u32::from(option.fields) << 24
            | u32::from(option.ect1_first) << 26;
    }
    /// Whether the segment has the flag RST, which is stored in place of SACK blocks, since
    /// [`Flags`] has no bit left.
    pub fn resets(&self) -> bool {
        self.sack.kind == Kind::Reset
    }
    /// Makes this segment the reset that answers `refused`, a segment of no known connection (RFC
    /// 9293 section 3.10.7): its sequence number is the acknowledgement number of `refused`, or, if
    /// that has none, it acknowledges all of `refused`.
    pub fn refuse(&mut self, refused: &Segment) {
        *self = Segment::default();
        self.sack.kind = Kind::Reset;
        if refused.flags.has(Flags::ACK) {
            self.seq = refused.ack;
        } else {
            (self.ack, self.flags) = (refused.end(), Flags::ACK);
        }
    }
    /// Whether this is a QUIC packet; its sequence numbers are those of stream data.
    pub fn is_quic(&self) -> bool {
        self.sack.kind == Kind::Quic
    }
    /// Length of the IP packet, bytes: 40 B of headers, the payload, and `extra`.
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

#[cfg(test)]
mod tests;
