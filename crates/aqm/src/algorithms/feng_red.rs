//! Self-configuring RED (W. Feng, D. Kandlur, D. Saha, K. Shin, *A Self-Configuring RED Gateway*,
//! INFOCOM 1999).
//!
//! The idea in five lines. Where the average queue falls below `min_th`, RED is too aggressive:
//! `max_p` is divided by `alpha`. Where it rises above `max_th`, RED is not aggressive enough:
//! `max_p` is multiplied by `beta`. Each happens once per excursion: a state remembers whether
//! the average was last seen below, between or above the thresholds. An average equal to a
//! threshold changes nothing.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant};

use super::family::{Early, Ns, Paper, Program, Settings, Tuned, Tuner, in_packets};
use crate::by_profile::named;
use crate::{Built, Entry, Judged, Line, PerFlowState};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "feng_red",
        summary: "RED that divides max_p when the average leaves its band below, and multiplies it \
                  when it leaves above.",
        year: 1999,
        source: "Feng, Kandlur, Saha and Shin, INFOCOM 1999; profiles after ns-2.35, ns-3",
        deviations: "All: max_p stays at most 1 (neither ns-2 nor ns-3 bounds it) and positive. \
                     ns2: the state starts below (ns-2 leaves it undefined), and use_mark_p is \
                     off. ns3: the state starts above, as in ns-3, so that the first packet \
                     divides max_p; LinkBandwidth is the line's rate. ns2 and ns3 count packets \
                     and compute the gentle part of the curve once, from the first max_p.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks in the random region if ecn is on and the packet is ECN-capable; drops where the \
          signal is certain, and on overflow",
    units: "packets",
    build: &build,
};

const FACTOR: Kind = Kind::above(Unit::None, 1.0, 1e6);

const FIELDS: &[Field] = &[
    Field::new("profile", named!(in_packets::PROFILES), Value::Choice("fj93"))
        .meaning(
            "The RED underneath and the state at the start: fj93 (the 1993 paper, below), ns2 \
             (below), ns3 (above).",
        )
        .source("constructed; states: ns-3 read, fj93 and ns2 constructed"),
    in_packets::MIN_TH,
    in_packets::MAX_TH,
    in_packets::W_Q,
    Field::new("max_p", in_packets::PROBABILITY, Value::Unset)
        .meaning(
            "First value of the probability where the average reaches max_th. ns3: 0.02; others: \
             0.1.",
        )
        .source("read: ns-2.35 linterm_ 10, ns-3 LInterm 50"),
    Field::new("alpha", FACTOR, Value::Real(3.0))
        .meaning("Divisor of max_p on leaving the band below.")
        .source("read: ns-2.35, ns-3 FengAlpha"),
    Field::new("beta", FACTOR, Value::Real(2.0))
        .meaning("Factor of max_p on leaving the band above.")
        .source("read: ns-2.35, ns-3 FengBeta"),
    in_packets::GENTLE,
    in_packets::MEAN_PACKET_BYTES,
    in_packets::LIMIT,
    in_packets::ECN,
];

/// For each of [`in_packets::PROFILES`], in their order: the first `max_p`, and on which side of
/// its band the average counts as seen before the first packet.
const STARTS: [(f64, Seen); in_packets::PROFILES.len()] =
    [(0.1, Seen::Below), (0.1, Seen::Below), (0.02, Seen::Above)];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let name = params.choice("profile");
    let mut starts = in_packets::PROFILES.into_iter().zip(STARTS);
    let (base, (max_p, seen)) =
        starts.find(|(base, _)| base.name == name).expect("the choice was checked");
    let max_p = params.real_or("max_p", max_p);
    let gentle = params.switch_or("gentle", base.gentle.default(params));
    let settings = in_packets::settings(params, line, base, max_p, gentle)?;
    let (alpha, beta) = (params.real("alpha"), params.real("beta"));
    let rule = Excursions { seen, ..Excursions::new(alpha, beta) };
    Ok(match base.program {
        Program::Paper => gate(Paper::new(&settings), &settings, rule),
        _ => gate(Ns::new(&settings), &settings, rule),
    })
}

fn gate<J: Early + 'static>(mut judge: J, settings: &Settings, rule: Excursions) -> Built {
    let curve = judge.curve();
    let rule = Excursions { min: curve.min, max: curve.max, ..rule };
    let gentle_too = settings.profile.program == Program::Paper;
    let judge = Tuned::new(judge, rule, settings.max_p, gentle_too, f64::INFINITY);
    Built::Gate(Box::new(Judged::new(judge, settings.limit, settings.ecn)))
}

/// Where the average was last seen: below `min_th`, between the thresholds, or above `max_th`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Below,
    Between,
    Above,
}

/// The rule that changes `max_p` once per excursion of the average out of its band.
struct Excursions {
    min: f64,
    max: f64,
    alpha: f64,
    beta: f64,
    seen: Seen,
}

impl Excursions {
    fn new(alpha: f64, beta: f64) -> Self {
        Excursions { min: 0.0, max: 0.0, alpha, beta, seen: Seen::Below }
    }
}

impl Tuner for Excursions {
    #[inline]
    fn tune(&mut self, max_p: f64, average: f64, _now: Instant) -> Option<f64> {
        if self.min < average && average < self.max {
            self.seen = Seen::Between;
        } else if average < self.min && self.seen != Seen::Below {
            self.seen = Seen::Below;
            return Some((max_p / self.alpha).max(f64::MIN_POSITIVE));
        } else if average > self.max && self.seen != Seen::Above {
            self.seen = Seen::Above;
            return Some((max_p * self.beta).min(1.0));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seen: Seen, averages: &[f64]) -> f64 {
        let mut rule = Excursions { min: 5.0, max: 15.0, alpha: 3.0, beta: 2.0, seen };
        averages
            .iter()
            .fold(0.1, |max_p, average| rule.tune(max_p, *average, Instant::ZERO).unwrap_or(max_p))
    }

    #[test]
    fn published_changes() {
        assert!((after(Seen::Between, &[4.0]) - 0.033333).abs() < 1e-6);
        assert_eq!(after(Seen::Between, &[16.0]), 0.2);
        assert_eq!(after(Seen::Above, &[0.0]), 0.1 / 3.0, "ns-3's first packet");
        assert_eq!(after(Seen::Below, &[0.0]), 0.1);
    }

    #[test]
    fn once_per_excursion_and_never_on_a_threshold() {
        assert_eq!(after(Seen::Between, &[16.0, 17.0, 15.0, 16.0]), 0.2);
        assert_eq!(after(Seen::Between, &[16.0, 10.0, 16.0]), 0.4);
        assert_eq!(after(Seen::Between, &[5.0, 15.0]), 0.1);
        // An average that jumps from above `max_th` to below `min_th` divides `max_p` once.
        assert_eq!(after(Seen::Between, &[16.0, 4.0, 3.0]), 0.2 / 3.0);
    }

    #[test]
    fn bounded_above_and_below() {
        let swing: Vec<f64> = [16.0, 10.0].repeat(9);
        assert_eq!(after(Seen::Between, &swing), 1.0);
        let swing: Vec<f64> = [4.0, 10.0].repeat(900);
        assert!(after(Seen::Between, &swing) > 0.0);
    }
}
