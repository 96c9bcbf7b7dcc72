//! Makes the headers that a packet has in a capture file from what the simulator knows of it.

use ::capture::flags;
use ::capture::write::{self, TcpHeader, TcpOptions, Transport};
use packet::Instant;
use tcp::{Flags, Segment};

use super::names::{DISCARD, HTTP, HTTPS, address, number, own_port};
use crate::world::Group;
use crate::world::connection::{ACCEPTOR, OPENER};
use crate::world::in_flight::InFlight;
use crate::world::payload::Payload;

/// The largest window without scaling, and the largest shift (RFC 7323 section 2.3).
const MOST_WINDOW: u64 = 65_535;
const MOST_SHIFT: u8 = 14;

/// IPv4 and UDP headers, bytes.
const IP_UDP: u32 = 28;

/// The bits of a TCP header that stand for a segment's flags.
const BITS: [(Flags, u16); 6] = [
    (Flags::FIN, flags::FIN),
    (Flags::SYN, flags::SYN),
    (Flags::ACK, flags::ACK),
    (Flags::ECE, flags::ECE),
    (Flags::CWR, flags::CWR),
    (Flags::AE, flags::AE),
];

/// Appends one packet of a group's connection or stream, seen at `now`.
pub(super) fn record(out: &mut Vec<u8>, now: Instant, inflight: &InFlight, group: &Group) {
    let (from, serial) = (inflight.from(), inflight.serial_number());
    let options;
    let (transport, payload) = match inflight.payload() {
        Payload::Segment(segment) if segment.is_quic() => {
            let mut ports = [own_port(serial), HTTPS];
            if from == ACCEPTOR {
                ports.reverse();
            }
            (Transport::Udp { ports }, inflight.ip_bytes() - IP_UDP)
        }
        Payload::Segment(segment) => {
            options = options_of(segment, serial, from, group);
            let header = header(segment, serial, from, group, &options);
            (Transport::Tcp(header), segment.len)
        }
        Payload::Datagram(datagram) => {
            (Transport::Udp { ports: [own_port(serial), DISCARD] }, datagram.bytes())
        }
    };
    let packet = write::Packet {
        at_ns: now.nanos(),
        addresses: addresses(inflight, from, group),
        traffic_class: inflight.header().dscp << 2 | inflight.ecn().code_point(),
        bytes: inflight.ip_bytes(),
        transport,
        payload,
    };
    write::record(out, &packet);
}

/// Addresses of source and destination.
fn addresses(inflight: &InFlight, from: usize, group: &Group) -> [[u8; 4]; 2] {
    let (opener, header) = (group.side, inflight.header());
    let (from, to) = match from {
        OPENER => (opener, opener.other()),
        _ => (opener.other(), opener),
    };
    let serial = inflight.serial_number();
    [address(from, header.source, serial), address(to, header.destination, serial)]
}

/// The header of a segment that the end `from` sends.
fn header<'a>(
    segment: &Segment,
    serial: u32,
    from: usize,
    group: &Group,
    options: &'a TcpOptions,
) -> TcpHeader<'a> {
    let mut ports = [own_port(serial), HTTP];
    if from == ACCEPTOR {
        ports.reverse();
    }
    let has = |flag| segment.flags.has(flag);
    let largest = group.profile.window();
    let scale = if has(Flags::SYN) { None } else { scale(largest) };
    let window = segment.window().unwrap_or(if segment.resets() { 0 } else { largest });
    let reset = if segment.resets() { flags::RST } else { 0 };
    TcpHeader {
        ports,
        seq: number(serial, from, segment.seq),
        ack: if has(Flags::ACK) { number(serial, 1 - from, segment.ack) } else { 0 },
        flags: reset + BITS.iter().filter(|(flag, _)| has(*flag)).map(|(_, bit)| bit).sum::<u16>(),
        window: window_field(window, scale),
        options,
    }
}

fn options_of(segment: &Segment, serial: u32, from: usize, group: &Group) -> TcpOptions {
    let acknowledged = number(serial, 1 - from, segment.ack);
    options(segment, group.profile.mss(), scale(group.profile.window()), acknowledged)
}

