//! PIE, Proportional Integral controller Enhanced (R. Pan, P. Natarajan, F. Baker, G. White, RFC
//! 8033, 2017), and DOCSIS-PIE (G. White, R. Pan, RFC 8034, 2017).
//!
//! The idea in five lines. A controller like PI's, but of the queueing *delay*, which has one
//! meaning on lines of any rate. Its steps are divided by up to 2048 while the probability is
//! small, in place of gains tuned to the load. A queue that was quiet may burst for 150 ms before
//! anything is dropped; short queues and low delays are spared. The sum of the probabilities of the
//! packets that passed keeps drops from coming too close or too far apart.
//!
//! The controller is [`crate::pie_core`], the measurement of departure rates [`delay`]; RFC 8034 is
//! [`crate::pie_docsis`].

mod delay;
mod fields;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Params, Value};
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::periodic::Ticker;
use crate::pie_core::{PieCore, PieRules};
use crate::pie_docsis as docsis;
use crate::shells::watched::{Watched, Watcher};
use crate::{
    Aqm, BufferLimit, Built, Entry, Fit, Judged, LimitOrder, Line, PerFlowState, Verdict, buffer,
};
use delay::DepartureRate;

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "pie",
        summary: "A proportional-integral controller of the queueing delay, with self-scaling \
                  steps and a burst allowance.",
        year: 2017,
        source: "RFC 8033; RFC 8034 (DOCSIS); Linux sch_pie",
        deviations: "rfc8033: the delay is by default that of the last packet sent, as in Linux \
                     and ns-3, not from a measured rate; p decays while both delays are zero (the \
                     RFC's section 4.2), not below half the target (its appendix); without the \
                     option to start at a third of the buffer. linux: real numbers, nanoseconds \
                     and exact periods in place of fixed point and timer ticks (there 15 ms are 16 \
                     at HZ = 1000, 20 at 250); without bytemode. docsis: the limit is \
                     tested first (CableLabs' simulator: last), and an overflow clears the \
                     accumulated probability; the line's rate is known and constant, so that there \
                     is no prediction of grants; the first burst allowance comes with the first \
                     drop. A random draw u signals if u < p.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "rfc8033, linux: marks ECN-capable packets if ecn is on and p is below mark_ecnth (linux: \
          at most), drops them above; docsis: never marks",
    units: "time",
    build: &build,
};

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    if params.choice("profile") == "docsis" {
        return build_docsis(params, line);
    }
    let linux = params.choice("profile") == "linux";
    let judge = Pie::new(params, line, linux)?;
    let by_line = matches!(judge.measure, Measure::Line { .. });
    let ecn = params.switch("ecn");
    if params.given("mark_ecnth") && !ecn {
        let why = format!(
            "{} has no effect: nothing is marked while ecn is false; leave it out",
            params.written("mark_ecnth")
        );
        return Err(BadParams::new("mark_ecnth", why));
    }
    if !ecn {
        params.ignore("mark_ecnth");
    }
    let shell = Judged::new(judge, buffer::limit(params, 1000), ecn);
    Ok(if by_line {
        Built::Gate(Box::new(shell))
    } else {
        Built::Discipline(Box::new(Watched::new(shell, false)))
    })
}

fn build_docsis(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let refuse = |field: &str, why: &str| {
        let value = params.written(field);
        let text = format!("{value} is not possible with profile \"docsis\": {why}");
        Err(BadParams::new(field, text))
    };
    if params.switch("ecn") {
        return refuse("ecn", "RFC 8034 drops and never marks; write false or leave it out");
    }
    if params.given("mark_ecnth") {
        return refuse("mark_ecnth", "RFC 8034 drops and never marks; leave it out");
    }
    if matches!(params.value("delay"), Value::Choice(delay) if delay != "line") {
        return refuse(
            "delay",
            "a modem knows its rate and divides the backlog by it; write \"line\" or leave it out",
        );
    }
    let bytes_per_s = line.rate.bytes_per_s();
    params.settle("delay", Value::Choice("line"));
    let buffer_bytes = params.whole_or("limit_bytes", ((0.1 * bytes_per_s) as u64).max(1));
    let numbers = docsis_numbers(params, buffer_bytes, bytes_per_s);
    let packets = params.whole("limit").min(u64::from(u32::MAX)) as u32;
    let limit = BufferLimit::of_packets(packets, Fit::Whole);
    let period = Duration::from_secs_f64(params.real_or("t_update", 0.016));
    let judge = docsis::Docsis::new(numbers, period);
    Ok(Built::Gate(Box::new(Judged::new(judge, limit.and_bytes(buffer_bytes), false))))
}

