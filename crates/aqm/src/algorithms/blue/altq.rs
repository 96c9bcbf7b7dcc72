//! BLUE as in ALTQ (`altq_blue.c`). The probability is in thousandths, up by 125 and down by 1. The
//! random test comes before the limit, which drops a random packet. The arrival that ends an idle
//! time changes the probability. The discipline holds its packets, since any may be the victim.

use alloc::collections::VecDeque;

use packet::{Backlog, DropReason, Duration, Ecn, Event, Instant, Packet};

use crate::{Cx, Discipline};

/// The largest marking probability, in thousandths.
const MAX_PMARK: u32 = 1000;

pub(super) struct AltqBlue {
    limit: u32,
    hold: Duration,
    ecn: bool,
    packets: VecDeque<Packet>,
    backlog: Backlog,
    pmark: u32,
    /// Time of the last change of `pmark` or of the start of the idle time, whichever was later;
    /// `None` before the first packet.
    last: Option<Instant>,
    idle: bool,
}

impl AltqBlue {
    pub fn new(limit: u32, hold: Duration, ecn: bool) -> Self {
        AltqBlue {
            limit,
            hold,
            ecn,
            packets: VecDeque::new(),
            backlog: Backlog::default(),
            pmark: 0,
            last: None,
            idle: true,
        }
    }

    /// Ends an idle time at an arrival: one above `hold` lowers the probability by a thousandth, one
    /// of two seconds or more sets it to a thousandth.
    fn resume(&mut self, now: Instant) {
        self.idle = false;
        let Some(last) = self.last else {
            self.last = Some(now);
            return;
        };
        let rest = now.since(last);
        if rest >= Duration::from_secs(2) {
            self.pmark = 1; // also if it was 0
            self.last = Some(now);
        } else if rest > self.hold {
            self.pmark = self.pmark.saturating_sub(1);
            self.last = Some(now);
        }
    }

    fn overflow(&mut self, now: Instant) {
        if self.last.is_some_and(|last| now.since(last) > self.hold) {
            self.pmark = (self.pmark + MAX_PMARK / 8).min(MAX_PMARK);
            self.last = Some(now);
        }
    }

    fn remove(&mut self, index: usize) -> Option<Packet> {
        let packet = self.packets.remove(index)?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        Some(packet)
    }
}

impl Discipline for AltqBlue {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx) {
        if self.idle {
            self.resume(cx.now);
        }
        let id = packet.id;
        let hit = cx.rng.uniform() * f64::from(MAX_PMARK) < f64::from(self.pmark);
        if hit && self.backlog.packets > 1 {
            if !(self.ecn && packet.ecn.can_be_marked()) {
                (cx.out)(Event::Dropped { packet, why: DropReason::Early });
                return;
            }
            packet.ecn = Ecn::Ce;
            (cx.out)(Event::Marked { id, why: DropReason::Early });
        }
        let full = self.backlog.packets >= self.limit;
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
        (cx.out)(Event::Queued { id });
        if full {
            let victim = cx.rng.below(self.packets.len() as u64) as usize;
            self.overflow(cx.now);
            if let Some(packet) = self.remove(victim) {
                (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            }
        }
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let packet = self.remove(0);
        if packet.is_none() && !self.idle {
            self.idle = true;
            self.last = Some(cx.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", f64::from(self.pmark) / f64::from(MAX_PMARK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blue(pmark: u32, last: f64) -> AltqBlue {
        let hold = Duration::from_millis(50);
        let last = Some(Instant::from_secs_f64(last));
        AltqBlue { pmark, last, ..AltqBlue::new(200, hold, true) }
    }

    #[test]
    fn up_by_an_eighth_down_by_a_thousandth() {
        let mut altq = blue(0, 0.0);
        for early in [0.04, 0.05] {
            altq.overflow(Instant::from_secs_f64(early));
            assert_eq!(altq.pmark, 0);
        }
        altq.overflow(Instant::from_secs_f64(0.06));
        assert_eq!(altq.pmark, 125);
        for (end, pmark) in [(0.14, 125), (0.15, 125), (0.16, 124), (2.05, 124), (2.1, 1)] {
            let mut altq = blue(125, 0.10);
            altq.resume(Instant::from_secs_f64(end));
            assert_eq!(altq.pmark, pmark, "idle until {end}");
        }
        let mut altq = blue(0, 0.0);
        altq.resume(Instant::from_secs_f64(5.0));
        assert_eq!(altq.pmark, 1, "a long idle time raises it from nothing");
    }

    #[test]
    fn the_clock_counts_from_the_start_of_the_idle_time() {
        use packet::Rng;
        let mut altq = blue(125, 0.06);
        altq.idle = false;
        let mut rng = Rng::named(1, "altq");
        let now = Instant::from_secs_f64(0.10);
        let mut cx = Cx { now, rng: &mut rng, out: &mut |_| {} };
        assert_eq!(altq.dequeue(&mut cx), None);
        assert_eq!((altq.last, altq.idle), (Some(now), true));
    }
}
