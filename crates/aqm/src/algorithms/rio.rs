//! RIO, RED with In and Out (D. Clark, W. Fang, *Explicit Allocation of Best-Effort Packet
//! Delivery Service*, IEEE/ACM Transactions on Networking 6(4), 1998).
//!
//! The idea in five lines. Packets within a customer's profile are tagged In, the others Out, and
//! both wait in one queue. In packets are signalled by the average number of In packets, Out
//! packets by the average of all, with lower thresholds and a higher probability: when the queue
//! grows, Out packets are dropped first, and as long as In traffic alone does not fill the link, In
//! packets are hardly dropped.
//!
//! | profile | algorithm |
//! |---|---|
//! | `paper` | [`in_out`]: each average has its own idle clock; In arrivals update both averages, Out arrivals that of all |
//! | `ns2` | [`in_out`] with the defects of ns-2.35: Out arrivals update no average, and one idle clock serves two flags |
//! | `altq` | [`altq`]: three drop precedences in ALTQ's integers |

mod altq;
pub(crate) mod in_out;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant, Packet};

use crate::buffer::{LIMIT, PACKET_BYTES, PACKETS, PROBABILITY};

use super::family::{ALTQ, Altq, Ns, Settings};
use crate::shells::classes::ClassFifo;
use crate::{Built, Entry, Line, PerFlowState};
use altq::{Precedences, STATES};
use in_out::{InOut, Tagger, in_and_out, settings};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "rio",
        summary: "RED that distinguishes In packets from Out packets and drops Out packets first.",
        year: 1998,
        source: "Clark and Fang, IEEE/ACM ToN 6(4), 1998; profiles after ns-2.35, ALTQ",
        deviations: "Packets carry no tag, so a flow's class is flow number modulo classes. paper: \
                     the random test, the guard against acting on at most one packet and the \
                     spacing are ns-2's. ns2: the arrival is the victim of every drop; not gentle, \
                     packets only; the idle clock's packet is mean_packet_bytes at the line's \
                     rate. altq: 64-bit integers; RED as in profile altq of plain RED.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "paper, ns2: marks below the class's max_th if ecn is on and the packet is ECN-capable; \
          drops above it and on overflow. altq: never marks",
    units: "packets",
    build: &build,
};

const COUNT: Kind = Kind::whole(Unit::Count, 0, 1_000_000);

/// A parameter whose default depends on the profile.
const fn by_profile(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
    Field::new(name, kind, Value::Unset)
        .meaning(meaning)
        .source("read: ns-2.35 (also for paper), ALTQ")
}

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["paper", "ns2", "altq"]), Value::Choice("paper"))
        .meaning(
            "The implementation to follow: paper (averages as published), ns2, altq (three drop \
             precedences).",
        )
        .source("constructed"),
    Field::new("classes", Kind::whole(Unit::Count, 1, 1_000_000), Value::Unset)
        .meaning(
            "How many classes the flows are spread over: class = flow number modulo classes. 2; \
             altq: 3.",
        )
        .source("constructed"),
    Field::new("in_classes", COUNT, Value::Whole(1))
        .meaning("How many of the classes, from 0 on, are In (altq: of low drop precedence).")
        .source("constructed"),
    Field::new("medium_classes", COUNT, Value::Unset)
        .meaning(
            "altq only: how many of the classes after those are of medium drop precedence. 1; the \
             others are of high.",
        )
        .source("constructed"),
    by_profile(
        "in_min_th",
        PACKETS,
        "Average of In packets below which every In packet passes. paper, ns2: 15; altq: 35.",
    ),
    by_profile(
        "in_max_th",
        PACKETS,
        "Average of In packets from which every In packet is dropped. paper, ns2: 30; altq: 45.",
    ),
    by_profile(
        "in_max_p",
        PROBABILITY,
        "Probability of a signal to an In packet at in_max_th. paper, ns2: 0.02; altq: 0.1.",
    ),
    by_profile(
        "medium_min_th",
        PACKETS,
        "altq only: the threshold of packets of medium drop precedence. 20.",
    ),
    by_profile("medium_max_th", PACKETS, "altq only: their upper threshold. 30."),
    by_profile("medium_max_p", PROBABILITY, "altq only: their probability. 0.1."),
    by_profile(
        "out_min_th",
        PACKETS,
        "Average of all packets below which every Out packet passes. 5.",
    ),
    by_profile(
        "out_max_th",
        PACKETS,
        "Average of all packets from which every Out packet is dropped. 15.",
    ),
    by_profile(
        "out_max_p",
        PROBABILITY,
        "Probability of a signal to an Out packet at out_max_th. 0.1.",
    ),
    by_profile(
        "w_q",
        PROBABILITY,
        "Weight of the newest sample in the averages. paper, ns2: 0.002; altq, a power of two: \
         1/512.",
    ),
    by_profile(
        "mean_packet_bytes",
        PACKET_BYTES,
        "The packet of the idle clock, at the line's rate. paper, ns2: 500; altq: 1000 at 10 \
         Mbit/s, unless given.",
    ),
    by_profile("limit", LIMIT, "Packets that may wait. paper, ns2: 50; altq: 60."),
    Field::new("ecn", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether ECN-capable packets are marked where others are dropped by a signal; \
             impossible in altq.",
        )
        .source("read: ns-2.35 setbit_"),
];

