//! File formats, link layers, IP headers, damage.

use crate::made::*;
use aqmlab_capture::{Learner, Limits, Prefix};
use serde_json::{Value, json};

const DIALOGUE: &str = "
    0   > S  0
    40  < SA 0 1
    41  > .  1 1
    51  > .  1+100 1
    96  < .  1+1000 101
    97  > .  101 1001
";

fn expected() -> Value {
    json!([[10_000, 100, 5_000, 1000]])
}

fn packets() -> Vec<(u64, usize, Vec<u8>)> {
    dialogue(DIALOGUE).iter().map(|s| (s.at_us, s.side, packet(s))).collect()
}

/// The dialogue in frames that `wrap` makes of side and IP packet.
fn frames(wrap: impl Fn(usize, &[u8]) -> Vec<u8>) -> Vec<(u64, Vec<u8>)> {
    packets().into_iter().map(|(at, side, ip)| (at, wrap(side, &ip))).collect()
}

fn epochs(bytes: &[u8]) -> Value {
    let learned = learn(bytes);
    assert_eq!(learned.connections.len(), 1, "{}", learned.report["warnings"]);
    learned.connections[0]["epochs"].clone()
}

fn before(header: &[u8]) -> impl Fn(usize, &[u8]) -> Vec<u8> + '_ {
    move |_, ip| [header, ip].concat()
}

#[test]
fn pcap_in_both_orders_and_both_units() {
    let raw = frames(|_, ip| ip.to_vec());
    for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
        for big in [false, true] {
            let bytes = pcap_as(magic, big, 101, &raw);
            assert_eq!(epochs(&bytes), expected(), "{magic:x} {big}");
        }
    }
}

#[test]
fn every_link_type() {
    let v4 = |_: usize, ip: &[u8]| ip.to_vec();
    for link in [12, 14, 101, 228] {
        assert_eq!(epochs(&pcap(link, &frames(v4))), expected(), "{link}");
    }
    for header in [[2, 0, 0, 0], [0, 0, 0, 2]] {
        assert_eq!(epochs(&pcap(0, &frames(before(&header)))), expected());
    }
    assert_eq!(epochs(&pcap(108, &frames(before(&[0, 0, 0, 2])))), expected());
    let mut cooked = [0; 16];
    cooked[14] = 8;
    assert_eq!(epochs(&pcap(113, &frames(before(&cooked)))), expected());
    let mut cooked = [0; 20];
    cooked[0] = 8;
    assert_eq!(epochs(&pcap(276, &frames(before(&cooked)))), expected());
    assert_eq!(epochs(&pcap(9, &frames(before(&[0, 0x21])))), expected());
    assert_eq!(epochs(&pcap(9, &frames(before(&[0xff, 3, 0, 0x21])))), expected());
}

#[test]
fn ethernet_with_tags_labels_and_sessions() {
    let tagged = |side: usize, ip: &[u8]| ethernet(side, &[0x81, 0, 0, 5], 0x0800, ip);
    assert_eq!(epochs(&pcap(1, &frames(tagged))), expected());
    let twice = [0x88, 0xa8, 0, 5, 0x81, 0, 0, 6];
    let twice = |side: usize, ip: &[u8]| ethernet(side, &twice, 0x0800, ip);
    assert_eq!(epochs(&pcap(1, &frames(twice))), expected());
    let labelled = |side: usize, ip: &[u8]| {
        ethernet(side, &[], 0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64], ip].concat())
    };
    assert_eq!(epochs(&pcap(1, &frames(labelled))), expected());
    let session = |side: usize, ip: &[u8]| {
        ethernet(side, &[], 0x8864, &[&[0x11, 0, 0, 1, 0, 60, 0, 0x21], ip].concat())
    };
    assert_eq!(epochs(&pcap(1, &frames(session))), expected());
}

#[test]
fn padding_on_ethernet_is_no_payload() {
    let padded = |side: usize, ip: &[u8]| {
        let mut frame = ethernet(side, &[], 0x0800, ip);
        frame.resize(frame.len().max(60), 0);
        frame
    };
    assert_eq!(epochs(&pcap(1, &frames(padded))), expected());
}

