//! Two REDs on one queue: one decides on In packets by the average of In packets, the other on Out
//! packets by the average of all.

use alloc::format;

use packet::params::{BadParams, Params};
use packet::{DropReason, Duration, Instant, Packet, Rng};

use crate::algorithms::family::{
    Early, Idle, NS2, Ns, PacketClock, Profile, Program, Settings, band_of, plain,
};
use crate::shells::classes::{ClassJudge, Waiting};
use crate::{Aqm, Line, Verdict};

/// Class number of In packets.
pub(crate) const IN: usize = 0;
/// Class number of Out packets.
pub(crate) const OUT: usize = 1;

/// The idle clocks of both averages, and which arrivals update them.
enum Clocks {
    /// Each average has its own clock; In arrivals update both, Out arrivals the total.
    Own { ins: Idle, all: Idle },
    /// The averages share ns-2's one clock, with two flags; Out arrivals update no average.
    Ns2 { since: Instant, ins: bool, all: bool, line: bool },
}

/// Idle time before an arrival, if there was one: without In packets, and without any packet.
type Spans = (Option<Duration>, Option<Duration>);

impl Clocks {
    /// Ends the idle times at an arrival that updates averages: any with `Own` clocks, else an In
    /// arrival.
    fn end(&mut self, class: usize, now: Instant) -> Spans {
        match self {
            Clocks::Own { ins, all } => {
                let ins = if class == IN { ins.end(now) } else { None };
                (ins, all.end(now))
            }
            Clocks::Ns2 { since, ins, all, .. } => {
                let span = now.since(*since);
                let spans = (ins.then_some(span), all.then_some(span));
                (*ins, *all) = (false, false);
                spans
            }
        }
    }
}

/// RED's settings for In and for Out packets, for disciplines that build on ns-2's RED.
pub(crate) fn in_and_out(params: &Params, line: &Line) -> Result<[Settings; 2], BadParams> {
    Ok([
        settings(params, line, &NS2, "in", (15.0, 30.0, 0.02))?,
        settings(params, line, &NS2, "out", (5.0, 15.0, 0.1))?,
    ])
}

/// RED's settings for the class whose parameters have names that begin with `name`.
pub(super) fn settings(
    params: &Params,
    line: &Line,
    profile: &'static Profile,
    name: &str,
    (min, max, max_p): (f64, f64, f64),
) -> Result<Settings, BadParams> {
    let real = |field: &str, default| params.real_or(&format!("{name}_{field}"), default);
    let band = band_of(&format!("{name}_"), real("min_th", min), real("max_th", max))?;
    let altq = profile.program == Program::Altq;
    let w_q = params.real_or("w_q", if altq { 1.0 / 512.0 } else { 0.002 });
    let plain = plain(profile, band, w_q, real("max_p", max_p));
    Ok(if altq && !params.given("mean_packet_bytes") {
        plain // with ALTQ's packet time of 800 us
    } else {
        let mean = params.whole_or("mean_packet_bytes", 500) as u32;
        Settings { clock: PacketClock::of_line(line.rate, mean), ..plain }
    })
}

/// Classifies packets as In or Out.
pub(crate) trait Tagger: Send {
    fn is_in(&mut self, packet: &Packet, now: Instant) -> bool;
    fn next_tick(&self) -> Option<Instant> {
        None
    }
    fn on_tick(&mut self, _now: Instant) {}
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// RIO: the RED `ins` for In packets and the RED `out` for Out packets.
pub(crate) struct InOut<T> {
    tagger: T,
    ins: Ns,
    out: Ns,
    /// Average of In and of Out from which on a signal drops even ECN-capable packets.
    max: [f64; 2],
    clocks: Clocks,
    limit: u64,
    /// The time of the last arrival.
    now: Instant,
}

impl<T: Tagger> InOut<T> {
    /// RIO with the REDs `ins` and `out`; `ns2` keeps the defects of ns-2.
    pub fn new(tagger: T, mut ins: Ns, mut out: Ns, ns2: bool, limit: u64) -> Self {
        let clocks = if ns2 {
            Clocks::Ns2 { since: Instant::ZERO, ins: true, all: true, line: true }
        } else {
            Clocks::Own { ins: Idle::new(), all: Idle::new() }
        };
        let max = [ins.curve().max, out.curve().max];
        InOut { tagger, ins, out, max, clocks, limit, now: Instant::ZERO }
    }
}

impl<T: Tagger> ClassJudge for InOut<T> {
    fn class_of(&mut self, packet: &Packet, now: Instant) -> usize {
        self.now = now;
        if self.tagger.is_in(packet, now) { IN } else { OUT }
    }

