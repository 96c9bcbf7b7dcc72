//! CAKE, common applications kept enhanced (J. Morton, T. Høiland-Jørgensen, D. Taht and others,
//! Linux `sch_cake`, 2018; T. Høiland-Jørgensen, D. Taht, J. Morton, *Piece of CAKE: A
//! Comprehensive Queue Management Solution for Home Gateways*, LANMAN 2018).
//!
//! The idea in five lines. A shaper a little slower than the line keeps the queue here, where it
//! can be managed. Packets are divided into tins by their code points: a tin within its share of
//! the rate is served first, a tin above its share after the others. Within a tin each
//! flow has a queue (a set-associative hash makes collisions rare) with COBALT at its head; queues
//! take turns, sparse ones before the others, and the more bulk flows a host has, the smaller
//! are the turns of each, so that hosts share before flows do. A full buffer drops from the head
//! of the longest queue.
//!
//! | file | what is in it |
//! |---|---|
//! | `tins` | code points, shares, and what follows from a tin's rate |
//! | `shaper` | the clock of the rate and the clocks of the tins |
//! | `hosts` | hashes in sets, and busy queues by host |
//! | `rotation`, `ring` | turns of the queues of a tin |
//! | `acks` | the filter of acknowledgements |
//! | `longest` | whose packet goes when the buffer is full |
//! | `mq` | several of them on one device, which share its rate |

mod acks;
mod autorate;
mod dither;
mod fields;
mod hosts;
mod longest;
mod mq;
mod ring;
mod rotation;
mod shaper;
mod tin;
mod tins;

use alloc::vec::Vec;

use packet::params::{BadParams, Params};
use packet::{About, Backlog, Cells, DropReason, Ecn, Event, Framing, Instant, Packet, TcpHeader};

use crate::shells::flows::hash_seed;
use crate::shells::pool::Pool;
use crate::{Built, Cx, Discipline, Entry, Line, PerFlowState, Table};
use acks::AckFilter;
use autorate::{Estimate, Plan};
use hosts::Isolation;
use longest::Longest;
use shaper::{Pace, Shaper, TinClock};
use tin::{Lane, Tin};
use tins::{Scheme, TinNumbers};

/// The entry of `cake` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "cake",
        summary: "Shapes, divides by code point, shares among hosts and flows, and keeps each \
                  queue short.",
        year: 2018,
        source: "Linux sch_cake; Høiland-Jørgensen, Taht and Morton, LANMAN 2018",
        deviations: "Sizes are IP lengths, unless the link's header_bytes adds to them (sch_cake: \
                     with the Ethernet header unless overhead is given), and memory is counted in \
                     them, not in buffer sizes. Turns are kept to 2^-16 byte, where sch_cake adds \
                     a random fraction of a byte (turns = whole does). Rates are exact in the long run. As there, the \
                     second late packet of a queue that has never signalled is signalled at once \
                     (its reciprocal root begins at zero). Flows and hosts are hashed by a seeded \
                     64-bit mix; of equally long queues the first tin's and lowest loses. BLUE \
                     draws also where CoDel drops (recent versions of the program: only where it \
                     does not). Host counts follow the accounting that the program has since \
                     2025. With tx_queues a seeded hash of the flow chooses the device's queue, and \
                     the device serves those that may send in turn. The filter of acknowledgements reads the TCP headers that \
                     simulated and live runs have; of a packet without one (test vectors, \
                     programs in C) it knows only whether it is a pure acknowledgement that says \
                     all that earlier ones said. Without NAT, GSO, firewall \
                     marks, and washing of code points.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::Queues,
    // Rows are sized for eight tins, the most that a scheme has.
    tables: &[Table { rows: &[("queues", 1_024), ("tx_queues", 1)], row: 8 * 200 }],
    units: "time; turns in bytes",
    ecn: "marks in place of every drop by CoDel if ecn is on (it is by default) and the packet is \
          ECN-capable; the random drops of the law's other half ignore ECN; want of room drops",
    build: &build,
};

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    fields::check(params)?;
    let rate = if params.given("rate") { params.rate("rate").bits_per_s() / 8 } else { 0 };
    let (mtu, seed) = (params.whole("mtu"), hash_seed(params));
    let (target, interval) = (params.time("target"), params.time("interval"));
    let scheme = Scheme::named(params.choice("tins"));
    let isolation = Isolation::named(params.choice("isolation"));
    let queues = params.whole("queues") as usize;
    let bytes = params.whole_or("memory_limit", tins::buffer(rate, mtu, interval));
    let limit = params.given("memory_limit").then_some(bytes);
    let plan = Plan { scheme, mtu, target, interval, limit };
    let tin = |numbers: TinNumbers| {
        Tin::new(numbers, queues, isolation, seed, params.choice("turns") == "whole")
    };
    let cake = || Cake {
        pool: Pool::default(),
        longest: Longest::new(scheme.divide(rate).count() * queues),
        queues,
        tins: plan.tins(rate).map(tin).collect(),
        tin_of: core::array::from_fn(|dscp| scheme.tin(dscp as u8) as u8),
        current: 0,
        shaper: Shaper::new(Pace::limited(rate)),
        framing: framing(params),
        acks: AckFilter::named(params.choice("ack_filter")),
        ingress: params.switch("ingress"),
        ecn: params.switch("ecn"),
        limit: plan.limit(rate),
        autorate: params.switch("autorate").then(|| (Estimate::new(rate), plan)),
        total: Backlog::default(),
        wake: None,
    };
    let cakes = (0..params.whole("tx_queues")).map(|_| cake()).collect();
    Ok(Built::Discipline(mq::built(cakes, scheme, rate, seed)))
}

