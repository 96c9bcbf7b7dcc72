//! Low Latency DOCSIS: the dual queue of a cable modem (DOCSIS 3.1, MULPI, annexes M to O) with
//! queue protection (annex P; B. Briscoe, G. White, RFC 9957, 2026). It follows CableLabs' ns-3
//! model (docsis-ns3), which was read for its rules.
//!
//! The idea in five lines. Packets of scalable senders (ECT(1), CE) and of those that build no
//! queue (DSCP 45) have a service flow of their own. The classic one has DOCSIS-PIE; the square
//! root of its drop probability, doubled, marks the other, so that both kinds of senders share the
//! contract's rate. The low-latency queue also marks along a ramp of its own delay, estimated on
//! arrival from a virtual queue that drains at the contract's rate, since upstream packets wait for
//! grants even without congestion. Packets of a flow that causes too many marks while the delay is
//! high go to the classic queue.

mod fields;
mod low;
mod protection;

use alloc::boxed::Box;

use packet::params::{BadParams, Params};
use packet::{About, Backlog, DropReason, Duration, Ecn, Event, Instant, Packet};

use crate::credit::{Credit, Which};
use crate::periodic::Ticker;
use crate::pie_docsis::{Docsis, Numbers};
use crate::shells::flows::hash_seed;
use crate::shells::pool::{Pool, Queue};
use crate::{Built, Cx, Discipline, Entry, Line, PerFlowState};
use low::{Low, Ramp};
use protection::Protection;

/// The entry of `docsis_lld` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "docsis_lld",
        summary: "Low Latency DOCSIS: DOCSIS-PIE coupled with a low-latency queue, and queue protection.",
        year: 2019,
        source: "DOCSIS 3.1, MULPI, annexes M to P, followed through CableLabs' ns-3 model (docsis-ns3, read); RFC 9957",
        deviations: "Behind a line without grants both queues are scheduled by DualPI2's weighted round robin; a link with docsis \
                     requests and grants for each. The virtual queue is aligned with the real one when packets come, for \
                     every 0.5 ms that have passed, and not by a timer; buckets are looked up with another hash; sizes are IP bytes; the \
                     contract's rate is the line's.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "ECT(1) and CE go to the low-latency queue and are marked with k times the root of p or for their delay; \
          the classic queue drops ECT(0) and Not-ECT with p and marks nothing; a full buffer drops",
    units: "time",
    build: &build,
};

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let bytes_per_s = line.rate.bytes_per_s();
    let buffer_bytes = params.whole_or("limit_bytes", ((0.1 * bytes_per_s) as u64).max(1));
    let most_low = (0.01 * bytes_per_s) as u64;
    let ramp = Ramp::new(params.real("max_th"), params.real("range"), bytes_per_s);
    let numbers = Numbers {
        target: params.real("target"),
        alpha: params.real("alpha"),
        beta: params.real("beta"),
        max_burst: params.time("max_burst"),
        spared_bytes: 2 * 1024,
        capped: true,
        derandomised: true,
        buffer_bytes,
        bytes_per_s,
    };
    let period = params.time("t_update");
    let weight = params.whole("c_weight");
    let protection = params.switch("protection").then(|| {
        let critical = params.real_or("critical", ramp.full);
        Protection::new(critical, params.real("critical_score"), hash_seed(params))
    });
    Ok(Built::Discipline(Box::new(DocsisLld {
        controller: Docsis::new(numbers, period),
        ticker: Ticker::every(period),
        k: params.real("k"),
        coupled: 0.0,
        low: Low::new(
            ramp,
            bytes_per_s,
            params.whole_or("low_limit_bytes", most_low.max(2 * low::MOST_FRAME)),
            (params.choice("estimator") == "virtual").then(|| params.real("loop_delay")),
        ),
        protection,
        pool: Pool::default(),
        classic: Queue::new(),
        scalable: Queue::new(),
        credit: Credit::new(1514, weight as i64),
        share: 1.0 - weight as f64 / 100.0,
        sent_low: 0,
        buffer_bytes,
        bytes_per_s,
    })))
}

/// The discipline, with both service flows.
struct DocsisLld {
    controller: Docsis,
    ticker: Ticker,
    /// Coupling factor.
    k: f64,
    /// Probability with which the low-latency queue is marked on behalf of the classic queue.
    coupled: f64,
    low: Low,
    protection: Option<Protection>,
    pool: Pool,
    classic: Queue,
    scalable: Queue,
    credit: Credit,
    /// Largest share of the rate that is attributed to the low-latency queue.
    share: f64,
    /// Bytes that left the low-latency queue since the last update.
    sent_low: u64,
    buffer_bytes: u64,
    bytes_per_s: f64,
}

