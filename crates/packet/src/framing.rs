//! Size of a packet on the wire: the rule by which a line, or a shaper that emulates one, counts
//! link-layer overhead.

/// The cells or code words into which a link divides frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// The link sends frames whole.
    None,
    /// ATM: 48 bytes of payload in each cell of 53, the last one padded.
    Atm,
    /// PTM (VDSL2): one more byte for each 64 bytes or part of them, a little more than the 64/65
    /// code needs.
    Ptm,
}

/// Link-layer overhead and cells of a link, which give the size of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes added to each packet.
    pub overhead: u64,
    /// Smallest size of a frame, overhead included, bytes.
    pub least: u64,
    /// Cells into which the link divides a frame.
    pub cells: Cells,
}

impl Framing {
    /// No overhead: a packet occupies its IP bytes alone.
    pub const NONE: Framing = Framing { overhead: 0, least: 0, cells: Cells::None };

    /// Size on the wire of a packet of `bytes`, in bytes.
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
        // Ethernet adds 38 bytes; a frame has at least 84 on the wire.
        let ethernet = framing(38, 84, Cells::None);
        assert_eq!([ethernet.size(40), ethernet.size(46), ethernet.size(1500)], [84, 84, 1538]);
        // PPPoE over ATM adds 40 bytes: 1500 + 40 are 32.08 payloads of 48 bytes.
        let atm = framing(40, 0, Cells::Atm);
        assert_eq!([atm.size(8), atm.size(9), atm.size(1500)], [53, 106, 33 * 53]);
        let ptm = framing(30, 0, Cells::Ptm);
        assert_eq!([ptm.size(34), ptm.size(35), ptm.size(1500)], [65, 67, 1530 + 24]);
    }
}
