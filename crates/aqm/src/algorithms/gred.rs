//! Generic RED, Linux's `sch_gred` (J. Hadi Salim, 1998-2002).
//!
//! The idea in five lines. One queue, first come, first served, holds up to sixteen virtual
//! queues, each with its own thresholds, byte limit and RED state. The average that decides on a
//! packet depends on the mode: its virtual queue's own (`separate`); that plus the averages of
//! all virtual queues of higher priority that are not idle (`grio`); or one over everything that
//! waits (`shared`). The decision is Linux RED's, the limit is tested last.

use alloc::{boxed::Box, format, vec::Vec};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant, Packet, Rng};

use crate::buffer::{ECN, LIMIT, PACKET_BYTES, PACKETS, PROBABILITY};

use super::family::{LINUX, Linux, PacketClock, Settings, plain, weight_for_burst};
use crate::shells::classes::{CLASSES, ClassFifo, ClassJudge, Waiting};
use crate::{Built, Entry, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "gred",
        summary: "Up to sixteen virtual REDs in one queue, apart, stacked by priority, or sharing \
                  one average.",
        year: 1998,
        source: "Linux sch_gred",
        deviations: "Packets carry no class, so a flow's virtual queue is flow number modulo \
                     classes. Thresholds run linearly from the first virtual queue to the last, \
                     where Linux takes any; w_q, max_p and the limit are the same for all. \
                     Priorities are 1, 2, 3 … in mode grio. RED as in profile linux of plain RED.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks everywhere if ecn is on and the packet is ECN-capable, with harddrop only below \
          max_th; drops an overflow",
    units: "bytes",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("mode", Kind::Choice(&["separate", "grio", "shared"]), Value::Choice("separate"))
        .meaning(
            "The average a packet is judged by: separate, grio (by priority, stacked) or shared \
             (Linux's WRED mode).",
        )
        .source("read: Linux sch_gred (grio, and whether priorities are distinct)"),
    Field::new("virtual_queues", Kind::whole(Unit::Count, 1, CLASSES as u64), Value::Whole(3))
        .meaning("How many virtual queues there are.")
        .source("Linux sch_gred DPs (at most 16); value constructed"),
    Field::new("classes", Kind::whole(Unit::Count, 1, 1_000_000), Value::Unset)
        .meaning(
            "How many classes the flows are spread over: class = flow number modulo classes. Those \
             from virtual_queues on have none of their own. virtual_queues unless given.",
        )
        .source("constructed"),
    Field::new("default_vq", Kind::whole(Unit::Count, 0, CLASSES as u64 - 1), Value::Unset)
        .meaning(
            "The virtual queue, counted from 0, of classes without one. None unless given: their \
             packets meet only the total limit.",
        )
        .source("read: Linux sch_gred def_DP"),
    Field::new("min_th", PACKETS, Value::Real(5.0))
        .meaning(
            "Average below which every packet of the first virtual queue passes; multiplied by \
             mean_packet_bytes.",
        )
        .source("constructed: ALTQ's and ns-3's RED"),
    Field::new("max_th", PACKETS, Value::Real(15.0))
        .meaning("Average from which every packet of the first virtual queue is signalled.")
        .source("constructed: ALTQ's and ns-3's RED"),
    Field::new("min_th_last", PACKETS, Value::Unset)
        .meaning(
            "min_th of the last virtual queue; those between are spaced evenly. min_th unless \
             given.",
        )
        .source("constructed"),
    Field::new("max_th_last", PACKETS, Value::Unset)
        .meaning(
            "max_th of the last virtual queue; those between are spaced evenly. max_th unless \
             given.",
        )
        .source("constructed"),
    Field::new("w_q", PROBABILITY, Value::Unset)
        .meaning(
            "Weight of the newest sample, a power of two. The largest that lets a burst of (2 \
             min_th + max_th)/3 packets pass the first virtual queue unless given.",
        )
        .source("tc"),
    Field::new("max_p", PROBABILITY, Value::Real(0.02))
        .meaning("Probability of a signal, before spacing, where the average reaches max_th.")
        .source("tc"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000))
        .meaning("Bytes of a packet in thresholds and limits, and the packet of the idle clock.")
        .source("constructed"),
    Field::new("limit", LIMIT, Value::Whole(60))
        .meaning(
            "Packets of mean_packet_bytes that may wait in all. As in Linux it is tested for \
             packets without a virtual queue, and bounds vq_limit.",
        )
        .source("constructed"),
    Field::new("vq_limit", LIMIT, Value::Unset)
        .meaning(
            "Packets of mean_packet_bytes that may wait in a virtual queue (in mode shared: in \
             all). The limit unless given.",
        )
        .source("read: Linux sch_gred, bounded by the total limit"),
    ECN.source("read: Linux sch_gred"),
    Field::new("harddrop", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether ECN-capable packets too are dropped where the average is at or above max_th.",
        )
        .source("read: Linux sch_gred"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Separate,
    Rio,
    Wred,
}

