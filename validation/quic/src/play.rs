//! Simulates connections over one line in each direction, event by event.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use packet::{Ecn, Rng};

use crate::end::{Datagram, End};
use crate::line::{Flow, Line};

/// Datagrams that the line drops or marks, by their numbers from 1.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Numbers of the server's datagrams with data that are lost.
    pub drop: HashSet<u64>,
    /// Number of the server's datagrams with data, of a million, that are lost at random.
    pub lost: u64,
    /// Numbers of the server's datagrams with data that are marked.
    pub mark: HashSet<u64>,
    /// Numbers of the client's acknowledgements that are lost.
    pub drop_ack: HashSet<u64>,
    /// Numbers of the server's datagrams, of every kind, that are lost.
    pub drop_server: HashSet<u64>,
    /// Numbers of the client's datagrams, of every kind, that are lost.
    pub drop_client: HashSet<u64>,
}

/// The two ends of a connection.
pub struct Pair {
    pub client: Box<dyn End>,
    pub server: Box<dyn End>,
    /// Time at which the client opens the connection, ns.
    pub start: u64,
    /// Delay between the line and the client in each direction, ns.
    pub delay: u64,
    /// Time at which all of the reply had arrived, ns.
    pub done: Option<u64>,
    /// Number of bytes of the reply that had arrived when counting began.
    pub before: u64,
    pub counts: Counts,
}

/// Numbers of datagrams sent so far, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub data: u64,
    pub again: u64,
    pub again_bytes: u64,
    pub pings: u64,
    acks: u64,
    server: u64,
    client: u64,
}

/// A datagram that a server has sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: u64,
    pub flow: Flow,
    pub bytes: u32,
    pub data: u32,
    pub again: bool,
    pub ping: bool,
    /// The server's congestion window after this datagram, bytes.
    pub cwnd: u64,
}

/// The simulation: connections, the two lines, and the events to come.
pub struct Play {
    pub pairs: Vec<Pair>,
    pub forward: Line,
    pub back: Line,
    pub script: Script,
    /// The datagrams that servers have sent, if they are recorded.
    pub trace: Option<Vec<Sent>>,
    unopened: Vec<Flow>,
    /// Arrivals to come, by instant and order.
    due: BinaryHeap<Reverse<(u64, u64)>>,
    on_the_way: BTreeMap<u64, (Flow, bool, Datagram)>,
    order: u64,
    chance: Rng,
}

impl Play {
    pub fn new(pairs: Vec<Pair>, forward: Line, back: Line, script: Script, chance: Rng) -> Self {
        Play {
            unopened: (0..pairs.len()).collect(),
            pairs,
            forward,
            back,
            script,
            trace: None,
            due: BinaryHeap::new(),
            on_the_way: BTreeMap::new(),
            order: 0,
            chance,
        }
    }

    /// Simulates until the instant `until`, or until all replies have arrived. Returns the time
    /// reached, ns.
    pub fn run(&mut self, begin: u64, until: u64) -> u64 {
        let mut now = begin;
        loop {
            let open = self.unopened.iter().map(|&flow| (self.pairs[flow].start, flow)).min();
            let arrival = self.due.peek().map(|Reverse((at, _))| *at);
            let lines = [self.forward.due(), self.back.due()];
            let timer = self.timer();
            let all =
                [open.map(|(at, _)| at), arrival, lines[0], lines[1], timer.map(|(at, ..)| at)];
            let Some(next) = all.into_iter().flatten().min().filter(|&at| at <= until) else {
                return until;
            };
            now = now.max(next);
            if let Some((_, flow)) = open.filter(|&(at, _)| at == next) {
                self.unopened.retain(|&other| other != flow);
                self.pairs[flow].client.begin(now);
                self.poll(flow, true, now);
            } else if arrival == Some(next) {
                self.arrive(now);
            } else if lines[0] == Some(next) {
                if let Some((flow, datagram)) = self.forward.wake(now) {
                    self.put(now + self.pairs[flow].delay, flow, true, datagram);
                }
            } else if lines[1] == Some(next) {
                if let Some((flow, datagram)) = self.back.wake(now) {
                    self.put(now + self.pairs[flow].delay, flow, false, datagram);
                }
            } else if let Some((_, _, flow, client)) = timer {
                self.end(flow, client).wake(now);
                self.poll(flow, client, now);
            }
            if self.pairs.iter().all(|pair| pair.done.is_some()) {
                return now;
            }
        }
    }

    fn end(&mut self, flow: Flow, client: bool) -> &mut dyn End {
        let pair = &mut self.pairs[flow];
        if client { &mut *pair.client } else { &mut *pair.server }
    }

    /// The earliest deadline of an end: instant, order, whose.
    fn timer(&mut self) -> Option<(u64, u8, Flow, bool)> {
        let mut first = None;
        for flow in 0..self.pairs.len() {
            for client in [true, false] {
                let due = self.end(flow, client).due().map(|(at, order)| (at, order, flow, client));
                first = match (first, due) {
                    (Some(a), Some(b)) => Some(std::cmp::min(a, b)),
                    (a, b) => a.or(b),
                };
            }
        }
        first
    }

    fn put(&mut self, at: u64, flow: Flow, to_client: bool, datagram: Datagram) {
        self.order += 1;
        self.due.push(Reverse((at, self.order)));
        self.on_the_way.insert(self.order, (flow, to_client, datagram));
    }

    fn arrive(&mut self, now: u64) {
        let Some(Reverse((_, order))) = self.due.pop() else { return };
        let Some((flow, to_client, datagram)) = self.on_the_way.remove(&order) else { return };
        self.end(flow, to_client).receive(datagram, now);
        let pair = &mut self.pairs[flow];
        if to_client && pair.done.is_none() && pair.client.seen().done {
            pair.done = Some(now);
        }
        self.poll(flow, to_client, now);
    }

    /// What an end sends goes to its line, unless the script loses it.
    fn poll(&mut self, flow: Flow, client: bool, now: u64) {
        while let Some(mut datagram) = self.end(flow, client).poll(now) {
            let counts = &mut self.pairs[flow].counts;
            let script = &self.script;
            if client {
                counts.client += 1;
                counts.acks += u64::from(datagram.only_ack);
                let lost = script.drop_client.contains(&counts.client)
                    || (datagram.only_ack && script.drop_ack.contains(&counts.acks));
                if !lost {
                    self.back.take(flow, datagram, now);
                }
                continue;
            }
            counts.server += 1;
            counts.pings += u64::from(datagram.ping);
            // One that mostly repeats; quinn fills up what a repeated piece leaves with new data.
            let again = 2 * datagram.again > datagram.data;
            counts.again += u64::from(again);
            counts.again_bytes += u64::from(datagram.again);
            let carries = datagram.data > 0;
            counts.data += u64::from(carries);
            if carries && script.mark.contains(&counts.data) && datagram.ecn.can_be_marked() {
                datagram.ecn = Ecn::Ce;
            }
            let unlucky = carries && self.chance.below(1_000_000) < script.lost;
            let lost = unlucky
                || (carries && script.drop.contains(&counts.data))
                || script.drop_server.contains(&counts.server);
            let (bytes, data, ping) = (datagram.bytes, datagram.data, datagram.ping);
            if let Some(trace) = &mut self.trace {
                let cwnd = self.pairs[flow].server.seen().cwnd;
                trace.push(Sent { at: now, flow, bytes, data, again, ping, cwnd });
            }
            if !lost {
                self.forward.take(flow, datagram, now);
            }
        }
    }
}
