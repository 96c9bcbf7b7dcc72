//! Curvy RED in a coupled dual queue (K. De Schepper, B. Briscoe, G. White, RFC 9332 appendix B,
//! 2023; K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, *Data Centre to the Home*, 2015).
//!
//! The idea in five lines. As in DualPI2, scalable senders (ECT(1)) and classic ones have a queue
//! each, and the signals of both follow from the classic one; but no controller computes them. They
//! grow with the classic queue's smoothed delay: linearly for scalable packets, which are marked
//! where it exceeds one random number, and with the square for classic ones, where it must exceed
//! the largest of two. The queue whose head has waited longer is served first; the scalable one has
//! an advantage of 50 ms.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Ecn, Event, Instant, Packet, Rng};

use crate::buffer::{self, LIMIT, LIMIT_BYTES};
use crate::shells::pool::{Pool, Queue};
use crate::{BufferLimit, Built, Cx, Discipline, Entry, Fit, Line, PerFlowState};

/// The entry of `curvy_red` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "curvy_red",
        summary: "A queue for classic and one for scalable senders; signals grow with the classic \
                  queue's delay, squared for classic packets.",
        year: 2015,
        source: "RFC 9332 appendix B, figures 9 and 10",
        deviations: "min_th is 0.5 ms where the RFC prints 500 ms, which is more than its whole \
                     buffer of 250 ms, so that nothing would ever be signalled: taken for a \
                     misprint of 500 us. An empty queue is never scheduled. A packet's queueing \
                     delay is its own, not that of the one that is the head after it. Without \
                     overload protection, as in the RFC.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "always on: ECT(1) and CE go to the scalable queue and are marked; ECT(0) is marked and \
          Not-ECT dropped with the square of the probability; a full buffer drops",
    units: "time",
    build: &build,
};

const DELAY: Kind = Kind::from(Unit::Time, 0.0, 1e3);

