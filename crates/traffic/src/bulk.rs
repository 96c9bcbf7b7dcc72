//! Bulk senders with one connection each, which send as much as the network carries.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration};

use crate::entry::{Entry, Group, Population};
use crate::{Action, App, AppCx, Closes, Input};

/// Number of the only connection of a bulk sender.
const CONN: u32 = 0;

/// Opens one connection and sends without a reply, endlessly or a given number of bytes. A failed
/// connection is not tried again.
#[derive(Debug)]
pub struct Bulk {
    peer: u32,
    starts_after: Duration,
    bytes: u64,
    lasts: Option<Duration>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Sending,
    /// The sender was stopped, or its connection has failed.
    Over,
}

impl Bulk {
    /// A sender to machine `peer` that begins `starts_after` after the run's start. With `bytes` of
    /// [`u64::MAX`] it never ends, unless it stops after `lasts`.
    pub fn new(peer: u32, starts_after: Duration, bytes: u64, lasts: Option<Duration>) -> Self {
        Bulk { peer, starts_after, bytes, lasts, stage: Stage::Waiting }
    }

    fn send(&mut self, cx: &mut AppCx) {
        self.stage = Stage::Sending;
        (cx.act)(Action::Open { conn: CONN, peer: self.peer, closes: Closes::Opener });
        (cx.act)(Action::Send {
            conn: CONN,
            bytes: self.bytes,
            reply_bytes: 0,
            service: Duration::ZERO,
        });
        if self.bytes != u64::MAX {
            (cx.act)(Action::Close { conn: CONN });
        } else if let Some(lasts) = self.lasts {
            (cx.act)(Action::WakeAt(cx.now + lasts));
        }
    }
}

impl App for Bulk {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => (cx.act)(Action::WakeAt(cx.now + self.starts_after)),
            Input::Woke if self.stage == Stage::Waiting => self.send(cx),
            Input::Woke if self.stage == Stage::Sending => {
                self.stage = Stage::Over;
                (cx.act)(Action::Stop { conn: CONN });
            }
            Input::Failed { .. } => self.stage = Stage::Over,
            _ => {}
        }
    }
}

/// The entry for bulk senders in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "bulk",
        summary: "Senders with one connection each that always have data.",
        year: 1993,
        source: "The FTP sources of S. Floyd and V. Jacobson, Random early detection gateways for \
                 congestion avoidance, 1993 (recalled)",
        deviations: "Start instants are random within a window, so that flows do not start in step.",
        fields: FIELDS,
    },
    noun: ["long flow", "long flows"],
    fetches: false,
    datagrams: false,
    build,
};

/// The parameters of a group of bulk senders.
static FIELDS: &[Field] = &[
    Field::new("start", Kind::from(Unit::Time, 0.0, 1e9), Value::Real(0.0))
        .meaning("When the first flow may start.")
        .source("constructed"),
    Field::new("start_within", Kind::from(Unit::Time, 0.0, 86_400.0), Value::Real(1.0))
        .meaning("Each flow starts at an instant drawn uniformly from this long after start.")
        .source("constructed: avoids a synchronised start"),
    Field::new("bytes", Kind::whole(Unit::Bytes, 1, 1 << 53), Value::Unset)
        .meaning("How many bytes each flow sends; if not given, it never ends, or lasts.")
        .source("constructed"),
    Field::new("lasts", Kind::above(Unit::Time, 0.0, 1e9), Value::Unset)
        .meaning(
            "How long each flow goes on that has no end by bytes; if not given, to the end of \
             the run.",
        )
        .source("constructed"),
];

/// Builds the flows of a group.
///
/// # Errors
/// If either side has no machine.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("bulk senders")?;
    if params.given("bytes") && params.given("lasts") {
        let why = "a flow ends by its bytes or after a time; leave bytes or lasts out";
        return Err(BadParams::new("lasts", why));
    }
    let (window, bytes) = (params.real("start_within"), params.whole("bytes"));
    let first = params.real("start");
    let lasts = params.given("lasts").then(|| params.time("lasts"));
    let group = group.clone();
    Ok(Population::new(group.sources, move |i| {
        let start = first + window * group.stream("start", i).uniform();
        Bulk::new(group.peer_of(i), Duration::from_secs_f64(start), bytes, lasts)
    }))
}