fn docsis_numbers(params: &Params, buffer_bytes: u64, bytes_per_s: f64) -> docsis::Numbers {
    docsis::Numbers {
        target: params.real_or("target", 0.010),
        alpha: params.real_or("alpha", 0.25),
        beta: params.real_or("beta", 2.5),
        max_burst: Duration::from_secs_f64(params.real_or("max_burst", 0.142)),
        spared_bytes: 2 * params.whole_or("mean_packet_bytes", 1024),
        capped: params.switch("cap_drop"),
        derandomised: params.switch("derandomise"),
        buffer_bytes,
        bytes_per_s,
    }
}

/// How the queueing delay is measured.
enum Measure {
    /// How long the last packet sent had waited, in seconds, and when it was sent, which Linux's
    /// burst allowance needs.
    Timestamp {
        delay: f64,
        last: Option<Instant>,
    },
    Rate(DepartureRate),
    Line {
        bytes_per_s: f64,
    },
}

/// PIE after the profiles `rfc8033` and `linux`.
struct Pie {
    core: PieCore,
    ticker: Ticker,
    measure: Measure,
    linux: bool,
    /// Probability from which on (Linux: above which) a signal drops whatever the ECN field.
    mark_below: f64,
}

impl Pie {
    fn new(params: &Params, line: &Line, linux: bool) -> Result<Self, BadParams> {
        let measure = match params.choice_or("delay", "timestamp") {
            "rate" => Measure::Rate(DepartureRate::new(linux)),
            "line" if linux => {
                let why = "\"line\" is not possible with profile \"linux\": sch_pie does not know its \
                           line's rate; write \"timestamp\" or \"rate\"";
                return Err(BadParams::new("delay", why));
            }
            "line" => Measure::Line { bytes_per_s: line.rate.bytes_per_s() },
            _ => Measure::Timestamp { delay: 0.0, last: None },
        };
        let period = Duration::from_secs_f64(params.real_or("t_update", 0.015));
        let mean = params.whole_or("mean_packet_bytes", if linux { line.mtu() } else { 1000 });
        let ticker = Ticker::every(period);
        let first = if linux { ticker.first_at(Duration::from_millis(500)) } else { ticker };
        Ok(Pie {
            core: PieCore::new(PieRules {
                target: params.real_or("target", 0.015),
                period,
                alpha: params.real_or("alpha", 0.125),
                beta: params.real_or("beta", 1.25),
                max_burst: Duration::from_secs_f64(params.real_or("max_burst", 0.15)),
                spared_bytes: 2 * mean,
                capped: params.switch("cap_drop"),
                derandomised: params.switch("derandomise"),
                linux,
            }),
            ticker: first,
            measure,
            linux,
            mark_below: params.real_or("mark_ecnth", 0.1),
        })
    }
}

impl Aqm for Pie {
    fn on_arrival(&mut self, _: &Packet, backlog: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        if !self.core.signals(backlog.bytes, rng) {
            return Verdict::Pass;
        }
        let (p, limit) = (self.core.p, self.mark_below);
        let marks = if self.linux { p <= limit } else { p < limit };
        if marks { Verdict::Signal(DropReason::Early) } else { Verdict::Drop(DropReason::Early) }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn on_dropped(&mut self, _: DropReason) {
        self.core.dropped();
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, backlog: Backlog, _: Instant, _: &mut Rng) {
        self.ticker.done();
        let delay = match &self.measure {
            Measure::Timestamp { delay, .. } => *delay,
            Measure::Rate(rate) => rate.delay(backlog),
            Measure::Line { bytes_per_s } => backlog.bytes as f64 / bytes_per_s,
        };
        let quiet = self.core.update(delay, backlog.bytes == 0 || !self.linux);
        match &mut self.measure {
            // Linux restores its burst allowance only if it knows a departure rate.
            Measure::Rate(rate) if self.linux && quiet && !rate.known() => return,
            Measure::Rate(rate) if self.linux && quiet => rate.reset(),
            Measure::Timestamp { last, .. } if quiet => *last = None,
            _ => {}
        }
        if quiet {
            self.core.renew();
        }
    }
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.core.set(name, value)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.core.gauges(show);
    }
}

