//! A capture file read back, by rules of its own: RFC 791, 9293, 768, draft-ietf-opsawg-pcap.

#![allow(dead_code)] // not every test looks at everything

use std::sync::{Arc, Mutex};

use aqmlab_sim::{Capture, CapturedAt, Outcome, Run, Scenario};
use serde_json::Value;

/// One packet of the file.
#[derive(Clone, Debug)]
pub struct Frame {
    pub at_ns: u64,
    /// Length on the link.
    pub length: u32,
    pub dscp: u8,
    pub ecn: u8,
    pub source: ([u8; 4], u16),
    pub destination: ([u8; 4], u16),
    /// Without it a datagram.
    pub tcp: Option<Tcp>,
    /// Payload bytes, none of which is stored.
    pub payload: u32,
}

/// What a TCP header says.
#[derive(Clone, Debug)]
pub struct Tcp {
    pub seq: u32,
    pub ack: u32,
    pub flags: u16,
    pub window: u16,
    /// Kind and content of each option.
    pub options: Vec<(u8, Vec<u8>)>,
}

impl Tcp {
    pub fn option(&self, kind: u8) -> Option<&[u8]> {
        self.options.iter().find(|(k, _)| *k == kind).map(|(_, content)| content.as_slice())
    }
}

pub const FIN: u16 = 0x01;
pub const SYN: u16 = 0x02;
pub const ACK: u16 = 0x10;
pub const ECE: u16 = 0x40;
pub const CWR: u16 = 0x80;

/// Runs a scenario with a capture: its outcome and the packets of the file.
pub fn captured(scenario: &Value, ports: &[&str], at: CapturedAt) -> (Outcome, Vec<Frame>) {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&bytes);
    let sink = Box::new(move |piece: &[u8]| taken.lock().unwrap().extend_from_slice(piece));
    let ports = ports.iter().map(|name| name.to_string()).collect();
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let run = Run::capturing(scenario, Capture { ports, at, sink }).unwrap();
    let outcome = run.complete(&mut |_| true).unwrap();
    let bytes = bytes.lock().unwrap();
    (outcome, frames(&bytes))
}

fn le(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap())
}

fn be(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn frames(file: &[u8]) -> Vec<Frame> {
    assert_eq!(le(&file[..4]), 0xa1b2_3c4d, "nanoseconds");
    assert_eq!(file[4..8], [2, 0, 4, 0]);
    assert_eq!(le(&file[20..24]), 101, "raw IP");
    let (mut rest, mut frames) = (&file[24..], Vec::new());
    while !rest.is_empty() {
        let nanos = le(&rest[4..8]);
        assert!(nanos < 1_000_000_000);
        let (stored, length) = (le(&rest[8..12]), le(&rest[12..16]));
        let (packet, after) = rest[16..].split_at(stored as usize);
        frames.push(frame(
            u64::from(le(&rest[..4])) * 1_000_000_000 + u64::from(nanos),
            length,
            packet,
        ));
        rest = after;
    }
    frames
}

/// The ones' complement sum of what is right: all ones.
fn assert_sum(parts: &[&[u8]]) {
    let mut sum: u64 = 0;
    for part in parts {
        assert!(part.len().is_multiple_of(2));
        sum += part.chunks(2).map(|pair| u64::from(be(pair))).sum::<u64>();
    }
    assert!(sum > 0 && sum.is_multiple_of(0xffff), "checksum");
}

fn frame(at_ns: u64, length: u32, packet: &[u8]) -> Frame {
    let (ip, transport) = packet.split_at(20);
    assert_eq!(ip[0], 0x45, "IPv4 without options");
    assert_sum(&[ip]);
    let total = be(&ip[2..4]);
    assert!(total <= length && packet.len() as u32 <= total);
    let rest = total - 20;
    let pseudo = [0, ip[9], (rest >> 8) as u8, rest as u8];
    assert_sum(&[&ip[12..20], &pseudo, transport]);
    let (tcp, header) = match ip[9] {
        6 => {
            let header = usize::from(transport[12] >> 4) * 4;
            assert_eq!(header, transport.len(), "the headers are stored, and nothing else");
            (Some(tcp(transport)), header as u32)
        }
        17 => {
            assert_eq!((transport.len(), be(&transport[4..6])), (8, rest));
            (None, 8)
        }
        other => panic!("protocol {other}"),
    };
    Frame {
        at_ns,
        length,
        dscp: ip[1] >> 2,
        ecn: ip[1] & 3,
        source: (ip[12..16].try_into().unwrap(), be(&transport[..2]) as u16),
        destination: (ip[16..20].try_into().unwrap(), be(&transport[2..4]) as u16),
        tcp,
        payload: rest - header,
    }
}

fn tcp(header: &[u8]) -> Tcp {
    let (mut rest, mut options) = (&header[20..], Vec::new());
    while let Some(&kind) = rest.first() {
        if kind == 1 {
            rest = &rest[1..];
            continue;
        }
        let (option, after) = rest.split_at(usize::from(rest[1]));
        options.push((kind, option[2..].to_vec()));
        rest = after;
    }
    Tcp {
        seq: be(&header[4..8]),
        ack: be(&header[8..12]),
        flags: be(&header[12..14]) as u16 & 0x1ff,
        window: be(&header[14..16]) as u16,
        options,
    }
}
