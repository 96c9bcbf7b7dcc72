//! Drop-tail: what each profile does at the limit.

use aqmlab_aqm::{Admission, Built, Cx, Discipline};
use packet::{Backlog, DropReason, Ecn, Event, Instant, Packet, Rng};

use super::{Pairs, build, gate, packet};

fn accepts(pairs: Pairs, packets: u32, bytes: u64, size: u32) -> bool {
    let backlog = Backlog { packets, bytes };
    let mut packet = packet(size, Ecn::Ect0);
    let mut rng = Rng::named(1, "drop-tail");
    match gate("droptail", pairs).admit(&mut packet, backlog, Instant::ZERO, &mut rng) {
        Admission::Queued => true,
        Admission::Dropped(DropReason::Overflow) => false,
        other => panic!("drop-tail said {other:?}"),
    }
}

#[test]
fn at_the_limit() {
    let ns2 = |limit| [limit, ("profile", "ns2")];
    let packets = ("limit", "3");
    assert!(accepts(&[packets], 2, 2000, 1000) && !accepts(&ns2(packets), 2, 2000, 1000));
    assert!(!accepts(&[packets], 3, 3000, 1000) && !accepts(&ns2(packets), 3, 3000, 1000));
    let bytes = ("limit_bytes", "3000");
    assert!(accepts(&[bytes], 1, 1500, 1500) && !accepts(&ns2(bytes), 1, 1500, 1500));
    assert!(!accepts(&[bytes], 2, 2980, 40) && !accepts(&ns2(bytes), 2, 2980, 40));
    let both = [("limit", "3"), ("limit_bytes", "3000")];
    assert!(!accepts(&both, 3, 120, 40) && !accepts(&both, 2, 2980, 40));
    assert!(accepts(&[], 49, 49_000, 1000) && !accepts(&[], 50, 50_000, 1000));
}

fn front(pairs: Pairs) -> Box<dyn Discipline> {
    let pairs: Vec<_> = pairs.iter().copied().chain([("from_front", "true")]).collect();
    match build("droptail", &pairs, 10_000_000) {
        Ok(Built::Discipline(discipline)) => discipline,
        _ => panic!("drop-from-front holds its packets"),
    }
}

/// Events of an arrival of `size` bytes with handle `id`: `+id` for a packet queued, `-id` for one
/// dropped.
fn offer(queue: &mut dyn Discipline, id: u32, size: u32) -> String {
    let mut said = Vec::new();
    let mut rng = Rng::named(1, "drop-front");
    let mut out = |event: Event| {
        said.push(match event {
            Event::Queued { id } => format!("+{id}"),
            Event::Dropped { packet, why: DropReason::Overflow } => format!("-{}", packet.id),
            other => panic!("{other:?}"),
        })
    };
    let mut cx = Cx { now: Instant::ZERO, rng: &mut rng, out: &mut out };
    let packet = Packet {
        id,
        flow: 0,
        bytes: size,
        ecn: Ecn::NotEct,
        arrived: Instant::ZERO,
        header: Default::default(),
    };
    queue.enqueue(packet, &mut cx);
    said.join(" ")
}

#[test]
fn from_front_drops_the_head_only_when_full() {
    let mut queue = front(&[("limit", "3")]);
    let said: Vec<_> = (1..=5).map(|id| offer(&mut *queue, id, 1000)).collect();
    assert_eq!(said, ["+1", "+2", "+3", "+4 -1", "+5 -2"]);
    assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: 3000 });
}

#[test]
fn from_front_in_ns2_begins_one_packet_earlier() {
    let mut queue = front(&[("limit", "3"), ("profile", "ns2")]);
    let said: Vec<_> = (1..=4).map(|id| offer(&mut *queue, id, 1000)).collect();
    assert_eq!(said, ["+1", "+2", "+3 -1", "+4 -2"]);
    assert_eq!(queue.backlog().packets, 2);
    let mut one = front(&[("limit", "1"), ("profile", "ns2")]);
    assert_eq!(offer(&mut *one, 7, 1000), "-7", "the arrival is its own head");
}

#[test]
fn from_front_in_bytes_frees_what_the_arrival_needs() {
    let mut queue = front(&[("limit_bytes", "3000")]);
    for id in 1..=3 {
        offer(&mut *queue, id, 1000);
    }
    assert_eq!(offer(&mut *queue, 4, 1500), "+4 -1 -2");
    assert_eq!(offer(&mut *queue, 5, 3001), "-5", "no victim can make room");
    assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 2500 });
    let mut ns2 = front(&[("limit_bytes", "3000"), ("profile", "ns2")]);
    for id in 1..=2 {
        offer(&mut *ns2, id, 1000);
    }
    assert_eq!(offer(&mut *ns2, 3, 2500), "+3 -1", "ns-2 removes exactly one");
}
