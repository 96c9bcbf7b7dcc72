//! FRED, Flow RED (D. Lin, R. Morris, *Dynamics of Random Early Detection*, SIGCOMM 1997).
//!
//! The idea in five lines. RED with an account of every flow that has packets in the queue. A
//! flow may always hold `min_q` packets, so that fragile flows pass. Only flows that hold their
//! fair share, the average queue divided by the active flows, are tested at random. A flow that
//! tries to hold more than `max_q` gets a strike and loses the packet, and flows with strikes are
//! kept to the fair share. The average moves at departures too.
//!
//! No public program was written by the authors; J-Sim's port confirms every comparison, and
//! differs where `ENTRY.deviations` says.

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng, math};

use super::family::{Idle, PacketClock, space_signals};
use crate::buffer::{LIMIT, MEAN_PACKET, PACKETS, PROBABILITY};
use crate::shells::active::Active;
use crate::shells::watched::{Watched, Watcher};
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "fred",
        summary: "RED with an account per active flow: fragile flows pass, greedy ones are held to \
                  their fair share.",
        year: 1997,
        source: "Lin and Morris, SIGCOMM 1997 (recalled); comparisons confirmed in J-Sim's port",
        deviations: "The average ages at an arrival that finds the line idle, and that arrival is \
                     no sample on top; one that finds the queue empty while the last packet is \
                     still being sent samples 0 (the paper's text ages twice). The fair share is \
                     computed at the arrival, not at the last update of the average. J-Sim updates \
                     the average at dropped arrivals too and twice at others, counts at enqueue \
                     instead of in the band, and clears the count after a drop for want of \
                     fairness.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "never marks",
    units: "packets",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("min_th", PACKETS, Value::Unset)
        .meaning(
            "Average queue from which on flows with their fair share are tested at random; also \
             the most packets a flow may hold below max_th. A quarter of the limit unless given \
             (the paper also bounds it by a round trip's worth, which a queue does not know).",
        )
        .source("Lin and Morris 1997 (recalled)"),
    Field::new("max_th", PACKETS, Value::Unset)
        .meaning(
            "Average queue from which on no flow may hold more than two packets. 2 min_th unless \
             given.",
        )
        .source("Lin and Morris 1997 (recalled)"),
    Field::new("w_q", PROBABILITY, Value::Real(0.002))
        .meaning("Weight of the newest sample in the average.")
        .source("Lin and Morris 1997 (recalled)"),
    Field::new("max_p", PROBABILITY, Value::Real(0.02))
        .meaning("Probability of a drop, before spacing, where the average reaches max_th.")
        .source("Lin and Morris 1997 (recalled)"),
    Field::new("min_q", Kind::whole(Unit::Packets, 0, 100_000_000), Value::Whole(2))
        .meaning(
            "Packets that a flow may hold without being tested: 2 for small buffers, 4 for large \
             ones.",
        )
        .source("Lin and Morris 1997 (recalled); read: J-Sim MINQ 2"),
    MEAN_PACKET.source("constructed"),
    Field::new("limit", LIMIT, Value::Whole(60))
        .meaning("Packets that may wait, not counting the one being transmitted.")
        .source("constructed"),
];

#[derive(Default)]
struct Flow {
    queue: u32,
    strikes: u32,
}