const FIELDS: &[Field] = &[
    Field::new("k_power", Kind::whole(Unit::None, 0, 10), Value::Whole(1))
        .meaning(
            "Coupling factor as a power of 2, k': the scalable queue's range is the classic one's \
             divided by 2^k'.",
        )
        .source("RFC 9332 figure 9"),
    Field::new("g_C", Kind::whole(Unit::None, 0, 30), Value::Whole(5))
        .meaning("The classic queue's delay is averaged with weight 2^-g_C per packet.")
        .source("RFC 9332 figure 9"),
    Field::new("range_C", buffer::TIME, Value::Real(0.5))
        .meaning("Delay of the classic queue above min_th at which all its packets are signalled.")
        .source("RFC 9332 figure 9: 2^S_C s, S_C = -1"),
    Field::new("min_th", DELAY, Value::Real(0.0005))
        .meaning("Average delay of the classic queue below which it causes no signals.")
        .source("constructed: RFC 9332 figure 9 prints 500 ms (see where it differs)"),
    Field::new("T", DELAY, Value::Real(0.001))
        .meaning("Delay of a scalable packet above which it is marked.")
        .source("RFC 9332 figure 9"),
    Field::new("U", Kind::whole(Unit::Count, 1, 8), Value::Whole(1))
        .meaning(
            "Curviness: scalable packets are compared with the largest of U random numbers, \
             classic ones with that of 2 U.",
        )
        .source("RFC 9332 appendix B"),
    Field::new("tshift", DELAY, Value::Real(0.05))
        .meaning(
            "How much longer than the scalable queue's head the classic one's must have waited to \
             be served before it.",
        )
        .source("RFC 9332 figure 9"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning("Packets that may wait in both queues; no such limit unless given.")
        .source("constructed"),
    Field {
        meaning: "IP bytes that may wait in both queues; what the line sends in 250 ms unless given \
                  or limit is.",
        source: "RFC 9332 figure 9",
        ..LIMIT_BYTES
    },
];

/// The discipline, with a classic and a scalable queue.
struct CurvyRed {
    pool: Pool,
    classic: Queue,
    scalable: Queue,
    limit: BufferLimit,
    tshift: Duration,
    /// Q_C, the smoothed delay of the classic queue, in seconds.
    classic_delay: f64,
    gamma: f64,
    min_th: f64,
    range_c: f64,
    range_l: f64,
    step: Duration,
    curviness: u32,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let range_c = params.real("range_C");
    Ok(Built::Discipline(Box::new(CurvyRed {
        pool: Pool::default(),
        classic: Queue::new(),
        scalable: Queue::new(),
        limit: limit(params, line),
        tshift: params.time("tshift"),
        classic_delay: 0.0,
        gamma: 1.0 / (1u64 << params.whole("g_C")) as f64,
        min_th: params.real("min_th"),
        range_c,
        range_l: range_c / (1u64 << params.whole("k_power")) as f64,
        step: params.time("T"),
        curviness: params.whole("U") as u32,
    })))
}

fn limit(params: &Params, line: &Line) -> BufferLimit {
    let packets = params.given("limit").then(|| params.whole("limit") as u32);
    let limit =
        packets.map_or(BufferLimit::UNLIMITED, |limit| BufferLimit::of_packets(limit, Fit::Whole));
    let bytes = ((line.rate.bytes_per_s() * 0.25) as u64).max(1);
    match (packets, params.given("limit_bytes")) {
        (Some(_), false) => limit,
        _ => limit.and_bytes(params.whole_or("limit_bytes", bytes)),
    }
}

/// Whether `p` exceeds the largest of `u` random numbers.
fn exceeds(p: f64, u: u32, rng: &mut Rng) -> bool {
    // All are drawn, as maxrand does, so that later packets' numbers do not depend on the result.
    p > (0..u).fold(0.0, |most, _| rng.uniform().max(most))
}

impl CurvyRed {
    fn waited(&self, queue: &Queue, now: Instant) -> Duration {
        self.pool.head(queue).map_or(Duration::ZERO, |head| now.since(head.arrived))
    }

    /// Whether the scalable queue is served next: as in a FIFO in which its packets arrived
    /// `tshift` earlier.
    fn scalable_turn(&self, now: Instant) -> bool {
        let earlier =
            || self.waited(&self.scalable, now) + self.tshift >= self.waited(&self.classic, now);
        !self.scalable.is_empty() && (self.classic.is_empty() || earlier())
    }

    /// p_CL by the scalable queue's range, or the square root of p_C by the classic one's.
    fn probability(&self, range: f64) -> f64 {
        (self.classic_delay - self.min_th) / range
    }

    fn marks_scalable(&self, age: Duration, rng: &mut Rng) -> bool {
        let p = self.probability(self.range_l);
        age > self.step || (p > 0.0 && exceeds(p, self.curviness, rng))
    }

    fn signals_classic(&mut self, age: Duration, rng: &mut Rng) -> bool {
        self.classic_delay = self.gamma * age.secs_f64() + (1.0 - self.gamma) * self.classic_delay;
        let root = self.probability(self.range_c);
        root > 0.0 && exceeds(root, 2 * self.curviness, rng)
    }
}

impl Discipline for CurvyRed {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        if !self.limit.admits(self.backlog(), packet.bytes) {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        }
        (cx.out)(Event::Queued { id: packet.id });
        let queue = match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => &mut self.scalable,
            Ecn::NotEct | Ecn::Ect0 => &mut self.classic,
        };
        self.pool.push(queue, packet);
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        loop {
            let scalable = self.scalable_turn(cx.now);
            let queue = if scalable { &mut self.scalable } else { &mut self.classic };
            let mut packet = self.pool.pop(queue)?;
            let age = cx.now.since(packet.arrived);
            let signal = if scalable {
                self.marks_scalable(age, cx.rng)
            } else {
                self.signals_classic(age, cx.rng)
            };
            if signal && !packet.ecn.can_be_marked() {
                (cx.out)(Event::Dropped { packet, why: DropReason::Early });
                continue;
            }
            if signal {
                packet.ecn = Ecn::Ce;
                (cx.out)(Event::Marked { id: packet.id, why: DropReason::Early });
            }
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        let (c, l) = (self.classic.backlog(), self.scalable.backlog());
        Backlog { packets: c.packets + l.packets, bytes: c.bytes + l.bytes }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("Q_C", self.classic_delay);
        show("p_CL", self.probability(self.range_l).clamp(0.0, 1.0));
        show("classic_packets", f64::from(self.classic.backlog().packets));
        show("scalable_packets", f64::from(self.scalable.backlog().packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rate;

    fn queue() -> CurvyRed {
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let params = Params::defaults(FIELDS);
        CurvyRed {
            pool: Pool::default(),
            classic: Queue::new(),
            scalable: Queue::new(),
            limit: limit(&params, &line),
            tshift: params.time("tshift"),
            classic_delay: 0.0,
            gamma: 1.0 / 32.0,
            min_th: params.real("min_th"),
            range_c: 0.5,
            range_l: 0.25,
            step: params.time("T"),
            curviness: 1,
        }
    }

    #[test]
    fn figure_9_and_10_by_hand() {
        let (mut dual, mut rng) = (queue(), Rng::named(1, "curvy"));
        // One packet of 32 ms makes Q_C 1 ms, half a millisecond above the threshold.
        dual.signals_classic(Duration::from_millis(32), &mut rng);
        assert!((dual.classic_delay - 0.001).abs() < 1e-12);
        assert!((dual.probability(dual.range_c) - 0.001).abs() < 1e-12);
        assert!((dual.probability(dual.range_l) - 0.002).abs() < 1e-12);
        // The buffer holds 250 ms at 10 Mbit/s.
        assert_eq!(dual.limit, BufferLimit::UNLIMITED.and_bytes(312_500));
    }

    #[test]
    fn classic_packets_are_signalled_with_the_square() {
        // Two draws are both below p = 0.3 with 0.09; 20,000 trials have a standard deviation of
        // 0.002.
        let mut rng = Rng::named(2, "curvy");
        let share = |u: u32, rng: &mut Rng| {
            (0..20_000).filter(|_| exceeds(0.3, u, rng)).count() as f64 / 20_000.0
        };
        assert!((share(1, &mut rng) - 0.3).abs() < 0.013);
        assert!((share(2, &mut rng) - 0.09).abs() < 0.008);
        assert!((share(4, &mut rng) - 0.0081).abs() < 0.003);
    }

    #[test]
    fn the_scalable_queue_has_50_ms_in_hand() {
        let mut dual = queue();
        let push = |dual: &mut CurvyRed, ecn, ms: u64| {
            let queue = if ecn == Ecn::Ect1 { &mut dual.scalable } else { &mut dual.classic };
            let packet = Packet {
                id: 0,
                flow: 0,
                bytes: 100,
                ecn,
                arrived: Instant::from_nanos(ms * 1_000_000),
                header: Default::default(),
            };
            dual.pool.push(queue, packet);
        };
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        push(&mut dual, Ecn::Ect0, 0);
        assert!(!dual.scalable_turn(at(60)), "nothing scalable waits");
        push(&mut dual, Ecn::Ect1, 50);
        assert!(dual.scalable_turn(at(60)), "10 + 50 ms are as long as 60");
        dual.pool.pop(&mut dual.scalable);
        push(&mut dual, Ecn::Ect1, 51);
        assert!(!dual.scalable_turn(at(60)));
    }

    #[test]
    fn a_packet_that_waited_longer_than_the_step_is_marked() {
        let (dual, mut rng) = (queue(), Rng::named(1, "curvy"));
        let step = dual.step;
        assert!(!dual.marks_scalable(step, &mut rng));
        assert!(dual.marks_scalable(step + Duration::from_nanos(1), &mut rng));
    }
}
