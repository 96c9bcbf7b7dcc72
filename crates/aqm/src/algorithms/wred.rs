//! Cisco's weighted RED (IOS documentation; the formula of its average in M. May, J. Bolot,
//! C. Diot, B. Lyles, *Reasons not to deploy RED*, IWQoS 1999).
//!
//! The idea in five lines. All packets share one queue and one average, 2^-n being the weight of
//! a new sample. Each of eight IP precedences, and RSVP as a ninth class, has its own thresholds
//! and mark probability, so that low precedences are dropped first. Between its thresholds a
//! packet is signalled with a probability up to 1/MPD; above `max_th` it is dropped; the buffer
//! is tested last.
//!
//! No source that was read says when IOS updates its average, whether it ages while the line idles,
//! and whether it spaces its drops. Each is a switch here, whose default is our own choice.

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng, math};

use crate::buffer::{ECN, LIMIT, PACKET_BYTES};

use super::family::{Idle, PacketClock, spacing};
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "wred",
        summary: "RED with one average and a pair of thresholds for each IP precedence.",
        year: 1998,
        source: "Cisco IOS documentation; May, Bolot, Diot and Lyles, IWQoS 1999",
        deviations: "Packets carry no precedence, so a flow's is first_class + flow number modulo \
                     classes. That the average is updated at arrivals, ages while the line idles, \
                     and that signals are not spaced is constructed; each is a switch.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks between a class's thresholds if ecn is on and the packet is ECN-capable; drops \
          above max_th and on overflow",
    units: "packets",
    build: &build,
};

/// Number of classes: eight IP precedences, and RSVP.
const CLASSES: usize = 9;

const THRESHOLD: Kind = Kind::above(Unit::Packets, 0.0, 4096.0);
const MPD: Kind = Kind::from(Unit::None, 1.0, 65_536.0);

const MIN_K: &str = "min_th of this class (8: RSVP) alone.";
const MAX_K: &str = "max_th of this class (8: RSVP) alone.";
const MPD_K: &str = "mpd of this class (8: RSVP) alone.";

const fn own(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
    Field { name, meaning, kind, default: Value::Unset, source: "Cisco IOS documentation" }
}

const FIELDS: &[Field] = &[
    Field::new("limit", LIMIT, Value::Whole(40))
        .meaning("Packets that may wait.")
        .source("May et al. 1999: IOS's output buffer"),
    Field::new("classes", Kind::whole(Unit::Count, 1, CLASSES as u64), Value::Whole(1))
        .meaning(
            "How many classes the flows are spread over: a flow's class is first_class + flow \
             number modulo classes.",
        )
        .source("constructed"),
    Field::new("first_class", Kind::whole(Unit::Count, 0, CLASSES as u64 - 1), Value::Whole(0))
        .meaning("The lowest class in use: an IP precedence of 0 to 7, or 8 for RSVP.")
        .source("Cisco IOS documentation: other traffic is precedence 0"),
    Field::new("n", Kind::whole(Unit::Count, 1, 16), Value::Whole(9))
        .meaning("Exponent of the average: a new sample has weight 2^-n.")
        .source("Cisco IOS documentation (read in May et al. 1999)"),
    Field::new("max_th", THRESHOLD, Value::Unset)
        .meaning(
            "Average queue above which every packet is dropped, for all classes. The limit, at \
             most 4096, unless given.",
        )
        .source("Cisco IOS documentation: from the buffer"),
    Field::new("min_th", THRESHOLD, Value::Unset)
        .meaning(
            "Average queue below which every packet of precedence 0 passes; the other classes' \
             follow by spacing. max_th/2 unless given.",
        )
        .source("Cisco IOS documentation"),
    Field::new("spacing", Kind::Choice(&["even", "sixteenths", "same"]), Value::Choice("even"))
        .meaning(
            "min_th of class i: even, min_th + i (max_th - min_th)/9 rounded down; sixteenths, \
             min_th + i max_th/16 (another vendor's); same, min_th for all.",
        )
        .source("Cisco IOS documentation (recalled, arithmetic checked); vendor manuals"),
    Field::new("mpd", MPD, Value::Real(10.0))
        .meaning("Mark probability denominator: the probability is 1/mpd at max_th.")
        .source("Cisco IOS documentation"),
    own("min_th_0", THRESHOLD, MIN_K),
    own("min_th_1", THRESHOLD, MIN_K),
    own("min_th_2", THRESHOLD, MIN_K),
    own("min_th_3", THRESHOLD, MIN_K),
    own("min_th_4", THRESHOLD, MIN_K),
    own("min_th_5", THRESHOLD, MIN_K),
    own("min_th_6", THRESHOLD, MIN_K),
    own("min_th_7", THRESHOLD, MIN_K),
    own("min_th_8", THRESHOLD, MIN_K),
    own("max_th_0", THRESHOLD, MAX_K),
    own("max_th_1", THRESHOLD, MAX_K),
    own("max_th_2", THRESHOLD, MAX_K),
    own("max_th_3", THRESHOLD, MAX_K),
    own("max_th_4", THRESHOLD, MAX_K),
    own("max_th_5", THRESHOLD, MAX_K),
    own("max_th_6", THRESHOLD, MAX_K),
    own("max_th_7", THRESHOLD, MAX_K),
    own("max_th_8", THRESHOLD, MAX_K),
    own("mpd_0", MPD, MPD_K),
    own("mpd_1", MPD, MPD_K),
    own("mpd_2", MPD, MPD_K),
    own("mpd_3", MPD, MPD_K),
    own("mpd_4", MPD, MPD_K),
    own("mpd_5", MPD, MPD_K),
    own("mpd_6", MPD, MPD_K),
    own("mpd_7", MPD, MPD_K),
    own("mpd_8", MPD, MPD_K),
    Field::new("update", Kind::Choice(&["arrival", "timer"]), Value::Choice("arrival"))
        .meaning("When the average takes a sample: at each arrival, or every period.")
        .source("constructed"),
    Field::new("period", Kind::from(Unit::Time, 1e-6, 1e3), Value::Unset)
        .meaning(
            "Time between two samples where update is timer. The transmission time of \
             mean_packet_bytes unless given.",
        )
        .source("constructed"),
    Field::new("idle_decay", Kind::Switch, Value::Switch(true))
        .meaning(
            "Whether the average ages while the line idles, as if small samples came at the rate \
             of packets; only where update is arrival.",
        )
        .source("constructed"),
    Field::new("uniformise", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether a class counts its packets since its last signal, as RED of 1993 does to \
             space signals evenly.",
        )
        .source("constructed"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000))
        .meaning("The packet of the idle clock.")
        .source("constructed"),
    ECN.source("Cisco IOS documentation: an option"),
];

