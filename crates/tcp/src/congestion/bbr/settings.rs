//! The parameters of BBR.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use super::UNIT;

pub(super) const FIELDS: &[Field] = &[
    Field::new("cwnd_gain", Kind::from(Unit::None, 0.5, 16.0), Value::Real(2.0))
        .meaning("Bandwidth-delay products in flight at most; counted in 1/256.")
        .source("bbr_cwnd_gain"),
    Field::new("bw_rounds", Kind::whole(Unit::Count, 1, 1_000), Value::Whole(10))
        .meaning("Round trips for which a delivery rate counts.")
        .source("bbr_bw_rtts"),
    Field::new("min_rtt_window", Kind::from(Unit::Time, 0.01, 10_000.0), Value::Real(10.0))
        .meaning("How long a smallest round trip counts; then ProbeRTT looks for a new one.")
        .source("bbr_min_rtt_win_sec"),
    Field::new("probe_rtt_time", Kind::from(Unit::Time, 0.001, 100.0), Value::Real(0.2))
        .meaning("The stay in ProbeRTT.")
        .source("bbr_probe_rtt_mode_ms"),
];

/// The parameters, in the integers of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub cwnd_gain: u64,
    pub bw_rounds: u64,
    pub min_rtt_ms: u64,
    pub probe_rtt_ms: u64,
}

impl Settings {
    pub fn read(params: &Params) -> Self {
        let ms = |name| params.time(name).nanos() / 1_000_000;
        Settings {
            cwnd_gain: (params.real("cwnd_gain") * UNIT as f64) as u64,
            bw_rounds: params.whole("bw_rounds"),
            min_rtt_ms: ms("min_rtt_window"),
            probe_rtt_ms: ms("probe_rtt_time"),
        }
    }
}
