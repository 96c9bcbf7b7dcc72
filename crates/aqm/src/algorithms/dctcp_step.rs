//! Step marking for DCTCP (M. Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010).
//!
//! The idea in five lines. An ECN-capable packet that finds `K` packets or more waiting is marked,
//! with no average and no randomness: the sender, which counts its marks, does the averaging. A
//! packet that is not ECN-capable is never signalled and meets only the limit, which starves it
//! when it competes with DCTCP; `not_ect = "drop"` signals it too, as RED with equal thresholds
//! does (ns-2's DCTCP scripts).

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Backlog, DropReason, Instant, Packet, Rng, math};

use crate::buffer::{LIMIT, PACKET_BYTES, TIME};

use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Verdict};

/// The entry of `dctcp_step` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "dctcp_step",
        summary: "Marks every ECN-capable packet that finds K packets waiting.",
        year: 2010,
        source: "Alizadeh et al., SIGCOMM 2010; ns-2.35 DCTCP script",
        deviations: "The queue is compared before the arrival is added, which equals the paper's \
                     length above K with the arrival; ns-2's scripts get there by RED with min_th \
                     = max_th = K, w_q = 1 and a changed comparison, and drop what is not \
                     ECN-capable.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks from K on; packets that are not ECN-capable are not signalled (not_ect = \"pass\") \
          or dropped (\"drop\"); drops an overflow",
    units: "packets or bytes",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("K", LIMIT, Value::Unset)
        .meaning(
            "Packets waiting from which on an arrival is marked. 65 unless given; from rtt if that \
             is given.",
        )
        .source("read: ns-2.35 DCTCP script, for 10 Gbit/s (20 at 1 Gbit/s recalled)"),
    Field::new("rtt", TIME, Value::Unset)
        .meaning(
            "Round trip from which K follows, by the rule K > C rtt/7 with C in packets of \
             mean_packet_bytes per second; not with K.",
        )
        .source("Alizadeh et al. 2010 (recalled)"),
    Field::new("units", Kind::Choice(&["packet", "byte"]), Value::Choice("packet"))
        .meaning(
            "What K and the limit count: packets, or bytes after multiplication by \
             mean_packet_bytes.",
        )
        .source("constructed; ns-2's script counts bytes"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1500))
        .meaning("Bytes of a packet in K, in the limit and in the rule for K.")
        .source("read: ns-2.35 DCTCP script"),
    Field::new("limit", LIMIT, Value::Whole(1000))
        .meaning("Packets that may wait.")
        .source("read: ns-2.35 DCTCP script"),
    Field::new("not_ect", Kind::Choice(&["pass", "drop"]), Value::Choice("pass"))
        .meaning(
            "What becomes of a packet that cannot be marked where another would be: pass or drop.",
        )
        .source("Alizadeh et al. 2010 (recalled); ns-2.35 drops"),
];

struct Step {
    /// The threshold K, in the unit in which the queue is measured.
    k: u64,
    in_bytes: bool,
    drops_not_ect: bool,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let mean = params.whole("mean_packet_bytes");
    let in_bytes = params.choice("units") == "byte";
    let unit = if in_bytes { mean } else { 1 };
    let limit = params.whole("limit");
    let limit = match in_bytes {
        true => BufferLimit::of_bytes(limit * mean, Fit::Whole),
        false => BufferLimit::of_packets(limit as u32, Fit::Whole),
    };
    let k = threshold(params, line, mean)?;
    let drops_not_ect = params.choice("not_ect") == "drop";
    Ok(Built::Gate(Box::new(Judged::new(
        Step { k: k * unit, in_bytes, drops_not_ect },
        limit,
        true,
    ))))
}

/// The threshold K in packets, given or computed from `rtt`.
fn threshold(params: &Params, line: &Line, mean: u64) -> Result<u64, BadParams> {
    if !params.given("rtt") {
        return Ok(params.whole_or("K", 65));
    }
    if params.given("K") {
        let rtt = params.written("rtt");
        let why = format!("{rtt} only sets K, which is given; leave out one of the two");
        return Err(BadParams::new("rtt", why));
    }
    let packets = line.rate.bytes_per_s() * params.real("rtt") / 7.0 / mean as f64;
    let k = math::floor(packets) as u64 + 1;
    params.settle("K", Value::Whole(k));
    params.ignore("rtt");
    Ok(k)
}

impl Aqm for Step {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        _now: Instant,
        _rng: &mut Rng,
    ) -> Verdict {
        let queue = if self.in_bytes { backlog.bytes } else { u64::from(backlog.packets) };
        // The algorithm reads the ECN field itself: the step applies to ECN-capable packets.
        if queue >= self.k && (self.drops_not_ect || packet.ecn.can_be_marked()) {
            return Verdict::Signal(DropReason::Forced);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rate;
    use packet::params::Raw;

    fn k(rate: u64, pairs: &[(&str, &str)]) -> Result<u64, BadParams> {
        let raw: Vec<_> =
            pairs.iter().map(|(k, v)| (k.to_string(), Raw::Text(v.to_string()))).collect();
        threshold(&Params::check(FIELDS, &raw)?, &Line::of(Rate::from_bits_per_s(rate)), 1500)
    }

    #[test]
    fn the_rule_for_k() {
        // C RTT/7 is 59.5 and 5.95 packets.
        assert_eq!(k(10_000_000_000, &[("rtt", "500 us")]), Ok(60));
        assert_eq!(k(1_000_000_000, &[("rtt", "500 us")]), Ok(6));
        assert_eq!((k(1, &[]), k(1, &[("K", "20")])), (Ok(65), Ok(20)));
        let why = k(1, &[("K", "20"), ("rtt", "1 ms")]).unwrap_err().to_string();
        assert!(why.starts_with("rtt: 0.001 s only sets K"), "{why}");
    }
}