/// The TCP options of `segment`. A SYN announces the MSS and, if windows need it, the window
/// `scale`; SACK blocks are stored relative to the sequence number `acknowledged`.
fn options(segment: &Segment, mss: u32, scale: Option<u8>, acknowledged: u32) -> TcpOptions {
    let mut options = TcpOptions::default();
    let syn = segment.flags.has(Flags::SYN);
    if syn {
        options.mss(mss as u16);
        if !segment.sack.is_empty() {
            options.sack_permitted();
        }
        if let Some(shift) = scale {
            options.window_scale(shift);
        }
    }
    if segment.flags.has(Flags::STAMPED) {
        options.timestamps(segment.stamp, segment.echo);
    }
    if let Some(accecn) = segment.accecn() {
        options.accecn(&accecn.counters[..usize::from(accecn.fields)], accecn.ect1_first);
    }
    if !syn && !segment.sack.is_empty() {
        let edge = |offset| acknowledged.wrapping_add(offset);
        options.sack(segment.sack.as_slice().iter().map(|&(start, end)| [edge(start), edge(end)]));
    }
    if syn {
        // End systems may have more options than are modelled.
        options.pad_to(usize::from(segment.extra));
    }
    options
}

/// The window scale for windows of this size, in bits; `None` if they fit without.
fn scale(window: u64) -> Option<u8> {
    let fits = |&shift: &u8| window.div_ceil(1 << shift) <= MOST_WINDOW;
    (window > MOST_WINDOW).then(|| (0..MOST_SHIFT).find(fits).unwrap_or(MOST_SHIFT))
}

/// The window field: rounded up, so that nothing sent lies beyond it.
fn window_field(window: u64, scale: Option<u8>) -> u16 {
    window.div_ceil(1 << scale.unwrap_or(0)).min(MOST_WINDOW) as u16
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
        let bare = options(&syn(Flags::NONE), 1_460, None, 0);
        assert_eq!(bare.as_slice(), [2, 4, 5, 180]);
        let mut full = syn(Flags::STAMPED);
        full.sack.push(0, 0);
        (full.stamp, full.echo) = (0x0102_0304, 5);
        let expected = [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7, 1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 5];
        assert_eq!(options(&full, 1_460, Some(7), 0).as_slice(), expected);
    }

    #[test]
    fn options_that_are_not_modelled_are_padding() {
        let long = Segment { extra: 11, ..syn(Flags::NONE) };
        let expected = [2, 4, 5, 180, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(options(&long, 1_460, None, 0).as_slice(), expected);
        let data = Segment { extra: 12, len: 4, flags: Flags::ACK, ..Segment::default() };
        assert!(options(&data, 1_460, None, 0).as_slice().is_empty());
    }

    #[test]
    fn blocks_lie_above_the_acknowledgement_and_wrap() {
        let mut ack = Segment { flags: Flags::ACK.with(Flags::STAMPED), ..Segment::default() };
        ack.sack.push(16, 32);
        ack.sack.push(1, 3);
        ack.sack.push(100, 101);
        let found = options(&ack, 1_460, None, u32::MAX - 15);
        let options = found.as_slice();
        assert_eq!(options.len(), 40);
        assert_eq!(options[12..24], [1, 1, 5, 26, 0, 0, 0, 0, 0, 0, 0, 16]);
        assert_eq!(options[24..32], [255, 255, 255, 241, 255, 255, 255, 243]);
    }

    #[test]
    fn the_option_of_accurate_ecn_has_three_bytes_a_field() {
        // The tests of the crate `tcp` check this option against RFC 9768; here it is written as it
        // is: an acceptor's SYN-ACK with all three fields, the first counters 1, 0 and 1.
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
        let profile = Arc::new(
            (entry.build)(&params, &tcp::Controls::ours()).expect("parameters that fit together"),
        );
        let mut server = tcp::Endpoint::new(&profile, tcp::HostClock::default());
        let syn = syn(Flags::ACE);
        server.on_segment(&syn, Instant::ZERO);
        let answer = server.poll_send(Instant::ZERO).expect("a SYN-ACK");
        let found = options(&answer, 1_460, None, 0);
        let expected = [2, 4, 5, 180, 172, 11, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1];
        assert_eq!(found.as_slice(), expected);
    }
}
