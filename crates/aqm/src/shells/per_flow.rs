//! One queue per flow, with an AQM algorithm in each: the scheduler of FQ-CoDel (T.
//! Høiland-Jørgensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018), for any
//! algorithm.
//!
//! Flows are hashed into queues, which are served by deficit round robin; a queue that was empty
//! gets one turn before all others, so flows that send little do not wait behind those that
//! send much.

use alloc::{collections::VecDeque, vec::Vec};

use packet::{Backlog, DropReason, Event, Instant, Packet};

use super::bypass::Bypass;
use super::departure::{AtDeparture, Rules, next_packet};
use super::flows::hash;
use super::pool::{Pool, Queue};
use crate::periodic::Ticker;
use crate::{Admission, Cx, Discipline};

/// The AQM algorithm of one of the queues, at arrival and at departure.
pub(crate) trait QueueJudge: Send {
    /// Decides on an arrival; `own` is the backlog of its queue.
    fn admit(&mut self, _packet: &mut Packet, _own: Backlog, _cx: &mut Cx) -> Admission {
        Admission::Queued
    }
    /// Takes the next packet to send from `queue`. `others` is the backlog of the other queues, or
    /// zero if the algorithm sees its own queue only.
    fn take(
        &mut self,
        pool: &mut Pool,
        queue: &mut Queue,
        others: Backlog,
        cx: &mut Cx,
    ) -> Option<Packet>;
    /// An arrival was dropped because all queues together had reached the limit.
    fn on_refused(&mut self, _now: Instant) {}
    /// `packets` were dropped from this queue's head to make room.
    fn on_cut(&mut self, _packets: u32, _now: Instant) {}
    /// The periodic update; `own` is the backlog of the queue. Returns whether the algorithm is at
    /// rest: further updates would change nothing as long as the queue is empty.
    fn on_tick(&mut self, _own: Backlog) -> bool {
        true
    }
    /// A number for how strongly the algorithm signals, and the name of the gauge of the largest
    /// one.
    fn strength(&self) -> (&'static str, f64);
}

/// An algorithm that decides at departure, in one of many queues.
pub(crate) struct Leaving<J> {
    pub judge: J,
    /// How the algorithm's verdicts are carried out.
    pub rules: Rules,
    /// Whether the algorithm is notified of packets dropped to make room.
    pub learns_of_cuts: bool,
}

impl<J: AtDeparture> QueueJudge for Leaving<J> {
    fn take(
        &mut self,
        pool: &mut Pool,
        queue: &mut Queue,
        others: Backlog,
        cx: &mut Cx,
    ) -> Option<Packet> {
        next_packet(&mut self.judge, pool, queue, others, self.rules, cx)
    }
    fn on_cut(&mut self, packets: u32, now: Instant) {
        if self.learns_of_cuts {
            self.judge.on_cut(packets, now);
        }
    }
    fn strength(&self) -> (&'static str, f64) {
        self.judge.strength()
    }
}

/// What happens to arrivals when the queues exceed their common limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overload {
    /// An arrival is dropped before its algorithm decides on it.
    Refuse,
    /// After an arrival is queued, the queue with most bytes drops half of its bytes from its head,
    /// at most a batch of packets.
    Cut {
        /// Largest number of packets dropped at once.
        batch: u32,
    },
}

/// The scheduler's settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub flows: usize,
    pub seed: u64,
    /// Bytes per turn of a queue.
    pub quantum: u64,
    /// Limit of all queues together, in packets.
    pub limit: u64,
    /// Limit of all queues together, in bytes.
    pub limit_bytes: u64,
    /// Rule for arrivals beyond either limit.
    pub overload: Overload,
    /// Whether an emptied new queue moves to the old list only if others are on it (Linux);
    /// otherwise it always does.
    pub forgets_if_alone: bool,
    /// Whether algorithms see the backlog of all queues together instead of their own queue's.
    pub judges_see_all: bool,
}

/// The scheduler's list on which a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    None,
    New,
    Old,
}

struct Flow<J> {
    judge: J,
    queue: Queue,
    deficit: i64,
    on: On,
    /// Whether the queue gets periodic updates.
    awake: bool,
}

