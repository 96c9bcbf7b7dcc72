//! The classes by which packets are counted.

/// The kind of a packet, by what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A datagram: no TCP segment.
    Datagram,
    /// A SYN or SYN-ACK: it opens a connection.
    Syn,
    /// A FIN without payload.
    Fin,
    /// A segment with payload, whatever its flags.
    Data,
    /// A segment with neither payload nor SYN nor FIN.
    Ack,
}

/// The kind of a packet, whether it is a retransmission, the traffic group of its user and its
/// DSCP. It has four bytes, because every packet carries one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketClass(u32);

impl PacketClass {
    /// Number of values that [`PacketClass::index`] may have.
    const COUNT: usize = 16;
    pub(crate) const RETRANSMISSION: u32 = 8;
    pub(crate) const KIND: u32 = Self::RETRANSMISSION - 1;
    pub(crate) const GROUP_SHIFT: u32 = 4;
    pub(crate) const DSCP_SHIFT: u32 = 20;

    /// The class of a packet of this kind, in the first group, with DSCP 0; `retransmission` says
    /// whether it is one.
    #[inline]
    pub const fn new(kind: Kind, retransmission: bool) -> Self {
        PacketClass(kind as u32 | (retransmission as u32) << 3)
    }
    /// This class, for a user of the traffic group with index `group` in the scenario, from 0.
    #[inline]
    #[must_use]
    pub const fn of_group(self, group: u16) -> Self {
        PacketClass(self.0 & !(0xffff << Self::GROUP_SHIFT) | (group as u32) << Self::GROUP_SHIFT)
    }
    /// This class, for a packet to which its user gave this DSCP, below 64.
    #[inline]
    #[must_use]
    pub const fn with_dscp(self, dscp: u8) -> Self {
        PacketClass(self.0 & !(63 << Self::DSCP_SHIFT) | (dscp as u32 & 63) << Self::DSCP_SHIFT)
    }
    /// This class, with the group and the DSCP of `owner`, whose other bits are 0.
    #[inline]
    #[must_use]
    pub const fn of(self, owner: PacketClass) -> Self {
        PacketClass(self.0 | owner.0)
    }
    /// A class that holds a group and a DSCP only, for [`PacketClass::of`].
    pub const fn owner(group: u16, dscp: u8) -> Self {
        PacketClass(0).of_group(group).with_dscp(dscp)
    }
    /// DSCP of the class.
    pub const fn dscp(self) -> u8 {
        (self.0 >> Self::DSCP_SHIFT) as u8
    }
    /// Index of the traffic group in the scenario, from 0.
    pub const fn group(self) -> u16 {
        (self.0 >> Self::GROUP_SHIFT) as u16
    }
    /// All bits but the one for retransmissions: the kind in bits 0 to 2, the group from bit 4 and
    /// the DSCP from bit 20 on; bit 3 is 0.
    #[inline]
    pub(crate) const fn of_any_turn(self) -> u32 {
        self.0 & !Self::RETRANSMISSION
    }
    /// The kind's number, in the order of [`Kind`].
    pub const fn kind(self) -> u8 {
        (self.0 & Self::KIND) as u8
    }
    /// Whether the packet is of this kind.
    #[inline]
    pub const fn is(self, kind: Kind) -> bool {
        self.kind() == kind as u8
    }
    /// Whether the packet is a retransmission: it begins with a sequence number that was sent
    /// before.
    pub const fn is_retransmission(self) -> bool {
        self.0 & Self::RETRANSMISSION != 0
    }
    const fn index(self) -> usize {
        self.0 as usize % Self::COUNT
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassCounts([u64; PacketClass::COUNT]);

impl ClassCounts {
    #[inline]
    pub fn add(&mut self, class: PacketClass) {
        self.0[class.index()] += 1;
    }
    pub fn merge(&mut self, more: &ClassCounts) {
        self.0.iter_mut().zip(more.0).for_each(|(sum, n)| *sum += n);
    }
    pub fn total(&self) -> u64 {
        // Debug builds read this after every event. A sum that wraps takes vector instructions there, too.
        self.0.iter().fold(0, |sum, n| sum.wrapping_add(*n))
    }
    pub fn of(&self, kind: Kind) -> u64 {
        [false, true]
            .iter()
            .map(|&retransmission| self.0[PacketClass::new(kind, retransmission).index()])
            .sum()
    }
    pub fn retransmissions(&self) -> u64 {
        self.0[PacketClass::RETRANSMISSION as usize..].iter().sum()
    }
    /// Number of packets that carry payload.
    pub fn with_payload(&self) -> u64 {
        self.of(Kind::Datagram) + self.of(Kind::Data)
    }
    /// Number of TCP segments in each of the three classes of a summary: SYNs, without payload,
    /// with payload.
    pub fn sorts(&self) -> [u64; 3] {
        [self.of(Kind::Syn), self.of(Kind::Ack) + self.of(Kind::Fin), self.of(Kind::Data)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_is_counted_by_what_it_is() {
        let mut counts = ClassCounts::default();
        let kinds = [Kind::Datagram, Kind::Syn, Kind::Fin, Kind::Data, Kind::Ack];
        for (number, kind) in (0..).zip(kinds) {
            for retransmission in [false, true] {
                let class = PacketClass::new(kind, retransmission).of_group(65_535).with_dscp(46);
                assert_eq!((class.kind(), class.is_retransmission()), (number, retransmission));
                assert_eq!((class.group(), class.dscp()), (65_535, 46));
                let owner = PacketClass::owner(65_535, 46);
                assert_eq!(PacketClass::new(kind, retransmission).of(owner), class);
                assert!(kinds.iter().all(|&other| class.is(other) == (other == kind)));
                (0..=number).for_each(|_| counts.add(class));
            }
        }
        assert_eq!(counts.sorts(), [4, 16, 8]);
        assert_eq!((counts.total(), counts.retransmissions(), counts.with_payload()), (30, 15, 10));
    }
}
