//! COBALT, CoDel and BLUE alternate (J. Morton, P. Heist, T. Høiland-Jørgensen, J. Morton, in
//! Linux `sch_cake`, 2018; T. Høiland-Jørgensen, D. Taht, J. Morton, *Piece of CAKE*, LANMAN
//! 2018).
//!
//! The idea in five lines. CoDel signals flows that answer; against those that do not, it lets
//! the queue grow until the buffer is full. There BLUE takes over: each overflow, at most one per
//! `target`, raises a probability with which packets are dropped whatever their ECN field, and
//! each time the queue is found empty it falls. CoDel is rewritten so that one clock,
//! `drop_next`, serves as the timer before the first signal and between signals, and the count
//! of signals falls again, step by step, once packets are on time.
//!
//! Here it is the AQM of one first-in, first-out queue. The implementations differ:
//!
//! | | `linux` | `ns3` |
//! |---|---|---|
//! | a sojourn time is too long above | target, 1.5 and 4 transmission times of an `mtu` | target |
//! | the last packet of the queue | is never dropped | may be dropped |
//! | BLUE's probability grows | at overflows | at overflows, and above a sojourn time of 400 ms |
//! | before a queue's first signal | no interval passes | an interval passes |

pub(crate) mod alternation;
mod roots;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::buffer::BYTES;

use crate::shells::departure::{AtDeparture, DepartureFifo, Rules};
use crate::{BufferLimit, Built, Entry, Fit, Line, PerFlowState, Verdict, buffer};
use alternation::{Alternation, NEVER, Numbers};

/// The entry of `cobalt` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "cobalt",
        summary: "Controlled delay, and random drops that grow while the buffer overflows.",
        year: 2018,
        source: "Linux sch_cake; ns-3 CobaltQueueDisc; Høiland-Jørgensen, Taht and Morton, LANMAN \
                 2018",
        deviations: "All: one FIFO that refuses arrivals when full, each of which raises the \
                     probability (sch_cake, which has one per flow: each packet dropped from the \
                     fattest queue). ns3: roots are exact (ns-3: 16 accurate values, then Newton \
                     steps; the waits differ by less than 0.5 % once the count passes 15). A \
                     random draw u drops if u < p_drop. A queue never used counts as last visited \
                     long ago. linux: in a queue that has never signalled the second late packet \
                     is signalled at once, as in sch_cake, where a reciprocal root begins at zero; \
                     the guard takes the rate of the line, as sch_cake that of its shaper; an \
                     unshaped sch_cake has none. Without a guard, as in ns3 or with mtu = 0, \
                     every busy period longer than interval is signalled on a line whose packets \
                     last longer than target: web traffic that wants all of 2 Mb/s gets 64 % of \
                     it, and 89 % with the guard.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks in place of every drop by CoDel if ecn is on and the packet is ECN-capable; the \
          random drops of its other half ignore ECN; a full buffer drops",
    units: "time",
    build: &build,
};

const PROBABILITY: Kind = Kind::from(Unit::None, 0.0, 1.0);
const STAY: Kind = Kind::from(Unit::Time, 0.0, 1e3);

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["linux", "ns3"]), Value::Choice("linux"))
        .meaning("The implementation to follow, with its defaults: linux (sch_cake), ns3.")
        .source("constructed: the program in which it was made"),
    Field::new("target", STAY, Value::Real(0.005))
        .meaning(
            "Time in the queue that is acceptable for good, and least time between changes of the \
             drop probability; linux: at least 1.5 times the transmission time of mtu.",
        )
        .source("read: Linux sch_cake, ns-3"),
    Field::new("interval", buffer::TIME, Value::Real(0.1))
        .meaning(
            "How long packets must stay too long before the first signal; linux: longer by what \
             target is made longer, and at least twice that.",
        )
        .source("read: Linux sch_cake, ns-3"),
    Field::new("mtu", Kind::whole(Unit::Bytes, 0, 1_000_000), Value::Unset)
        .meaning(
            "linux only: the largest packet. No packet that stayed for less than four of its \
             transmission times is signalled; 0 lifts this guard and leaves target as written. \
             1514.",
        )
        .source("read: Linux sch_cake mtu_time, psched_mtu on Ethernet"),
    Field::new("p_inc", PROBABILITY, Value::Real(1.0 / 256.0))
        .meaning("By how much an overflow raises the drop probability.")
        .source("read: Linux sch_cake, ns-3"),
    Field::new("p_dec", PROBABILITY, Value::Real(1.0 / 4096.0))
        .meaning("By how much an empty queue lowers it.")
        .source("read: Linux sch_cake, ns-3"),
    Field::new("blue_threshold", STAY, Value::Unset)
        .meaning(
            "ns3 only: a packet that leaves after a longer stay raises the drop probability as an \
             overflow does. 400 ms.",
        )
        .source("read: ns-3 BlueThreshold"),
    Field::new("limit", buffer::LIMIT, Value::Unset)
        .meaning("Packets that may wait; linux: 1000 unless limit_bytes is given.")
        .source("constructed, as Linux sch_codel"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning(
            "IP bytes that may wait; 1500000 in ns3 unless limit is given, otherwise no such limit \
             unless given.",
        )
        .source("read: ns-3 MaxSize, 1500 * 1000 bytes"),
    buffer::ECN,
];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let linux = params.choice("profile") == "linux";
    let (foreign, why) = if linux {
        ("blue_threshold", "sch_cake raises the probability at overflows alone; leave it out")
    } else {
        ("mtu", "ns-3 has no guard for slow lines; leave it out")
    };
    if params.given(foreign) {
        let (value, profile) = (params.written(foreign), params.choice("profile"));
        let text = format!("{value} is not possible with profile \"{profile}\": {why}");
        return Err(BadParams::new(foreign, text));
    }
    let cobalt = Cobalt {
        law: Alternation::new(),
        numbers: numbers(params, line, linux),
        linux,
        coin: false,
    };
    params.ignore(foreign);
    let rules = Rules { ecn: params.switch("ecn"), keep_last: linux };
    Ok(Built::Discipline(Box::new(DepartureFifo::new(cobalt, limit(params, linux), rules))))
}

