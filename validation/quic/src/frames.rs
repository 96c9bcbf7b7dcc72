//! Reads quinn's packets, which its null keys leave unencrypted, and closes gaps in their packet
//! numbers.
//!
//! quinn leaves out a packet number now and then, at random, to detect a peer that acknowledges
//! packets that were never sent (RFC 9000 section 21.4). A gap makes a receiver acknowledge at
//! once, as a loss does. Here the numbers of a server's packets with data are closed up on the
//! line, and opened again in the acknowledgements that come back.

use std::ops::Range;

/// A variable-length integer (RFC 9000 section 16) and where the next begins.
pub fn read(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    let len = 1usize << (first >> 6);
    let rest = bytes.get(at + 1..at + len)?;
    Some((rest.iter().fold(u64::from(first & 63), |v, &b| v << 8 | u64::from(b)), at + len))
}

fn write(out: &mut Vec<u8>, value: u64) {
    let (len, tag) = match value {
        0..64 => (1, 0),
        64..16_384 => (2, 1),
        16_384..1_073_741_824 => (4, 2),
        _ => (8, 3),
    };
    let at = out.len();
    out.extend_from_slice(&value.to_be_bytes()[8 - len..]);
    out[at] |= tag << 6;
}

const TAG: usize = 16;
const FIXED: u8 = 0x40;
const LONG: u8 = 0x80;

/// The content of a packet, as far as the comparison needs it.
#[derive(Clone, Debug, Default)]
pub struct Carries {
    /// Ranges of a stream's bytes that the packet carries.
    pub data: Vec<Range<u64>>,
    /// Whether the packet has a PING, or a frame that asks for an acknowledgement like one.
    pub ping: bool,
    /// Whether the packet has an ACK and nothing that is to be acknowledged.
    pub only_ack: bool,
}

/// The frames of a packet with a short header and no connection ID, from `at` on.
fn carries(packet: &[u8], mut at: usize) -> Option<Carries> {
    let end = packet.len() - TAG;
    let mut found = Carries { only_ack: true, ..Carries::default() };
    while at < end {
        let (kind, next) = read(packet, at)?;
        at = next;
        found.only_ack &= matches!(kind, 0 | 2 | 3);
        match kind {
            0 | 0x1e => {}
            // PING, and quinn's IMMEDIATE_ACK (draft-ietf-quic-ack-frequency), which wants an answer as well.
            1 | 0x1f => found.ping = true,
            2 | 3 => at = ack_end(packet, at, kind == 3)?,
            8..16 => {
                (_, at) = read(packet, at)?;
                let mut offset = 0;
                if kind & 4 != 0 {
                    (offset, at) = read(packet, at)?;
                }
                let mut len = (end - at) as u64;
                if kind & 2 != 0 {
                    (len, at) = read(packet, at)?;
                }
                found.data.push(offset..offset + len);
                at += len as usize;
            }
            // Frames with one field, which state a limit.
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => (_, at) = read(packet, at)?,
            _ => return None,
        }
    }
    Some(found)
}

/// Position after an ACK frame whose type has been read.
fn ack_end(packet: &[u8], at: usize, ecn: bool) -> Option<usize> {
    let (_, at) = read(packet, at)?;
    let (_, at) = read(packet, at)?;
    let (count, at) = read(packet, at)?;
    let mut at = read(packet, at)?.1;
    for _ in 0..2 * count + 3 * u64::from(ecn) {
        at = read(packet, at)?.1;
    }
    Some(at)
}

/// The packet numbers that a server has left out.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The next packet number that is expected.
    next: u64,
    left_out: Vec<u64>,
}

impl Numbers {
    fn closed(&self, number: u64) -> u64 {
        number - self.left_out.iter().filter(|&&gap| gap < number).count() as u64
    }

    fn open(&self, closed: u64) -> u64 {
        let mut number = closed;
        for &gap in &self.left_out {
            number += u64::from(gap <= number);
        }
        number
    }