#[test]
fn ipv6_with_extension_headers() {
    let hop_by_hop = (0, vec![0, 1, 4, 0, 0, 0, 0]);
    let whole = (44, vec![0, 0, 0, 0, 0, 0, 9]); // an atomic fragment
    let part = (44, vec![0, 0, 1, 0, 0, 0, 9]);
    let with = |extensions: &[(u8, Vec<u8>)]| {
        let frames: Vec<_> = dialogue(DIALOGUE)
            .iter()
            .map(|s| {
                let (from, to) = (1 + s.side as u8, 2 - s.side as u8);
                let ip = ipv6(from, to, extensions, &tcp(s, FIRST, [40_000, 80]));
                (s.at_us, ethernet(s.side, &[], 0x86dd, &ip))
            })
            .collect();
        pcap(1, &frames)
    };
    assert_eq!(epochs(&with(&[])), expected());
    assert_eq!(epochs(&with(std::slice::from_ref(&hop_by_hop))), expected());
    assert_eq!(epochs(&with(&[hop_by_hop, whole])), expected());
    let learned = learn(&with(&[part]));
    assert_eq!(learned.report["seen"]["fragments"], 6);
    assert!(learned.connections.is_empty());
}

#[test]
fn ipv4_options_and_fragments() {
    let with_option = |_: usize, ip: &[u8]| {
        let mut out = ip.to_vec();
        out[0] = 0x46;
        let total = u16::from_be_bytes([ip[2], ip[3]]) + 4;
        out[2..4].copy_from_slice(&total.to_be_bytes());
        out.splice(20..20, [1, 1, 1, 0]);
        out
    };
    assert_eq!(epochs(&pcap(101, &frames(with_option))), expected());
    let fragment = |_: usize, ip: &[u8]| {
        let mut out = ip.to_vec();
        out[6] = 0x20;
        out
    };
    let learned = learn(&pcap(101, &frames(fragment)));
    assert_eq!(learned.report["seen"]["fragments"], 6);
    assert!(learned.report["warnings"].to_string().contains("fragmentation"));
}

#[test]
fn packets_of_which_only_the_headers_were_kept() {
    let mut bytes = pcap(101, &[]);
    for (at, _, ip) in packets() {
        let kept = ip.len().min(60);
        for n in [(at / 1_000_000) as u32, (at % 1_000_000) as u32, kept as u32, ip.len() as u32] {
            bytes.extend(n.to_le_bytes());
        }
        bytes.extend(&ip[..kept]);
    }
    assert_eq!(epochs(&bytes), expected());
    let learned = learn(&bytes);
    assert_eq!(learned.report["seen"]["cut_packets"], 2);
}