struct Fred {
    min: f64,
    max: f64,
    w_q: f64,
    max_p: f64,
    min_q: f64,
    limit: BufferLimit,
    clock: PacketClock,
    avg: f64,
    idle: Idle,
    /// Arrivals that reached RED's test since its last drop; −1 while `avg` is below `min_th`.
    count: i64,
    flows: Active<Flow>,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let limit = params.whole("limit") as u32;
    let min = params.real_or("min_th", f64::from(limit) / 4.0);
    let max = params.real_or("max_th", 2.0 * min);
    if min >= max {
        let why = format!(
            "{min} is not below max_th = {max}: the random test needs a band between the \
             thresholds; give both, min_th the smaller"
        );
        return Err(BadParams::new("min_th", why));
    }
    let judge = Fred {
        min,
        max,
        w_q: params.real("w_q"),
        max_p: params.real("max_p"),
        min_q: params.whole("min_q") as f64,
        limit: BufferLimit::of_packets(limit, Fit::Whole),
        clock: PacketClock::of_line(line.rate, params.whole("mean_packet_bytes") as u32),
        avg: 0.0,
        idle: Idle::new(),
        count: -1,
        flows: Active::new(),
    };
    // FRED tests the limit itself: only an admitted packet may enter its flow's account.
    let shell = Judged::new(judge, BufferLimit::UNLIMITED, false);
    Ok(Built::Discipline(Box::new(Watched::new(shell, false))))
}

impl Fred {
    /// Fair share of an active flow in packets, at least 1 (`avgcq`).
    fn share(&self) -> f64 {
        (self.avg / self.flows.len().max(1) as f64).max(1.0)
    }

    fn p_b(&self) -> f64 {
        self.max_p * (self.avg - self.min) / (self.max - self.min)
    }

    fn sample(&mut self, queue: u32) {
        self.avg = (1.0 - self.w_q) * self.avg + self.w_q * f64::from(queue);
    }

    #[cold]
    fn age(&mut self, packets: u64) {
        if packets > 0 && self.avg > 0.0 {
            self.avg *= math::pow(1.0 - self.w_q, packets as f64);
        }
    }

    /// Whether `flow` tries to hold more packets than it may; if so, it gets a strike. (The paper's
    /// third reason for a strike, more than twice the share from max_th on, is implied: the share
    /// is at least one packet, and two are already too many.)
    fn strikes(&mut self, flow: u64, share: f64) -> bool {
        let most = if self.avg >= self.max { 2.0 } else { self.min };
        let Some(flow) = self.flows.get(flow) else { return false };
        let queue = f64::from(flow.queue);
        let greedy = queue >= most || (queue >= share && flow.strikes > 1);
        flow.strikes += u32::from(greedy);
        greedy
    }

    /// RED's test of an arrival whose flow holds `queue` packets and may hold `share`.
    fn judge(&mut self, queue: u32, share: f64, rng: &mut Rng) -> Verdict {
        if self.avg < self.min {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.avg >= self.max {
            self.count = 0;
            return Verdict::Drop(DropReason::Forced);
        }
        self.count += 1;
        let robust = f64::from(queue) >= share.max(self.min_q);
        if robust && rng.uniform() < space_signals(self.p_b(), self.count as f64) {
            self.count = 0;
            return Verdict::Drop(DropReason::Early);
        }
        Verdict::Pass
    }
}

impl Aqm for Fred {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let idle = self.idle.end_in_packets(now, &self.clock);
        if let Some(packets) = idle {
            self.age(packets);
        }
        let share = self.share();
        if self.strikes(packet.flow, share) {
            return Verdict::Drop(DropReason::Forced);
        }
        let queue = self.flows.get(packet.flow).map_or(0, |flow| flow.queue);
        let verdict = self.judge(queue, share, rng);
        if verdict != Verdict::Pass {
            return verdict;
        }
        if !self.limit.admits(backlog, packet.bytes) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.flows.enter(packet.flow).queue += 1;
        if idle.is_none() {
            self.sample(backlog.packets);
        }
        Verdict::Pass
    }

    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.idle)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg", self.avg);
        show("p_b", if self.avg >= self.max { 1.0 } else { self.p_b().max(0.0) });
        show("count", self.count as f64);
        show("active", self.flows.len() as f64);
    }
}

