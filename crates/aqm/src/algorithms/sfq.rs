//! Stochastic fairness queueing (P. E. McKenney, *Stochastic Fairness Queueing*, INFOCOM 1990),
//! with the byte-wise turns of Linux `sch_sfq`.
//!
//! The idea in five lines. Per-flow queueing needs a table of flows; a hash into a fixed number
//! of queues needs none, and gives almost every flow a queue of its own if there are several
//! times as many queues as flows. Queues are served in turn. They share one buffer, and an
//! arrival that finds it full steals room from the longest queue, which loses its last packet.
//! Flows that collide share one flow's share: the price of having no table.

mod early;
mod linux;

use alloc::boxed::Box;
use alloc::format;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use self::linux::{Settings, Sfq};
use super::family::{self, LINUX, Law, PacketClock, plain, weight_for_burst};
use crate::buffer::{LIMIT, PACKET_BYTES, PACKETS, PROBABILITY};
use crate::shells::bypass::{BYPASS, Bypass};
use crate::shells::flows::{HASH_SEED, hash_seed};
use crate::shells::rounds::{Buffer, Rounds, Victim};
use crate::{Built, Entry, Line, PerFlowState, Table};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "sfq",
        summary: "Serves hashed flows in turn; a full buffer drops from the longest queue.",
        year: 1990,
        source: "McKenney, INFOCOM 1990; defaults of Linux sch_sfq",
        deviations: "Profile paper has the turns of deficit round robin (McKenney: one packet each), no \
                     limit per queue or of flows, and among equally long queues the first in turn \
                     loses. Profile linux has the kernel's turns, limits and victims, a hash that is drawn \
                     anew (perturb) and RED in its queues.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Queues,
    tables: &[Table { rows: &[("queues", 1_024)], row: 160 }],
    ecn: "marks only with RED in its queues (red_max_th), if red_ecn is on and the packet is ECN-capable",
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
    Field::new("perturb", Kind::from(Unit::Time, 1.0, 1e6), Value::Unset)
        .meaning(
            "How often the hash is drawn anew; what waits goes to its new queue. Only with profile linux; never \
             unless given.",
        )
        .source("read: Linux sch_sfq perturb, off by default"),
    Field::new("red_min_th", PACKETS, Value::Unset)
        .meaning(
            "Average of one queue below which RED in it leaves packets alone, in packets of red_mean_packet_bytes: a \
             third of red_max_th. Only with profile linux and red_max_th.",
        )
        .source("read: tc-sfq(8) min; iproute2 q_sfq.c"),
    Field::new("red_max_th", PACKETS, Value::Unset)
        .meaning(
            "Average from which on RED signals every packet. Without it no queue has RED. Only with profile linux.",
        )
        .source("read: tc-sfq(8) max; Linux sch_sfq qth_max"),
    Field::new("red_w_q", PROBABILITY, Value::Unset)
        .meaning(
            "Weight of RED's averages, a power of two: the largest that lets a burst of (2 red_min_th + red_max_th)/3 packets \
             pass.",
        )
        .source("read: tc-sfq(8) burst; iproute2 tc_red_eval_ewma"),
    Field::new("red_max_p", PROBABILITY, Value::Unset)
        .meaning("RED's probability just below red_max_th: 0.02.")
        .source("read: tc-sfq(8) probability"),
    Field::new("red_mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning("Size of the packets in which thresholds are written: 1,000.")
        .source("read: tc-sfq(8) avpkt"),
    Field::new("red_ecn", Kind::Switch, Value::Unset)
        .meaning(
            "Whether RED marks packets that can be marked, with head_drop the first of the queue: false.",
        )
        .source("read: tc-sfq(8) ecn"),
    Field::new("red_harddrop", Kind::Switch, Value::Unset)
        .meaning("Whether RED drops from red_max_th on what can be marked, too: false.")
        .source("read: tc-sfq(8) harddrop"),
    BYPASS,
    HASH_SEED,
];

/// Parameters that only profile `linux` has; those of RED in its queues are [`OF_RED`].
const OF_LINUX: [&str; 4] = ["depth", "flows", "perturb", "bypass"];
const OF_RED: [&str; 7] = [
    "red_max_th",
    "red_min_th",
    "red_w_q",
    "red_max_p",
    "red_mean_packet_bytes",
    "red_ecn",
    "red_harddrop",
];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    match params.choice("profile") {
        "linux" => build_linux(params, line),
        _ => build_paper(params),
    }
}

fn build_linux(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let limit = params.whole("limit");
    let settings = Settings {
        limit: limit as u32,
        depth: params.whole_or("depth", 127) as u32,
        flows: params.whole_or("flows", limit.min(128)).min(limit) as u32,
        quantum: params.whole("quantum") as i64,
        front: params.switch("head_drop"),
        seed: hash_seed(params),
        perturb: params.given("perturb").then(|| params.time("perturb")),
        early: early(params, line)?,
    };
    let bypass = Bypass::new(params.switch("bypass"));
    Ok(Built::Discipline(Box::new(Sfq::new(params.whole("queues") as usize, settings, bypass))))
}

/// Whether the user wrote the parameter called `name`, unless as a switch that is off.
fn is_set(params: &Params, name: &str) -> bool {
    params.given(name) && params.value(name) != Value::Switch(false)
}

fn refused(params: &Params, name: &str) -> BadParams {
    let value = params.written(name);
    let why = format!(
        "{value} has no effect: it is RED's in the queues, which needs red_max_th; leave it out"
    );
    BadParams::new(name, why)
}

/// RED's parameters for the queues and whether it may mark; none without `red_max_th`.
fn early(params: &Params, line: &Line) -> Result<Option<(Law, bool)>, BadParams> {
    if !params.given("red_max_th") {
        return match OF_RED.into_iter().find(|name| is_set(params, name)) {
            Some(name) => Err(refused(params, name)),
            None => Ok(None),
        };
    }
    let max_th = params.real_or("red_max_th", 0.0);
    let min_th = params.real_or("red_min_th", max_th / 3.0);
    if min_th >= max_th {
        let why =
            format!("{min_th} is not below red_max_th = {max_th}: RED needs a band between them");
        return Err(BadParams::new("red_min_th", why));
    }
    let mean = params.whole_or("red_mean_packet_bytes", 1_000) as u32;
    let w_q = params.real_or("red_w_q", weight_for_burst(min_th, max_th));
    let max_p = params.real_or("red_max_p", 0.02);
    params.settle("red_min_th", Value::Real(min_th));
    params.settle("red_mean_packet_bytes", Value::Whole(u64::from(mean)));
    params.settle("red_w_q", Value::Real(w_q));
    params.settle("red_max_p", Value::Real(max_p));
    let on = |name: &str| params.value(name) == Value::Switch(true);
    let law = Law::new(&family::Settings {
        mean_packet_bytes: mean,
        clock: PacketClock::of_line(line.rate, mean),
        harddrop: on("red_harddrop"),
        ..plain(&LINUX, (min_th, max_th), w_q, max_p)
    })
    .map_err(|bad| BadParams::new(&format!("red_{}", bad.field), bad.why))?;
    Ok(Some((law, on("red_ecn"))))
}

fn build_paper(params: &Params) -> Result<Built, BadParams> {
    let names = OF_LINUX.into_iter().chain(OF_RED);
    if let Some(name) = names.into_iter().find(|name| is_set(params, name)) {
        let value = params.written(name);
        let why =
            format!("{value} is not possible here: only profile \"linux\" has it; leave it out");
        return Err(BadParams::new(name, why));
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
