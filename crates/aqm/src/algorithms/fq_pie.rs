//! FQ-PIE (Linux `sch_fq_pie`, M. Tahiliani and others, 2020; earlier in FreeBSD dummynet).
//!
//! The idea in five lines. The queues, turns and sparse-first rule of FQ-CoDel, with a PIE in
//! each queue in place of CoDel: arrivals are signalled at random, with a probability that a
//! controller derives from how long packets of this queue wait. One clock updates the
//! controllers of all queues, used or not, so that a flow that returns finds its probability
//! decayed. There is no paper and no RFC; profile `rfc8033` puts the RFC's controller in each
//! queue, profile `linux` follows Linux's.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Ecn, Instant, Packet};

use crate::buffer::{BYTES, ECN, GAIN, LIMIT, PACKET_BYTES, TIME};

use crate::periodic::Ticker;
use crate::pie_core::{PieCore, PieRules};
use crate::shells::flows::{HASH_SEED, hash_seed};
use crate::shells::per_flow::{Overload, PerFlow, QueueJudge, Settings};
use crate::shells::pool::{Pool, Queue};
use crate::{Admission, Built, Cx, Entry, Line, PerFlowState, Table};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "fq_pie",
        summary: "Serves hashed flows in turn, sparse ones first, with a delay controller in each \
                  queue.",
        year: 2020,
        source: "Linux sch_fq_pie; RFC 8033 for the controller, RFC 8290 for the queues",
        deviations: "The buffer refuses arrivals as in Linux (ns-3 drops from the fattest queue: \
                     overload = \"fattest\"); limit_bytes refuses too (Linux only counts memory). \
                     All queues are updated at once (Linux: 2048 per pass). rfc8033: the delay is \
                     that of the last packet sent; the first update is after one period. linux: \
                     real numbers and exact periods in place of fixed point and timer ticks (there \
                     15 ms are 16 at HZ = 1000, 20 at 250).",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Queues,
    tables: &[Table { rows: &[("flows", 1_024)], row: 260 }],
    ecn: "marks ECN-capable packets if ecn is on and the queue's p is below mark_ecnth (linux: at \
          most), drops them above; want of room drops",
    units: "time; turns in bytes",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["rfc8033", "linux"]), Value::Choice("rfc8033"))
        .meaning("rfc8033: the controller of the RFC in each queue; linux: sch_fq_pie.")
        .source("constructed"),
    Field::new("target", TIME, Value::Real(0.015))
        .meaning("Target queueing delay of each queue.")
        .source("read: Linux; RFC 8033 (recalled)"),
    Field::new("t_update", crate::periodic::PERIOD, Value::Real(0.015))
        .meaning("Time between updates.")
        .source("read: Linux; RFC 8033 (recalled)"),
    Field::new("alpha", GAIN, Value::Real(0.125))
        .meaning("Gain of the delay's distance from the target, in Hz, not multiplied by t_update.")
        .source("read: Linux 2/16; RFC 8033 (recalled)"),
    Field::new("beta", GAIN, Value::Real(1.25))
        .meaning("Gain of the delay's growth, in Hz.")
        .source("read: Linux 20/16; RFC 8033 (recalled)"),
    Field::new("max_burst", Kind::from(Unit::Time, 0.0, 1e3), Value::Real(0.15))
        .meaning("How long after a quiet time no packet of a queue is signalled.")
        .source("read: Linux; RFC 8033 (recalled)"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning(
            "A queue of at most two such packets is never signalled (linux: below two MTUs). \
             rfc8033: 1000; linux: 1500 and the link's header_bytes.",
        )
        .source("ns-3 MeanPktSize; read: Linux psched_mtu, counted as packets are"),
    Field::new("cap_drop", Kind::Switch, Value::Switch(true))
        .meaning("Whether p rises by at most 2 % at an update once it is 10 %.")
        .source("read: Linux; RFC 8033 section 5.5 (recalled)"),
    Field::new("derandomise", Kind::Switch, Value::Switch(true))
        .meaning(
            "Whether signals are spaced: none until the probabilities of 0.85 packets have \
             gathered, certain at 8.5.",
        )
        .source("read: Linux; RFC 8033 section 5.4 (recalled)"),
    Field::new("flows", Kind::whole(Unit::Count, 1, 65_536), Value::Whole(1024))
        .meaning("Queues that flows are hashed into.")
        .source("read: Linux"),
    Field::new("quantum", Kind::whole(Unit::Bytes, 256, 1_000_000), Value::Whole(1514))
        .meaning("Bytes that a queue may send in each turn.")
        .source("read: Linux psched_mtu on Ethernet"),
    Field::new("limit", LIMIT, Value::Whole(10_240))
        .meaning("Packets that may wait in all queues together.")
        .source("read: Linux"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning("IP bytes that may wait in all queues together; no such limit unless given.")
        .source("constructed"),
    Field::new("overload", Kind::Choice(&["arrival", "fattest"]), Value::Choice("arrival"))
        .meaning(
            "What a full buffer drops: the arrival, or half of the queue with most bytes, from its \
             head and at most 64 packets (fattest).",
        )
        .source("read: Linux (arrival), ns-3 (fattest)"),
    ECN.source("read: Linux (ns-3: on)"),
    Field::new("mark_ecnth", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.1))
        .meaning(
            "Probability from which on (linux: above which) signals drop ECN-capable packets too.",
        )
        .source("read: Linux ecn_prob, ns-3"),
    HASH_SEED,
];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let linux = params.choice("profile") == "linux";
    let period = params.time("t_update");
    let rules = PieRules {
        target: params.real("target"),
        period,
        alpha: params.real("alpha"),
        beta: params.real("beta"),
        max_burst: params.time("max_burst"),
        spared_bytes: 2 * params
            .whole_or("mean_packet_bytes", if linux { line.mtu() } else { 1000 }),
        capped: params.switch("cap_drop"),
        derandomised: params.switch("derandomise"),
        linux,
    };
    let settings = Settings {
        flows: params.whole("flows") as usize,
        seed: hash_seed(params),
        quantum: params.whole("quantum"),
        limit: params.whole("limit"),
        limit_bytes: params.whole_or("limit_bytes", u64::MAX),
        overload: match params.choice("overload") {
            "fattest" => Overload::Cut { batch: 64 },
            _ => Overload::Refuse,
        },
        forgets_if_alone: linux,
        judges_see_all: false,
    };
    let judge = || Judge {
        core: PieCore::new(rules),
        linux,
        ecn: params.switch("ecn"),
        mark_below: params.real("mark_ecnth"),
        delay: 0.0,
        last: None,
    };
    let ticker = Ticker::every(period);
    let ticker = if linux { ticker.first_at(Duration::from_millis(500)) } else { ticker };
    Ok(Built::Discipline(Box::new(PerFlow::new(settings, judge).ticking(ticker))))
}

