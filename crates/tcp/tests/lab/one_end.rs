//! One endpoint alone: the test writes what arrives, and reads what it sends.

use std::sync::Arc;

use aqmlab_tcp::{Endpoint, Flags, HostClock, Profile, Segment};
use packet::Instant;
use packet::params::Raw;

use super::{ms, profile, secs};

/// What it sends at `at`, in seconds.
pub fn drain(end: &mut Endpoint, at: f64) -> Vec<Segment> {
    drain_at(end, secs(at))
}

pub fn drain_at(end: &mut Endpoint, at: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| end.poll_send(at)).collect()
}

/// What it sends at once when `segment` arrives at `at`, in seconds.
pub fn hear(end: &mut Endpoint, segment: Segment, at: f64) -> Vec<Segment> {
    end.on_segment(&segment, secs(at));
    drain(end, at)
}

/// A server that got the SYN at 0.05 and the handshake's ACK with a request of 300 B at `at`.
pub fn serving(profile: &Arc<Profile>, at: f64) -> Endpoint {
    let clock = HostClock { slow: ms(430), fast: ms(170) };
    let mut server = Endpoint::new(profile, clock);
    hear(&mut server, Segment { flags: Flags::SYN, ..Segment::default() }, 0.05);
    hear(&mut server, request(), at);
    server
}

pub fn request() -> Segment {
    Segment { seq: 1, ack: 1, len: 300, flags: Flags::ACK, ..Segment::default() }
}

pub fn ack(ack: u64) -> Segment {
    Segment { seq: 301, ack, flags: Flags::ACK, ..Segment::default() }
}

/// Data segments that a write of 20,000 B at `at` lets go.
pub fn burst(server: &mut Endpoint, at: f64) -> usize {
    server.write(20_000, secs(at));
    drain(server, at).iter().filter(|s| s.len > 0).count()
}

/// A Linux server whose peer understands selective acknowledgements: its round trip is 0.1 s.
pub fn sacking(profile: &Arc<Profile>) -> Endpoint {
    let mut server = Endpoint::new(profile, HostClock::default());
    let mut syn = Segment { flags: Flags::SYN, ..Segment::default() };
    syn.sack.push(0, 0);
    hear(&mut server, syn, 0.05);
    hear(&mut server, request(), 0.15);
    server
}

/// A report that the segments of 1,460 B from number `from` up to `to` have come, but not the first.
pub fn report(from: u32, to: u32) -> Segment {
    let mut segment = ack(1);
    segment.sack.push(1_460 * from, 1_460 * to);
    segment
}

/// A server of profile plain with selective acknowledgements, whose first window of ten segments of
/// 1,000 B has gone out at 0.1.
pub fn ten_out(settings: &[(&str, Raw)]) -> Endpoint {
    ten_out_of("plain", settings)
}

/// As [`ten_out`], of this profile.
pub fn ten_out_of(name: &str, settings: &[(&str, Raw)]) -> Endpoint {
    let mut all = vec![
        ("mss", Raw::Number(1_000.0)),
        ("initial_window", Raw::Number(10.0)),
        ("timestamps", Raw::Bool(false)),
    ];
    all.extend(settings.iter().cloned());
    let mut server = Endpoint::new(&profile(name, &all), HostClock::default());
    let asks = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    let mut syn = Segment { flags: asks, ..Segment::default() };
    syn.sack.push(0, 0);
    hear(&mut server, syn, 0.0);
    hear(&mut server, said(1, &[]), 0.1);
    server.write(100_000, secs(0.1));
    assert_eq!(drain(&mut server, 0.1).len(), 10);
    server
}

/// An acknowledgement of all below `ack`, with reports of these segments of 1,000 B.
pub fn said(ack: u32, reports: &[(u32, u32)]) -> Segment {
    let mut segment = Segment { seq: 1, ack: ack.into(), flags: Flags::ACK, ..Segment::default() };
    for &(from, to) in reports {
        segment.sack.push(1 + 1_000 * from - ack, 1 + 1_000 * to - ack);
    }
    segment
}
