//! Fair queueing by deficit round robin with a shared buffer (M. Shreedhar, G. Varghese,
//! *Efficient Fair Queuing Using Deficit Round-Robin*, SIGCOMM 1995; B. Suter, T. V. Lakshman,
//! D. Stiliadis, A. Choudhury, *Design Considerations for Supporting TCP with Per-flow Queueing*,
//! INFOCOM 1998).
//!
//! The idea in five lines. Each flow has a queue of its own; in its turn it may send a quantum of
//! bytes and what it left unused of earlier ones. All queues share one buffer. If that is
//! over-full, not the arrival is dropped but the head of the longest queue (LQD), of a queue
//! believed to be the longest (ALQD: a register with one entry), or of a random queue above its
//! equal share (RND): the flow that uses least loses least, and the sender of the victim learns of
//! the loss one queueing time earlier.
//!
//! The parameters and tie rules of the 1998 paper are not established; the state machine is ours.
//! Ties and turns follow the order of the list of active flows.

use alloc::{boxed::Box, format};

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::buffer::{BYTES, LIMIT};

use crate::shells::rounds::{Buffer, Rounds, Victim};
use crate::{Built, Entry, Line, PerFlowState};

/// The entry of `drr` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "drr",
        summary: "Serves flows in turn by bytes; a full buffer drops from the longest queue.",
        year: 1995,
        source: "Shreedhar and Varghese, SIGCOMM 1995; Suter, Lakshman, Stiliadis and Choudhury, \
                 INFOCOM 1998 (LQD, ALQD, RND)",
        deviations: "Constructed where the papers are silent: the arrival is queued before victims \
                     are chosen; among equally long queues the first in turn loses; shares are \
                     equal; an empty ALQD register falls back to LQD; a flow whose next packet its \
                     deficit does not cover goes to the end of the turn as soon as a packet \
                     leaves, before whatever arrives during its transmission. LQD and RND look at \
                     every active flow at each drop.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Queues,
    tables: &[],
    ecn: "never marks",
    units: "packets or bytes; turns in bytes",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("victim", Kind::Choice(&["lqd", "alqd", "rnd", "tail"]), Value::Choice("lqd"))
        .meaning(
            "Whose packet a full buffer drops: of the longest queue (lqd), of the queue registered \
             as the longest (alqd), of a random queue above its share (rnd), or the arrival \
             (tail).",
        )
        .source("Suter et al. 1998 (recalled)"),
    Field::new("front", Kind::Switch, Value::Switch(true))
        .meaning(
            "Whether the victim queue loses its head, and not its tail; without effect with victim \
             = tail.",
        )
        .source("Suter et al. 1998 (recalled)"),
    Field::new("quantum", Kind::whole(Unit::Bytes, 256, 1_000_000), Value::Whole(1500))
        .meaning("Bytes that a flow may send in each turn.")
        .source("Shreedhar and Varghese 1995 (recalled): at least the largest packet"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait in all queues together; then queues are compared by packets. No \
             such limit unless given.",
        )
        .source("constructed"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning(
            "IP bytes that may wait in all queues together; then queues are compared by bytes. \
             150000 unless limit is given.",
        )
        .source("constructed: 100 packets of 1500 bytes"),
];

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    if params.given("limit") && params.given("limit_bytes") {
        let bytes = params.whole("limit_bytes");
        let why = format!(
            "{bytes} cannot be combined with limit = {}: the measure of the buffer is the measure \
             of the longest queue, so there can be one only; leave one out",
            params.written("limit")
        );
        return Err(BadParams::new("limit_bytes", why));
    }
    let in_bytes = !params.given("limit");
    let buffer = Buffer {
        limit: match in_bytes {
            true => params.whole_or("limit_bytes", 150_000),
            false => params.whole("limit"),
        },
        in_bytes,
        victim: match params.choice("victim") {
            "alqd" => Victim::Registered,
            "rnd" => Victim::Random,
            "tail" => Victim::Arrival,
            _ => Victim::Longest,
        },
        front: params.switch("front"),
    };
    Ok(Built::Discipline(Box::new(Rounds::per_flow(params.whole("quantum"), buffer))))
}
