//! Traffic learned from a capture, played again: as it was, or resampled at another load.
//!
//! The a-b-t model of F. Hernández-Campos, K. Jeffay and F. D. Smith, replayed as Tmix does: M. C.
//! Weigle, P. Adurthi, F. Hernández-Campos, K. Jeffay and F. D. Smith, *Tmix: a tool for generating
//! realistic TCP application workloads in ns-2*, ACM CCR 36(3), 2006. [`recording`] is what was
//! learned, [`schedule`] when connections start, [`player`] plays them.

pub mod player;
pub mod recording;
pub mod schedule;

use std::sync::Arc;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::entry::{Entry, Group, Population, RATE, USERS};
use crate::web::load::ip_bytes_of_reply;

use player::{Player, RoundTrips};
use recording::{Ecn, Recording, Vector};
use schedule::{Gaps, Plan, Schedule};

/// The entry for replayed connections in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "replay",
        summary: "Connections learned from a capture (`aqmlab learn`), replayed or resampled.",
        year: 2006,
        source: "M. C. Weigle et al., Tmix: a tool for generating realistic TCP application workloads in \
                 ns-2, ACM CCR 36(3), 2006; a-b-t model of Hernández-Campos, Jeffay and Smith",
        deviations: "The opener closes, when all has arrived; an abort is replayed as an orderly end, \
                     a connection whose end was not seen stays open. Windows and segment sizes are the \
                     end system's, not the recorded ones. Concurrent connections keep their causality \
                     (what had arrived before each write), at the opener in whole units of the \
                     acceptor; Tmix has two independent sides.",
        fields: FIELDS,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

static FIELDS: &[Field] = &[
    Field::new("model", Kind::File, Value::Unset)
        .meaning("The file that `aqmlab learn` has written (docs/learned-models.md).")
        .source("required"),
    Field::new("mode", Kind::Choice(&["replay", "resample"]), Value::Choice("replay"))
        .meaning(
            "replay: connections start at their recorded times, all stretched by one factor, and \
                  end when the recording does; resample: connections are drawn from the recording \
                  with replacement, for as long as the run lasts.",
        )
        .source(
            "Tmix; constructed: resample (the Common TCP Evaluation Suite shuffles its traces)",
        ),
    Field::new("connections_per_s", Kind::from(Unit::None, 1e-6, 1e6), Value::Unset)
        .meaning(
            "New connections per second, on average; or give a load, or scale. If not given, as \
                  many as recorded.",
        )
        .source("the recording"),
    Field::new("scale", Kind::from(Unit::None, 1e-6, 1e6), Value::Unset)
        .meaning(
            "Factor on the recorded times of starts, or on the gaps of resampled ones: 2 is half \
                  the load.",
        )
        .source("Tmix"),
    Field::new("arrivals", Kind::Choice(&["poisson", "recorded"]), Value::Choice("poisson"))
        .meaning(
            "Gaps between resampled connections: poisson (exponential) or recorded (those behind \
                  the drawn connections).",
        )
        .source("constructed"),
    Field::new("block", Kind::whole(Unit::Count, 1, 1_000_000), Value::Whole(1))
        .meaning(
            "How many neighbours in the recording are drawn together; 1 draws each by itself. \
                  With recorded gaps long blocks keep bursts of arrivals.",
        )
        .source("circular block bootstrap (D. Politis and J. Romano, 1992); constructed: 1"),
    Field::new("distances", Kind::Choice(&["recorded", "scenario"]), Value::Choice("recorded"))
        .meaning(
            "Round-trip times of connections: recorded (each its least one, where none was seen \
                  another connection's) or scenario.",
        )
        .source("Tmix"),
    Field::new("openers", Kind::Choice(&["all", "0", "1"]), Value::Choice("all"))
        .meaning(
            "Which connections: all, or those begun on side 0 or 1 of the captured link. Give a \
                  group on each side of the link its part to have both directions.",
        )
        .source("constructed"),
    Field::new(
        "agreed_ecn",
        Kind::Choice(&["all", "none", "classic", "accurate"]),
        Value::Choice("all"),
    )
    .meaning(
        "Which connections by what their hosts agreed on: all, those without ECN, with ECN \
                  (RFC 3168), or with accurate ECN (RFC 9768). Give each a group whose tcp agrees \
                  on it.",
    )
    .source("constructed"),
];