/// The discipline that the module describes, with an algorithm `J` in each queue.
pub(crate) struct PerFlow<J> {
    settings: Settings,
    bypass: Bypass,
    pool: Pool,
    flows: Vec<Flow<J>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    total: Backlog,
    ticker: Option<Ticker>,
    /// Queues that get periodic updates; the others are at rest.
    awake: Vec<u32>,
}

impl<J: QueueJudge> PerFlow<J> {
    /// Empty queues, each with an algorithm that `judge` constructs.
    pub fn new(settings: Settings, judge: impl Fn() -> J) -> Self {
        let flow = |_| Flow {
            judge: judge(),
            queue: Queue::new(),
            deficit: 0,
            on: On::None,
            awake: false,
        };
        PerFlow {
            settings,
            bypass: Bypass::default(),
            pool: Pool::default(),
            flows: (0..settings.flows).map(flow).collect(),
            // Each queue is on one list at most.
            new: VecDeque::with_capacity(settings.flows),
            old: VecDeque::with_capacity(settings.flows),
            total: Backlog::default(),
            ticker: None,
            awake: Vec::new(),
        }
    }

    /// This discipline with periodic updates of every queue, except queues at rest, where an update
    /// would change nothing.
    pub fn ticking(self, ticker: Ticker) -> Self {
        PerFlow { ticker: Some(ticker), ..self }
    }

    /// This discipline with a [`Bypass`] while it is empty.
    pub fn bypassed(self, bypass: Bypass) -> Self {
        PerFlow { bypass, ..self }
    }

    fn subtract(&mut self, before: Backlog, after: Backlog) {
        self.total.packets -= before.packets - after.packets;
        self.total.bytes -= before.bytes - after.bytes;
    }

    fn append(&mut self, index: u32, packet: Packet) {
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        let flow = &mut self.flows[index as usize];
        self.pool.push(&mut flow.queue, packet);
        if self.ticker.is_some() && !flow.awake {
            flow.awake = true;
            self.awake.push(index);
        }
        if flow.on == On::None {
            flow.on = On::New;
            flow.deficit = self.settings.quantum as i64;
            self.new.push_back(index);
        }
    }

    /// Index of the queue with most bytes; among equals the lowest.
    fn fattest(&self) -> Option<u32> {
        let bytes = |index: u32| self.flows[index as usize].queue.backlog().bytes;
        let listed = self.new.iter().chain(&self.old).copied();
        listed.max_by_key(|index| (bytes(*index), u32::MAX - index))
    }

    fn cut(&mut self, batch: u32, cx: &mut Cx) {
        let Some(index) = self.fattest() else { return };
        let flow = &mut self.flows[index as usize];
        let before = flow.queue.backlog();
        let (mut packets, mut bytes) = (0, 0);
        while packets == 0 || (packets < batch && bytes < before.bytes / 2) {
            let Some(packet) = self.pool.pop(&mut flow.queue) else { break };
            packets += 1;
            bytes += u64::from(packet.bytes);
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
        }
        flow.judge.on_cut(packets, cx.now);
        let after = flow.queue.backlog();
        self.subtract(before, after);
    }

    /// Whether `packets` more packets and `size` more bytes would exceed a limit of the queues.
    fn over_full_with(&self, packets: u32, size: u32) -> bool {
        let waiting = self.bypass.backlog(self.total).packets;
        u64::from(waiting + packets) > self.settings.limit
            || self.total.bytes + u64::from(size) > self.settings.limit_bytes
    }

    fn others(&self, own: Backlog) -> Backlog {
        if !self.settings.judges_see_all {
            return Backlog::default();
        }
        Backlog { packets: self.total.packets - own.packets, bytes: self.total.bytes - own.bytes }
    }

    /// Moves `index`, the first queue of its list, to the end of the old list.
    fn first_to_old(&mut self, index: u32) {
        match self.flows[index as usize].on {
            On::New => self.new.pop_front(),
            _ => self.old.pop_front(),
        };
        self.flows[index as usize].on = On::Old;
        self.old.push_back(index);
    }