fn numbers(params: &Params, line: &Line, linux: bool) -> Numbers {
    let (target, interval) = (params.time("target"), params.time("interval"));
    let plain = Numbers {
        target,
        interval,
        mtu_time: Duration::ZERO,
        blue_threshold: NEVER,
        p_inc: params.real("p_inc"),
        p_dec: params.real("p_dec"),
        linux,
    };
    match (linux, params.whole_or("mtu", 1514)) {
        (false, _) => {
            let blue_threshold = Duration::from_secs_f64(params.real_or("blue_threshold", 0.4));
            Numbers { blue_threshold, ..plain }
        }
        (true, 0) => plain,
        (true, mtu) => {
            let stretched = Numbers::at_rate(target, interval, line.rate.time_for(mtu));
            Numbers { p_inc: plain.p_inc, p_dec: plain.p_dec, ..stretched }
        }
    }
}

fn limit(params: &Params, linux: bool) -> BufferLimit {
    if linux || params.given("limit") || params.given("limit_bytes") {
        return buffer::limit(params, 1000);
    }
    BufferLimit::of_bytes(params.whole_or("limit_bytes", 1_500_000), Fit::Whole)
}

/// COBALT's state of the queue.
#[derive(Clone, Debug)]
struct Cobalt {
    law: Alternation,
    numbers: Numbers,
    /// Whether the rules are Linux's, which never drop the last packet of the queue.
    linux: bool,
    /// Whether BLUE drops the packet that CoDel is signalling.
    coin: bool,
}

impl AtDeparture for Cobalt {
    fn on_departure(
        &mut self,
        packet: &Packet,
        left: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let sojourn = now.since(packet.arrived);
        let visit = self.law.visit(&self.numbers, sojourn, 0, now, rng);
        self.coin = visit.coin;
        // The last packet is kept even if BLUE drops it, but CoDel may still mark it.
        let kept = self.linux && left.packets == 0;
        if visit.signal && (!visit.coin || kept) {
            return Verdict::Signal(DropReason::Early);
        }
        self.law.settle(&self.numbers, visit.coin, now);
        if visit.coin { Verdict::Drop(DropReason::Forced) } else { Verdict::Pass }
    }

    fn on_signalled(&mut self, marked: bool, now: Instant) {
        self.law.settle(&self.numbers, self.coin || !marked, now);
    }

    fn on_refused(&mut self, now: Instant) {
        self.law.full(&self.numbers, now);
    }

    fn on_empty(&mut self, now: Instant) {
        self.law.empty(&self.numbers, now);
    }

    fn strength(&self) -> (&'static str, f64) {
        ("max_p_drop", self.law.p_drop())
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("count", f64::from(self.law.count()));
        show("p_drop", self.law.p_drop());
        show("dropping", f64::from(u8::from(self.law.dropping())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rate;

    #[test]
    fn its_strength_is_blues_probability() {
        let numbers =
            numbers(&Params::defaults(FIELDS), &Line::of(Rate::from_bits_per_s(10_000_000)), true);
        let mut law = Alternation::new();
        law.full(&numbers, Instant::from_nanos(1_000_000_000));
        let cobalt = Cobalt { law, numbers, linux: true, coin: false };
        assert_eq!(cobalt.strength(), ("max_p_drop", 1.0 / 256.0));
    }
}
