//! PI2 (K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, *PI²: A Linearized AQM for both
//! Classic and Scalable TCP*, CoNEXT 2016).
//!
//! The idea in five lines. A classic TCP's rate goes with 1/√p, so a controller of p must be slow
//! where p is small, which PIE mends with a table. PI2 controls p' = √p instead, in which the loop
//! is linear, and squares it only at the signal: a classic packet is signalled with p'², by two
//! draws that must both fall below p'. A scalable sender (DCTCP and its kin) answers p' itself, so
//! its packets are marked with k p', and both kinds get the same rate from one queue.
//!
//! Follows the Linux qdisc's arithmetic (as it lives on in `sch_dualpi2`) in real numbers.

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Params, Value};
use packet::{About, Backlog, DropReason, Duration, Ecn, Instant, Packet, Rng};

use crate::buffer::{self, ECN, GAIN, LIMIT, LIMIT_BYTES, TIME};
use crate::periodic::Ticker;
use crate::shells::watched::{Watched, Watcher};
use crate::{Aqm, Built, Entry, Judged, LimitOrder, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "pi2",
        summary: "A linear controller of the queueing delay: classic packets are signalled with \
                  the square of its output, scalable ones with a multiple.",
        year: 2016,
        source: "De Schepper, Bondarenko, Tsang and Briscoe, CoNEXT 2016; Linux sch_dualpi2",
        deviations: "One queue with the decision at arrival, and the delay is the age of the \
                     packet at the head, zero if none waits. A packet that arrives marked (CE) \
                     counts as scalable, as in DualPI2: they cannot be distinguished. Draws are u < p' (Linux: \
                     u <= p').",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "with ecn on: marks ECT(0) packets with p'^2 and ECT(1) and CE packets with k p', at \
          every load; all others, and all without ecn, are dropped with p'^2",
    units: "time",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("target", TIME, Value::Real(0.020))
        .meaning("Target queueing delay.")
        .source("read: the authors' Linux qdisc before RFC 9332"),
    Field::new("t_update", crate::periodic::PERIOD, Value::Real(0.032))
        .meaning("Time between updates.")
        .source("read: the authors' Linux qdisc before RFC 9332"),
    Field::new("alpha", GAIN, Value::Real(0.3125))
        .meaning(
            "Gain of the delay's distance from the target, in Hz and per update: not multiplied by \
             t_update.",
        )
        .source("read: the authors' Linux qdisc before RFC 9332, 80/256"),
    Field::new("beta", GAIN, Value::Real(3.125))
        .meaning("Gain of the delay's growth, in Hz and per update.")
        .source("read: the authors' Linux qdisc before RFC 9332, 800/256"),
    Field::new("k", GAIN, Value::Real(2.0))
        .meaning("Coupling: a scalable packet is marked with k p'. With ecn only.")
        .source("De Schepper et al. 2016 (recalled); read: Linux"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait, not counting the one being transmitted. 10000 unless \
             limit_bytes is given.",
        )
        .source("read: Linux sch_dualpi2"),
    LIMIT_BYTES,
    ECN,
];

struct Pi2 {
    target: f64,
    alpha: f64,
    beta: f64,
    /// The coupling factor k; none if nothing may be marked and all packets count as classic.
    k: Option<f64>,
    ticker: Ticker,
    /// The base probability p'.
    p: f64,
    delay: f64,
    delay_old: f64,
}

fn build(params: &Params, _: &Line) -> Result<Built, BadParams> {
    let ecn = params.switch("ecn");
    if params.given("k") && !ecn {
        let why = format!(
            "{} has no effect: no packet is scalable while ecn is false; leave it out",
            params.written("k")
        );
        return Err(BadParams::new("k", why));
    }
    if !ecn {
        params.ignore("k");
    }
    let shell = Judged::new(Pi2::new(params), buffer::limit(params, 10_000), ecn);
    Ok(Built::Discipline(Box::new(Watched::new(shell, false))))
}

impl Pi2 {
    fn new(params: &Params) -> Self {
        Pi2 {
            target: params.real("target"),
            alpha: params.real("alpha"),
            beta: params.real("beta"),
            k: if params.switch("ecn") { Some(params.real("k")) } else { None },
            ticker: Ticker::every(params.time("t_update")),
            p: 0.0,
            delay: 0.0,
            delay_old: 0.0,
        }
    }

    fn update(&mut self) {
        let growth = self.delay - self.delay_old;
        let step = self.alpha * (self.delay - self.target) + self.beta * growth;
        self.p = (self.p + step).clamp(0.0, 1.0);
        self.delay_old = self.delay;
    }
}

impl Aqm for Pi2 {
    fn on_arrival(&mut self, packet: &Packet, _: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        let hit = match (self.k, packet.ecn) {
            (Some(k), Ecn::Ect1 | Ecn::Ce) => rng.uniform() < k * self.p,
            _ => rng.uniform() < self.p && rng.uniform() < self.p,
        };
        if hit { Verdict::Signal(DropReason::Early) } else { Verdict::Pass }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, _: Backlog, _: Instant, _: &mut Rng) {
        self.ticker.done();
        self.update();
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p_base", self.p);
        show("p", self.p * self.p);
        show("qdelay", self.delay);
    }
}

impl Watcher for Pi2 {
    fn before_tick(&mut self, age: Duration) {
        self.delay = age.secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pi2(alpha: f64, beta: f64) -> Pi2 {
        let base = Pi2::new(&Params::defaults(FIELDS));
        Pi2 { target: 0.015, alpha, beta, k: Some(2.0), ..base }
    }

    #[test]
    fn updates() {
        for (alpha, beta, expected) in
            [(0.16, 3.2, 0.1072), (41.0 / 256.0, 819.0 / 256.0, 0.1071992), (0.15, 3.0, 0.10675)]
        {
            let mut judge = Pi2 { p: 0.1, delay_old: 0.018, ..pi2(alpha, beta) };
            judge.before_tick(Duration::from_millis(20));
            judge.update();
            assert!((judge.p - expected).abs() < 1e-7, "{} is not {expected}", judge.p);
            assert_eq!(judge.delay_old, 0.020);
        }
    }

    /// Share of signals among 10^6 packets with this ECN field. At p' = 0.1 five standard errors
    /// are 5e-4 for classic packets and 2e-3 for scalable ones.
    fn share(p: f64, ecn: Ecn) -> f64 {
        let mut judge = Pi2 { p, ..pi2(0.16, 3.2) };
        let mut rng = Rng::named(1, "shares");
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let mut arrive = || judge.on_arrival(&packet, Backlog::default(), Instant::ZERO, &mut rng);
        (0..1_000_000).filter(|_| arrive() != Verdict::Pass).count() as f64 / 1e6
    }

    #[test]
    fn classic_packets_are_squared_and_scalable_ones_coupled() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            assert!((share(0.1, ecn) - 0.01).abs() < 5e-4);
            assert!((share(0.5, ecn) - 0.25).abs() < 2.2e-3);
        }
        for ecn in [Ecn::Ect1, Ecn::Ce] {
            assert!((share(0.1, ecn) - 0.2).abs() < 2e-3);
            assert_eq!(share(0.5, ecn), 1.0, "k p' is 1");
        }
    }
}
