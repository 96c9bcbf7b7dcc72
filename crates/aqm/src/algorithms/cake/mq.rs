//! A CAKE instance on every transmit queue of a multi-queue device (`cake_mq` of Linux 7.3's
//! `sch_cake`). The instances share one configured rate: each is shaped to that rate divided by the
//! number of active transmit queues.
//!
//! When the device requests a packet from a queue, that queue counts the active queues, at most
//! once every 200 µs: itself, and those that hold packets or have sent one since its last count.
//! For a while the rates of all queues may therefore add up to more or less than the configured
//! rate. Targets, intervals and buffer limits are computed from the configured rate, the quanta of
//! flows from the queue's share of it.

use alloc::{boxed::Box, vec::Vec};

use packet::{Backlog, Duration, Instant, Packet, TcpHeader};

use super::Cake;
use super::tins::Scheme;
use crate::shells::flows::hash;
use crate::{Cx, Discipline};

/// Shortest time between two counts of the active queues: `sync_time` of `cake_config_init`.
const SYNC: Duration = Duration::from_micros(200);

/// Makes the hash that chooses the transmit queue differ from the hashes within the queues.
const TX_HASH: u64 = 0x7478_7175_6575_6573;

/// One transmit queue of the device.
struct TxQueue {
    cake: Cake,
    /// Time at which this queue last counted the active ones (`last_checked_active`), if it did.
    looked: Option<Instant>,
    /// Time at which this queue last sent a packet (`last_active`).
    sent: Option<Instant>,
    /// Whether the device tries this queue next: a packet arrived or left, or its shaper's wait
    /// ended.
    due: bool,
}

/// The discipline of a device with several transmit queues.
pub(super) struct Multiqueue {
    queues: Vec<TxQueue>,
    scheme: Scheme,
    /// Rate of all queues together, in bytes per second; 0 for no limit.
    rate: u64,
    /// Index of the queue that the device serves next, if that can send.
    turn: usize,
    /// Number of active queues at the last count, the counting queue included.
    active: u32,
    seed: u64,
}

impl Multiqueue {
    /// A discipline with these CAKEs, which send at most `rate` bytes per second together.
    pub fn new(cakes: Vec<Cake>, scheme: Scheme, rate: u64, seed: u64) -> Self {
        let idle = |cake| TxQueue { cake, looked: None, sent: None, due: false };
        let queues = cakes.into_iter().map(idle).collect();
        Multiqueue { queues, scheme, rate, turn: 0, active: 0, seed: seed ^ TX_HASH }
    }

    /// Index of the transmit queue for a packet's flow, which `skb_tx_hash` spreads.
    fn place(&self, packet: &Packet) -> usize {
        let hashed = u128::from(hash(packet.flow, self.seed));
        ((hashed * self.queues.len() as u128) >> 64) as usize
    }

    /// Sets a queue's part of the rate, if it is time to count the active queues again.
    fn share(&mut self, own: usize, now: Instant) {
        let looked = self.queues[own].looked;
        if self.rate == 0 || looked.is_some_and(|at| now.since(at) < SYNC) {
            return;
        }
        let is_active = |(at, queue): (usize, &TxQueue)| {
            let holds = queue.cake.total.packets > 0;
            at == own || holds || queue.sent.is_some_and(|sent| looked.is_none_or(|at| sent > at))
        };
        self.active = self.queues.iter().enumerate().filter(|each| is_active(*each)).count() as u32;
        self.queues[own].looked = Some(now);
        self.queues[own].cake.set_rate(self.scheme, self.rate / u64::from(self.active));
    }

    fn accept(&mut self, packet: Packet, header: Option<&TcpHeader>, cx: &mut Cx) {
        let place = self.place(&packet);
        let queue = &mut self.queues[place];
        queue.cake.take_in(packet, header, cx);
        queue.due = true;
    }
}

impl Discipline for Multiqueue {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        self.accept(packet, None, cx);
    }
    fn reads_tcp(&self) -> bool {
        self.queues[0].cake.reads_tcp()
    }
    fn enqueue_tcp(&mut self, packet: Packet, header: &TcpHeader, cx: &mut Cx) {
        self.accept(packet, Some(header), cx);
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let count = self.queues.len();
        for own in (self.turn..count).chain(0..self.turn) {
            if !self.queues[own].due {
                continue;
            }
            self.share(own, cx.now);
            let queue = &mut self.queues[own];
            let packet = queue.cake.dequeue(cx);
            queue.due = packet.is_some();
            if packet.is_some() {
                queue.sent = Some(cx.now);
                self.turn = (own + 1) % count;
                return packet;
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        let mut sum = Backlog::default();
        for queue in &self.queues {
            sum.packets += queue.cake.total.packets;
            sum.bytes += queue.cake.total.bytes;
        }
        sum
    }
    fn next_tick(&self) -> Option<Instant> {
        self.queues.iter().filter_map(|queue| queue.cake.wake).min()
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        for queue in &mut self.queues {
            if queue.cake.wake.is_some_and(|wake| wake <= cx.now) {
                queue.cake.wake = None;
                queue.due = true;
            }
        }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let mut shown: Vec<(&'static str, f64)> = Vec::new();
        for queue in &self.queues {
            queue.cake.gauges(&mut |name, value| match shown
                .iter_mut()
                .find(|(known, _)| *known == name)
            {
                Some((_, sum)) if name == "max_p_drop" => *sum = sum.max(value),
                Some((_, sum)) => *sum += value,
                None => shown.push((name, value)),
            });
        }
        shown.into_iter().for_each(|(name, value)| show(name, value));
        show("active_queues", f64::from(self.active));
    }
}

/// The discipline over these CAKEs; a single one stays a plain CAKE.
pub(super) fn built(
    mut cakes: Vec<Cake>,
    scheme: Scheme,
    rate: u64,
    seed: u64,
) -> Box<dyn Discipline> {
    match cakes.pop() {
        Some(only) if cakes.is_empty() => Box::new(only),
        last => {
            cakes.extend(last);
            Box::new(Multiqueue::new(cakes, scheme, rate, seed))
        }
    }
}
