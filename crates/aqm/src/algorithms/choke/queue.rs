//! A first-in, first-out queue from which packets at random indices can be removed.

use alloc::collections::VecDeque;

use packet::{Backlog, Packet, Rng};

/// The queue. A removal either closes the gap, which moves at most half of the queue, or leaves a
/// hole.
pub(super) struct Queue {
    /// Packets and holes (`None`) of the queue, which never begins with a hole.
    places: VecDeque<Option<Packet>>,
    backlog: Backlog,
    holes: bool,
}

impl Queue {
    /// An empty queue. With `holes`, a removed packet leaves a hole until the queue's head reaches
    /// it.
    pub const fn new(holes: bool) -> Self {
        Queue { places: VecDeque::new(), backlog: Backlog { packets: 0, bytes: 0 }, holes }
    }

    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Puts `packet` at the tail.
    pub fn push(&mut self, packet: Packet) {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        self.places.push_back(Some(packet));
    }

    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.places.pop_front()??;
        self.taken(&packet);
        Some(packet)
    }

    /// Index of a random packet: uniform over the packets; with holes the first of three uniform
    /// draws over all slots that hits a packet, else the head.
    pub fn draw(&self, rng: &mut Rng) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        for _ in 0..3 {
            let place = rng.below(self.places.len() as u64) as usize;
            if self.places[place].is_some() {
                return Some(place);
            }
        }
        Some(0)
    }

    /// The flow of the packet at index `place`.
    pub fn flow_at(&self, place: usize) -> u64 {
        self.places[place].as_ref().expect("a packet was drawn").flow
    }

    /// Takes the packet at index `place`.
    pub fn remove(&mut self, place: usize) -> Packet {
        let here = if self.holes {
            self.places[place].take()
        } else {
            self.places.remove(place).flatten()
        };
        let packet = here.expect("a packet was drawn");
        self.taken(&packet);
        packet
    }

    fn taken(&mut self, packet: &Packet) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        while let Some(None) = self.places.front() {
            self.places.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Ecn, Instant};

    fn filled(holes: bool) -> Queue {
        let mut queue = Queue::new(holes);
        for id in 0..10 {
            let flow = u64::from(id);
            queue.push(Packet {
                id,
                flow,
                bytes: 100,
                ecn: Ecn::NotEct,
                arrived: Instant::ZERO,
                header: Default::default(),
            });
        }
        queue
    }

    fn ids(mut queue: Queue) -> Vec<u32> {
        core::iter::from_fn(|| queue.pop()).map(|packet| packet.id).collect()
    }

    #[test]
    fn what_remains_keeps_its_order() {
        for holes in [false, true] {
            let mut queue = filled(holes);
            assert_eq!((queue.remove(0).id, queue.backlog().packets), (0, 9));
            assert_eq!(queue.remove(3).id, 4);
            assert_eq!(queue.remove(if holes { 4 } else { 3 }).id, 5);
            assert_eq!(queue.backlog(), Backlog { packets: 7, bytes: 700 });
            assert_eq!(ids(queue), [1, 2, 3, 6, 7, 8, 9]);
        }
    }

    #[test]
    fn an_emptied_queue_has_no_holes() {
        let mut queue = filled(true);
        for place in (1..10).rev() {
            queue.remove(place);
        }
        assert_eq!(queue.places.len(), 10);
        queue.pop();
        assert_eq!((queue.places.len(), queue.backlog()), (0, Backlog::default()));
        assert_eq!(queue.draw(&mut Rng::named(1, "empty")), None);
    }

    /// Share of 60 000 draws that hit each slot; five standard errors are at most 0.01.
    fn shares(queue: &Queue) -> Vec<f64> {
        let mut rng = Rng::named(1, "draws");
        let mut hits = vec![0u32; queue.places.len()];
        for _ in 0..60_000 {
            hits[queue.draw(&mut rng).unwrap()] += 1;
        }
        hits.into_iter().map(|n| f64::from(n) / 60_000.0).collect()
    }

    #[test]
    fn draws_are_uniform_and_holes_favour_the_head() {
        let mut ranks = filled(false);
        ranks.remove(5);
        assert!(shares(&ranks).iter().all(|share| (share - 1.0 / 9.0).abs() < 0.01));
        // Holes at 1..=5: three draws miss with probability 1/8, and then the head is chosen.
        let mut gaps = filled(true);
        for place in 1..=5 {
            gaps.remove(place);
        }
        let found = shares(&gaps);
        assert!((found[0] - (7.0 / 8.0 / 5.0 + 1.0 / 8.0)).abs() < 0.01, "{found:?}");
        assert!(found[1..=5].iter().all(|share| *share == 0.0));
        assert!(found[6..].iter().all(|share| (share - 0.175).abs() < 0.01), "{found:?}");
    }
}