fn framing(params: &Params) -> Framing {
    let cells = match params.choice("framing") {
        "atm" => Cells::Atm,
        "ptm" => Cells::Ptm,
        _ => Cells::None,
    };
    Framing { overhead: params.whole("overhead"), least: params.whole("mpu"), cells }
}

/// The CAKE discipline.
struct Cake {
    pool: Pool,
    /// Number of queues in each tin.
    queues: usize,
    tins: Vec<Tin>,
    /// Index of the tin of each DSCP.
    tin_of: [u8; 64],
    /// Index of the tin last served.
    current: usize,
    shaper: Shaper,
    framing: Framing,
    acks: AckFilter,
    ingress: bool,
    ecn: bool,
    limit: u64,
    /// With `autorate`: the estimate that the rate follows, and what is computed from it.
    autorate: Option<(Estimate, Plan)>,
    longest: Longest,
    total: Backlog,
    /// When the shaper will release the next packet, after a dequeue that returned none.
    wake: Option<Instant>,
}

impl Cake {
    /// Changes the rate to `rate` bytes per second (`cake_configure_rates` with `rate_adjust`):
    /// clocks and turns of flows follow, but not targets, intervals and the buffer.
    fn set_rate(&mut self, scheme: Scheme, rate: u64) {
        for (tin, (rate, _)) in self.tins.iter_mut().zip(scheme.divide(rate)) {
            tin.set_rate(rate);
        }
        self.shaper.set_pace(Pace::of(rate));
    }

    /// Adds `bytes` to the rate estimate and adopts its new rate, if any (`cake_reconfigure`).
    fn measure(&mut self, bytes: u64, now: Instant) {
        let Some((estimate, plan)) = &mut self.autorate else { return };
        let Some(rate) = estimate.arrival(bytes, now) else { return };
        for (tin, numbers) in self.tins.iter_mut().zip(plan.tins(rate)) {
            tin.set_numbers(numbers);
        }
        self.limit = plan.limit(rate);
        self.shaper.set_pace(Pace::limited(rate));
    }

