//! PI (C. V. Hollot, V. Misra, D. Towsley, W. Gong, *On Designing Improved Controllers for AQM
//! Routers Supporting TCP Flows*, INFOCOM 2001; IEEE Transactions on Automatic Control 47(6),
//! 2002).
//!
//! The idea in five lines. A controller from the textbook in place of RED's curve: every T seconds
//! the probability of a signal moves by a(q − q_ref) − b(q_old − q_ref), so that it rests only
//! where the queue rests at its target, whatever the load. The queue is the instantaneous one; its
//! history is in the probability. The gains follow from the line's rate, the longest round trip
//! and the fewest flows ([`crate::design_pi`]).
//!
//! Follows ns-2.35 `queue/pi.cc`, but for what `ENTRY.deviations` says.

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::{self, ECN, LIMIT_200, LIMIT_BYTES, PACKET_BYTES, SPARE_SHORT_QUEUE, TIME};
use crate::periodic::Ticker;
use crate::pi_law::{PiLaw, design_pi};
use crate::{Aqm, Built, Entry, Judged, LimitOrder, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "pi",
        summary: "A proportional-integral controller drives the signal probability until the queue \
                  rests at its target.",
        year: 2001,
        source: "Hollot, Misra, Towsley and Gong, INFOCOM 2001; ns-2.35 Queue/PI",
        deviations: "A random draw u signals if u < p (ns-2: u <= p, which may signal at p = 0). \
                     The limit is in packets, bytes or both by its own parameters (ns-2 multiplies \
                     it by the mean packet size when it measures bytes). The default limit is not \
                     ns-2's 50 packets, at which its default target of 50 is never passed. The \
                     first update is at T (ns-2: also one at 0, which changes nothing).",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks ECN-capable packets at every load if ecn is on; drops them only at a full buffer",
    units: "packets or bytes",
    build: &build,
};

const GAIN: Kind = Kind::above(Unit::None, 0.0, 1.0);
/// Upper limit for designed gains: far beyond any use, and small enough that a gain times a queue
/// is finite.
const LARGEST_GAIN: f64 = 1e9;
const DEFAULT_A: f64 = 1.822e-5;
const DEFAULT_B: f64 = 1.816e-5;

const FIELDS: &[Field] = &[
    Field::new("q_ref", Kind::from(Unit::Packets, 0.0, 1e8), Value::Real(50.0))
        .meaning("Target queue.")
        .source("read: ns-2.35 qref_ 50; the paper's example 200, Le et al. 24 and 240 (recalled)"),
    Field::new("a", GAIN, Value::Unset)
        .meaning(
            "Gain of the present queue, per packet and update. 1.822e-5, the paper's for 15 Mbit/s \
             of 500-byte packets, unless n_min and r_max are given.",
        )
        .source("read: ns-2.35 a_"),
    Field::new("b", GAIN, Value::Unset)
        .meaning(
            "Gain of the previous queue, per packet and update; below a. 1.816e-5 unless n_min and \
             r_max are given.",
        )
        .source("read: ns-2.35 b_"),
    Field::new("T", crate::periodic::PERIOD, Value::Real(1.0 / 170.0))
        .meaning("Time between updates.")
        .source("read: ns-2.35 w_ 170 Hz (the paper's example: 160 Hz, recalled)"),
    Field::new("n_min", Kind::above(Unit::Count, 0.0, 1e9), Value::Unset)
        .meaning(
            "N-, the fewest flows to be stable with; with r_max it sets a and b by the paper's \
             rule for this line and mean_packet_bytes.",
        )
        .source("Hollot et al. 2001 (recalled), algebra derived"),
    Field::new("r_max", TIME, Value::Unset)
        .meaning("R+, the longest round trip to be stable with, queueing included; with n_min.")
        .source("Hollot et al. 2001 (recalled), algebra derived"),
    Field::new("queue_in_bytes", Kind::Switch, Value::Switch(false))
        .meaning("Whether the queue is measured in bytes, divided by mean_packet_bytes.")
        .source("read: ns-2.35 queue_in_bytes_; Le et al. 2003 measured bytes"),
    Field::new("byte_probability", Kind::Switch, Value::Switch(false))
        .meaning("Whether a packet's probability is p size/mean_packet_bytes, not p.")
        .source("read: ns-2.35 bytes_; Le et al. 2003 biased by size"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(500))
        .meaning("Mean packet size, to which the byte modes and the design rule refer.")
        .source("read: ns-2.35 mean_pktsize_"),
    SPARE_SHORT_QUEUE,
    LIMIT_200
        .source("constructed: four times the default target, as the paper's 800 to 200 (recalled)"),
    LIMIT_BYTES,
    ECN,
];