impl Watcher for Pie {
    fn on_departure(
        &mut self,
        packet: &Packet,
        sojourn: Duration,
        left: Backlog,
        now: Instant,
        _: &mut Rng,
    ) -> bool {
        let passed = match &mut self.measure {
            Measure::Timestamp { delay, last } => {
                *delay = if left.packets == 0 { 0.0 } else { sojourn.secs_f64() };
                if self.linux {
                    self.core.delay = *delay;
                }
                last.replace(now).map(|last| now.since(last))
            }
            Measure::Rate(rate) => rate.departure(packet.bytes, left, now),
            Measure::Line { .. } => None,
        };
        if let Some(time) = passed.filter(|_| self.linux) {
            self.core.spend_burst(time);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::params::Raw;
    use packet::{Ecn, Rate};

    fn params(pairs: &[(&str, Raw)]) -> Params {
        let given: Vec<_> = pairs.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        Params::check(fields::FIELDS, &given).unwrap()
    }

    #[test]
    fn docsis_spares_two_packets_of_mean_size() {
        // RFC 8034, section 4, spares a backlog of two packets of mean size.
        let spared = |params: &Params| docsis_numbers(params, 1, 1.0).spared_bytes;
        assert_eq!(spared(&params(&[])), 2_048);
        assert_eq!(spared(&params(&[("mean_packet_bytes", Raw::Number(1_000.0))])), 2_000);
    }

    #[test]
    fn linux_is_quiet_only_where_it_knows_a_rate_and_then_measures_anew() {
        // `pie_calculate_probability` leaves the burst allowance as it is while `avg_dq_rate` is 0;
        // `pie_vars_init` clears that rate.
        let text = |word: &str| Raw::Text(word.into());
        let params = params(&[("profile", text("linux")), ("delay", text("rate"))]);
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        for measured in [false, true] {
            let mut pie = Pie::new(&params, &line, true).unwrap();
            let Measure::Rate(rate) = &mut pie.measure else { unreachable!() };
            let backlog = Backlog { packets: 20, bytes: 20_000 };
            for at in 0..if measured { 20 } else { 2 } {
                rate.departure(1_500, backlog, Instant::from_nanos(1_200_000 * at));
            }
            assert_eq!(rate.known(), measured);
            pie.core.spend_burst(Duration::from_millis(60));
            for _ in 0..3 {
                pie.on_tick(Backlog::default(), Instant::ZERO, &mut Rng::named(1, "pie"));
            }
            let Measure::Rate(rate) = &pie.measure else { unreachable!() };
            assert!(!rate.known());
            let mut burst = f64::NAN;
            pie.gauges(&mut |name, value| {
                if name == "burst_allowance" {
                    burst = value
                }
            });
            assert_eq!(burst, if measured { 0.150 } else { 0.090 });
        }
    }

    #[test]
    fn linux_marks_up_to_its_threshold_and_the_rfc_below_it() {
        // sch_pie's pie_enqueue: prob <= MAX_PROB / 10; RFC 8033 section 5.1: p < mark_ecnth.
        let params = params(&[("max_burst", Raw::Text("0 s".into()))]);
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        for (linux, p, marks) in [
            (true, 0.1, true),
            (true, 0.100001, false),
            (false, 0.1, false),
            (false, 0.099999, true),
        ] {
            let mut pie = Pie::new(&params, &line, linux).unwrap();
            (pie.core.p, pie.core.delay, pie.core.delay_old) = (p, 0.1, 0.1);
            let packet = Packet {
                id: 0,
                flow: 0,
                bytes: 1_000,
                ecn: Ecn::Ect0,
                arrived: Instant::ZERO,
                header: Default::default(),
            };
            let backlog = Backlog { packets: 100, bytes: 100_000 };
            let mut rng = Rng::named(1, "pie");
            let verdict = core::iter::repeat_with(|| {
                pie.on_arrival(&packet, backlog, Instant::ZERO, &mut rng)
            });
            let signal = verdict.take(1_000).find(|verdict| *verdict != Verdict::Pass).unwrap();
            assert_eq!(signal == Verdict::Signal(DropReason::Early), marks, "{linux} {p}");
        }
    }
}
