//! A first-in, first-out queue whose algorithm also gets the sojourn times of packets.

use alloc::collections::VecDeque;

use packet::{Backlog, DropReason, Duration, Ecn, Event, Instant, Packet, Rng};

use crate::{Admission, Aqm, Cx, Discipline, Gate, Judged};

/// An algorithm that decides at arrival by what it observes at departures (PIE, PI2), or also marks
/// at departure (REM as in ns-2).
pub(crate) trait Watcher: Aqm {
    /// `packet` waited for `sojourn` and is now transmitted; `left` is the backlog behind it.
    /// Returns whether the packet should be marked if it is ECN-capable: at departure a signal
    /// never drops.
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
    /// Called before a periodic update; the head of the queue has waited for `age` (zero if there
    /// is none).
    fn before_tick(&mut self, _age: Duration) {}
}

/// The queue, which records the arrival time of each packet itself.
pub(crate) struct Watched<A> {
    shell: Judged<A>,
    /// Whether marks at departure are allowed; `shell` has its own switch for marks at arrival.
    ecn: bool,
    packets: VecDeque<(Packet, Instant)>,
    backlog: Backlog,
}

impl<A: Watcher> Watched<A> {
    /// An empty queue, whose arrivals `shell` admits, marks or drops.
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
