//! Algorithms that decide at departure, such as CoDel, in one queue or in one queue per flow.

use packet::{Backlog, DropReason, Ecn, Event, Instant, Packet, Rng};

use super::bypass::Bypass;
use super::pool::{Pool, Queue};
use crate::{BufferLimit, Cx, Discipline, Verdict};

/// An AQM algorithm that decides on packets taken from the head of one queue. The queue that calls
/// it marks or drops them.
pub(crate) trait AtDeparture: Send {
    /// Decides on `packet`, just taken from the head; `left` is the backlog behind it.
    fn on_departure(
        &mut self,
        packet: &Packet,
        left: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict;

    /// Reports how the last [`Verdict::Signal`] was carried out. If the packet was dropped, the
    /// algorithm decides on the next one at this instant.
    fn on_signalled(&mut self, _marked: bool, _now: Instant) {}

    /// Whether a packet that is delivered unmarked should be marked if it is ECN-capable: a second,
    /// gentler threshold that never drops, and that applies whether or not signals may mark.
    fn hints(&self, _packet: &Packet, _now: Instant) -> bool {
        false
    }

    /// A dequeue found the queue empty.
    fn on_empty(&mut self, _now: Instant) {}

    /// An arrival at this queue was dropped because the buffer was full.
    fn on_refused(&mut self, _now: Instant) {}

    /// `packets` were taken from this queue's head and dropped to make room.
    fn on_cut(&mut self, _packets: u32, _now: Instant) {}

    /// A number for how strongly the algorithm signals (a count or a probability), and the name of
    /// the gauge that shows the largest one of many queues.
    fn strength(&self) -> (&'static str, f64);

    /// Shows inner state (count, probability, …) by name.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// Rules by which an algorithm's verdicts are carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether a signal may mark ECN-capable packets.
    pub ecn: bool,
    /// Whether the last packet of a queue is delivered even if the algorithm drops it.
    pub keep_last: bool,
}

/// Takes the next packet of `queue` that its algorithm lets pass, and drops those before it.
/// `others` is the backlog of other queues, which is added to the backlog behind a packet.
///
/// Only here does a signal at departure become a mark or a drop.
pub(crate) fn next_packet<J: AtDeparture>(
    judge: &mut J,
    pool: &mut Pool,
    queue: &mut Queue,
    others: Backlog,
    rules: Rules,
    cx: &mut Cx,
) -> Option<Packet> {
    while let Some(mut packet) = pool.pop(queue) {
        let own = queue.backlog();
        let left =
            Backlog { packets: own.packets + others.packets, bytes: own.bytes + others.bytes };
        let why = match judge.on_departure(&packet, left, cx.now, cx.rng) {
            Verdict::Pass => {
                if packet.ecn.can_be_marked() && judge.hints(&packet, cx.now) {
                    mark(&mut packet, DropReason::Early, cx);
                }
                return Some(packet);
            }
            Verdict::Signal(why) if rules.ecn && packet.ecn.can_be_marked() => {
                judge.on_signalled(true, cx.now);
                mark(&mut packet, why, cx);
                return Some(packet);
            }
            Verdict::Signal(why) => {
                judge.on_signalled(false, cx.now);
                why
            }
            Verdict::Drop(why) => why,
        };
        if rules.keep_last && queue.is_empty() {
            return Some(packet);
        }
        (cx.out)(Event::Dropped { packet, why });
    }
    judge.on_empty(cx.now);
    None
}

fn mark(packet: &mut Packet, why: DropReason, cx: &mut Cx) {
    packet.ecn = Ecn::Ce;
    (cx.out)(Event::Marked { id: packet.id, why });
}

/// A first-in, first-out queue with an algorithm at its head. Only the buffer limit is tested at
/// arrival.
pub(crate) struct DepartureFifo<J> {
    judge: J,
    limit: BufferLimit,
    rules: Rules,
    bypass: Bypass,
    pool: Pool,
    queue: Queue,
}

impl<J: AtDeparture> DepartureFifo<J> {
    /// An empty queue.
    pub fn new(judge: J, limit: BufferLimit, rules: Rules) -> Self {
        let (bypass, pool) = (Bypass::default(), Pool::default());
        DepartureFifo { judge, limit, rules, bypass, pool, queue: Queue::new() }
    }

    /// This queue with a [`Bypass`] while it is empty.
    pub fn bypassed(self, bypass: Bypass) -> Self {
        DepartureFifo { bypass, ..self }
    }
}

impl<J: AtDeparture> Discipline for DepartureFifo<J> {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let queued = self.queue.backlog();
        let Some(packet) = self.bypass.admit(packet, queued, cx) else { return };
        if !self.limit.admits(self.bypass.backlog(queued), packet.bytes) {
            self.judge.on_refused(cx.now);
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        }
        (cx.out)(Event::Queued { id: packet.id });
        self.pool.push(&mut self.queue, packet);
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        if let Some(packet) = self.bypass.take() {
            return Some(packet);
        }
        let none = Backlog::default();
        next_packet(&mut self.judge, &mut self.pool, &mut self.queue, none, self.rules, cx)
    }

    fn backlog(&self) -> Backlog {
        self.bypass.backlog(self.queue.backlog())
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.judge.gauges(show);
    }
}
