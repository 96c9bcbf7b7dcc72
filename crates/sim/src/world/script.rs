//! Drops or marks packets by their numbers, as a scenario demands (`script` of a traffic group),
//! independently of the queues. This happens as packets leave their host.

use packet::Ecn;
use tcp::Flags;

use crate::scenario::schema;
use crate::scenario::{Rule, Scenario, Traffic};
use crate::slab::Kept;
use crate::topology::Side;
use crate::world::World;
use crate::world::connection::{OPENER, Serial};
use crate::world::payload::{Datagram, Payload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Data,
    Resent,
    Packets,
}

/// A rule of a script, ready to be applied.
struct Compiled {
    rule: Rule,
    count: Count,
    from: Side,
}

/// Counters of the packets in one direction of a flow.
#[derive(Clone, Debug, Default)]
struct Counts {
    data: u64,
    resent: u64,
    packets: u64,
    /// Data packets with a number that a rule names: first byte, number, transmissions.
    named: Vec<(u64, u64, u64)>,
}

/// Counters of a flow in both directions; they are reset when its slot is reused.
#[derive(Clone, Debug)]
struct Flow {
    /// Serial number of the flow's connection or stream; `None` before the first.
    serial: Option<Serial>,
    /// Number of the flow in its group, from 1.
    number: u64,
    directions: [Counts; 2],
}

/// The properties of a packet that rules look at.
#[derive(Clone, Copy, Debug)]
struct Sent {
    data: bool,
    retransmission: bool,
    first_byte: u64,
}

/// The rules of all groups, and the counters of all flows.
pub struct Scripts {
    groups: Vec<Vec<Compiled>>,
    /// Counts of the flows, by the index of a connection and of a stream of datagrams.
    flows: [Vec<Flow>; 2],
}

impl Scripts {
    /// The scripts of a scenario; `None` if it has none.
    pub fn new(scenario: &Scenario) -> Option<Box<Scripts>> {
        let compile = |group: &Traffic| {
            group.script.iter().map(|rule| Compiled::new(rule, group)).collect::<Vec<_>>()
        };
        scenario.has_scripts().then(|| {
            let groups = scenario.traffic.iter().map(compile).collect();
            Box::new(Scripts { groups, flows: [Vec::new(), Vec::new()] })
        })
    }

    /// The counters of the flow in slot `index`, reset if another flow had the slot before.
    fn flow(
        &mut self,
        streams: bool,
        index: u32,
        serial: Option<Serial>,
        number: impl FnOnce() -> u64,
    ) -> &mut Flow {
        let flows = &mut self.flows[usize::from(streams)];
        let index = index as usize;
        if flows.len() <= index {
            let none = Flow { serial: None, number: 0, directions: Default::default() };
            flows.resize(index + 1, none);
        }
        let flow = &mut flows[index];
        if flow.serial != serial {
            *flow = Flow { serial, number: number(), directions: Default::default() };
        }
        flow
    }
}

impl Compiled {
    fn new(rule: &Rule, group: &Traffic) -> Self {
        let count = match rule.params.choice("count") {
            schema::COUNT_DATA => Count::Data,
            "resent" => Count::Resent,
            _ => Count::Packets,
        };
        let from = match rule.params.given("from") {
            true if rule.params.choice("from") == "clients" => Side::Clients,
            true => Side::Servers,
            false => group.data_from(),
        };
        Compiled { rule: rule.clone(), count, from }
    }

    /// Whether the rule names this packet, which is already counted; `sent` says which transmission
    /// of the packet it is.
    fn names(&self, flow: u64, counts: &Counts, packet: Sent, number: u64, sent: u64) -> bool {
        let rule = &self.rule;
        let has = |list: &[u64], n: u64| list.binary_search(&n).is_ok();
        if !rule.flows.is_empty() && !has(&rule.flows, flow) {
            return false;
        }
        match self.count {
            Count::Data => packet.data && has(&rule.numbers, number) && has(&rule.sent, sent),
            Count::Resent => {
                packet.data && packet.retransmission && has(&rule.numbers, counts.resent)
            }
            Count::Packets => has(&rule.numbers, counts.packets),
        }
    }
}