/// Builds one player for each source.
///
/// # Errors
/// If a side has no machine, the recording is missing or damaged, or parameters contradict each
/// other.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("connections")?;
    let recording = Arc::new(recorded(params)?);
    let scale = scale(params, &recording)?;
    let plan = match params.choice("mode") {
        "replay" => Plan::Replay,
        _ => Plan::Resample {
            gaps: if params.choice("arrivals") == "poisson" {
                Gaps::Poisson
            } else {
                Gaps::Recorded
            },
            block: params.whole("block") as u32,
        },
    };
    let from_recording = params.choice("distances") == "recorded";
    let machines = [group.machines, group.peers];
    let estimate = ip_bytes_per_connection(&recording);
    let (group, sources) = (group.clone(), group.sources);
    let player = move |i| {
        let stream = |of| group.stream(of, i);
        let schedule = Schedule::new(Arc::clone(&recording), plan.clone(), scale, stream("start"));
        let known = RoundTrips::of(&recording, stream("distance")).filter(|_| from_recording);
        Player::new(Arc::clone(&recording), schedule, known, machines)
    };
    Ok(Population::new(sources, player).requesting(estimate))
}

/// The part of the recording that is to be played.
fn recorded(params: &Params) -> Result<Recording, BadParams> {
    let bad = |why: String| BadParams::new("model", why);
    let Some([file, text]) = params.content("model") else {
        return Err(bad("is missing; give the file that `aqmlab learn` has written".into()));
    };
    let mut all = Recording::parse(text)
        .map_err(|why| bad(format!("{file}, {why}; write it again with `aqmlab learn`")))?;
    let side = match params.choice("openers") {
        "0" => Some(0),
        "1" => Some(1),
        _ => None,
    };
    if side.is_some() {
        all.connections.retain(|connection| connection.side == side);
    }
    if all.connections.is_empty() {
        let why = format!("{file} has no connection begun on that side; write \"all\"");
        return Err(BadParams::new("openers", why));
    }
    let agreed = match params.choice("agreed_ecn") {
        "none" => Some(Ecn::None),
        "classic" => Some(Ecn::Classic),
        "accurate" => Some(Ecn::Accurate),
        _ => None,
    };
    if agreed.is_some() {
        all.connections.retain(|connection| Some(connection.ecn) == agreed);
    }
    if all.connections.is_empty() {
        let why = format!("{file} has no such connection; write \"all\"");
        return Err(BadParams::new("agreed_ecn", why));
    }
    Ok(all)
}

/// The factor by which times of starts and gaps are stretched.
fn scale(params: &Params, recording: &Recording) -> Result<f64, BadParams> {
    let (rate, scale) = (params.real_or(RATE, 0.0), params.real_or("scale", 0.0));
    if rate > 0.0 && scale > 0.0 {
        let why = format!("is given beside {RATE}, which is turned into it; give one of them");
        return Err(BadParams::new("scale", why));
    }
    let recorded = recording.connections.len() as f64 / recording.duration.secs_f64();
    if !recorded.is_finite() && (rate > 0.0 || params.choice("mode") == "resample") {
        let why = "the recording lasts no time, so that nothing follows from it; capture longer";
        return Err(BadParams::new("model", why));
    }
    Ok(match (rate > 0.0, scale > 0.0) {
        (true, _) => recorded / rate,
        (_, true) => scale,
        _ => 1.0,
    })
}

/// Mean IP bytes that the acceptor of a connection sends if nothing is lost.
fn ip_bytes_per_connection(recording: &Recording) -> f64 {
    let empty = ip_bytes_of_reply(0);
    let sum = |sizes: &mut dyn Iterator<Item = u64>| -> u64 {
        // Handshake and end count once, and for each write the headers of its segments.
        empty + sizes.map(|bytes| bytes + 40 * bytes.div_ceil(1_460)).sum::<u64>()
    };
    let of = |vector: &Vector| match vector {
        Vector::Sequential(epochs) => sum(&mut epochs.iter().map(|epoch| epoch.response)),
        Vector::Concurrent([_, acceptor]) => sum(&mut acceptor.iter().map(|unit| unit.bytes)),
    };
    let total: u64 = recording.connections.iter().map(|connection| of(&connection.vector)).sum();
    total as f64 / recording.connections.len() as f64
}