/// Class number under which packets without a virtual queue wait.
const NONE: usize = CLASSES - 1;

struct Gred {
    mode: Mode,
    queues: Vec<Linux>,
    /// RED's state with the average of all that waits, for mode `shared`.
    shared: Linux,
    classes: u64,
    /// Virtual queue for the classes that have none of their own (`default_vq`), if it is set.
    default: Option<usize>,
    /// Limit of each virtual queue, and of all together, in bytes.
    limits: (u64, u64),
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let count = params.whole("virtual_queues");
    let classes = params.whole_or("classes", count);
    let default = match params.value("default_vq") {
        Value::Whole(index) if index >= count => {
            let why = format!(
                "{index} does not exist: virtual_queues = {count}, counted from 0, so at most {}",
                count - 1
            );
            return Err(BadParams::new("default_vq", why));
        }
        Value::Whole(index) => Some(index as usize),
        _ => None,
    };
    if count == CLASSES as u64 && classes > count && default.is_none() {
        let why = format!(
            "{classes} leaves classes without a virtual queue beside virtual_queues = {count}; \
             at most {} can exist beside them, or give default_vq",
            CLASSES - 1
        );
        return Err(BadParams::new("classes", why));
    }
    let mode = match params.choice("mode") {
        "grio" => Mode::Rio,
        "shared" => Mode::Wred,
        _ => Mode::Separate,
    };
    let mean = params.whole("mean_packet_bytes");
    let total = params.whole("limit");
    let own = params.whole_or("vq_limit", total).min(total);
    let queue = |index| {
        let queue = Linux::new(&settings(params, line, index, count)?).map_err(|bad| {
            BadParams::new(&bad.field, format!("{} (virtual queue {index})", bad.why))
        })?;
        Ok::<Linux, BadParams>(queue.never_idle_yet())
    };
    let judge = Gred {
        mode,
        queues: (0..count).map(queue).collect::<Result<_, _>>()?,
        shared: queue(0)?,
        classes,
        default,
        limits: (own * mean, total * mean),
    };
    Ok(Built::Discipline(Box::new(ClassFifo::new(judge, params.switch("ecn")))))
}

/// RED's settings of virtual queue number `index` of `count`.
fn settings(params: &Params, line: &Line, index: u64, count: u64) -> Result<Settings, BadParams> {
    let share = if count > 1 { index as f64 / (count - 1) as f64 } else { 0.0 };
    let between = |first: &str, last: &str| {
        let first = params.real(first);
        first + share * (params.real_or(last, first) - first)
    };
    let (min, max) = (between("min_th", "min_th_last"), between("max_th", "max_th_last"));
    if min >= max {
        let why = format!(
            "{min} is not below max_th = {max} of virtual queue {index}: RED needs a band between \
             its thresholds; give both, for the first and the last"
        );
        let field = if index == 0 { "min_th" } else { "min_th_last" };
        return Err(BadParams::new(field, why));
    }
    let automatic = weight_for_burst(params.real("min_th"), params.real("max_th"));
    let mean = params.whole("mean_packet_bytes") as u32;
    let w_q = params.real_or("w_q", automatic);
    Ok(Settings {
        mean_packet_bytes: mean,
        clock: PacketClock::of_line(line.rate, mean),
        harddrop: params.switch("harddrop"),
        ..plain(&LINUX, (min, max), w_q, params.real("max_p"))
    })
}

impl Gred {
    /// The average that decides on a packet of `class`, in bytes times 1/w_q.
    fn average(&self, class: usize) -> u64 {
        match self.mode {
            Mode::Separate => self.queues[class].average(),
            Mode::Wred => self.shared.average(),
            Mode::Rio => {
                let above = self.queues[..class].iter().filter(|queue| !queue.is_idle());
                let others: u64 = above.map(Linux::average).sum();
                self.queues[class].average() + others
            }
        }
    }

    fn has_queue(&self, class: usize) -> bool {
        class < self.queues.len()
    }
}

