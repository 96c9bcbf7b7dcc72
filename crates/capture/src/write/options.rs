//! Options of a TCP header to be written.

use crate::headers::{MSS, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE};

/// Most bytes of options in a TCP header.
const MOST: usize = 40;

const NOP: u8 = 1;
/// Kinds of the AccECN option (RFC 9768 section 3.2.3): AccECN0, whose first field is EE0B, and
/// AccECN1.
const ACCECN: [u8; 2] = [172, 174];
/// Kind of the SACK option (RFC 2018 section 3), which has two bytes and eight for each block.
const SACK: u8 = 5;
const BLOCK: usize = 8;

/// The options of one segment, padded to whole words, in the order in which they are given.
#[derive(Clone, Copy, Debug)]
pub struct TcpOptions {
    bytes: [u8; MOST],
    len: usize,
}

impl Default for TcpOptions {
    fn default() -> Self {
        TcpOptions { bytes: [NOP; MOST], len: 0 }
    }
}

impl TcpOptions {
    /// Adds the maximum segment size (RFC 9293 section 3.2).
    pub fn mss(&mut self, bytes: u16) {
        self.put(&[&MSS, &bytes.to_be_bytes()]);
    }

    /// Adds the permission of selective acknowledgements (RFC 2018).
    pub fn sack_permitted(&mut self) {
        self.put(&[&[NOP, NOP], &SACK_PERMITTED]);
    }

    /// Adds the shift of the window field (RFC 7323).
    pub fn window_scale(&mut self, shift: u8) {
        self.put(&[&[NOP], &WINDOW_SCALE, &[shift]]);
    }

    /// Adds a timestamp and its echo (RFC 7323).
    pub fn timestamps(&mut self, value: u32, echo: u32) {
        let stamps = [value.to_be_bytes(), echo.to_be_bytes()];
        self.put(&[&[NOP, NOP], &TIMESTAMPS, stamps.as_flattened()]);
    }

    /// Adds the counters of accurate ECN (RFC 9768), of which the lower 24 bits are written. With
    /// `ect1_first` the option is AccECN1, which begins with the counter of ECT(1).
    pub fn accecn(&mut self, counters: &[u32], ect1_first: bool) {
        let length = 2 + 3 * counters.len();
        self.put(&[&[ACCECN[usize::from(ect1_first)], length as u8]]);
        for counter in counters {
            self.put(&[&counter.to_be_bytes()[1..]]);
        }
        self.pad_to(self.len);
    }

    /// Adds as many selective acknowledgements as fit: three if there are timestamps as well (RFC
    /// 2018 section 3).
    pub fn sack(&mut self, blocks: impl ExactSizeIterator<Item = [u32; 2]>) {
        let fit = blocks.len().min((MOST - self.len - 4) / BLOCK);
        self.put(&[&[NOP, NOP, SACK, (2 + BLOCK * fit) as u8]]);
        for [start, end] in blocks.take(fit) {
            self.put(&[&start.to_be_bytes(), &end.to_be_bytes()]);
        }
    }

    /// Pads to `bytes` bytes, for options that are not modelled.
    pub fn pad_to(&mut self, bytes: usize) {
        self.len = self.len.max(bytes.next_multiple_of(4)).min(MOST);
    }

    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes[self.len..self.len + part.len()].copy_from_slice(part);
            self.len += part.len();
        }
    }

    /// The options as bytes of the header.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
