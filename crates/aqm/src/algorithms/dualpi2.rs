//! DualPI2, the coupled dual queue for low latency, low loss and scalable throughput (K. De
//! Schepper, B. Briscoe, G. White, RFC 9332, 2023; K. De Schepper, O. Bondarenko, I.-J. Tsang,
//! B. Briscoe, *PI2: A Linearized AQM for both Classic and Scalable TCP*, CoNEXT 2016).
//!
//! The idea in five lines. Scalable senders (ECT(1)) answer every mark a little, classic ones
//! answer rare signals a lot: a classic probability p corresponds to a scalable one of √p. Each
//! kind has a queue. One PI controller of the delay of the older queue sets p'; the classic queue
//! is signalled with p'², the scalable one marked with k·p', so that both kinds share the line
//! although only the classic queue is long. The scalable queue is also marked when its own delay
//! exceeds a millisecond, and is served first, but never lets the classic one starve.
//!
//! | | `rfc9332` | `linux` |
//! |---|---|---|
//! | signals | spaced by sums of probabilities | drawn at random |
//! | own marks of the scalable queue | a ramp of the delay | a step |
//! | overload | k·p' ≥ 1 | k·p' > 1 |
//! | a short queue | no ramp with one packet behind | spared below 2 MTU, but not by the step |

mod fields;
mod signals;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use packet::params::{BadParams, Params, Value};
use packet::{About, Backlog, DropReason, Duration, Ecn, Event, Instant, Packet};

use crate::credit::{Credit, Which};
use crate::periodic::Ticker;
use crate::shells::pool::{Pool, Queue};
use crate::{BufferLimit, Built, Cx, Discipline, Entry, Line, PerFlowState, buffer};
use signals::{Action, Leaving, Numbers, Signals};

/// The entry of `dualpi2` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "dualpi2",
        summary: "A queue for classic and one for scalable senders, with coupled signals.",
        year: 2016,
        source: "RFC 9332 (followed through picoquic's and mahimahi's ports); Linux sch_dualpi2",
        deviations: "All: the queues are scheduled by weighted round robin, which RFC 9332 leaves \
                     open; decisions are made at departure. rfc9332: the delay is that of the \
                     departing packet; the buffer is limited in packets unless limit_bytes is \
                     given. linux: draws succeed if u < p (there: at most), gains are exact \
                     fractions.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "always on: ECT(1) and CE go to the scalable queue and are marked with k p' or for their \
          delay; ECT(0) is marked and Not-ECT dropped with p' squared; in overload both are \
          dropped with p' squared and the scalable survivors are marked; a full buffer drops; with nqb \
          DSCP 45 is spared in the scalable queue",
    units: "time; turns in bytes",
    build: &build,
};

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    fields::refuse_what_is_not_there(params)?;
    let linux = params.choice("profile") == "linux";
    let mtu = params.whole("mtu");
    let numbers = Numbers {
        linux,
        target: params.real("target"),
        alpha: params.real_or("alpha", if linux { 41.0 / 256.0 } else { 0.15 }),
        beta: params.real_or("beta", if linux { 819.0 / 256.0 } else { 3.0 }),
        k: params.real("k"),
        spared_bytes: params.whole_or("min_backlog", if linux { 2 * mtu } else { 0 }),
        drop_overload: params.switch("drop_overload"),
        step: Duration::from_secs_f64(params.real_or("step", 0.001)),
        min_th: Duration::from_secs_f64(params.real_or("min_th", 0.0008)),
        range: Duration::from_secs_f64(params.real_or("range", 0.0004)),
        step_packets: params.given("step_packets").then(|| params.whole("step_packets") as u32),
        th_len: params.whole_or("th_len", 1) as u32,
    };
    fields::foreign(linux).iter().for_each(|field| params.ignore(field));
    params.ignore(if numbers.step_packets.is_some() { "step" } else { "step_packets" });
    let any_ect = params.given("any_ect") && params.switch("any_ect");
    if linux {
        params.settle("any_ect", Value::Switch(any_ect));
    }
    let drop_enqueue = params.given("drop_enqueue") && params.switch("drop_enqueue");
    if linux {
        params.settle("drop_enqueue", Value::Switch(drop_enqueue));
    }
    let steps = Steps::new(if linux { params.whole_or("min_qlen_step", 0) as u32 } else { 0 });
    let period = params.real_or("t_update", if linux { 0.016 } else { 0.015 });
    let classic = params.whole("c_weight") as i64;
    Ok(Built::Discipline(Box::new(DualPi2 {
        signals: Signals::new(numbers),
        ticker: Ticker::every(Duration::from_secs_f64(period)),
        pool: Pool::default(),
        classic: Queue::new(),
        scalable: Queue::new(),
        steps,
        any_ect,
        nqb: params.switch("nqb"),
        on_arrival: drop_enqueue,
        credit: Credit::new(mtu as i64, classic),
        limit: buffer::limit(params, 10_000),
        // The RFC drops an arrival if a packet of the largest size might not fit.
        counted_as: (!linux).then_some(mtu as u32),
    })))
}