/// A class's thresholds, and its packets since the last signal.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    min: f64,
    max: f64,
    /// Probability of a signal where the average reaches `max`: 1/MPD.
    max_p: f64,
    /// Packets since the class's last signal, with `uniformise`; −1 at an average below `min`.
    count: i64,
}

impl Class {
    fn p(&self, avg: f64) -> f64 {
        if self.min < self.max {
            self.max_p * (avg - self.min) / (self.max - self.min)
        } else {
            self.max_p
        }
    }
}

struct Wred {
    classes: [Class; CLASSES],
    first: usize,
    in_use: u64,
    weight: f64,
    avg: f64,
    idle: Idle,
    /// The clock by which the average ages while the line is idle; `None` if it does not age.
    clock: Option<PacketClock>,
    uniformise: bool,
    /// When the next sample is due and how far apart samples are, where a timer takes them.
    timer: Option<(Instant, Duration)>,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let (first, in_use) = (params.whole("first_class") as usize, params.whole("classes"));
    if first + in_use as usize > CLASSES {
        let most = CLASSES - first;
        let why = format!(
            "{in_use} is too many from first_class = {first} on: there are {CLASSES} classes (0 \
             to 7, and 8 for RSVP), so at most {most} remain"
        );
        return Err(BadParams::new("classes", why));
    }
    let on_timer = params.choice("update") == "timer";
    if params.given("period") && !on_timer {
        let period = params.written("period");
        let why = format!("{period} has no effect with update = \"arrival\"; leave it out");
        return Err(BadParams::new("period", why));
    }
    let clock = PacketClock::of_line(line.rate, params.whole("mean_packet_bytes") as u32);
    let period = params.real_or("period", clock.packet_secs().max(1e-6));
    if !on_timer {
        params.ignore("period");
    }
    let period = Duration::from_secs_f64(period);
    let limit = params.whole("limit");
    let judge = Wred {
        classes: classes(params, limit)?,
        first,
        in_use,
        weight: math::exp2(-(params.whole("n") as f64)),
        avg: 0.0,
        idle: Idle::new(),
        clock: (params.switch("idle_decay") && !on_timer).then_some(clock),
        uniformise: params.switch("uniformise"),
        timer: on_timer.then_some((Instant::ZERO + period, period)),
    };
    let limit = BufferLimit::of_packets(limit as u32, Fit::Whole);
    Ok(Built::Gate(Box::new(Judged::new(judge, limit, params.switch("ecn")))))
}

