//! DualPI2, the coupled dual queue for low latency, low loss and scalable throughput (K. De
//! Schepper, B. Briscoe, G. White, RFC 9332, 2023; K. De Schepper, O. Bondarenko, I.-J. Tsang,
//! B. Briscoe, *PI2: A Linearized AQM for both Classic and Scalable TCP*, CoNEXT 2016).
//!
//! The idea in five lines. Scalable senders (ECT(1)) answer every mark a little, classic ones
//! answer rare signals a lot: p for the ones is √p for the others. Each kind has a queue. One PI
//! controller of the older queue's delay sets p'; the classic queue is signalled with p'², the
//! scalable one marked with k·p', so that both kinds share the line although only the classic
//! queue is long. The scalable queue is marked besides when it alone is late by a millisecond,
//! and is served first, but never lets the classic one starve.
//!
//! | | `rfc9332` | `linux` |
//! |---|---|---|
//! | signals | spaced by sums of probabilities | drawn at random |
//! | own marks of the scalable queue | a ramp of the delay | a step |
//! | overload | k·p' ≥ 1 | k·p' > 1 |
//! | few packets | are signalled too, but not for their delay with one packet behind | are spared, below 2 MTU, but not from the step |

mod fields;
mod signals;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use packet::params::{BadParams, Params, Value};
use packet::{About, Backlog, DropReason, Duration, Ecn, Event, Instant, Packet};

use crate::periodic::Ticker;
use crate::shells::pool::{Pool, Queue};
use crate::{BufferLimit, Built, Cx, Discipline, Entry, Line, PerFlowState, buffer};
use signals::{Action, Leaving, Numbers, Signals, Which};

/// The registry's line.
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
          dropped with p' squared and the scalable survivors are marked; a full buffer drops",
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
        credit: Credit::new(mtu as i64, classic),
        limit: buffer::limit(params, 10_000),
        // The RFC refuses whatever might not fit.
        counted_as: (!linux).then_some(mtu as u32),
    })))
}

/// Weighted round robin between two queues, by bytes.
#[derive(Clone, Copy, Debug)]
struct Credit {
    start: i64,
    /// Weights in percent.
    classic: i64,
    /// The scalable queue is served while this is not positive.
    value: i64,
}

impl Credit {
    const fn new(mtu: i64, classic: i64) -> Self {
        let start = mtu * (classic - (100 - classic));
        Credit { start, classic, value: start }
    }

    /// Whose turn it is, and what the turn costs per byte; `None` if nothing waits.
    fn turn(&mut self, classic: &Queue, scalable: &Queue) -> Option<(Which, i64)> {
        if !scalable.is_empty() && (classic.is_empty() || self.value <= 0) {
            let cost = if classic.is_empty() { 0 } else { self.classic };
            return Some((Which::Scalable, cost));
        }
        if !classic.is_empty() {
            let cost = if scalable.is_empty() { 0 } else { self.classic - 100 };
            return Some((Which::Classic, cost));
        }
        self.value = self.start;
        None
    }
}

/// For which packets of the scalable queue Linux's step counts: those that found enough others.
struct Steps {
    least: u32,
    /// One flag for each packet of the queue, if a limit on the step is set.
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

/// Both queues.
struct DualPi2 {
    signals: Signals,
    ticker: Ticker,
    pool: Pool,
    classic: Queue,
    scalable: Queue,
    steps: Steps,
    /// Whether ECT(0) goes to the scalable queue as well.
    any_ect: bool,
    credit: Credit,
    limit: BufferLimit,
    /// The size that the limit takes an arrival for, if not its own.
    counted_as: Option<u32>,
}

impl DualPi2 {
    fn age(&self, queue: &Queue, now: Instant) -> Duration {
        self.pool.head(queue).map_or(Duration::ZERO, |head| now.since(head.arrived))
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        if !self.limit.admits(self.backlog(), self.counted_as.unwrap_or(packet.bytes)) {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        }
        (cx.out)(Event::Queued { id: packet.id });
        let scalable = match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.any_ect,
            Ecn::NotEct => false,
        };
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
            match self.signals.judge(leaving, cx.rng) {
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
            self.credit.value += cost * i64::from(packet.bytes);
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
mod tests {
    use super::*;

    #[test]
    fn nine_scalable_packets_then_one_classic() {
        let mut pool = Pool::default();
        let (mut classic, mut scalable) = (Queue::new(), Queue::new());
        for queue in [&mut classic, &mut scalable] {
            let arrived = Instant::ZERO;
            pool.push(
                queue,
                Packet {
                    id: 0,
                    flow: 0,
                    bytes: 1514,
                    ecn: Ecn::Ect1,
                    arrived,
                    header: Default::default(),
                },
            );
        }
        let mut credit = Credit::new(1514, 10);
        assert_eq!(credit.value, -121_120);
        let mut order = String::new();
        for _ in 0..20 {
            let (which, cost) = credit.turn(&classic, &scalable).unwrap();
            credit.value += cost * 1514;
            order.push(if which == Which::Classic { 'C' } else { 'L' });
        }
        assert_eq!(order, "LLLLLLLLLCLLLLLLLLLC");
        // Alone a queue pays nothing, and an empty link forgets.
        let empty = Queue::new();
        assert_eq!(credit.turn(&classic, &empty), Some((Which::Classic, 0)));
        assert_eq!(credit.turn(&empty, &scalable), Some((Which::Scalable, 0)));
        assert_eq!((credit.turn(&empty, &empty), credit.value), (None, -121_120));
    }

    #[test]
    fn any_ect_lets_ect0_into_the_scalable_queue() {
        use packet::params::Raw;
        let scalable = |any_ect: bool| {
            let pairs = [("profile", Raw::Text("linux".into())), ("any_ect", Raw::Bool(any_ect))];
            let raw = pairs.map(|(name, value)| (name.to_string(), value));
            let params = Params::check(fields::FIELDS, &raw).unwrap();
            let line = Line::of(packet::Rate::from_bits_per_s(10_000_000));
            let mut queue = build(&params, &line).unwrap().into_discipline();
            let mut rng = packet::Rng::named(1, "dualpi2");
            for (id, ecn) in (0..).zip([Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]) {
                let (arrived, header) = (Instant::ZERO, Default::default());
                let packet = Packet { id, flow: 0, bytes: 1500, ecn, arrived, header };
                queue.enqueue(packet, &mut Cx { now: arrived, rng: &mut rng, out: &mut |_| {} });
            }
            let mut waiting = f64::NAN;
            queue.gauges(&mut |name, value| {
                waiting = if name == "scalable_packets" { value } else { waiting };
            });
            waiting
        };
        assert_eq!([false, true].map(scalable), [2.0, 3.0]);
    }

    #[test]
    fn the_step_counts_for_packets_that_found_enough_others() {
        let mut steps = Steps::new(2);
        (1..=3).for_each(|found| steps.on_arrival(found));
        assert_eq!([(); 3].map(|()| steps.on_departure()), [false, true, true]);
        // Without a limit every packet counts, and no flag is kept.
        let mut all = Steps::new(0);
        all.on_arrival(0);
        assert!(all.on_departure() && all.counts.is_empty());
    }
}