/// The PIE controller of one queue.
struct Judge {
    core: PieCore,
    linux: bool,
    ecn: bool,
    /// Probability from which on (Linux: above which) a signal drops whatever the ECN field.
    mark_below: f64,
    /// How long the last packet sent had waited, in seconds; zero if it left nothing behind.
    delay: f64,
    /// When the last packet was sent: Linux shortens the burst allowance by the time between
    /// departures.
    last: Option<Instant>,
}

impl QueueJudge for Judge {
    fn admit(&mut self, packet: &mut Packet, own: Backlog, cx: &mut Cx) -> Admission {
        if !self.core.signals(own.bytes, cx.rng) {
            return Admission::Queued;
        }
        let p = self.core.p;
        let low = if self.linux { p <= self.mark_below } else { p < self.mark_below };
        if low && self.ecn && packet.ecn.can_be_marked() {
            packet.ecn = Ecn::Ce;
            return Admission::Marked(DropReason::Early);
        }
        self.core.dropped();
        Admission::Dropped(DropReason::Early)
    }

    fn on_refused(&mut self, _now: Instant) {
        self.core.dropped();
    }

    fn take(
        &mut self,
        pool: &mut Pool,
        queue: &mut Queue,
        _others: Backlog,
        cx: &mut Cx,
    ) -> Option<Packet> {
        let packet = pool.pop(queue)?;
        let waited = cx.now.since(packet.arrived).secs_f64();
        self.delay = if queue.is_empty() { 0.0 } else { waited };
        let last = self.last.replace(cx.now);
        if self.linux {
            self.core.delay = self.delay;
            if let Some(last) = last {
                self.core.spend_burst(cx.now.since(last));
            }
        }
        Some(packet)
    }

    fn on_tick(&mut self, own: Backlog) -> bool {
        let quiet = self.core.update(self.delay, own.bytes == 0 || !self.linux);
        if quiet {
            self.last = None;
            self.core.renew();
        }
        // A quiet controller is at rest: at a constant delay below the target p stays 0.
        quiet
    }

    fn strength(&self) -> (&'static str, f64) {
        ("max_p", self.core.p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: f64 = 0.015;

    fn judge(linux: bool) -> Judge {
        let rules = PieRules {
            target: TARGET,
            period: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration::ZERO,
            spared_bytes: 0,
            capped: false,
            derandomised: false,
            linux,
        };
        let core = PieCore::new(rules);
        Judge { core, linux, ecn: true, mark_below: 1.0, delay: 0.0, last: None }
    }

    #[test]
    fn at_the_bound_of_marking_rfc_8033_drops_and_linux_marks() {
        for (linux, marks) in [(false, false), (true, true)] {
            let mut judge = judge(linux);
            judge.core.p = 1.0;
            let mut packet = Packet {
                id: 0,
                flow: 0,
                bytes: 1500,
                ecn: Ecn::Ect0,
                arrived: Instant::ZERO,
                header: Default::default(),
            };
            let mut rng = packet::Rng::named(1, "fq_pie");
            let mut out = |_: packet::Event| {};
            let mut cx = Cx { now: Instant::ZERO, rng: &mut rng, out: &mut out };
            let own = Backlog { packets: 9, bytes: 9_000 };
            let admitted = judge.admit(&mut packet, own, &mut cx);
            assert_eq!(matches!(admitted, Admission::Marked(_)), marks, "linux {linux}");
        }
    }

    #[test]
    fn a_delay_of_zero_means_an_empty_queue_to_linux_only_where_nothing_waits() {
        // p falls by alpha times the target. Then it decays: by a fiftieth in RFC 8033, and in
        // Linux by a 64th, but only if the queue is empty.
        let fallen = 0.5 - 0.125 * TARGET;
        for (linux, bytes, p) in [
            (true, 0, fallen * 63.0 / 64.0),
            (true, 1_500, fallen),
            (false, 0, fallen * 0.98),
            (false, 1_500, fallen * 0.98),
        ] {
            let mut judge = judge(linux);
            judge.core.p = 0.5;
            judge.on_tick(Backlog { packets: 1, bytes });
            assert!((judge.core.p - p).abs() < 1e-12, "{linux} {bytes}: {}", judge.core.p);
        }
    }
}