/// Number of classes of flows, and how many of them are In or of medium drop precedence.
#[derive(Clone, Copy, Debug)]
struct Classes {
    all: u64,
    ins: u64,
    medium: u64,
}

impl Classes {
    fn read(params: &Params, altq: bool) -> Result<Self, BadParams> {
        let all = params.whole_or("classes", if altq { 3 } else { 2 });
        let medium = params.whole_or("medium_classes", u64::from(altq));
        let ins = params.whole("in_classes");
        if ins + medium <= all || !(params.given("in_classes") || params.given("medium_classes")) {
            // Default numbers of In and medium classes are cut to the classes that exist.
            let ins = ins.min(all);
            let medium = medium.min(all - ins);
            params.settle("in_classes", Value::Whole(ins));
            params.settle("medium_classes", if altq { Value::Whole(medium) } else { Value::Unset });
            return Ok(Classes { all, ins, medium });
        }
        let why = format!(
            "{ins} and medium_classes = {medium} are more than classes = {all}: each class is In, \
             medium or Out; make their sum at most {all}"
        );
        Err(BadParams::new("in_classes", why))
    }

    fn of(&self, packet: &Packet) -> (bool, bool) {
        let class = packet.flow % self.all;
        (class < self.ins, class < self.ins + self.medium)
    }
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let profile = params.choice("profile");
    let altq = profile == "altq";
    refuse_what_has_no_effect(params, altq)?;
    let classes = Classes::read(params, altq)?;
    let limit = params.whole_or("limit", if altq { 60 } else { 50 });
    let ecn = params.switch("ecn");
    Ok(Built::Discipline(if altq {
        let states = precedences(params, line)?;
        Box::new(ClassFifo::new(Precedences::new(states, classes, limit), false))
    } else {
        let ns2 = profile == "ns2";
        let [ins, out] = in_and_out(params, line)?;
        let ins = Ns::new(&ins);
        // In ns-2 a certain drop clears the count of In packets, but not that of Out packets.
        let out = Ns::new(&Settings { ns1_compat: ns2, ..out });
        Box::new(ClassFifo::new(InOut::new(classes, ins, out, ns2, limit), ecn))
    }))
}

fn refuse_what_has_no_effect(params: &Params, altq: bool) -> Result<(), BadParams> {
    let refuse = |field: &str, why: &str| {
        let value = params.written(field);
        Err(BadParams::new(field, format!("{value} is not possible here: {why}")))
    };
    if altq && params.switch("ecn") {
        return refuse("ecn", "ALTQ's RIO never marks; write false or leave it out");
    }
    for field in ["medium_classes", "medium_min_th", "medium_max_th", "medium_max_p"] {
        if !altq && params.given(field) {
            return refuse(
                field,
                "only profile \"altq\" has a medium drop precedence; leave it out",
            );
        }
    }
    Ok(())
}

fn precedences(params: &Params, line: &Line) -> Result<[Altq; STATES], BadParams> {
    let state = |name, default| Altq::new(&settings(params, line, &ALTQ, name, default)?);
    Ok([
        state("in", (35.0, 45.0, 0.1))?,
        state("medium", (20.0, 30.0, 0.1))?,
        state("out", (5.0, 15.0, 0.1))?,
    ])
}

impl Tagger for Classes {
    fn is_in(&mut self, packet: &Packet, _now: Instant) -> bool {
        self.of(packet).0
    }
}
