//! Captures made by hand: dialogues of segments as text, packed into frames and files.
#![allow(dead_code)]

use aqmlab_capture::{Learner, Limits, Prefix};
use serde_json::Value;

/// Client and server.
pub const ENDS: [([u8; 4], u16); 2] = [([10, 0, 0, 1], 40_000), ([192, 0, 2, 7], 80)];
/// Their first sequence numbers.
pub const FIRST: [u32; 2] = [1_000, 5_000];

/// A segment of a dialogue; sequence numbers count from the SYN's 0.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    pub at_us: u64,
    pub side: usize,
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    pub payload: u16,
    pub window: u16,
}

/// A dialogue from lines `<ms> <side> <flags> <seq>+<bytes> <ack>`: the client's side is `>`; flags
/// are letters of SAFR or `.` for ACK alone; after a `w` may stand a window.
pub fn dialogue(text: &str) -> Vec<Said> {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).map(said).collect()
}

fn said(line: &str) -> Said {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (seq, payload) = words[3].split_once('+').unwrap_or((words[3], "0"));
    let mut flags = 0;
    for letter in words[2].chars() {
        flags |= match letter {
            'S' => 2,
            'F' => 1,
            'R' => 4,
            'A' | '.' => 16,
            other => panic!("no flag {other}"),
        };
    }
    let window =
        words.iter().find_map(|w| w.strip_prefix('w')).map_or(1_000, |w| w.parse().unwrap());
    Said {
        at_us: (words[0].parse::<f64>().unwrap() * 1e3).round() as u64,
        side: usize::from(words[1] == "<"),
        flags,
        seq: seq.parse().unwrap(),
        ack: words.get(4).map_or(0, |w| w.parse().unwrap()),
        payload: payload.parse().unwrap(),
        window,
    }
}

/// The segment with its TCP header; a SYN has the four usual options.
pub fn tcp(said: &Said, first: [u32; 2], ports: [u16; 2]) -> Vec<u8> {
    let (own, other) = (said.side, 1 - said.side);
    let mut out = Vec::new();
    out.extend(ports[own].to_be_bytes());
    out.extend(ports[other].to_be_bytes());
    out.extend(first[own].wrapping_add(said.seq).to_be_bytes());
    out.extend(first[other].wrapping_add(said.ack).to_be_bytes());
    let syn = said.flags & 2 != 0;
    out.extend([if syn { 0xa0 } else { 0x50 }, said.flags]);
    out.extend(said.window.to_be_bytes());
    out.extend([0; 4]);
    if syn {
        out.extend([2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 2]);
    }
    out.resize(out.len() + usize::from(said.payload), 0);
    out
}

/// An IPv4 packet.
pub fn ipv4(from: [u8; 4], to: [u8; 4], protocol: u8, above: &[u8]) -> Vec<u8> {
    let mut out = vec![0x45, 0];
    out.extend((20 + above.len() as u16).to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    out.extend(from);
    out.extend(to);
    out.extend(above);
    out
}

/// An IPv6 packet with these extension headers before the segment.
pub fn ipv6(from: u8, to: u8, extensions: &[(u8, Vec<u8>)], above: &[u8]) -> Vec<u8> {
    let kinds: Vec<u8> = extensions.iter().map(|e| e.0).chain([6]).collect();
    let mut body = Vec::new();
    for (index, (_, extension)) in extensions.iter().enumerate() {
        body.push(kinds[index + 1]);
        body.extend(extension);
    }
    body.extend(above);
    let mut out = vec![0x60, 0, 0, 0];
    out.extend((body.len() as u16).to_be_bytes());
    out.extend([kinds[0], 64]);
    for host in [from, to] {
        out.extend([0x20, 1, 0x0d, 0xb8]);
        out.extend([0; 11]);
        out.push(host);
    }
    out.extend(body);
    out
}

/// A segment of the dialogue as an IPv4 packet.
pub fn packet(said: &Said) -> Vec<u8> {
    let ports = ENDS.map(|end| end.1);
    ipv4(ENDS[said.side].0, ENDS[1 - said.side].0, 6, &tcp(said, FIRST, ports))
}

/// An Ethernet frame between two stations, with tags before the type.
pub fn ethernet(side: usize, tags: &[u8], kind: u16, ip: &[u8]) -> Vec<u8> {
    let stations = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
    let mut out = Vec::new();
    out.extend(stations[1 - side]);
    out.extend(stations[side]);
    out.extend(tags);
    out.extend(kind.to_be_bytes());
    out.extend(ip);
    out
}

/// A pcap file of this link type: `(microseconds, frame)`.
pub fn pcap(link: u32, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    pcap_as(0xa1b2_c3d4, false, link, frames)
}

/// The same with another magic number, in either order of bytes.
pub fn pcap_as(magic: u32, big: bool, link: u32, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let put = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let unit = if magic == 0xa1b2_3c4d { 1_000 } else { 1 };
    let mut out = Vec::new();
    out.extend(put(magic));
    out.extend(half(2));
    out.extend(half(4));
    for n in [0, 0, 65_535, link] {
        out.extend(put(n));
    }
    for (at, frame) in frames {
        let length = frame.len() as u32;
        // 1.6 thousand million seconds: a date, as real captures have.
        let s = 1_600_000_000 + at / 1_000_000;
        for n in [s as u32, (at % 1_000_000) as u32 * unit, length, length] {
            out.extend(put(n));
        }
        out.extend(frame);
    }
    out
}

/// A block of a pcapng file.
pub fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let total = (12 + padded) as u32;
    let mut out = Vec::new();
    out.extend(kind.to_le_bytes());
    out.extend(total.to_le_bytes());
    out.extend(body);
    out.resize(8 + padded, 0);
    out.extend(total.to_le_bytes());
    out
}

