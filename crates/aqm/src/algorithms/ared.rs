//! Adaptive RED (S. Floyd, R. Gummadi, S. Shenker, *Adaptive RED: An Algorithm for Increasing the
//! Robustness of RED's Active Queue Management*, ICSI technical report, 2001).
//!
//! The idea in five lines. RED's mean queue depends on the load because `max_p` is fixed. So
//! `max_p` is moved, at most every half second: up by at most 0.01 while the average queue is
//! above the middle fifth of the band between the thresholds, down by a tenth while it is below.
//! The thresholds follow from a target delay and the line's rate, the weight from the rate alone,
//! and the gentle curve keeps the probability continuous above `max_th`.
//!
//! | profile | RED underneath | differs |
//! |---|---|---|
//! | `floyd` | the 1993 paper's | the gentle curve follows `max_p` |
//! | `ns2` | ns-2.35's | the gentle curve keeps the first `max_p`; `bottom` by the line's rate |
//! | `ns3` | ns-3's | as `ns2`, but `bottom` multiplies by the round trip instead of dividing |
//! | `altq` | ALTQ's, in real numbers | nothing is signalled while at most one packet waits |
//! | `linux` | `sch_red`'s | integers, a timer, bounds tested before the step, not gentle |

mod fields;
mod profiles;
mod settings;

use alloc::boxed::Box;

use packet::params::{BadParams, Params};
use packet::{About, Backlog, Duration, Instant, Packet, Rng};

use crate::periodic::Ticker;

use super::family::{Early, Linux, Ns, Paper, Program, Tuned, Tuner};
use crate::{Aqm, Built, Entry, Idle, Judged, Line, PerFlowState, Verdict};
use settings::Settings;

/// The entry of `ared` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "ared",
        summary: "RED that moves max_p to keep the average queue in the middle of its band.",
        year: 2001,
        source: "Floyd, Gummadi and Shenker, Adaptive RED, ICSI TR 2001; profiles after ns-2.35, \
                 ns-3, ALTQ, Linux sch_red",
        deviations: "floyd: the step is tested at arrivals, as in ns-2, and bounds are strict. All \
                     but linux: the first interval is counted from the first arrival. ns2: \
                     use_mark_p, its default, is given up once ecn_above_max is set. ns3: \
                     LinkBandwidth is the line's rate, and thresholds that are written are kept \
                     (ns-3's ARED switch overrides them). altq: the adaptive RED of Le et al. was \
                     never published; this is ALTQ's RED (idle rule, count, p_b/(2 - c p_b), \
                     nothing while at most one packet waits) under the report's adaptation and \
                     gentle curve, in real numbers, with ns-2's byte mode, which ALTQ names and \
                     leaves out. linux: as profile linux of plain RED.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks below max_th if ecn is on and the packet is ECN-capable; above it by \
          ecn_above_max: drop (the guideline), mark_in_gentle, mark_always; drops an overflow",
    units: "packets or bytes",
    build: &build,
};

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let settings = Settings::resolve(params, line)?;
    let base = &settings.base;
    Ok(match base.profile.program {
        Program::Linux => {
            let ticker = Ticker::every(Duration::from_millis(500));
            shell(OnTimer { judge: Linux::new(base)?, ticker }, &settings)
        }
        Program::Paper => shell(tuned(Paper::new(base), &settings, true), &settings),
        Program::Altq => shell(tuned(Ns::of_altq(base), &settings, true), &settings),
        Program::Ns => shell(tuned(Ns::new(base), &settings, false), &settings),
    })
}

fn shell(judge: impl Aqm + 'static, settings: &Settings) -> Built {
    Built::Gate(Box::new(Judged::new(judge, settings.base.limit, settings.base.ecn)))
}

fn tuned<J: Early>(mut judge: J, settings: &Settings, gentle_too: bool) -> Tuned<J, Aimd> {
    let (min, max) = (judge.curve().min, judge.curve().max);
    let rule = Aimd {
        low: min + 0.4 * (max - min),
        high: max - 0.4 * (max - min),
        settings: settings.rule,
        last: None,
    };
    let drop_from = if settings.drops_above_max { max } else { f64::INFINITY };
    Tuned::new(judge, rule, settings.base.max_p, gentle_too, drop_from)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    alpha: f64,
    beta: f64,
    top: f64,
    bottom: f64,
    interval: Duration,
}

/// Additive increase and multiplicative decrease of `max_p`, which keep the average queue near the
/// midpoint of the band between the thresholds.
struct Aimd {
    low: f64,
    high: f64,
    settings: Rule,
    /// Time of the last change of `max_p`, or of the first arrival. Time spent inside the band
    /// between changes does not restart the interval.
    last: Option<Instant>,
}

impl Tuner for Aimd {
    #[inline]
    fn tune(&mut self, max_p: f64, average: f64, now: Instant) -> Option<f64> {
        let rule = &self.settings;
        if now.since(*self.last.get_or_insert(now)) <= rule.interval {
            return None;
        }
        let next = if average < self.low && max_p > rule.bottom {
            max_p * rule.beta
        } else if average > self.high && max_p < rule.top {
            max_p + rule.alpha.min(max_p / 4.0)
        } else {
            return None;
        };
        self.last = Some(now);
        Some(next)
    }
}

/// Linux's RED with the flag `adaptive`: a step every half second, whether packets arrive or not.
struct OnTimer {
    judge: Linux,
    ticker: Ticker,
}

impl Aqm for OnTimer {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.judge.on_arrival(packet, backlog, now, rng)
    }
    fn idle_clock(&mut self) -> Option<&mut Idle> {
        self.judge.idle_clock()
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, _backlog: Backlog, now: Instant, _rng: &mut Rng) {
        self.ticker.done();
        self.judge.adapt(now);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.judge.gauges(show);
        show("max_p", self.judge.max_p());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(max_p: f64, average: f64) -> f64 {
        let settings = Rule {
            alpha: 0.01,
            beta: 0.9,
            top: 0.5,
            bottom: 0.01,
            interval: Duration::from_millis(500),
        };
        let mut rule = Aimd { low: 56.25, high: 68.75, settings, last: Some(Instant::ZERO) };
        rule.tune(max_p, average, Instant::from_nanos(500_000_001)).unwrap_or(max_p)
    }

    #[test]
    fn published_steps() {
        for (max_p, average, next) in [
            (0.1, 40.0, 0.09),
            (0.1, 80.0, 0.11),
            (0.1, 60.0, 0.1),
            (0.02, 80.0, 0.025),
            (0.5, 80.0, 0.5),
            (0.01, 40.0, 0.01),
        ] {
            assert!((step(max_p, average) - next).abs() < 1e-12, "{max_p} at {average}");
        }
    }

    #[test]
    fn it_takes_20_s_up_and_19_s_down() {
        let steps = |from: f64, average, end: fn(f64) -> bool| {
            let next = |p: &f64| Some(step(*p, average)).filter(|n| n != p);
            let taken = core::iter::successors(Some(from), next);
            taken.take_while(|p| !end(*p)).count()
        };
        assert_eq!(steps(0.1, 80.0, |p| p >= 0.5 - 1e-9), 40);
        assert_eq!(steps(0.5, 40.0, |p| p <= 0.01), 38);
    }
}