#[test]
fn pcapng_with_resolution_offset_direction_and_foreign_blocks() {
    let nano = [9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    let binary = [9, 0, 1, 0, 0x80 | 20, 0, 0, 0, 0, 0, 0, 0];
    let mut bytes = [section(), interface(101, &nano), interface(101, &binary)].concat();
    bytes.extend(block(0x0bad_cafe, &[7; 13]));
    for (index, (at, side, ip)) in packets().into_iter().enumerate() {
        let direction = [2, 0, 4, 0, 1 + side as u8, 0, 0, 0, 0, 0, 0, 0];
        // Both interfaces see some packets, with clocks of their own.
        let (interface, ticks) =
            if index % 2 == 0 { (0, at * 1_000) } else { (1, (at << 20) / 1_000_000) };
        bytes.extend(enhanced(interface, ticks, &ip, &direction));
    }
    let learned = learn(&bytes);
    let c = &learned.connections[0];
    let epoch = &c["epochs"][0];
    assert_eq!((&epoch[1], &epoch[3]), (&json!(100), &json!(1000)));
    assert!(epoch[0].as_u64().unwrap().abs_diff(10_000) <= 2, "{epoch}");
    assert_eq!(c["side"], 0);
    assert_eq!(learned.report["container"], "pcapng");
}

#[test]
fn simple_packets_have_no_time_but_sizes() {
    let mut bytes = [section(), interface(101, &[])].concat();
    for (_, _, ip) in packets() {
        bytes.extend(block(3, &[&(ip.len() as u32).to_le_bytes(), &ip[..]].concat()));
    }
    assert_eq!(epochs(&bytes), json!([[0, 100, 0, 1000]]));
}

#[test]
fn a_new_section_may_have_another_order_of_bytes() {
    let mut bytes = [section(), interface(101, &[])].concat();
    for (at, _, ip) in packets() {
        bytes.extend(enhanced(0, at, &ip, &[]));
    }
    let mut body = 0x1a2b_3c4du32.to_be_bytes().to_vec();
    body.extend([0, 1, 0, 0]);
    body.extend([0xff; 8]);
    bytes.extend([0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28]);
    bytes.extend(body);
    bytes.extend([0, 0, 0, 28]);
    assert_eq!(epochs(&bytes), expected());
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let all = learn(&file(DIALOGUE));
    let bytes = file(DIALOGUE);
    for piece in [1, 3, 7, 24, 25, 100, 4096] {
        let learned = learn_with(&bytes, piece, Limits::default(), Vec::new());
        assert_eq!(learned.connections, all.connections, "pieces of {piece}");
        assert_eq!(learned.report, all.report, "pieces of {piece}");
    }
}

#[test]
fn a_file_that_ends_within_a_packet_keeps_the_others() {
    let bytes = file(DIALOGUE);
    let learned = learn(&bytes[..bytes.len() - 5]);
    assert_eq!(learned.connections[0]["epochs"], expected());
    assert_eq!(
        learned.report["warnings"][0],
        "In this capture the file ends within a record: the last packet is missing."
    );
}

#[test]
fn damage_ends_the_reading_and_keeps_what_came_before() {
    let mut bytes = file(DIALOGUE);
    let place = bytes.len();
    bytes.extend([0xff; 64]);
    let learned = learn(&bytes);
    assert_eq!(learned.connections[0]["epochs"], expected());
    let warning = learned.report["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.contains(&format!("at byte {place}")), "{warning}");
}

#[test]
fn what_is_no_capture_is_one_sentence() {
    for bytes in [&b"hello world, this is text"[..], &[0; 100][..]] {
        let error = Learner::new(Limits::default(), Vec::new()).feed(bytes).unwrap_err();
        assert!(error.to_string().starts_with("not a capture"), "{error}");
    }
    for bytes in [&b""[..], &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0][..]] {
        let mut learner = Learner::new(Limits::default(), Vec::new());
        learner.feed(bytes).unwrap();
        assert!(learner.finish().unwrap_err().to_string().contains("first header"));
    }
    let empty = learn(&pcap(1, &[]));
    assert!(empty.report["warnings"].to_string().contains("no packet"));
}

#[test]
fn other_protocols_and_links_are_counted_and_reported() {
    let mut udp = vec![0xc0, 0, 1, 0xbb];
    udp.resize(1200, 0);
    let quic = ipv4([1; 4], [2; 4], 17, &udp);
    let icmp = ipv4([1; 4], [2; 4], 1, &[0; 64]);
    let arp = ethernet(0, &[], 0x0806, &[0; 28]);
    let frame = |ip: &[u8]| ethernet(0, &[], 0x0800, ip);
    let bad = ethernet(
        0,
        &[],
        0x0800,
        &[0x45, 0, 0, 10, 0, 0, 0, 0, 64, 6, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
    );
    let frames = [frame(&quic), frame(&icmp), arp, bad].map(|f| (0, f));
    let learned = learn(&pcap(1, &frames));
    let seen = &learned.report["seen"];
    let count = |name: &str| seen[name].as_u64().unwrap();
    assert_eq!([count("udp"), count("other"), count("not_ip"), count("malformed")], [1; 4]);
    assert_eq!(count("quic_bytes"), 1220);
    assert!(learned.report["warnings"].to_string().contains("QUIC"));
    let radio = learn(&pcap(127, &[(0, vec![0; 50])]));
    assert!(radio.report["warnings"].to_string().contains("of types 127"));
}

#[test]
fn sides_come_from_the_users_networks_where_he_names_them() {
    let mut address = [0; 16];
    address[10..12].fill(0xff);
    address[12..].copy_from_slice(&[192, 0, 2, 0]);
    let inside = vec![Prefix { address, bits: 96 + 24 }];
    let bytes = pcap(101, &frames(|_, ip| ip.to_vec()));
    assert!(learn(&bytes).connections[0].get("side").is_none());
    let learned = learn_with(&bytes, 4096, Limits::default(), inside);
    assert_eq!(learned.connections[0]["side"], 1); // the client is outside
}

#[test]
fn clocks_that_go_back_are_reported() {
    let mut text: Vec<_> = DIALOGUE.lines().collect();
    text.push("90 > . 101 1001");
    let learned = learn(&file(&text.join("\n")));
    assert_eq!(learned.report["seen"]["backwards"], 1);
    assert!(learned.report["warnings"].to_string().contains("by up to 7.000 ms"));
}
