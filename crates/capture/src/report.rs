//! Counts of what a capture held.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::headers::{Content, Packet};

/// Counts over the whole capture.
#[derive(Default)]
pub struct Seen {
    pub packets: u64,
    /// Bytes on the link, by the lengths that the file gives.
    pub bytes: u64,
    pub links: BTreeMap<u32, u64>,
    /// Packets whose last bytes were not captured.
    pub cut: u64,
    pub ipv4: u64,
    pub ipv6: u64,
    pub not_ip: u64,
    pub unknown_link: u64,
    pub tcp: u64,
    pub udp: u64,
    pub other: u64,
    pub fragments: u64,
    pub short: u64,
    pub malformed: u64,
    pub tcp_bytes: u64,
    pub udp_bytes: u64,
    pub quic_bytes: u64,
    pub other_bytes: u64,
    /// Number of packets with an earlier timestamp than some packet before them.
    pub backwards: u64,
    /// Largest difference between such a packet's timestamp and the latest one before it, ns.
    pub backwards_ns: i64,
    /// Times without any packet: when each began and how long it lasted, microseconds.
    pub gaps: Vec<[u64; 2]>,
    pub connections: Connections,
}

/// Counts over all TCP connections of a capture.
#[derive(Default)]
pub struct Connections {
    pub seen: u64,
    /// Connections without payload: refused, unanswered, or without data; they are not in the
    /// model.
    pub silent: u64,
    pub unanswered: u64,
    pub refused: u64,
    pub kept: u64,
    pub sequential: u64,
    pub concurrent: u64,
    pub partial: u64,
    pub no_start: u64,
    pub one_sided: u64,
    pub open: u64,
    pub reset: u64,
    pub cut: u64,
    pub evicted: u64,
    pub no_rtt: u64,
    pub sack: u64,
    pub timestamps: u64,
    pub window_scale: u64,
    pub epochs: u64,
    pub segments: u64,
    pub resent: u64,
    pub resent_bytes: u64,
    pub reordered: u64,
    pub control_resent: u64,
    pub duplicate_acks: u64,
    pub keep_alives: u64,
    /// Segments longer than the maximum that their receiver announced: joined by the capturing
    /// host.
    pub joined: u64,
    pub most_open: u64,
    /// Connections by the outcome of ECN's negotiation: refused, classic, accurate.
    pub ecn: [u64; 3],
    /// Connections in the model, by the opener's side of the link (the third row: unknown) and by
    /// the negotiated ECN: nothing, classic, accurate.
    pub kept_ecn: [[u64; 3]; 3],
    /// Packets by the ECN field of their IP header: not ECT, ECT(1), ECT(0), CE.
    pub code_points: [u64; 4],
    /// Packets that came twice within a millisecond; each of them counts once.
    pub copies: u64,
    /// Number of connections that lack bytes of their sequence space.
    pub missing: u64,
    /// Number of bytes of sequence space that these connections lack.
    pub missed_bytes: u64,
    /// Payload of all openers and of all acceptors, bytes.
    pub bytes: [u64; 2],
    /// Connections by the side of the link, 0 or 1, on which they were opened.
    pub sides: [Side; 2],
}

/// Connections that were opened on one side of the link, and the bytes that both ends sent.
#[derive(Clone, Copy, Default)]
pub struct Side {
    pub connections: u64,
    pub bytes: [u64; 2],
}

impl Seen {
    pub fn count(&mut self, packet: &Packet) {
        match packet.version {
            4 => self.ipv4 += 1,
            6 => self.ipv6 += 1,
            _ => {}
        }
        let bytes = u64::from(packet.ip_bytes);
        match packet.content {
            Content::Tcp(_) => {
                self.tcp += 1;
                self.tcp_bytes += bytes;
                return;
            }
            Content::Udp { quic } => {
                self.udp += 1;
                self.udp_bytes += bytes;
                self.quic_bytes += if quic { bytes } else { 0 };
                return;
            }
            Content::Other => self.other += 1,
            Content::Fragment => self.fragments += 1,
            Content::Short => self.short += 1,
            Content::Malformed => self.malformed += 1,
            Content::NotIp => self.not_ip += 1,
            Content::UnknownLink => self.unknown_link += 1,
        }
        self.other_bytes += bytes;
    }

    pub fn json(&self) -> Value {
        let c = &self.connections;
        json!({
            "packets": self.packets,
            "bytes": self.bytes,
            "link_types": self.links.iter().map(|(k, n)| (k.to_string(), json!(n)))
                .collect::<serde_json::Map<_, _>>(),
            "cut_packets": self.cut,
            "ipv4": self.ipv4, "ipv6": self.ipv6, "not_ip": self.not_ip,
            "unknown_link": self.unknown_link,
            "tcp": self.tcp, "udp": self.udp, "other": self.other,
            "fragments": self.fragments, "short": self.short, "malformed": self.malformed,
            "tcp_bytes": self.tcp_bytes, "udp_bytes": self.udp_bytes,
            "quic_bytes": self.quic_bytes, "other_bytes": self.other_bytes,
            "backwards": self.backwards,
            "connections": {
                "seen": c.seen, "kept": c.kept, "silent": c.silent,
                "unanswered": c.unanswered, "refused": c.refused,
                "sequential": c.sequential, "concurrent": c.concurrent,
                "no_start": c.no_start, "one_sided": c.one_sided,
                "open_at_end": c.open, "reset": c.reset, "cut": c.cut, "evicted": c.evicted,
                "no_rtt": c.no_rtt, "sack": c.sack, "timestamps": c.timestamps,
                "window_scale": c.window_scale, "epochs": c.epochs, "most_open": c.most_open,
            },
            "sides": c.sides.map(|side| json!({
                "connections": side.connections, "bytes": side.bytes,
            })),
            "segments": c.segments, "resent": c.resent, "resent_bytes": c.resent_bytes,
            "reordered": c.reordered, "control_resent": c.control_resent,
            "duplicate_acks": c.duplicate_acks, "keep_alives": c.keep_alives,
            "joined_segments": c.joined,
            "ecn": { "refused": c.ecn[0], "classic": c.ecn[1], "accurate": c.ecn[2] },
            "kept_ecn": {
                "none": c.kept_ecn.map(|of| of[0]),
                "classic": c.kept_ecn.map(|of| of[1]),
                "accurate": c.kept_ecn.map(|of| of[2]),
            },
            "code_points": {
                "not_ect": c.code_points[0], "ect1": c.code_points[1],
                "ect0": c.code_points[2], "ce": c.code_points[3],
            },
            "copies": c.copies, "missing": c.missing, "missed_bytes": c.missed_bytes,
            "gaps": self.gaps,
        })
    }

    /// Bytes of all IP packets.
    pub fn ip_bytes(&self) -> u64 {
        self.tcp_bytes + self.udp_bytes + self.other_bytes
    }
}

/// Whether a segment is longer than what its receiver announced as its maximum.
pub fn is_joined(payload: u32, announced: Option<u16>) -> bool {
    announced.is_some_and(|mss| payload > u32::from(mss))
}
