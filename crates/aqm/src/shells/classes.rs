//! A first-in, first-out queue of packets in classes. Its algorithm is notified of departures too,
//! so that it knows the backlog of each class and since when the queue has been empty.

use alloc::collections::VecDeque;

use packet::{Backlog, DropReason, Ecn, Event, Instant, Packet, Rng};

use crate::{Cx, Discipline, Verdict};

/// Largest number of classes.
pub(crate) const CLASSES: usize = 16;

/// Backlog in total and of each class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    pub total: Backlog,
    pub of: [Backlog; CLASSES],
}

impl Waiting {
    fn add(&mut self, class: usize, bytes: u32) {
        for backlog in [&mut self.total, &mut self.of[class]] {
            backlog.packets += 1;
            backlog.bytes += u64::from(bytes);
        }
    }

    fn remove(&mut self, class: usize, bytes: u32) {
        for backlog in [&mut self.total, &mut self.of[class]] {
            backlog.packets -= 1;
            backlog.bytes -= u64::from(bytes);
        }
    }
}

/// An algorithm that decides on arriving packets and knows their classes. The queue that calls it
/// marks or drops the packets.
pub(crate) trait ClassJudge: Send {
    /// The class of an arriving packet, below [`CLASSES`]; called once per packet.
    fn class_of(&mut self, packet: &Packet, now: Instant) -> usize;
    /// Decides on a packet of `class`, which finds `waiting`.
    fn on_arrival(
        &mut self,
        packet: &Packet,
        class: usize,
        waiting: &Waiting,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict;
    /// Whether there is room for a packet of `bytes`; called last.
    fn has_room(&self, class: usize, bytes: u32, waiting: &Waiting) -> bool;
    /// The arrival is dropped, for whatever reason.
    fn on_dropped(&mut self, _class: usize, _why: DropReason) {}
    /// A packet of `class` left the queue for transmission; `waiting` is what remains.
    fn on_departure(&mut self, _class: usize, _waiting: &Waiting, _now: Instant) {}
    /// The line finished its last packet at `now` and found the queue empty.
    fn on_idle(&mut self, _now: Instant) {}
    /// When [`ClassJudge::on_tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        None
    }
    /// The algorithm's periodic update.
    fn on_tick(&mut self, _now: Instant) {}
    /// Shows inner state (average, probability, …) by name.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// A first-in, first-out queue behind a [`ClassJudge`].
pub(crate) struct ClassFifo<J> {
    judge: J,
    ecn: bool,
    packets: VecDeque<(Packet, u8)>,
    waiting: Waiting,
}

impl<J: ClassJudge> ClassFifo<J> {
    /// An empty queue; `ecn` allows marks in place of signalled drops.
    pub fn new(judge: J, ecn: bool) -> Self {
        ClassFifo { judge, ecn, packets: VecDeque::new(), waiting: Waiting::default() }
    }
}

impl<J: ClassJudge> Discipline for ClassFifo<J> {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx) {
        let class = self.judge.class_of(&packet, cx.now);
        let verdict = self.judge.on_arrival(&packet, class, &self.waiting, cx.now, cx.rng);
        let (mark, drop) = match verdict {
            Verdict::Pass => (None, None),
            Verdict::Signal(why) if self.ecn && packet.ecn.can_be_marked() => (Some(why), None),
            Verdict::Signal(why) | Verdict::Drop(why) => (None, Some(why)),
        };
        let full = !self.judge.has_room(class, packet.bytes, &self.waiting);
        if let Some(why) = drop.or(full.then_some(DropReason::Overflow)) {
            self.judge.on_dropped(class, why);
            (cx.out)(Event::Dropped { packet, why });
            return;
        }
        let id = packet.id;
        if let Some(why) = mark {
            packet.ecn = Ecn::Ce;
            (cx.out)(Event::Marked { id, why });
        }
        self.waiting.add(class, packet.bytes);
        self.packets.push_back((packet, class as u8));
        (cx.out)(Event::Queued { id });
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let Some((packet, class)) = self.packets.pop_front() else {
            self.judge.on_idle(cx.now);
            return None;
        };
        self.waiting.remove(usize::from(class), packet.bytes);
        self.judge.on_departure(usize::from(class), &self.waiting, cx.now);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.total
    }
    fn next_tick(&self) -> Option<Instant> {
        self.judge.next_tick()
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        self.judge.on_tick(cx.now);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.judge.gauges(show);
    }
}