impl Counts {
    /// Counts a packet. Returns a data packet's number, and which transmission of it this is.
    fn take(&mut self, packet: Sent, named: impl Fn(u64) -> bool) -> (u64, u64) {
        self.packets += 1;
        if !packet.data {
            return (0, 0);
        }
        if !packet.retransmission {
            self.data += 1;
            if named(self.data) {
                self.named.push((packet.first_byte, self.data, 1));
            }
            return (self.data, 1);
        }
        self.resent += 1;
        let known = self.named.iter_mut().find(|known| known.0 == packet.first_byte);
        known.map_or((0, 0), |known| {
            known.2 += 1;
            (known.1, known.2)
        })
    }
}

impl World {
    /// Applies the scripts to the packet in slot `id`, which leaves its host. Returns whether the
    /// packet is dropped. A packet that is to be marked but is not ECN-capable (RFC 3168) goes on.
    #[cold]
    pub(super) fn follow_script(&mut self, id: u32) -> bool {
        let Some(scripts) = &mut self.scripts else { return false };
        let inflight = &self.in_flight[id];
        let (index, datagram) = (inflight.connection, inflight.is_datagram());
        let group = match datagram {
            true => self.streams[index as usize].group,
            false => self.sources[self.connections[index].source as usize].group,
        };
        let group = usize::from(group);
        if scripts.groups[group].is_empty() {
            return false;
        }
        let packet = match &inflight.payload {
            Payload::Segment(segment) => Sent {
                data: segment.len > 0,
                retransmission: segment.flags.has(Flags::RETRANSMISSION),
                first_byte: segment.seq,
            },
            Payload::Datagram(Datagram { number, bytes, .. }) => {
                Sent { data: *bytes > 0, retransmission: false, first_byte: *number }
            }
        };
        let from = 1 - usize::from(inflight.to);
        let opener = self.groups[group].side;
        let side = if from == OPENER { opener } else { opener.other() };
        let (sources, connections) = (&self.sources, &self.connections);
        let first = self.groups[group].first_member;
        let number = || {
            let source = match datagram {
                true => {
                    sources.iter().position(|m| m.stream == Some(Kept::new(index))).unwrap_or(0)
                        as u32
                }
                false => connections[index].source,
            };
            u64::from(source - first) + 1
        };
        let verdict =
            scripts.judge(group, side, datagram, (index, inflight.serial, from), number, packet);
        let Some(marks) = verdict else { return false };
        if !marks {
            self.recorder.scripted(self.now, false);
            self.drop_packet(id);
            return true;
        }
        let inflight = &mut self.in_flight[id];
        if inflight.ecn() != Ecn::NotEct {
            inflight.set_ecn(Ecn::Ce);
            self.recorder.scripted(self.now, true);
        }
        false
    }
}

impl Scripts {
    /// Counts a packet of the flow (index, serial number, sending end). Returns `Some(true)` if a
    /// rule marks it, `Some(false)` if a rule drops it, which takes precedence, and `None`
    /// otherwise.
    fn judge(
        &mut self,
        group: usize,
        side: Side,
        datagram: bool,
        (index, serial, from): (u32, Option<Serial>, usize),
        number: impl FnOnce() -> u64,
        packet: Sent,
    ) -> Option<bool> {
        let rules = std::mem::take(&mut self.groups[group]);
        let flow = self.flow(datagram, index, serial, number);
        let own = |rule: &&Compiled| rule.from == side;
        let named =
            |n: u64| rules.iter().filter(own).any(|r| r.rule.numbers.binary_search(&n).is_ok());
        let counts = &mut flow.directions[from];
        let (data, sent) = counts.take(packet, named);
        let mine = rules.iter().filter(own);
        let hit = mine.filter(|r| r.names(flow.number, counts, packet, data, sent));
        let verdict = hit.map(|r| r.rule.marks).min();
        self.groups[group] = rules;
        verdict
    }
}