    /// Closes up the number of a packet that a server sends. Returns the packet's content and its
    /// number on the line; `None` for a packet of the handshake.
    pub fn out(&mut self, packet: &mut [u8]) -> Option<(Carries, u64)> {
        if packet[0] & (LONG | FIXED) != FIXED {
            return None;
        }
        let len = usize::from(packet[0] & 3) + 1;
        let bits = 8 * len as u32;
        let written = packet[1..=len].iter().fold(0, |v, &b| v << 8 | u64::from(b));
        let modulus = 1u64 << bits;
        let behind = written.wrapping_sub(self.next) & (modulus - 1);
        let number = self.next + behind;
        self.left_out.extend(self.next..number);
        self.next = number + 1;
        let closed = self.closed(number);
        packet[1..=len].copy_from_slice(&closed.to_be_bytes()[8 - len..]);
        let found = carries(packet, 1 + len).expect("frames that quinn sends in this comparison");
        Some((found, closed))
    }

    /// Converts the ranges of the ACK frame of a client's packet back to the server's numbers.
    /// Returns the packet's content.
    pub fn back(&self, packet: &mut Vec<u8>) -> Option<Carries> {
        if packet[0] & (LONG | FIXED) != FIXED {
            return None;
        }
        let header = usize::from(packet[0] & 3) + 2;
        let found = carries(packet, header)?;
        let mut at = header;
        if packet[at] == 1 {
            at += 1;
        }
        if !self.left_out.is_empty() && matches!(packet[at], 2 | 3) {
            let ecn = packet[at] == 3;
            self.reopen(packet, at + 1, ecn);
        }
        Some(found)
    }

    /// Rewrites the ACK frame whose type ends before `at`.
    fn reopen(&self, packet: &mut Vec<u8>, at: usize, ecn: bool) -> Option<()> {
        let end = ack_end(packet, at, ecn)?;
        let (largest, next) = read(packet, at)?;
        let (delay, next) = read(packet, next)?;
        let (count, next) = read(packet, next)?;
        let (first, mut next) = read(packet, next)?;
        let mut ranges = vec![(largest - first, largest)];
        let mut low = largest - first;
        for _ in 0..count {
            let (gap, after) = read(packet, next)?;
            let (len, after) = read(packet, after)?;
            let high = low - gap - 2;
            low = high - len;
            ranges.push((low, high));
            next = after;
        }
        let opened: Vec<(u64, u64)> = ranges.into_iter().flat_map(|of| self.split(of)).collect();
        let mut out = packet[..at].to_vec();
        let (low, high) = opened[0];
        for value in [high, delay, opened.len() as u64 - 1, high - low] {
            write(&mut out, value);
        }
        for pair in opened.windows(2) {
            write(&mut out, pair[0].0 - pair[1].1 - 2);
            write(&mut out, pair[1].1 - pair[1].0);
        }
        out.extend_from_slice(&packet[next..end]);
        out.extend_from_slice(&packet[end..]);
        *packet = out;
        Some(())
    }

    /// A range of packet numbers without gaps as ranges of the server's own numbers, highest first.
    fn split(&self, (low, high): (u64, u64)) -> Vec<(u64, u64)> {
        let (low, high) = (self.open(low), self.open(high));
        let mut found = vec![];
        let mut top = high;
        for &gap in self.left_out.iter().rev().filter(|&&gap| low < gap && gap < high) {
            if gap < top {
                found.push((gap + 1, top));
            }
            top = gap - 1;
        }
        found.push((low, top));
        found
    }
}

/// The content of a client's packet; `None` if it has a long header.
pub fn of_client(packet: &[u8]) -> Option<Carries> {
    (packet[0] & (LONG | FIXED) == FIXED)
        .then(|| carries(packet, usize::from(packet[0] & 3) + 2))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u8, frames: &[u8]) -> Vec<u8> {
        [&[FIXED, number][..], frames, &[0; TAG]].concat()
    }

    #[test]
    fn numbers_close_up_and_open_again() {
        let mut numbers = Numbers::default();
        for (number, closed) in [(0, 0), (1, 1), (3, 2), (4, 3), (6, 4)] {
            let mut data = packet(number, &[8, 0, 7]);
            let (found, shown) = numbers.out(&mut data).unwrap();
            assert_eq!((found.data, shown, data[1]), (vec![0..1], closed, closed as u8));
        }
        // 4 down to 0 but 1: 6, 4 and 3, 0.
        let mut ack = packet(0, &[2, 4, 0, 1, 2, 0, 0]);
        assert!(numbers.back(&mut ack).unwrap().only_ack);
        assert_eq!(&ack[2..ack.len() - TAG], [2, 6, 0, 2, 0, 0, 1, 1, 0]);
    }
}
