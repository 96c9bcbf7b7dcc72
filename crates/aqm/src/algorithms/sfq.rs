//! Stochastic fairness queueing (P. E. McKenney, *Stochastic Fairness Queueing*, INFOCOM 1990),
//! with the byte-wise turns of Linux `sch_sfq`.
//!
//! The idea in five lines. Per-flow queueing needs a table of flows; a hash into a fixed number
//! of queues needs none, and gives almost every flow a queue of its own if there are several
//! times as many queues as flows. Queues are served in turn. They share one buffer, and an
//! arrival that finds it full steals room from the longest queue, which loses its last packet.
//! Flows that collide share one flow's share: the price of having no table.

mod linux;

use alloc::boxed::Box;
use alloc::format;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use self::linux::{Settings, Sfq};
use crate::buffer::LIMIT;
use crate::shells::flows::{HASH_SEED, hash_seed};
use crate::shells::rounds::{Buffer, Rounds, Victim};
use crate::{Built, Entry, Line, PerFlowState, Table};

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "sfq",
        summary: "Serves hashed flows in turn; a full buffer drops from the longest queue.",
        year: 1990,
        source: "McKenney, INFOCOM 1990; defaults of Linux sch_sfq",
        deviations: "Profile paper has the turns of deficit round robin (McKenney: one packet each), no \
                     limit per queue or of flows, and among equally long queues the first in turn \
                     loses. Profile linux has the kernel's turns, limits and victims. In both the \
                     hash is never changed while the queue runs (Linux: perturb, off by default), \
                     and there is no RED in the queues.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Queues,
    tables: &[Table { rows: &[("queues", 1_024)], row: 160 }],
    ecn: "never marks",
    units: "packets; turns in bytes",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["paper", "linux"]), Value::Choice("paper"))
        .meaning(
            "Whose turns and victims: paper (with turns in bytes), linux (a queue may overdraw its \
             turn by a packet; of equally long ones the one loses that came to its length last).",
        )
        .source("constructed"),
    Field::new("limit", LIMIT, Value::Whole(127))
        .meaning("Packets that may wait in all queues together.")
        .source("read: Linux sch_sfq SFQ_MAX_DEPTH"),
    Field::new("queues", Kind::whole(Unit::Count, 1, 65_536), Value::Whole(1024))
        .meaning("Queues that flows are hashed into.")
        .source("read: Linux sch_sfq SFQ_DEFAULT_HASH_DIVISOR"),
    Field::new("quantum", Kind::whole(Unit::Bytes, 256, 1_000_000), Value::Whole(1514))
        .meaning("Bytes that a queue may send in each turn.")
        .source("read: Linux sch_sfq, psched_mtu on Ethernet"),
    Field::new("head_drop", Kind::Switch, Value::Switch(false))
        .meaning("Whether the longest queue loses its first packet, and not its last.")
        .source("read: Linux sch_sfq headdrop"),
    Field::new("depth", Kind::whole(Unit::Packets, 1, 127), Value::Unset)
        .meaning("Packets that may wait in one queue. Only with profile linux; 127 there.")
        .source("read: Linux sch_sfq SFQ_MAX_DEPTH"),
    Field::new("flows", Kind::whole(Unit::Count, 1, 65_408), Value::Unset)
        .meaning(
            "Queues that may hold packets, no more than limit; arrivals for others are lost. Only \
             with profile linux; 128 there.",
        )
        .source("read: Linux sch_sfq SFQ_DEFAULT_FLOWS, SFQ_MAX_FLOWS"),
    HASH_SEED,
];

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    match params.choice("profile") {
        "linux" => Ok(build_linux(params)),
        _ => build_paper(params),
    }
}

fn build_linux(params: &Params) -> Built {
    let limit = params.whole("limit");
    let settings = Settings {
        limit: limit as u32,
        depth: params.whole_or("depth", 127) as u32,
        flows: params.whole_or("flows", limit.min(128)).min(limit) as u32,
        quantum: params.whole("quantum") as i64,
        front: params.switch("head_drop"),
        seed: hash_seed(params),
    };
    Built::Discipline(Box::new(Sfq::new(params.whole("queues") as usize, settings)))
}

fn build_paper(params: &Params) -> Result<Built, BadParams> {
    for name in ["depth", "flows"] {
        if params.given(name) {
            let value = params.written(name);
            let why = format!(
                "{value} is not possible here: only profile \"linux\" has it; leave it out"
            );
            return Err(BadParams::new(name, why));
        }
    }
    let buffer = Buffer {
        limit: params.whole("limit"),
        in_bytes: false,
        victim: Victim::Longest,
        front: params.switch("head_drop"),
    };
    let (queues, seed) = (params.whole("queues") as usize, hash_seed(params));
    Ok(Built::Discipline(Box::new(Rounds::hashed(queues, seed, params.whole("quantum"), buffer))))
}

#[cfg(test)]
mod tests;