    /// Takes `index`, an empty queue at the front of its list, from the list or puts it on the old
    /// one.
    fn emptied(&mut self, index: u32) {
        let new = self.flows[index as usize].on == On::New;
        if new && !(self.settings.forgets_if_alone && self.old.is_empty()) {
            self.first_to_old(index);
            return;
        }
        let list = if new { &mut self.new } else { &mut self.old };
        list.pop_front();
        self.flows[index as usize].on = On::None;
    }
}

impl<J: QueueJudge> Discipline for PerFlow<J> {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let Some(mut packet) = self.bypass.admit(packet, self.total, cx) else { return };
        let id = packet.id;
        let index = (hash(packet.flow, self.settings.seed) % self.flows.len() as u64) as u32;
        let refused =
            self.settings.overload == Overload::Refuse && self.over_full_with(1, packet.bytes);
        let flow = &mut self.flows[index as usize];
        if refused {
            flow.judge.on_refused(cx.now);
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        }
        match flow.judge.admit(&mut packet, flow.queue.backlog(), cx) {
            Admission::Dropped(why) => {
                (cx.out)(Event::Dropped { packet, why });
                return;
            }
            Admission::Marked(why) => (cx.out)(Event::Marked { id, why }),
            Admission::Queued => {}
        }
        (cx.out)(Event::Queued { id });
        self.append(index, packet);
        if let Overload::Cut { batch } = self.settings.overload
            && self.over_full_with(0, 0)
        {
            self.cut(batch, cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        if let Some(packet) = self.bypass.take() {
            return Some(packet);
        }
        while let Some(index) = self.new.front().or(self.old.front()).copied() {
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.settings.quantum as i64;
                self.first_to_old(index);
                continue;
            }
            let before = flow.queue.backlog();
            let others = self.others(before);
            let flow = &mut self.flows[index as usize];
            let taken = flow.judge.take(&mut self.pool, &mut flow.queue, others, cx);
            let after = flow.queue.backlog();
            if let Some(packet) = &taken {
                flow.deficit -= i64::from(packet.bytes);
            }
            self.subtract(before, after);
            match taken {
                Some(packet) => return Some(packet),
                None => self.emptied(index),
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.bypass.backlog(self.total)
    }
    fn next_tick(&self) -> Option<Instant> {
        self.ticker.as_ref().map(Ticker::next)
    }
    fn on_tick(&mut self, _cx: &mut Cx) {
        if let Some(ticker) = &mut self.ticker {
            ticker.done();
        }
        let flows = &mut self.flows;
        self.awake.retain(|index| {
            let flow = &mut flows[*index as usize];
            let own = flow.queue.backlog();
            flow.awake = !(flow.judge.on_tick(own) && own.packets == 0);
            flow.awake
        });
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let strengths = self.flows.iter().map(|flow| flow.judge.strength());
        if let Some((name, most)) = strengths.reduce(|a, b| if b.1 > a.1 { b } else { a }) {
            show(name, most);
        }
        show("new_flows", self.new.len() as f64);
        show("old_flows", self.old.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An algorithm that lets every packet pass.
    struct Idle;

    impl QueueJudge for Idle {
        fn take(
            &mut self,
            pool: &mut Pool,
            queue: &mut Queue,
            _: Backlog,
            _: &mut Cx,
        ) -> Option<Packet> {
            pool.pop(queue)
        }
        fn strength(&self) -> (&'static str, f64) {
            ("none", 0.0)
        }
    }

    #[test]
    fn a_judge_of_all_queues_is_given_what_waits_in_the_others() {
        for judges_see_all in [false, true] {
            let settings = Settings {
                flows: 4,
                seed: 1,
                quantum: 1_500,
                limit: 100,
                limit_bytes: u64::MAX,
                overload: Overload::Refuse,
                forgets_if_alone: true,
                judges_see_all,
            };
            let mut queues = PerFlow::new(settings, || Idle);
            queues.total = Backlog { packets: 5, bytes: 5_000 };
            let others = queues.others(Backlog { packets: 2, bytes: 1_500 });
            let all = Backlog { packets: 3, bytes: 3_500 };
            assert_eq!(others, if judges_see_all { all } else { Backlog::default() });
        }
    }
}
