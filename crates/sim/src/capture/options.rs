//! Options of a TCP header.

use tcp::{AccEcn, Flags, Segment};

/// Largest room for options in a header.
const MOST: usize = 40;

const NOP: u8 = 1;
/// Kind and length of each option: maximum segment size (RFC 9293 section 3.2), window scale and
/// timestamps (RFC 7323), permission of selective acknowledgements (RFC 2018).
const SEGMENT_SIZE: [u8; 2] = [2, 4];
const SCALE: [u8; 2] = [3, 3];
const SACK_PERMITTED: [u8; 2] = [4, 2];
const STAMPS: [u8; 2] = [8, 10];
/// Kinds of the AccECN option (RFC 9768 section 3.2.3): AccECN0, whose first field is EE0B, and AccECN1.
const ACCECN: [u8; 2] = [172, 174];
/// Kind of selective acknowledgements (RFC 2018 section 3), two bytes and eight for each block.
const SACK: u8 = 5;
const BLOCK: usize = 8;

/// The options of one segment, padded to whole words.
pub(super) struct Options {
    bytes: [u8; MOST],
    len: usize,
}

impl Options {
    /// Those that `segment` has. The sizes are announced on a SYN; `scale` is there where windows
    /// need it; blocks lie above the number `acknowledged`.
    pub fn of(segment: &Segment, mss: u32, scale: Option<u8>, acknowledged: u32) -> Self {
        let mut options = Options { bytes: [NOP; MOST], len: 0 };
        let syn = segment.flags.has(Flags::SYN);
        if syn {
            options.put(&[&SEGMENT_SIZE, &(mss as u16).to_be_bytes()]);
            if !segment.sack.is_empty() {
                options.put(&[&[NOP, NOP], &SACK_PERMITTED]);
            }
            if let Some(shift) = scale {
                options.put(&[&[NOP], &SCALE, &[shift]]);
            }
        }
        if segment.flags.has(Flags::STAMPED) {
            let stamps = [segment.stamp.to_be_bytes(), segment.echo.to_be_bytes()];
            options.put(&[&[NOP, NOP], &STAMPS, stamps.as_flattened()]);
        }
        if let Some(option) = segment.accecn() {
            options.put_accecn(&option);
        }
        if !syn && !segment.sack.is_empty() {
            options.put_blocks(segment, acknowledged);
        }
        if syn {
            // End systems may have more options than are modelled.
            options.len = options.len.max(usize::from(segment.extra).next_multiple_of(4)).min(MOST);
        }
        options
    }

    /// The fields of three bytes, padded.
    fn put_accecn(&mut self, option: &AccEcn) {
        let fields = usize::from(option.fields);
        self.put(&[&[ACCECN[usize::from(option.ect1_first)], (2 + 3 * fields) as u8]]);
        for counter in &option.counters[..fields] {
            self.put(&[&counter.to_be_bytes()[1..]]);
        }
        self.len = self.len.next_multiple_of(4);
    }

    /// As many blocks as there is room for (RFC 2018 section 3: three beside timestamps).
    fn put_blocks(&mut self, segment: &Segment, acknowledged: u32) {
        let room = (MOST - self.len - 4) / BLOCK;
        let blocks = &segment.sack.as_slice()[..segment.sack.as_slice().len().min(room)];
        self.put(&[&[NOP, NOP, SACK, (2 + BLOCK * blocks.len()) as u8]]);
        for &(start, end) in blocks {
            let edge = |offset| acknowledged.wrapping_add(offset).to_be_bytes();
            self.put(&[&edge(start), &edge(end)]);
        }
    }

    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes[self.len..self.len + part.len()].copy_from_slice(part);
            self.len += part.len();
        }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use packet::Instant;
    use packet::params::{Params, Raw};

    use super::*;

    fn syn(flags: Flags) -> Segment {
        Segment { flags: Flags::SYN.with(flags), ..Segment::default() }
    }

    #[test]
    fn a_syn_announces_what_there_is() {
        let bare = Options::of(&syn(Flags::NONE), 1_460, None, 0);
        assert_eq!(bare.as_slice(), [2, 4, 5, 180]);
        let mut full = syn(Flags::STAMPED);
        full.sack.push(0, 0);
        (full.stamp, full.echo) = (0x0102_0304, 5);
        let expected = [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7, 1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 5];
        assert_eq!(Options::of(&full, 1_460, Some(7), 0).as_slice(), expected);
    }

    #[test]
    fn options_that_are_not_modelled_are_padding() {
        let long = Segment { extra: 11, ..syn(Flags::NONE) };
        let expected = [2, 4, 5, 180, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(Options::of(&long, 1_460, None, 0).as_slice(), expected);
        let data = Segment { extra: 12, len: 4, flags: Flags::ACK, ..Segment::default() };
        assert!(Options::of(&data, 1_460, None, 0).as_slice().is_empty());
    }

    #[test]
    fn blocks_lie_above_the_acknowledgement_and_wrap() {
        let mut ack = Segment { flags: Flags::ACK.with(Flags::STAMPED), ..Segment::default() };
        ack.sack.push(16, 32);
        ack.sack.push(1, 3);
        ack.sack.push(100, 101);
        let options = Options::of(&ack, 1_460, None, u32::MAX - 15);
        let options = options.as_slice();
        assert_eq!(options.len(), 40);
        assert_eq!(options[12..24], [1, 1, 5, 26, 0, 0, 0, 0, 0, 0, 0, 16]);
        assert_eq!(options[24..32], [255, 255, 255, 241, 255, 255, 255, 243]);
    }

    #[test]
    fn the_option_of_accurate_ecn_has_three_bytes_a_field() {
        // What tcp's own tests hold against RFC 9768 goes to the wire as it is: an acceptor's SYN-ACK
        // with all three fields, the first counters 1, 0 and 1.
        let settings = [("ecn", "true"), ("ecn_feedback", "accurate"), ("accecn_option", "true")];
        let raw: Vec<_> = settings
            .map(|(name, value)| {
                let value = match value {
                    "true" => Raw::Bool(true),
                    text => Raw::Text(text.into()),
                };
                (name.to_string(), value)
            })
            .to_vec();
        let entry = tcp::find("plain").expect("a listed profile");
        let params = Params::check(entry.about.fields, &raw).expect("good parameters");
        let profile = Arc::new((entry.build)(&params).expect("parameters that fit together"));
        let mut server = tcp::Endpoint::new(&profile, tcp::HostClock::default());
        let syn = syn(Flags::ACE);
        server.on_segment(&syn, Instant::ZERO);
        let answer = server.poll_send(Instant::ZERO).expect("a SYN-ACK");
        let options = Options::of(&answer, 1_460, None, 0);
        let expected = [2, 4, 5, 180, 172, 11, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1];
        assert_eq!(options.as_slice(), expected);
    }
}
