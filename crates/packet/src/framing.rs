//! What a packet occupies on a link: the rule of a line behind a queue, and of a shaper that stands
//! for one.

/// The cells or symbols that the link breaks packets into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// None.
    None,
    /// ATM: 48 bytes of payload in each cell of 53, the last one padded.
    Atm,
    /// PTM (VDSL2): one more byte per 64 or part thereof, a little more than the 65/64 there is.
    Ptm,
}

/// The rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes added to each packet.
    pub overhead: u64,
    /// Least size with that.
    pub least: u64,
    /// What the link breaks that into.
    pub cells: Cells,
}

impl Framing {
    /// Nothing but the packet.
    pub const NONE: Framing = Framing { overhead: 0, least: 0, cells: Cells::None };

    /// What a packet of `bytes` occupies, in bytes.
    #[inline]
    pub fn size(&self, bytes: u32) -> u64 {
        let framed = (u64::from(bytes) + self.overhead).max(self.least);
        match self.cells {
            Cells::None => framed,
            Cells::Atm => framed.div_ceil(48) * 53,
            Cells::Ptm => framed + framed.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let framing = |overhead, least, cells| Framing { overhead, least, cells };
        let plain = Framing::NONE;
        assert_eq!([plain.size(1), plain.size(1500)], [1, 1500]);
        // Ethernet: 38 bytes more, and at least 84 on the wire.
        let ethernet = framing(38, 84, Cells::None);
        assert_eq!([ethernet.size(40), ethernet.size(46), ethernet.size(1500)], [84, 84, 1538]);
        // PPPoE over ATM, 40 bytes more: 1500 + 40 is 32.08 payloads.
        let atm = framing(40, 0, Cells::Atm);
        assert_eq!([atm.size(8), atm.size(9), atm.size(1500)], [53, 106, 33 * 53]);
        let ptm = framing(30, 0, Cells::Ptm);
        assert_eq!([ptm.size(34), ptm.size(35), ptm.size(1500)], [65, 67, 1530 + 24]);
    }
}