fn classes(params: &Params, limit: u64) -> Result<[Class; CLASSES], BadParams> {
    let max = params.real_or("max_th", (limit as f64).min(4096.0));
    let min = params.real_or("min_th", max / 2.0);
    let mut classes = [Class::default(); CLASSES];
    for (i, class) in classes.iter_mut().enumerate() {
        let default = match params.choice("spacing") {
            "even" => math::floor(min + i as f64 * (max - min) / 9.0),
            "sixteenths" => min + i as f64 * max / 16.0,
            _ => min,
        };
        let field = format!("min_th_{i}");
        let own = |name: &str| params.given(name).then(|| params.real(name));
        let own_max = own(&format!("max_th_{i}")).unwrap_or(max);
        // A spaced default above max_th is lowered to it: only a threshold that the user wrote
        // may be refused.
        let default = if params.given("min_th") || default <= own_max {
            default
        } else {
            params.real_or(&field, own_max)
        };
        let own_min = own(&field).unwrap_or(default);
        if own_min > own_max {
            let (named, value) = match params.given(&field) {
                true => (field.as_str(), format!("{own_min}")),
                false if own_min == min => ("min_th", format!("{own_min}")),
                false => ("min_th", format!("{min} gives class {i} its {own_min}, which")),
            };
            let upper = match params.given(&format!("max_th_{i}")) {
                true => format!("max_th_{i}"),
                false => "max_th".into(),
            };
            let why = format!(
                "{value} is above {upper} = {own_max} of class {i}: nothing would be signalled at \
                 random; make it at most that"
            );
            return Err(BadParams::new(named, why));
        }
        let max_p = 1.0 / own(&format!("mpd_{i}")).unwrap_or(params.real("mpd"));
        *class = Class { min: own_min, max: own_max, max_p, count: -1 };
    }
    Ok(classes)
}

impl Wred {
    #[inline]
    fn sample(&mut self, waiting: u32) {
        self.avg += self.weight * (f64::from(waiting) - self.avg);
    }

    #[inline]
    fn on_update_at_arrival(&mut self, waiting: u32, now: Instant) {
        match &self.clock {
            Some(clock) => match self.idle.end_in_packets(now, clock) {
                Some(packets) => self.age(packets),
                None => self.sample(waiting),
            },
            None => self.sample(waiting),
        }
    }

    #[cold]
    fn age(&mut self, packets: u64) {
        if packets > 0 && self.avg > 0.0 {
            self.avg *= math::pow(1.0 - self.weight, packets as f64);
        }
    }
}

impl Aqm for Wred {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        if self.timer.is_none() {
            self.on_update_at_arrival(backlog.packets, now);
        }
        let class = &mut self.classes[self.first + (packet.flow % self.in_use) as usize];
        if self.avg < class.min {
            class.count = -1;
            return Verdict::Pass;
        }
        if self.avg > class.max {
            class.count = 0;
            return Verdict::Drop(DropReason::Forced);
        }
        let mut p = class.p(self.avg);
        if self.uniformise {
            class.count += 1;
            p = spacing::paper(p, class.count as f64);
        }
        if rng.uniform() < p {
            class.count = 0;
            return Verdict::Signal(DropReason::Early);
        }
        Verdict::Pass
    }

    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.idle)
    }
    fn next_tick(&self) -> Option<Instant> {
        self.timer.map(|(next, _)| next)
    }
    fn on_tick(&mut self, backlog: Backlog, _now: Instant, _rng: &mut Rng) {
        self.sample(backlog.packets);
        if let Some((next, period)) = &mut self.timer {
            *next += *period;
        }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg", self.avg);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::params::Raw;

    fn table(pairs: &[(&str, &str)]) -> Result<[Class; CLASSES], String> {
        let raw: Vec<_> =
            pairs.iter().map(|(k, v)| (k.to_string(), Raw::Text(v.to_string()))).collect();
        let params = Params::check(FIELDS, &raw).map_err(|why| why.to_string())?;
        classes(&params, params.whole("limit")).map_err(|why| why.to_string())
    }

    #[test]
    fn the_familiar_table() {
        let mins = |pairs: &[(&str, &str)]| table(pairs).unwrap().map(|class| class.min);
        assert_eq!(mins(&[]), [20.0, 22.0, 24.0, 26.0, 28.0, 31.0, 33.0, 35.0, 37.0]);
        let sixteenths = [20.0, 22.5, 25.0, 27.5, 30.0, 32.5, 35.0, 37.5, 40.0];
        assert_eq!(mins(&[("spacing", "sixteenths")]), sixteenths);
        assert_eq!(mins(&[("spacing", "same"), ("min_th", "10")]), [10.0; CLASSES]);
        let own = table(&[("min_th_3", "7"), ("max_th_3", "9"), ("mpd_3", "4")]).unwrap()[3];
        assert_eq!((own.min, own.max, own.max_p), (7.0, 9.0, 0.25));
    }

    #[test]
    fn published_probabilities() {
        let table = table(&[]).unwrap();
        assert!((table[0].p(30.0) - 0.05).abs() < 1e-12);
        assert!((table[0].p(40.0) - 0.1).abs() < 1e-12);
        assert!(30.0 < table[5].min);
        let point = Class { min: 9.0, max: 9.0, max_p: 0.1, count: -1 };
        assert_eq!(point.p(9.0), 0.1);
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_named() {
        let why = table(&[("min_th", "50")]).unwrap_err();
        assert!(why.starts_with("min_th: 50 is above max_th = 40 of class 0"), "{why}");
        let why = table(&[("min_th_2", "41")]).unwrap_err();
        assert!(why.starts_with("min_th_2: 41 is above"), "{why}");
    }

    #[test]
    fn a_class_begins_as_red_does_between_signals() {
        // Floyd and Jacobson 1993, figure 2: count is -1 below min_th.
        assert_eq!(table(&[]).unwrap().map(|class| class.count), [-1; CLASSES]);
    }
}
