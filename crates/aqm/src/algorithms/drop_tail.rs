//! Drop-tail: first come, first served; an arrival that finds no room is dropped.
//!
//! No paper; the reference behaviours are Linux `pfifo`/`bfifo` (normative here) and ns-2's
//! DropTail, which holds one packet less and compares bytes strictly. With `from_front` the full
//! queue accepts the arrival and drops its head instead (Linux `pfifo_head_drop`, ns-2
//! `drop_front_`), so that the sender learns of the loss one queueing time earlier.

use alloc::{boxed::Box, collections::VecDeque, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Backlog, DropReason, Event, Packet};

use crate::buffer::{BYTES, LIMIT};

use crate::{Aqm, BufferLimit, Built, Cx, Discipline, Entry, Fit, Judged, Line, PerFlowState};

/// The entry of `droptail` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "droptail",
        summary: "First come, first served; a packet that finds the buffer full is dropped.",
        year: 1969,
        source: "no paper; Linux pfifo, bfifo and pfifo_head_drop, ns-2.35 DropTail",
        deviations: "Profile \"normative\" equals Linux pfifo (packets) and bfifo (bytes); profile \
                     \"ns2\" equals ns-2.35 DropTail. Drop-from-front with a byte limit removes as \
                     many heads as the arrival needs (Linux has the option for packets only); \
                     profile \"ns2\" removes exactly one, as ns-2 does.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "never marks",
    units: "packets or bytes",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait, not counting the one being transmitted; profile \"ns2\" holds \
             one less. 50 unless limit_bytes is given.",
        )
        .source("ns-2.35 Queue limit_ 50"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning("IP bytes that may wait; no such limit unless given.")
        .source("Linux bfifo"),
    Field::new("profile", Kind::Choice(&["normative", "ns2"]), Value::Choice("normative"))
        .meaning(
            "How an arrival is compared with the limit: \"normative\" accepts up to the limit, \
             \"ns2\" only below it.",
        )
        .source("Linux; ns-2.35"),
    Field::new("from_front", Kind::Switch, Value::Switch(false))
        .meaning("Whether a full queue accepts the arrival and drops its head.")
        .source("Linux pfifo_head_drop, ns-2.35 drop_front_"),
];

/// An AQM that never signals: only the buffer limit drops.
struct DropTail;

impl Aqm for DropTail {}

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let fit = if params.choice("profile") == "ns2" { Fit::Short } else { Fit::Whole };
    let limit = limit(params, fit)?;
    Ok(if params.switch("from_front") {
        Built::Discipline(Box::new(DropFront::new(limit)))
    } else {
        Built::Gate(Box::new(Judged::new(DropTail, limit, false)))
    })
}

fn limit(params: &Params, fit: Fit) -> Result<BufferLimit, BadParams> {
    let bytes = params.whole("limit_bytes");
    let in_packets = || BufferLimit::of_packets(params.whole_or("limit", 50) as u32, fit);
    match (params.given("limit"), params.given("limit_bytes")) {
        (true, true) if fit == Fit::Short => {
            let packets = params.whole("limit");
            let why = format!(
                "{bytes} cannot be combined with limit = {packets} in profile \"ns2\": ns-2 \
                 measures a queue in packets or in bytes, never in both; leave one out"
            );
            Err(BadParams::new("limit_bytes", why))
        }
        (_, false) => Ok(in_packets()),
        (false, true) => Ok(BufferLimit::of_bytes(bytes, fit)),
        (true, true) => Ok(in_packets().and_bytes(bytes)),
    }
}

/// A FIFO queue that drops its head to make room for an arrival. It must hold its packets itself:
/// the decision at an arrival drops a packet other than the arriving one.
struct DropFront {
    limit: BufferLimit,
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl DropFront {
    fn new(limit: BufferLimit) -> Self {
        DropFront { limit, packets: VecDeque::new(), backlog: Backlog::default() }
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    fn push(&mut self, packet: Packet, cx: &mut Cx) {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        (cx.out)(Event::Queued { id: packet.id });
        self.packets.push_back(packet);
    }

    /// How many packets must be dropped from the head before a packet of `size` bytes is accepted;
    /// `None` if even an empty queue would have no room.
    fn victims(&self, size: u32) -> Option<usize> {
        if self.limit.admits(self.backlog, size) {
            return Some(0);
        }
        let mut left = self.backlog;
        for (index, head) in self.packets.iter().enumerate() {
            left.packets -= 1;
            left.bytes -= u64::from(head.bytes);
            if self.limit.fit() == Fit::Short || self.limit.admits(left, size) {
                return Some(index + 1);
            }
        }
        None
    }
}

impl Discipline for DropFront {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let Some(victims) = self.victims(packet.bytes) else {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        };
        self.push(packet, cx);
        for _ in 0..victims {
            if let Some(packet) = self.pop() {
                (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            }
        }
    }
    fn dequeue(&mut self, _cx: &mut Cx) -> Option<Packet> {
        self.pop()
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
