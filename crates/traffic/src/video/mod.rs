//! Adaptive video over HTTP: players that fetch segments of a video and choose their bit rate.
//!
//! [`Player`] is one viewer; `choice` holds the algorithms that choose, `playback_buffer` the
//! playback buffer and its measures, `ladder` the bit rates on offer.

mod choice;
mod ladder;
mod playback_buffer;
mod player;

use std::sync::Arc;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration};

pub use self::player::Player;

use self::choice::Rule;
use self::player::Settings;
use crate::distribution::read_or;
use crate::entry::{Entry, Group, Population};
use crate::web::fields::always;

/// The entry for video players in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "video",
        summary: "Viewers of adaptive video over HTTP: a playback buffer, a choice of bit rates, stalls.",
        year: 2014,
        source: "T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell and M. Watson, A buffer-based approach \
                 to rate adaptation, SIGCOMM 2014; X. Yin et al., A control-theoretic approach for \
                 dynamic adaptive video streaming over HTTP, SIGCOMM 2015; K. Spiteri, R. Urgaonkar and \
                 R. Sitaraman, BOLA, INFOCOM 2016 (all recalled)",
        deviations: "Sound and picture are one segment; no manifest is fetched first. BBA-0's buffer of \
                     240 s is scaled to max_buffer. The first segment's throughput includes the \
                     handshake. After a failed connection a player waits 1 s and opens another.",
        fields: FIELDS,
    },
    noun: ["video viewer", "video viewers"],
    fetches: true,
    datagrams: false,
    build,
};

const SPAN: Kind = Kind::Real { unit: Unit::Time, min: 0.0, max: 3_600.0, open: true };

static FIELDS: &[Field] = &[
    Field::new("abr", Kind::Choice(&["bba-0", "rate", "bola"]), Value::Choice("bba-0"))
        .meaning(
            "How the bit rate is chosen: bba-0 (by the buffer), rate (the harmonic mean of the \
                  last five segments' throughputs) or bola (BOLA-BASIC).",
        )
        .source("Huang et al., 2014; Yin et al., 2015 (RB); Spiteri et al., 2016"),
    Field::new("ladder", Kind::Choice(ladder::NAMES), Value::Choice("netflix"))
        .meaning(
            "Bit rates on offer: netflix (235 kbit/s to 5.8 Mbit/s in ten steps), apple (145 \
                  kbit/s to 7.8 Mbit/s in nine) or pensieve (300 kbit/s to 4.3 Mbit/s in six).",
        )
        .source(
            "Netflix, Per-title encode optimization, 2015; Apple, HLS authoring specification, \
                 H.264 (recalled); Mao et al., Pensieve, 2017 (recalled)",
        ),
    Field::new("segment", SPAN, Value::Real(4.0))
        .meaning("Length of a segment.")
        .source("Huang et al., 2014: 4 s"),
    Field::new("size_factor", Kind::Distribution { unit: Unit::None }, Value::Unset)
        .meaning(
            "Factor on the size of each segment, which is else bit rate times length: a \
                  distribution with mean 1 for a variable bit rate; if not given, 1.",
        )
        .source("constructed"),
    Field::new("startup", SPAN, Value::Real(4.0))
        .meaning("In the buffer before the picture moves, at first and after a stall.")
        .source("constructed: one segment"),
    Field::new("max_buffer", SPAN, Value::Real(60.0))
        .meaning("Most that is kept in the buffer: a player requests a segment when there is room for it.")
        .source("constructed; Huang et al., 2014, had 240 s"),
    Field::new("reservoir", Kind::from(Unit::None, 0.0, 0.9), Value::Real(0.375))
        .meaning("Of bba-0: share of max_buffer up to which the lowest bit rate is chosen.")
        .source("Huang et al., 2014: 90 s of 240 s"),
    Field::new("upper", Kind::above(Unit::None, 0.0, 1.0), Value::Real(0.9))
        .meaning(
            "Of bba-0: share of max_buffer from which the highest bit rate is chosen; at most \
                  all but a segment, above which a player does not ask.",
        )
        .source("Huang et al., 2014: 216 s of 240 s"),
    Field::new("gamma_p", Kind::above(Unit::None, 0.0, 1e3), Value::Real(5.0))
        .meaning("Of bola: weight of a full buffer against the bit rate.")
        .source("Spiteri et al., 2016 (recalled)"),
    Field::new("request", Kind::whole(Unit::Bytes, 1, 1 << 20), Value::Whole(300))
        .meaning("Size of a request.")
        .source("constructed"),
    Field::new("start_within", Kind::from(Unit::Time, 0.0, 86_400.0), Value::Real(10.0))
        .meaning(
            "Each viewer begins at an instant drawn uniformly from this first part of the run.",
        )
        .source("constructed"),
    Field::new("lasts", Kind::above(Unit::Time, 0.0, 1e9), Value::Unset)
        .meaning("How long each viewer stays; if not given, to the end of the run.")
        .source("constructed"),
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("viewers and servers")?;
    let settings = Arc::new(settings(params)?);
    let within = params.real("start_within");
    let group = group.clone();
    Ok(Population::new(group.sources, move |i| {
        let starts_after = Duration::from_secs_f64(within * group.stream("start", i).uniform());
        Player::new(Arc::clone(&settings), group.peer_of(i), starts_after, group.stream("sizes", i))
    }))
}

fn settings(params: &Params) -> Result<Settings, BadParams> {
    let [segment, startup, most] = ["segment", "startup", "max_buffer"].map(|f| params.time(f));
    // The picture must be able to start with the whole segments that may be in the buffer.
    if startup > segment * (most.nanos() / segment.nanos()) {
        let why = "has no room for what startup needs in whole segments; make it larger";
        return Err(BadParams::new("max_buffer", why));
    }
    let share = |field: &str| params.real(field) * most.secs_f64();
    // A player requests a segment only when its buffer has room for it.
    let (reservoir, upper) = (share("reservoir"), share("upper").min((most - segment).secs_f64()));
    if upper <= reservoir {
        let why = "leaves nothing above reservoir; make it or max_buffer larger";
        return Err(BadParams::new("upper", why));
    }
    let rule = match params.choice("abr") {
        "rate" => Rule::Throughput,
        "bola" => Rule::Bola {
            most: most.secs_f64() / segment.secs_f64(),
            gamma_p: params.real("gamma_p"),
        },
        _ => Rule::Buffer { reservoir, upper },
    };
    let factor = read_or(params, "size_factor", Unit::None, always(1.0))?;
    let lasts = params.given("lasts").then(|| params.time("lasts"));
    let ladder = ladder::rates(params.choice("ladder"));
    let request = params.whole("request");
    Ok(Settings { ladder, rule, segment, startup, most, request, factor, lasts })
}