    fn on_arrival(
        &mut self,
        packet: &Packet,
        class: usize,
        waiting: &Waiting,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        if class == IN || matches!(self.clocks, Clocks::Own { .. }) {
            let (ins, all) = self.clocks.end(class, now);
            if class == IN {
                self.ins.observe(ins, waiting.of[IN]);
            }
            self.out.observe(all, waiting.total);
        }
        let (judge, queue) = match class {
            IN => (&mut self.ins, waiting.of[IN]),
            _ => (&mut self.out, waiting.total),
        };
        judge.tally(packet);
        match judge.decide(packet, queue, rng) {
            Verdict::Signal(why) if judge.average() >= self.max[class] => Verdict::Drop(why),
            verdict => verdict,
        }
    }

    fn has_room(&self, _class: usize, _bytes: u32, waiting: &Waiting) -> bool {
        u64::from(waiting.total.packets) < self.limit
    }

    fn on_dropped(&mut self, class: usize, why: DropReason) {
        let now = self.now;
        let judge = if class == IN { &mut self.ins } else { &mut self.out };
        judge.on_dropped(why);
        match &mut self.clocks {
            Clocks::Own { ins, all } => {
                if class == IN {
                    ins.resume();
                }
                all.resume();
            }
            // ns-2 finds the queue empty after the dropped arrival, and restarts its clock.
            Clocks::Ns2 { since, ins, all, line: true } => {
                (*since, *ins, *all) = (now, true, true);
            }
            Clocks::Ns2 { .. } => {}
        }
    }

    fn on_departure(&mut self, class: usize, waiting: &Waiting, now: Instant) {
        match &mut self.clocks {
            Clocks::Own { ins, .. } if class == IN && waiting.of[IN].packets == 0 => ins.begin(now),
            Clocks::Own { .. } => {}
            Clocks::Ns2 { ins, all, line, .. } => {
                (*all, *line) = (false, false);
                *ins = *ins && class != IN;
            }
        }
    }

    fn on_idle(&mut self, now: Instant) {
        match &mut self.clocks {
            Clocks::Own { all, .. } => all.begin(now),
            Clocks::Ns2 { line: true, .. } => {} // called again: the idle time goes on
            Clocks::Ns2 { since, ins, all, line } => {
                (*since, *ins, *all, *line) = (now, true, true, true);
            }
        }
    }

    fn next_tick(&self) -> Option<Instant> {
        self.tagger.next_tick()
    }
    fn on_tick(&mut self, now: Instant) {
        self.tagger.on_tick(now);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg_in", self.ins.average());
        show("avg_total", self.out.average());
        self.tagger.gauges(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::family::{ALTQ, NS2};
    use packet::params::Raw;
    use packet::{Ecn, Rate};

    const LINE: Line = Line::of(Rate::from_bits_per_s(20_000_000));

    fn params(pairs: &[(&str, f64)]) -> Params {
        let raw: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), Raw::Number(*v))).collect();
        Params::check(super::super::FIELDS, &raw).unwrap()
    }

    #[test]
    fn altq_has_a_weight_and_a_clock_of_its_own() {
        // rio.c: W_WEIGHT 512, and 800 us unless a packet size is given; ns-2: 500 B at line rate.
        for (profile, given, w_q, micros) in [
            (&ALTQ, &[][..], 1.0 / 512.0, 800.0),
            (&ALTQ, &[("mean_packet_bytes", 1_000.0)], 1.0 / 512.0, 400.0),
            (&NS2, &[], 0.002, 200.0),
        ] {
            let of = settings(&params(given), &LINE, profile, "in", (5.0, 15.0, 0.1)).unwrap();
            assert_eq!(of.w_q, w_q);
            assert!((of.clock.packet_secs() * 1e6 - micros).abs() < 1e-9, "{given:?}");
        }
    }

    /// A tagger for which all packets are Out.
    struct Outside;

    impl Tagger for Outside {
        fn is_in(&mut self, _: &Packet, _: Instant) -> bool {
            false
        }
    }

    #[test]
    fn above_the_upper_threshold_a_hit_drops() {
        // With a weight of 1 the average is the queue; thresholds 5 and 15, gentle above.
        for (packets, drops) in [(10, false), (20, true)] {
            let of = settings(&params(&[("w_q", 1.0)]), &LINE, &NS2, "in", (5.0, 15.0, 0.1));
            let of = Settings { gentle: true, ..of.unwrap() };
            let mut judge = InOut::new(Outside, Ns::new(&of), Ns::new(&of), false, 100);
            let mut waiting = Waiting::default();
            waiting.total.packets = packets;
            let packet = Packet {
                id: 0,
                flow: 1,
                bytes: 500,
                ecn: Ecn::Ect0,
                arrived: Instant::ZERO,
                header: Default::default(),
            };
            let rng = &mut Rng::named(1, "in_out");
            let hit = (0..1_000)
                .map(|_| judge.on_arrival(&packet, OUT, &waiting, Instant::ZERO, rng))
                .find(|verdict| *verdict != Verdict::Pass);
            let why = DropReason::Early;
            let expected = if drops { Verdict::Drop(why) } else { Verdict::Signal(why) };
            assert_eq!(hit, Some(expected), "{packets}");
        }
    }
}
