//! Numbers in byte strings that may be too short.

/// The two bytes at `at`, the first the more significant.
pub fn be16(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..at.checked_add(2)?).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

/// The four bytes at `at`, the first the most significant.
pub fn be32(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at.checked_add(4)?).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// The byte order in which a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The most significant byte first.
    Big,
    /// The least significant byte first.
    Little,
}

impl Order {
    /// The 16-bit number at offset `at`, in this byte order.
    pub fn u16(self, data: &[u8], at: usize) -> Option<u16> {
        let n = be16(data, at)?;
        Some(if self == Order::Big { n } else { n.swap_bytes() })
    }

    /// The 32-bit number at offset `at`, in this byte order.
    pub fn u32(self, data: &[u8], at: usize) -> Option<u32> {
        let n = be32(data, at)?;
        Some(if self == Order::Big { n } else { n.swap_bytes() })
    }
}