impl Watcher for Fred {
    fn on_departure(
        &mut self,
        packet: &Packet,
        _: Duration,
        left: Backlog,
        _: Instant,
        _: &mut Rng,
    ) -> bool {
        if let Some(flow) = self.flows.get(packet.flow) {
            flow.queue -= 1;
            if flow.queue == 0 {
                self.flows.leave(packet.flow);
            }
        }
        self.sample(left.packets);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;
    use packet::{Ecn, Rate};

    /// A FRED with thresholds of 16 and 32 packets, an average of `avg`, and `active` flows, of
    /// which flow 0 holds `queue` packets and has `strikes`.
    fn fred(avg: f64, active: u64, queue: u32, strikes: u32) -> Fred {
        let mut flows = Active::<Flow>::new();
        (0..active).for_each(|flow| *flows.enter(flow) = Flow { queue: 1, strikes: 0 });
        if queue > 0 {
            *flows.enter(0) = Flow { queue, strikes };
        } else {
            flows.leave(0);
        }
        Fred {
            min: 16.0,
            max: 32.0,
            w_q: 0.002,
            max_p: 0.02,
            min_q: 2.0,
            limit: BufferLimit::of_packets(100, Fit::Whole),
            clock: PacketClock::of_line(Rate::from_bits_per_s(10_000_000), 1000),
            avg,
            idle: Idle::new(),
            count: -1,
            flows,
        }
    }

    /// The verdict on an arrival of flow 0, the flow's strikes after it, and whether a random
    /// number was drawn.
    fn outcome(mut fred: Fred) -> (Verdict, u32, bool) {
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let mut rng = Rng::named(1, "fred");
        fred.idle.end(Instant::ZERO);
        let backlog = Backlog { packets: 24, bytes: 24_000 };
        let verdict = fred.on_arrival(&packet, backlog, Instant::ZERO, &mut rng);
        let strikes = fred.flows.get(0).map_or(0, |flow| flow.strikes);
        (verdict, strikes, rng != Rng::named(1, "fred"))
    }

    #[test]
    fn published_points() {
        let (pass, forced) = (Verdict::Pass, Verdict::Drop(DropReason::Forced));
        assert_eq!(fred(24.0, 8, 1, 0).share(), 3.0);
        assert_eq!(fred(24.0, 0, 0, 0).share(), 24.0);
        assert!((fred(24.0, 8, 3, 0).p_b() - 0.01).abs() < 1e-12);
        // A flow with 3 packets, its fair share, is tested at random; one with 2 is not.
        assert_eq!(outcome(fred(24.0, 8, 3, 0)), (pass, 0, true));
        assert_eq!(outcome(fred(24.0, 8, 2, 0)), (pass, 0, false));
        // A flow with two strikes is held to its fair share, one with a single strike is not.
        assert_eq!(outcome(fred(24.0, 8, 3, 2)), (forced, 3, false));
        assert_eq!(outcome(fred(24.0, 8, 3, 1)), (pass, 1, true));
        assert_eq!(outcome(fred(24.0, 8, 2, 2)), (pass, 2, false));
        // While the average is below min_th, a flow may hold min_th packets: 16.
        assert_eq!(outcome(fred(5.0, 8, 16, 0)), (forced, 1, false));
        assert_eq!(outcome(fred(5.0, 8, 15, 0)), (pass, 0, false));
        // From max_th on a flow may hold two packets, and more give it a strike. All other
        // arrivals are dropped without one.
        assert_eq!(outcome(fred(32.0, 16, 2, 0)), (forced, 1, false));
        assert_eq!(outcome(fred(32.0, 16, 1, 0)), (forced, 0, false));
        assert_eq!(outcome(fred(32.0, 16, 0, 0)), (forced, 0, false));
    }

    #[test]
    fn thresholds_follow_the_limit() {
        let raw = |n: f64| [("limit".to_string(), packet::params::Raw::Number(n))];
        let fields = find("fred").unwrap().about.fields;
        assert!(Params::check(fields, &raw(0.0)).is_err());
        let params = Params::check(fields, &raw(64.0)).unwrap();
        assert!(build(&params, &Line::of(Rate::from_bits_per_s(1))).is_ok());
    }
}