/// The DSCP of traffic that builds no queue (RFC 9956).
const NQB: u8 = 45;

impl DocsisLld {
    fn is_low(packet: &Packet) -> bool {
        matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) || packet.header.dscp == NQB
    }

    fn enqueue_classic(&mut self, packet: Packet, mark: bool, cx: &mut Cx) {
        let waits = self.classic.backlog().bytes;
        if waits + u64::from(packet.bytes) > self.buffer_bytes {
            self.controller.cleared();
            return (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
        }
        if self.controller.drops_arrival(packet.bytes, waits, cx.rng) {
            self.controller.cleared();
            return (cx.out)(Event::Dropped { packet, why: DropReason::Early });
        }
        self.take_in(packet, Which::Classic, mark, cx);
    }

    fn take_in(&mut self, mut packet: Packet, which: Which, mark: bool, cx: &mut Cx) {
        let id = packet.id;
        if mark {
            packet.ecn = Ecn::Ce;
        }
        let queue = match which {
            Which::Classic => &mut self.classic,
            Which::Scalable => &mut self.scalable,
        };
        self.pool.push(queue, packet);
        (cx.out)(Event::Queued { id });
        if mark {
            (cx.out)(Event::Marked { id, why: DropReason::Early });
        }
    }

    fn pop(&mut self, which: Which) -> Option<Packet> {
        let queue = match which {
            Which::Classic => &mut self.classic,
            Which::Scalable => &mut self.scalable,
        };
        let packet = self.pool.pop(queue)?;
        if which == Which::Scalable {
            self.sent_low += u64::from(packet.bytes);
        }
        Some(packet)
    }

    /// Delay of the classic queue in seconds: its bytes at the rate that the other queue leaves it.
    fn classic_delay(&mut self, period: Duration) -> f64 {
        let low = self.sent_low as f64 / period.secs_f64();
        self.sent_low = 0;
        let rate = self.bytes_per_s - low.min(self.share * self.bytes_per_s);
        self.classic.backlog().bytes as f64 / rate
    }
}

impl Discipline for DocsisLld {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        if !Self::is_low(&packet) {
            return self.enqueue_classic(packet, false, cx);
        }
        let waits = self.scalable.backlog().bytes;
        let delay = self.low.arrival(packet.bytes, waits, cx.now);
        let native = self.low.ramp.of(delay);
        let due = self.low.recur(native.max(self.coupled));
        let mark = due && packet.ecn != Ecn::NotEct;
        let sanctioned = self
            .protection
            .as_mut()
            .is_some_and(|own| own.sanctions(packet.flow, packet.bytes, native, delay, cx.now));
        if sanctioned {
            self.low.was_not_queued(packet.bytes);
            return self.enqueue_classic(packet, mark, cx);
        }
        if !self.low.has_room(waits, packet.bytes) {
            self.low.was_not_queued(packet.bytes);
            return (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
        }
        self.take_in(packet, Which::Scalable, mark, cx);
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let (which, cost) = self.credit.turn(&self.classic, &self.scalable)?;
        let _ = cx;
        let packet = self.pop(which)?;
        self.credit.pay(cost, packet.bytes);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        let (c, l) = (self.classic.backlog(), self.scalable.backlog());
        Backlog { packets: c.packets + l.packets, bytes: c.bytes + l.bytes }
    }

    fn service_flows(&self) -> usize {
        2
    }
    fn flow_backlog(&self, flow: usize) -> Backlog {
        if flow == 0 { self.classic.backlog() } else { self.scalable.backlog() }
    }
    fn dequeue_flow(&mut self, flow: usize, _: &mut Cx) -> Option<Packet> {
        self.pop(if flow == 0 { Which::Classic } else { Which::Scalable })
    }

    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, _: &mut Cx) {
        self.ticker.done();
        let delay = self.classic_delay(self.ticker.period());
        self.controller.update(delay);
        self.coupled = (self.k * packet::math::sqrt(self.controller.p())).min(1.0);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.controller.p());
        show("p_coupled", self.coupled);
        show("low_delay", self.low.delay);
        show("classic_packets", f64::from(self.classic.backlog().packets));
        show("low_packets", f64::from(self.scalable.backlog().packets));
        show("sanctioned", self.protection.as_ref().map_or(0, |own| own.sanctioned) as f64);
    }
}

#[cfg(test)]
mod tests;