/// Whether Linux's step applies to each packet of the scalable queue: only to packets that found
/// enough others at arrival.
struct Steps {
    least: u32,
    /// One flag for each packet of the queue, if the step needs a least number of packets.
    counts: VecDeque<bool>,
}

impl Steps {
    const fn new(least: u32) -> Self {
        Steps { least, counts: VecDeque::new() }
    }

    fn on_arrival(&mut self, found: u32) {
        if self.least > 0 {
            self.counts.push_back(found >= self.least);
        }
    }

    fn on_departure(&mut self) -> bool {
        self.least == 0 || self.counts.pop_front().unwrap_or(true)
    }
}

/// The discipline, with both queues.
struct DualPi2 {
    signals: Signals,
    ticker: Ticker,
    pool: Pool,
    classic: Queue,
    scalable: Queue,
    steps: Steps,
    /// Whether ECT(0) goes to the scalable queue as well.
    any_ect: bool,
    /// Whether NQB packets go to the scalable queue too, and are spared there.
    nqb: bool,
    /// Whether the controller's signals are given on arrival, not at departure.
    on_arrival: bool,
    credit: Credit,
    limit: BufferLimit,
    /// Size in bytes that the limit assumes for every arrival; `None` stands for its own size.
    counted_as: Option<u32>,
}

/// The DSCP of non-queue-building traffic (RFC 9956).
const NQB: u8 = 45;

impl DualPi2 {
    /// Whether a packet's ECN field sends it to the scalable queue.
    fn is_scalable(&self, ecn: Ecn) -> bool {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.any_ect,
            Ecn::NotEct => false,
        }
    }

    /// Whether the packet is in the scalable queue for its DSCP alone.
    fn is_spared(&self, packet: &Packet) -> bool {
        self.nqb && packet.header.dscp == NQB && !self.is_scalable(packet.ecn)
    }

    /// Applies the controller's signal to an arrival. Returns the packet if it is not dropped.
    fn signal_arrival(&self, mut packet: Packet, which: Which, cx: &mut Cx) -> Option<Packet> {
        if self.is_spared(&packet) {
            return Some(packet);
        }
        match self.signals.judge_arrival(which, packet.ecn, self.backlog().bytes, cx.rng) {
            Action::Drop(why) => {
                (cx.out)(Event::Dropped { packet, why });
                return None;
            }
            Action::Mark => {
                packet.ecn = Ecn::Ce;
                (cx.out)(Event::Marked { id: packet.id, why: DropReason::Early });
            }
            Action::Pass => {}
        }
        Some(packet)
    }

    fn age(&self, queue: &Queue, now: Instant) -> Duration {
        self.pool.head(queue).map_or(Duration::ZERO, |head| now.since(head.arrived))
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx) {
        if !self.limit.admits(self.backlog(), self.counted_as.unwrap_or(packet.bytes)) {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        }
        let spared = self.is_spared(&packet);
        let scalable = spared || self.is_scalable(packet.ecn);
        let which = if scalable { Which::Scalable } else { Which::Classic };
        if self.on_arrival {
            let Some(stays) = self.signal_arrival(packet, which, cx) else { return };
            packet = stays;
        }
        (cx.out)(Event::Queued { id: packet.id });
        let queue = if scalable {
            self.steps.on_arrival(self.scalable.backlog().packets);
            &mut self.scalable
        } else {
            &mut self.classic
        };
        self.pool.push(queue, packet);
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        loop {
            let (which, cost) = self.credit.turn(&self.classic, &self.scalable)?;
            let queue = match which {
                Which::Classic => &mut self.classic,
                Which::Scalable => &mut self.scalable,
            };
            let mut packet = self.pool.pop(queue)?;
            let behind = queue.backlog().packets;
            let leaving = Leaving {
                which,
                ecn: packet.ecn,
                age: cx.now.since(packet.arrived),
                behind,
                left: self.backlog().bytes,
                stepped: which == Which::Classic || self.steps.on_departure(),
            };
            let action = if self.is_spared(&packet) {
                Action::Pass
            } else if self.on_arrival {
                self.signals.judge_step(leaving)
            } else {
                self.signals.judge(leaving, cx.rng)
            };
            match action {
                Action::Drop(why) => {
                    (cx.out)(Event::Dropped { packet, why });
                    continue;
                }
                Action::Mark => {
                    packet.ecn = Ecn::Ce;
                    (cx.out)(Event::Marked { id: packet.id, why: DropReason::Early });
                }
                Action::Pass => {}
            }
            self.credit.pay(cost, packet.bytes);
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        let (c, l) = (self.classic.backlog(), self.scalable.backlog());
        Backlog { packets: c.packets + l.packets, bytes: c.bytes + l.bytes }
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        self.ticker.done();
        let oldest = self.age(&self.classic, cx.now).max(self.age(&self.scalable, cx.now));
        self.signals.update(oldest.secs_f64());
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.signals.gauges(show);
        show("classic_packets", f64::from(self.classic.backlog().packets));
        show("scalable_packets", f64::from(self.scalable.backlog().packets));
    }
}

#[cfg(test)]
mod tests;