/// The block that begins a section.
pub fn section() -> Vec<u8> {
    let mut body = 0x1a2b_3c4du32.to_le_bytes().to_vec();
    body.extend([1, 0, 0, 0]);
    body.extend([0xff; 8]);
    block(0x0a0d_0d0a, &body)
}

/// The block of an interface, with options.
pub fn interface(link: u16, options: &[u8]) -> Vec<u8> {
    let mut body = link.to_le_bytes().to_vec();
    body.extend([0; 6]);
    body.extend(options);
    block(1, &body)
}

/// An enhanced packet block, with options.
pub fn enhanced(interface: u32, ticks: u64, frame: &[u8], options: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let length = frame.len() as u32;
    for n in [interface, (ticks >> 32) as u32, ticks as u32, length, length] {
        body.extend(n.to_le_bytes());
    }
    body.extend(frame);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(options);
    block(6, &body)
}

/// A dialogue as a pcap file on Ethernet.
pub fn file(text: &str) -> Vec<u8> {
    let frames: Vec<_> = dialogue(text)
        .iter()
        .map(|s| (s.at_us, ethernet(s.side, &[], 0x0800, &packet(s))))
        .collect();
    pcap(1, &frames)
}

/// What was learned: the connections in order of their starts, and the report.
pub struct Learned {
    pub connections: Vec<Value>,
    pub report: Value,
}

/// Reads a capture at once.
pub fn learn(bytes: &[u8]) -> Learned {
    learn_with(bytes, bytes.len().max(1), Limits::default(), Vec::new())
}

/// Reads it in pieces.
pub fn learn_with(bytes: &[u8], piece: usize, limits: Limits, inside: Vec<Prefix>) -> Learned {
    let mut learner = Learner::new(limits, inside);
    let mut found = Vec::new();
    let mut collect = |learner: &mut Learner| {
        let (lines, finished) = learner.take();
        let mut at = 0;
        for one in finished {
            let line: Value = serde_json::from_slice(&lines[at..at + one.length]).unwrap();
            at += one.length;
            found.push(((one.at_us, one.serial), line));
        }
        assert_eq!(at, lines.len(), "lines that no connection owns");
    };
    for piece in bytes.chunks(piece) {
        learner.feed(piece).unwrap();
        collect(&mut learner);
    }
    let report = learner.finish().unwrap();
    collect(&mut learner);
    found.sort_by_key(|(order, _)| *order);
    Learned { connections: found.into_iter().map(|(_, line)| line).collect(), report }
}

/// The only connection of a dialogue.
pub fn one(text: &str) -> Value {
    let learned = learn(&file(text));
    assert_eq!(learned.connections.len(), 1, "{:?}", learned.connections);
    learned.connections[0].clone()
}
