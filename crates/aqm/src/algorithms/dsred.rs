//! Double-slope RED (B. Zheng, M. Atiquzzaman, *DSRED: An Active Queue Management Scheme for Next
//! Generation Networks*, LCN 2000).
//!
//! The idea in five lines. RED's line from 0 to `max_p` and its jump to 1 are replaced by two lines
//! that meet half way between the thresholds: up to there the probability grows gently, to
//! 1 - `gamma`, beyond it steeply, to 1 at the upper threshold. So it never jumps, and it answers
//! heavy congestion before the queue is full. All else is RED.

use alloc::boxed::Box;

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use crate::buffer::PROBABILITY;

use super::family::{Early, FJ93, Paper, in_packets};
use crate::{Built, Entry, Judged, Line, PerFlowState};

/// The entry of `dsred` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "dsred",
        summary: "RED with two slopes: gentle in the lower half of the band, steep in the upper \
                  one.",
        year: 2000,
        source: "Zheng and Atiquzzaman, LCN 2000 (recalled)",
        deviations: "Average, idle time and spacing of the signals are those of profile fj93 of \
                     plain RED; whether the authors spaced them is not known.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks in the random region if ecn is on and the packet is ECN-capable; drops where the \
          signal is certain, and on overflow",
    units: "packets",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field { meaning: "Average queue below which every packet passes, K_l.", ..in_packets::MIN_TH },
    Field {
        meaning: "Average queue from which on every packet is signalled, K_h; the slopes meet half \
                  way to it, at K_m.",
        ..in_packets::MAX_TH
    },
    in_packets::W_Q,
    Field::new("gamma", PROBABILITY, Value::Real(0.96))
        .meaning(
            "Share of the steep slope in the whole rise: the probability is 1 - gamma where the \
             slopes meet.",
        )
        .source("Zheng and Atiquzzaman 2000 (weakly recalled)"),
    Field {
        meaning: "The packet of the idle clock. 1000.",
        source: "constructed",
        ..in_packets::MEAN_PACKET_BYTES
    },
    in_packets::LIMIT,
    Field { source: "constructed: off", ..in_packets::ECN },
];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let settings = in_packets::settings(params, line, &FJ93, 1.0, false)?;
    let mut judge = Paper::new(&settings);
    let curve = judge.curve();
    *curve = curve.broken(params.real("gamma"));
    Ok(Built::Gate(Box::new(Judged::new(judge, settings.limit, settings.ecn))))
}
