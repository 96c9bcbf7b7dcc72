use super::*;
use packet::{Ecn, Header, Instant, Packet};

fn packet(id: usize, flow: u64, ack: Ack) -> Packet {
    let header = Header { ack, ..Header::default() };
    let (id, arrived) = (id as u32, Instant::ZERO);
    Packet { id, flow, bytes: 40, ecn: Ecn::NotEct, arrived, header }
}

/// Id of the packet that the filter drops from a queue of these packets, each with its TCP header
/// if it has one.
fn victim_of(mode: Mode, packets: &[(Packet, Option<TcpHeader>)]) -> Option<usize> {
    let (mut pool, mut queue) = (Pool::default(), Queue::new());
    let mut filter = AckFilter { mode, headers: Vec::new() };
    for (packet, header) in packets {
        pool.push(&mut queue, packet.clone());
        filter.keep(&pool, &queue, header.as_ref());
    }
    let place = filter.victim(&pool, &queue)?;
    pool.remove(&mut queue, place).map(|packet| packet.id as usize)
}

/// The number of the victim among packets without headers written as letters: a for an
/// acknowledgement, n for one that is needed, d for data, A for an acknowledgement of another flow.
fn victim(mode: Mode, packets: &str) -> Option<usize> {
    let packet = |(id, letter)| {
        let ack = match letter {
            'd' => Ack::No,
            'n' => Ack::Needed,
            _ => Ack::Newer,
        };
        (packet(id, u64::from(letter == 'A'), ack), None)
    };
    victim_of(mode, &packets.chars().enumerate().map(packet).collect::<Vec<_>>())
}

#[test]
fn two_must_wait_or_the_last_one() {
    for (packets, filter, aggressive) in [
        ("a", None, None),
        ("aa", None, Some(0)),
        ("aaa", Some(0), Some(0)),
        ("daaa", Some(1), Some(1)),
        ("ada", None, None), // not adjacent
        ("adaa", Some(0), Some(0)),
        ("aaaad", None, None), // data triggers nothing
        ("aan", None, None),
        ("anaa", None, Some(2)), // the first is kept by the needed one
        ("anaaa", Some(2), Some(2)),
        ("AAa", None, None),
        ("aAa", None, None),
        ("aAaAaA", Some(1), Some(1)),
    ] {
        assert_eq!(victim(Mode::No, packets), None);
        assert_eq!(victim(Mode::Filter, packets), filter, "{packets}");
        assert_eq!(victim(Mode::Aggressive, packets), aggressive, "{packets}");
    }
}

/// A header that acknowledges `ack` and reports these blocks.
fn acks(ack: u32, blocks: &[(u32, u32)]) -> TcpHeader {
    let mut header = TcpHeader { ack, acks: true, ..TcpHeader::default() };
    blocks.iter().for_each(|&(start, end)| header.sack.push(start, end));
    header
}

/// The victims of the filter and of the aggressive one among acknowledgements of one flow.
fn victims(headers: &[TcpHeader]) -> [Option<usize>; 2] {
    let packets: Vec<_> = headers
        .iter()
        .enumerate()
        .map(|(id, header)| (packet(id, 0, Ack::No), Some(*header)))
        .collect();
    [Mode::Filter, Mode::Aggressive].map(|mode| victim_of(mode, &packets))
}

#[test]
fn blocks_are_covered_by_blocks_that_reach_as_far() {
    // A single acknowledgement waits directly before the new one.
    let is_dropped = |old: TcpHeader, new: TcpHeader| victims(&[old, new]) == [None, Some(0)];
    let one = acks(10, &[(20, 30)]);
    assert!(is_dropped(one, acks(10, &[(20, 40)])), "the block has grown");
    assert!(is_dropped(one, acks(10, &[(50, 60), (20, 30)])), "a block has come");
    assert!(is_dropped(one, acks(15, &[(20, 30)])), "more is acknowledged");
    assert!(is_dropped(acks(10, &[]), one), "a first block has come");
    assert!(!is_dropped(one, one), "the same number and blocks: a duplicate counts");
    assert!(!is_dropped(acks(10, &[]), acks(10, &[])), "a duplicate without blocks");
    assert!(!is_dropped(one, acks(10, &[(25, 60)])), "the beginning is lost");
    assert!(!is_dropped(one, acks(30, &[])), "blocks are covered by blocks alone");
    assert!(!is_dropped(acks(10, &[(5, 10), (20, 30)]), acks(15, &[(5, 40)])), "a duplicate");
    assert!(!is_dropped(acks(20, &[]), acks(10, &[])), "it acknowledges more");
    let wrapped = acks(u32::MAX - 4, &[(u32::MAX, 20)]);
    assert!(is_dropped(wrapped, acks(u32::MAX - 4, &[(u32::MAX, 30)])), "numbers wrap");
}

#[test]
fn what_carries_anything_else_stays() {
    let (old, new) = (acks(10, &[]), acks(20, &[]));
    let stamped = |header, value, echo| TcpHeader { stamps: Some((value, echo)), ..header };
    let kept = [None, None];
    for header in [
        TcpHeader { payload: 1, ..old },
        TcpHeader { other_flags: true, ..old },
        TcpHeader { other_options: true, ..old },
        TcpHeader { acks: false, ..old },
        TcpHeader { ece: true, ..old },
        TcpHeader { cwr: true, ..old },
    ] {
        assert_eq!(victims(&[header, new]), kept, "{header:?}");
    }
    assert_eq!(victims(&[stamped(old, 5, 7), stamped(new, 5, 7)]), [None, Some(0)]);
    for later in [stamped(old, 6, 7), stamped(old, 5, 8)] {
        assert_eq!(victims(&[later, stamped(new, 5, 7)]), kept, "{later:?}");
    }
    // The new segment may carry data. A SYN or a segment without ACK supersedes nothing.
    assert_eq!(victims(&[old, TcpHeader { payload: 100, ..new }]), [None, Some(0)]);
    for new in [TcpHeader { opens: true, ..new }, TcpHeader { acks: false, ..new }] {
        assert_eq!(victims(&[old, new]), kept);
    }
}

#[test]
fn the_last_acknowledgement_before_ece_or_cwr_change_stays() {
    let at = |ack, ece, cwr| TcpHeader { ece, cwr, ..acks(ack, &[]) };
    let plain = |ack| at(ack, false, false);
    let echo = |ack| at(ack, true, false);
    assert_eq!(victims(&[echo(1), echo(2), echo(3)]), [Some(0); 2], "all echo");
    assert_eq!(victims(&[plain(1), echo(2), echo(3)]), [None, Some(1)]);
    assert_eq!(victims(&[plain(1), echo(2), plain(3)]), [None, None]);
    assert_eq!(victims(&[plain(1), plain(2), echo(3), plain(4)]), [Some(0); 2]);
    assert_eq!(victims(&[plain(1), echo(2), at(3, true, true), plain(4)]), [None, None]);
    // An acknowledgement that must stay, but has equal flags, does not end the search.
    let duplicate = acks(1, &[(0, 1)]);
    assert_eq!(victims(&[plain(1), duplicate, plain(2), plain(3)]), [Some(0); 2]);
}

#[test]
fn packets_with_and_without_headers_are_kept_apart() {
    let (bare, known) =
        ((packet(0, 0, Ack::Newer), None), (packet(1, 0, Ack::Newer), acks(9, &[])));
    let known = (known.0, Some(known.1));
    assert_eq!(victim_of(Mode::Aggressive, &[bare.clone(), known.clone()]), None);
    assert_eq!(victim_of(Mode::Aggressive, &[known, bare]), Some(1), "by the summary");
}
