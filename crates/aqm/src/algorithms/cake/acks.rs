//! The filter that drops acknowledgements which later ones in the same queue make unnecessary.

use packet::Ack;

use crate::shells::pool::{Pool, Queue};

/// How much it drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckFilter {
    No,
    /// One acknowledgement for each that comes, if two are waiting that it makes unnecessary.
    Filter,
    /// Also a single one, if it is the last before the one that comes.
    Aggressive,
}

impl AckFilter {
    /// The filter called so.
    pub fn named(name: &str) -> Self {
        match name {
            "filter" => AckFilter::Filter,
            "aggressive" => AckFilter::Aggressive,
            _ => AckFilter::No,
        }
    }

    /// The place of the acknowledgement in `queue` that the one just put at its tail makes
    /// unnecessary: the oldest of its flow. One that must arrive, as one with other ECN flags
    /// must, keeps those before it.
    pub fn victim(self, pool: &Pool, queue: &Queue) -> Option<u32> {
        let tail = pool.tail(queue)?;
        if self == AckFilter::No || tail.header.ack != Ack::Newer || queue.backlog().packets == 1 {
            return None;
        }
        let mut oldest = None;
        let mut found = 0;
        let mut adjacent = false;
        for (place, packet) in pool.iter(queue).take(queue.backlog().packets as usize - 1) {
            adjacent = false;
            match packet.header.ack {
                _ if packet.flow != tail.flow => {}
                Ack::No => {}
                Ack::Needed => (oldest, found) = (None, 0),
                Ack::Newer if found == 1 => return oldest,
                Ack::Newer => {
                    (oldest, found) = (Some(place), 1);
                    adjacent = true;
                }
            }
        }
        oldest.filter(|_| self == AckFilter::Aggressive && adjacent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Ecn, Header, Instant, Packet};

    /// The number of the victim among packets written as letters: a for an acknowledgement, n for
    /// one that is needed, d for data, A for an acknowledgement of another flow.
    fn victim(filter: AckFilter, packets: &str) -> Option<usize> {
        let (mut pool, mut queue) = (Pool::default(), Queue::new());
        for (id, letter) in packets.chars().enumerate() {
            let ack = match letter {
                'd' => Ack::No,
                'n' => Ack::Needed,
                _ => Ack::Newer,
            };
            let packet = Packet {
                id: id as u32,
                flow: u64::from(letter == 'A'),
                bytes: 40,
                ecn: Ecn::NotEct,
                arrived: Instant::ZERO,
                header: Header { ack, ..Header::default() },
            };
            pool.push(&mut queue, packet);
        }
        let place = filter.victim(&pool, &queue)?;
        pool.remove(&mut queue, place).map(|packet| packet.id as usize)
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
            assert_eq!(victim(AckFilter::No, packets), None);
            assert_eq!(victim(AckFilter::Filter, packets), filter, "{packets}");
            assert_eq!(victim(AckFilter::Aggressive, packets), aggressive, "{packets}");
        }
    }
}
