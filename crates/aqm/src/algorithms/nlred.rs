//! Nonlinear RED (K. Zhou, K. L. Yeung, V. O. K. Li, *Nonlinear RED: A simple yet efficient active
//! queue management scheme*, Computer Networks 50(18), 2006).
//!
//! The idea in five lines. Between its thresholds RED's probability grows in proportion to the
//! average queue; here it grows with the square of the way from `min_th` to `max_th`. Under a light
//! load it is gentler than RED, under a heavy one more aggressive. It ends at 1.5 `max_p`, where the
//! area under the curve, and so the mean probability over the band, is RED's. All else is RED.
//!
//! | profile | RED underneath | differs |
//! |---|---|---|
//! | `fj93` | the 1993 paper's | every packet is signalled from `max_th` on |
//! | `ns3` | ns-3's | gentle: from `max_th` on the probability grows from `max_p`, below what it was |

use alloc::boxed::Box;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};

use super::family::{Early, FJ93, NS3, Ns, Paper, Program, Settings, in_packets, named};
use crate::{Built, Entry, Judged, Line, PerFlowState};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "nlred",
        summary: "RED whose probability grows with the square of the average queue.",
        year: 2006,
        source: "Zhou, Yeung and Li, Computer Networks 50(18), 2006 (recalled); profile ns3 after \
                 ns-3's RedQueueDisc with NLRED (read)",
        deviations: "fj93: as profile fj93 of plain RED. ns3: LinkBandwidth is the line's rate. \
                     Both count packets. The probability is at most 1, where 1.5 max_p is more.",
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
    Field::new("profile", Kind::Choice(&[FJ93.name, NS3.name]), Value::Choice("fj93"))
        .meaning("The RED underneath: fj93 (the 1993 paper), ns3.")
        .source("constructed"),
    in_packets::MIN_TH,
    Field {
        meaning: "Average queue at which the probability reaches 1.5 max_p.",
        ..in_packets::MAX_TH
    },
    in_packets::W_Q,
    Field::new("max_p", in_packets::PROBABILITY, Value::Unset)
        .meaning(
            "max_p of the RED with the same mean probability over the band. ns3: 0.02; fj93: 0.1.",
        )
        .source("Zhou et al. 2006 (recalled); read: ns-3 LInterm 50"),
    in_packets::GENTLE,
    in_packets::MEAN_PACKET_BYTES,
    in_packets::LIMIT,
    in_packets::ECN,
];

/// Factor on `max_p` that makes the area under the square equal to that under RED's line: 1/2
/// over 1/3.
const SAME_AREA: f64 = 1.5;

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let profile = named(params.choice("profile"));
    let paper = profile.program == Program::Paper;
    let max_p = params.real_or("max_p", if paper { 0.1 } else { 0.02 });
    let gentle = params.switch_or("gentle", profile.gentle.default(params));
    let settings = in_packets::settings(params, line, profile, max_p, gentle)?;
    Ok(if paper {
        gate(Paper::new(&settings), &settings)
    } else {
        gate(Ns::new(&settings), &settings)
    })
}

fn gate(mut judge: impl Early + 'static, settings: &Settings) -> Built {
    let curve = judge.curve();
    *curve = curve.squared(SAME_AREA * settings.max_p);
    Built::Gate(Box::new(Judged::new(judge, settings.limit, settings.ecn)))
}
