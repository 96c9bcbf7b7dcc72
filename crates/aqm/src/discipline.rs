//! The interface of queue disciplines, and a first-in, first-out queue behind a gate.

use alloc::{boxed::Box, collections::VecDeque};

use packet::{Backlog, Event, Instant, Packet, Rng, TcpHeader};

use crate::{Admission, Gate};

/// The context of a call: the time, the queue's stream of random numbers, and the receiver of
/// events.
pub struct Cx<'a> {
    /// The time of the call.
    pub now: Instant,
    /// The queue's own stream of random numbers.
    pub rng: &'a mut Rng,
    /// Receives the events of packets (queued, marked, dropped), in order.
    pub out: &'a mut dyn FnMut(Event),
}

/// A queue discipline that holds its packets: the interface between a queue and its line, simulated
/// or real.
pub trait Discipline: Send {
    /// Takes in a packet: it is queued, or it (or another) is reported dropped.
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx);
    /// Whether [`Discipline::enqueue_tcp`] reads the header, so that the driver should provide it.
    fn reads_tcp(&self) -> bool {
        false
    }
    /// Takes in a TCP segment whose header is at hand; see [`Discipline::enqueue`].
    fn enqueue_tcp(&mut self, packet: Packet, _header: &TcpHeader, cx: &mut Cx) {
        self.enqueue(packet, cx);
    }
    /// The next packet to transmit. Called when the line becomes free; `None` starts the idle time.
    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet>;
    /// Packets and bytes that wait in the queue.
    fn backlog(&self) -> Backlog;
    /// Number of service flows with a queue of their own. A line may serve each one separately: a
    /// cable modem requests and gets grants for each.
    fn service_flows(&self) -> usize {
        1
    }
    /// Packets and bytes that wait in one service flow.
    fn flow_backlog(&self, _flow: usize) -> Backlog {
        self.backlog()
    }
    /// Takes the next packet of one service flow; see [`Discipline::dequeue`].
    fn dequeue_flow(&mut self, _flow: usize, cx: &mut Cx) -> Option<Packet> {
        self.dequeue(cx)
    }
    /// When [`Discipline::on_tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        None
    }
    /// The algorithm's periodic update.
    fn on_tick(&mut self, _cx: &mut Cx) {}
    /// Changes a parameter during a run. Returns whether the discipline has a parameter `name` that
    /// can be changed, and accepts `value`.
    fn set(&mut self, _name: &str, _value: f64) -> bool {
        false
    }
    /// Shows inner state (average, probability, …) by name.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// A first-in, first-out queue behind a gate, which decides on each arrival.
pub struct Fifo {
    gate: Box<dyn Gate>,
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// An empty queue behind `gate`.
    pub fn new(gate: Box<dyn Gate>) -> Self {
        Fifo { gate, packets: VecDeque::new(), backlog: Backlog::default() }
    }
}

impl Discipline for Fifo {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx) {
        let id = packet.id;
        let admission = self.gate.admit(&mut packet, self.backlog, cx.now, cx.rng);
        if let Admission::Dropped(why) = admission {
            (cx.out)(Event::Dropped { packet, why });
            return;
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
        if let Admission::Marked(why) = admission {
            (cx.out)(Event::Marked { id, why });
        }
        (cx.out)(Event::Queued { id });
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let packet = self.packets.pop_front();
        match &packet {
            Some(p) => {
                self.backlog.packets -= 1;
                self.backlog.bytes -= u64::from(p.bytes);
            }
            None => self.gate.on_idle(cx.now),
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
    fn next_tick(&self) -> Option<Instant> {
        self.gate.next_tick()
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        self.gate.on_tick(self.backlog, cx.now, cx.rng);
    }
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.gate.set(name, value)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.gate.gauges(show);
    }
}