    /// A packet left a queue, which now holds `left` bytes.
    fn uncount(&mut self, tin: usize, queue: usize, packet: &Packet, left: u64) {
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.bytes);
        self.tins[tin].bytes -= u64::from(packet.bytes);
        if self.longest.is_kept() {
            self.longest.change((tin * self.queues + queue) as u32, left);
        }
    }

    /// Drops a packet taken from `queue`; with `ingress` the clocks are charged for it.
    fn give_up(&mut self, tin: usize, queue: usize, packet: Packet, why: DropReason, cx: &mut Cx) {
        let left = self.tins[tin].lanes[queue].queue.backlog().bytes;
        self.uncount(tin, queue, &packet, left);
        if self.ingress {
            let size = self.framing.size(packet.bytes);
            charge(&mut self.shaper, &mut self.tins[tin].clock, size, false, cx.now);
        }
        (cx.out)(Event::Dropped { packet, why });
    }

    /// Drops an acknowledgement that the packet just put at the tail of `queue` supersedes. Returns
    /// its bytes, or 0.
    fn thin(&mut self, tin: usize, queue: usize, cx: &mut Cx) -> u64 {
        let own = &mut self.tins[tin].lanes[queue].queue;
        let victim = self.acks.victim(&self.pool, own);
        let Some(packet) = victim.and_then(|place| self.pool.remove(own, place)) else { return 0 };
        let bytes = u64::from(packet.bytes);
        self.give_up(tin, queue, packet, DropReason::AckFiltered, cx);
        bytes
    }

    /// Takes in a packet, with its TCP header if that is known.
    fn take_in(&mut self, packet: Packet, header: Option<&TcpHeader>, cx: &mut Cx) {
        let number = usize::from(self.tin_of[usize::from(packet.header.dscp & 63)]);
        let tin = &mut self.tins[number];
        let queue = tin.rotation.place(&packet);
        if tin.bytes == 0 {
            tin.clock.wake(cx.now);
            if self.total.packets == 0 {
                self.shaper.wake(cx.now);
            }
        }
        (cx.out)(Event::Queued { id: packet.id });
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        tin.bytes += u64::from(packet.bytes);
        let mut news = u64::from(packet.bytes);
        let own = &mut tin.lanes[queue].queue;
        self.pool.push(own, packet);
        if self.longest.is_kept() {
            self.longest.change((number * self.queues + queue) as u32, own.backlog().bytes);
        }
        tin.rotation.arrival(queue);
        if self.acks.is_on() {
            self.acks.keep(&self.pool, own, header);
            news = news.saturating_sub(self.thin(number, queue, cx));
        }
        self.measure(news, cx.now);
        while self.total.bytes > self.limit {
            self.make_room(cx);
        }
    }

    /// Drops the head of the longest queue.
    fn make_room(&mut self, cx: &mut Cx) {
        let lengths = self.tins.iter().flat_map(|tin| &tin.lanes);
        let lengths = lengths.map(|lane| lane.queue.backlog().bytes);
        let Some(longest) = self.longest.find(lengths) else { return };
        let (tin, queue) = (longest as usize / self.queues, longest as usize % self.queues);
        let Tin { lanes, numbers, .. } = &mut self.tins[tin];
        let lane = &mut lanes[queue];
        let Some(packet) = self.pool.pop(&mut lane.queue) else { return };
        lane.law.full(&numbers.law, cx.now);
        self.give_up(tin, queue, packet, DropReason::Overflow, cx);
    }

    /// The tin to serve next; one of them holds packets.
    fn choose(&mut self, now: Instant) -> usize {
        if self.shaper.shapes() { self.first_in_time(now) } else { self.first_in_turn() }
    }

    /// The last tin that is within its share, or else the one that will be so first.
    fn first_in_time(&self, now: Instant) -> usize {
        let mut best = (0, Instant::NEVER);
        for (number, tin) in self.tins.iter().enumerate() {
            let next = tin.clock.next();
            if tin.rotation.busy() > 0 && (next <= now || next <= best.1) {
                best = (number, next);
            }
        }
        best.0
    }

    /// The next tin by deficit round robin, if there is no rate.
    fn first_in_turn(&mut self) -> usize {
        let mut at = self.current;
        loop {
            let tin = &mut self.tins[at];
            if tin.deficit >= 0 && tin.rotation.busy() > 0 {
                return at;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.numbers.quantum;
            }
            at = if at + 1 < self.tins.len() { at + 1 } else { 0 };
        }
    }

    /// Takes the next packet that leaves `queue`, whose turn it is. `None` if the queue was empty,
    /// or if a packet was dropped and charged, so that it may be another queue's turn.
    #[inline]
    fn take(&mut self, tin: usize, queue: usize, cx: &mut Cx) -> Option<Packet> {
        let name = (tin * self.queues + queue) as u32;
        let (ecn, ingress, framing) = (self.ecn, self.ingress, self.framing);
        let Cake { pool, tins, shaper, longest, total, .. } = self;
        let Tin { lanes, numbers, rotation, clock, deficit, bytes } = &mut tins[tin];
        let Lane { queue: own, law } = &mut lanes[queue];
        loop {
            let Some(mut packet) = pool.pop(own) else {
                law.empty(&numbers.law, cx.now);
                rotation.emptied(queue, law.at_rest(cx.now));
                return None;
            };
            let others = if ingress { u64::from(rotation.bulk()) } else { 0 };
            let sojourn = cx.now.since(packet.arrived);
            let visit = law.visit(&numbers.law, sojourn, others, cx.now, cx.rng);
            let mark = visit.signal && ecn && packet.ecn.can_be_marked();
            let drop = visit.coin || (visit.signal && !mark);
            law.settle(&numbers.law, drop, cx.now);
            total.packets -= 1;
            total.bytes -= u64::from(packet.bytes);
            *bytes -= u64::from(packet.bytes);
            if longest.is_kept() {
                longest.change(name, own.backlog().bytes);
            }
            let sent = !drop || own.is_empty();
            if sent || ingress {
                let size = framing.size(packet.bytes);
                charge(shaper, clock, size, sent, cx.now);
                rotation.charge(queue, size);
                *deficit -= size as i64;
            }
            if sent {
                if mark {
                    packet.ecn = Ecn::Ce;
                    (cx.out)(Event::Marked { id: packet.id, why: DropReason::Early });
                }
                longest.departure();
                return Some(packet);
            }
            let why = if visit.coin { DropReason::Forced } else { DropReason::Early };
            (cx.out)(Event::Dropped { packet, why });
            if ingress {
                return None;
            }
        }
    }
}