impl ClassJudge for Gred {
    fn class_of(&mut self, packet: &Packet, _now: Instant) -> usize {
        let class = packet.flow % self.classes;
        if class < self.queues.len() as u64 { class as usize } else { self.default.unwrap_or(NONE) }
    }

    fn on_arrival(
        &mut self,
        _packet: &Packet,
        class: usize,
        waiting: &Waiting,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        if !self.has_queue(class) {
            return Verdict::Pass;
        }
        if self.mode == Mode::Wred {
            self.shared.sample(waiting.total.bytes, now);
        } else {
            self.queues[class].sample(waiting.of[class].bytes, now);
        }
        let average = self.average(class);
        self.queues[class].decide(average, rng)
    }

    fn has_room(&self, class: usize, bytes: u32, waiting: &Waiting) -> bool {
        let (backlog, limit) = match self.mode {
            _ if !self.has_queue(class) => (waiting.total, self.limits.1),
            Mode::Wred => (waiting.total, self.limits.0),
            _ => (waiting.of[class], self.limits.0),
        };
        backlog.bytes + u64::from(bytes) <= limit
    }

    fn on_departure(&mut self, class: usize, waiting: &Waiting, now: Instant) {
        use crate::Aqm;
        if !self.has_queue(class) {
            return;
        }
        // Linux's idle clock starts when the last packet's transmission begins, not when it ends.
        if self.mode == Mode::Wred {
            if waiting.total.packets == 0 {
                self.shared.on_idle(now);
            }
        } else if waiting.of[class].packets == 0 {
            self.queues[class].on_idle(now);
        }
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        const NAMES: [&str; CLASSES] = [
            "avg_0", "avg_1", "avg_2", "avg_3", "avg_4", "avg_5", "avg_6", "avg_7", "avg_8",
            "avg_9", "avg_10", "avg_11", "avg_12", "avg_13", "avg_14", "avg_15",
        ];
        if self.mode == Mode::Wred {
            return show("avg", self.shared.average_packets());
        }
        for (name, queue) in NAMES.iter().zip(&self.queues) {
            show(name, queue.average_packets());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Backlog, Ecn, Rate};

    /// A GRED with three virtual queues and w_q = 1, so that each average is the current backlog.
    fn gred(mode: Mode) -> Gred {
        let fields = Params::defaults(FIELDS);
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let one = Settings { w_q: 1.0, ..settings(&fields, &line, 0, 1).unwrap() };
        let queue = || Linux::new(&one).unwrap().never_idle_yet();
        let (queues, shared) = ((0..3).map(|_| queue()).collect(), queue());
        Gred { mode, queues, shared, classes: 3, default: None, limits: (60_000, 60_000) }
    }

    /// Lets a packet of `class` arrive that finds `bytes` waiting in its virtual queue.
    fn find(gred: &mut Gred, class: usize, bytes: u64) {
        let mut waiting = Waiting::default();
        waiting.of[class] = Backlog { packets: 1, bytes };
        waiting.total = waiting.of[class];
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 100,
            ecn: Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let rng = &mut Rng::named(1, "gred");
        gred.on_arrival(&packet, class, &waiting, Instant::ZERO, rng);
    }

    #[test]
    fn published_averages_of_mode_rio() {
        let mut stacked = gred(Mode::Rio);
        find(&mut stacked, 0, 5000);
        find(&mut stacked, 1, 3000);
        assert_eq!((stacked.average(1), stacked.average(0)), (8000, 5000));
        stacked.on_departure(0, &Waiting::default(), Instant::ZERO);
        assert_eq!(stacked.average(1), 3000, "the first is idle");
    }

    #[test]
    fn the_other_modes() {
        let mut apart = gred(Mode::Separate);
        find(&mut apart, 0, 5000);
        find(&mut apart, 1, 3000);
        assert_eq!((apart.average(1), apart.average(0)), (3000, 5000));
        let mut one = gred(Mode::Wred);
        find(&mut one, 0, 5000);
        assert_eq!((one.average(1), one.average(0)), (5000, 5000));
    }

    #[test]
    fn a_class_without_a_virtual_queue_meets_only_the_total_limit() {
        let mut gred = gred(Mode::Separate);
        assert_eq!([0, 2, 3].map(|class| gred.has_queue(class)), [true, true, false]);
        // An arrival of class 3 updates no virtual queue's average, however much waits.
        find(&mut gred, 3, 50_000);
        assert_eq!([0, 1, 2].map(|class| gred.average(class)), [0; 3]);
    }
}