struct Pi {
    law: PiLaw,
    ticker: Ticker,
    /// Mean packet size in bytes if the queue is measured in bytes, else none.
    queue_mean: Option<f64>,
    /// Mean packet size in bytes if the probability grows with a packet's size, else none.
    size_mean: Option<f64>,
    /// Whether an arrival that finds at most one packet waiting is never signalled.
    spares: bool,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let (a, b) = gains(params, line)?;
    let mean = params.whole("mean_packet_bytes") as f64;
    let switched = |name| if params.switch(name) { Some(mean) } else { None };
    let (queue_mean, size_mean) = (switched("queue_in_bytes"), switched("byte_probability"));
    if params.given("mean_packet_bytes")
        && queue_mean.or(size_mean).is_none()
        && !params.given("n_min")
    {
        let why = format!(
            "{mean} has no effect: only queue_in_bytes, byte_probability and the design rule \
             (n_min, r_max) refer to it; leave it out"
        );
        return Err(BadParams::new("mean_packet_bytes", why));
    }
    if queue_mean.or(size_mean).is_none() {
        params.ignore("mean_packet_bytes");
    }
    let judge = Pi {
        law: PiLaw::new(a, b, params.real("q_ref")),
        ticker: Ticker::every(params.time("T")),
        queue_mean,
        size_mean,
        spares: params.switch("spare_short_queue"),
    };
    let limit = buffer::limit(params, 200);
    Ok(Built::Gate(Box::new(Judged::new(judge, limit, params.switch("ecn")))))
}

/// The gains `a` and `b`: those of the user, those of the design rule, or the defaults.
fn gains(params: &Params, line: &Line) -> Result<(f64, f64), BadParams> {
    let (a, b) = (params.real_or("a", DEFAULT_A), params.real_or("b", DEFAULT_B));
    match (params.given("n_min"), params.given("r_max")) {
        (false, false) if b < a => Ok((a, b)),
        (false, false) => {
            let why = format!(
                "{b} is not below a = {a}: what is left of a - b is the integral term, without \
                 which the queue does not find its target; give both, b the smaller"
            );
            Err(BadParams::new("b", why))
        }
        (true, true) => {
            if let Some(name) = ["a", "b"].into_iter().find(|name| params.given(name)) {
                let why = format!(
                    "{} contradicts n_min and r_max, from which the design rule computes a and \
                     b; leave out the one or the others",
                    params.written(name)
                );
                return Err(BadParams::new(name, why));
            }
            let capacity = line.rate.bytes_per_s() / params.whole("mean_packet_bytes") as f64;
            let (n, r, t) = (params.real("n_min"), params.real("r_max"), params.real("T"));
            let gains = design_pi(n, capacity, r, t);
            if gains.b <= 0.0 {
                let why = format!(
                    "{t} s is too long for n_min = {n} and r_max = {r} s on this line: the \
                     controller must be updated within {} s",
                    r * r * capacity / n
                );
                return Err(BadParams::new("T", why));
            }
            if !(gains.b < gains.a && gains.a <= LARGEST_GAIN) {
                let why = format!(
                    "{n} with r_max = {r} s needs gains of {:e} and {:e} on this line, with \
                     which nothing can be computed; write a and b in their place",
                    gains.a, gains.b
                );
                return Err(BadParams::new("n_min", why));
            }
            params.settle("a", Value::Real(gains.a));
            params.settle("b", Value::Real(gains.b));
            params.ignore("n_min");
            params.ignore("r_max");
            Ok((gains.a, gains.b))
        }
        (one, _) => {
            let (here, missing) = if one { ("n_min", "r_max") } else { ("r_max", "n_min") };
            let why = format!(
                "{} needs {missing} beside it: the design rule computes a and b from both",
                params.written(here)
            );
            Err(BadParams::new(here, why))
        }
    }
}

impl Aqm for Pi {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        _: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let p = match self.size_mean {
            Some(mean) => self.law.p * f64::from(packet.bytes) / mean,
            None => self.law.p,
        };
        let hit = rng.uniform() < p && !buffer::is_spared(self.spares, backlog);
        if hit { Verdict::Signal(DropReason::Early) } else { Verdict::Pass }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, backlog: Backlog, _: Instant, _: &mut Rng) {
        self.ticker.done();
        self.law.update(match self.queue_mean {
            Some(mean) => backlog.bytes as f64 / mean,
            None => f64::from(backlog.packets),
        });
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.law.p);
    }
}
