//! A first-come-first-served queue whose judge also learns how long packets wait.

use alloc::collections::VecDeque;

use packet::{Backlog, DropReason, Duration, Ecn, Event, Instant, Packet, Rng};

use crate::{Admission, Aqm, Cx, Discipline, Gate, Judged};

/// A judge that decides at arrival by what it learns at departures (PIE, PI2), or decides there
/// too (REM as ns-2 marks).
pub(crate) trait Watcher: Aqm {
    /// `packet` waited for `sojourn` and is now transmitted; `left` waits behind it. Whether it
    /// should be marked if it can be: at this end of the queue a signal never drops.
    fn on_departure(
        &mut self,
        _packet: &Packet,
        _sojourn: Duration,
        _left: Backlog,
        _now: Instant,
        _rng: &mut Rng,
    ) -> bool {
        false
    }
    /// An update is due; the head of the queue has waited for `age` (zero if there is none).
    fn before_tick(&mut self, _age: Duration) {}
}

/// The queue. It takes the time of each arrival itself.
pub(crate) struct Watched<A> {
    shell: Judged<A>,
    /// Whether marks at departure are allowed; those at arrival are the shell's business.
    ecn: bool,
    packets: VecDeque<(Packet, Instant)>,
    backlog: Backlog,
}

impl<A: Watcher> Watched<A> {
    /// An empty queue behind `shell`.
    pub(crate) const fn new(shell: Judged<A>, ecn: bool) -> Self {
        Watched { shell, ecn, packets: VecDeque::new(), backlog: Backlog { packets: 0, bytes: 0 } }
    }
}

impl<A: Watcher> Discipline for Watched<A> {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx) {
        let id = packet.id;
        match self.shell.admit(&mut packet, self.backlog, cx.now, cx.rng) {
            Admission::Dropped(why) => {
                (cx.out)(Event::Dropped { packet, why });
                return;
            }
            Admission::Marked(why) => (cx.out)(Event::Marked { id, why }),
            Admission::Queued => {}
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        self.packets.push_back((packet, cx.now));
        (cx.out)(Event::Queued { id });
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let Some((mut packet, since)) = self.packets.pop_front() else {
            self.shell.on_idle(cx.now);
            return None;
        };
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        let sojourn = cx.now.since(since);
        let judge = self.shell.judge_mut();
        let signal = judge.on_departure(&packet, sojourn, self.backlog, cx.now, cx.rng);
        if signal && self.ecn && packet.ecn.can_be_marked() {
            packet.ecn = Ecn::Ce;
            (cx.out)(Event::Marked { id: packet.id, why: DropReason::Early });
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
    fn next_tick(&self) -> Option<Instant> {
        self.shell.next_tick()
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        let age = self.packets.front().map_or(Duration::ZERO, |(_, since)| cx.now.since(*since));
        self.shell.judge_mut().before_tick(age);
        self.shell.on_tick(self.backlog, cx.now, cx.rng);
    }
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.shell.set(name, value)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.shell.gauges(show);
    }
}