/// Charges both clocks for `size` bytes on the link, sent or dropped.
#[inline]
fn charge(shaper: &mut Shaper, clock: &mut TinClock, size: u64, sent: bool, now: Instant) {
    if shaper.shapes() {
        clock.charge(size, now);
        shaper.charge(size, sent);
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        self.take_in(packet, None, cx);
    }
    fn reads_tcp(&self) -> bool {
        self.acks.is_on()
    }
    fn enqueue_tcp(&mut self, packet: Packet, header: &TcpHeader, cx: &mut Cx) {
        self.take_in(packet, Some(header), cx);
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let mut first = true;
        while self.total.packets > 0 {
            self.wake = self.shaper.blocked(cx.now);
            if self.wake.is_some() {
                return None;
            }
            let tin = self.choose(cx.now);
            self.current = tin;
            while let Some(queue) = self.tins[tin].next(&mut first) {
                let packet = self.take(tin, queue, cx);
                if packet.is_some() {
                    return packet;
                }
                if self.tins[tin].lanes[queue].queue.is_empty() {
                    break;
                }
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.total
    }
    fn next_tick(&self) -> Option<Instant> {
        self.wake
    }
    fn on_tick(&mut self, _cx: &mut Cx) {
        self.wake = None;
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let sum = |of: fn(&Tin) -> f64| self.tins.iter().map(of).sum();
        show("bulk_flows", sum(|tin| f64::from(tin.rotation.bulk())));
        show("sparse_flows", sum(|tin| f64::from(tin.rotation.sparse())));
        show("decaying_flows", sum(|tin| tin.rotation.decaying() as f64));
        let most = |tin: &Tin| {
            tin.rotation.listed().map(|queue| tin.lanes[queue].law.p_drop()).fold(0.0, f64::max)
        };
        show("max_p_drop", self.tins.iter().map(most).fold(0.0, f64::max));
        if let Some((estimate, _)) = &self.autorate {
            show("capacity_bits_per_s", 8.0 * estimate.peak() as f64);
        }
    }
}
