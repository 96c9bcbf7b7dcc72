//! The TCP header (RFC 9293) and the options of a SYN (RFC 7323, RFC 2018).

use super::{
    ACK, Address, Content, MSS, Options, SACK_PERMITTED, SYN, Segment, TCP_HEADER, TIMESTAMPS,
    WINDOW_SCALE,
};
use crate::bytes::{be16, be32};

/// Reads a segment of `length` bytes, header included, of which `data` was kept.
pub fn read(data: &[u8], length: usize, from: Address, to: Address) -> Content {
    match segment(data, length, from, to) {
        Ok(segment) => Content::Tcp(segment),
        Err(content) => content,
    }
}

fn segment(data: &[u8], length: usize, from: Address, to: Address) -> Result<Segment, Content> {
    let missing = if length < TCP_HEADER { Content::Malformed } else { Content::Short };
    let head = data.get(..TCP_HEADER).ok_or(missing)?;
    let header = usize::from(head[12] >> 4) * 4;
    if header < TCP_HEADER || header > length {
        return Err(Content::Malformed);
    }
    let field = |at| u16::from_be_bytes([head[at], head[at + 1]]);
    let number = |at| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let flags = field(12) & 0x1ff;
    let options = if flags & SYN != 0 {
        options(&data[TCP_HEADER..header.min(data.len()).max(TCP_HEADER)])
    } else {
        Options::default()
    };
    Ok(Segment {
        from: (from, field(0)),
        to: (to, field(2)),
        seq: number(4),
        ack: if flags & ACK != 0 { number(8) } else { 0 },
        flags,
        window: field(14),
        payload: (length - header) as u32,
        options,
        ecn: 0,
        id: 0,
    })
}

fn options(mut data: &[u8]) -> Options {
    let mut found = Options::default();
    while let Some(&kind) = data.first() {
        let length = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(data.get(1).copied().unwrap_or(0)).max(2),
        };
        match [kind, length as u8] {
            MSS => found.mss = be16(data, 2),
            // A shift above 14 counts as 14 (RFC 7323, 2.3).
            WINDOW_SCALE => found.window_shift = data.get(2).map(|shift| (*shift).min(14)),
            SACK_PERMITTED => found.sack = true,
            TIMESTAMPS => found.timestamps = be32(data, 2).is_some(),
            _ => {}
        }
        data = data.get(length..).unwrap_or(&[]);
    }
    found
}
