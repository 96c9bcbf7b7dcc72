//! CHOKe (R. Pan, B. Prabhakar, K. Psounis, *CHOKe, A Stateless Active Queue Management Scheme for
//! Approximating Fair Bandwidth Allocation*, INFOCOM 2000).
//!
//! The idea in five lines. The queue itself is a sample of who uses it. While RED's average is
//! above `min_th`, each arrival is compared with one packet drawn at random from the queue. If
//! both are of one flow, both are dropped: a flow that fills half the queue loses half its
//! arrivals, and as many of its waiting packets. An arrival that does not match is RED's business.
//! No state is kept per flow.
//!
//! Two profiles, each with an algorithm in [`judges`]: `paper` counts and spaces signals as RED's
//! own paper and draws among the packets that wait; `linux` is `sch_choke` in its integers, whose
//! queue keeps a hole where a packet was removed and whose draw may have to be repeated.

mod judges;
mod queue;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Event, Packet};

use super::family::weight_for_burst;
use crate::buffer::{ECN, LIMIT, MEAN_PACKET, PACKETS, PROBABILITY};
use crate::{
    Admission, BufferLimit, Built, Cx, Discipline, Entry, Fit, Gate, Judged, Line, PerFlowState,
};
use judges::{InIntegers, InReals, Sampler, Settings};
use queue::Queue;

/// The entry of `choke` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "choke",
        summary: "RED that first compares an arrival with a random waiting packet and drops both \
                  if they are of one flow.",
        year: 2000,
        source: "Pan, Prabhakar and Psounis, INFOCOM 2000; Linux sch_choke",
        deviations: "Both: one packet is drawn per arrival (the paper's variants with several are \
                     not offered); flows are compared exactly, not by digest. paper: the \
                     boundaries are Linux's (an average of min_th passes, one of max_th is tested) \
                     and so is the count of -1 above max_th; the draw is uniform over the waiting \
                     packets. linux: the array of packets grows where the kernel's ring would wrap \
                     onto its holes; the idle table counts microseconds.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks what RED's test signals if ecn is on and the packet is ECN-capable, above max_th \
          too unless harddrop; the two packets of a match are dropped whatever their ECN field",
    units: "packets",
    build: &build,
};

/// Largest limit in packets: `CHOKE_MAX_QUEUE` of Linux.
const LINUX_LIMIT: u64 = 128 * 1024 - 1;

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["paper", "linux"]), Value::Choice("paper"))
        .meaning("The implementation to follow, with its defaults: paper or linux.")
        .source("constructed"),
    Field::new("min_th", Kind::from(Unit::Packets, 0.0, 1e8), Value::Unset)
        .meaning(
            "Average queue up to which every packet passes unseen. paper: 100; linux: max_th/3, \
             rounded down; whole there.",
        )
        .source("the paper's simulation (recalled); tc"),
    Field::new("max_th", PACKETS, Value::Unset)
        .meaning(
            "Average queue above which every packet is signalled. paper: 200; linux: a \
             quarter of the limit, rounded down; whole there.",
        )
        .source("the paper's simulation (recalled); tc"),
    Field::new("w_q", PROBABILITY, Value::Unset)
        .meaning(
            "Weight of the newest sample in the average. paper: 0.002; linux: the largest power of \
             two that lets a burst of (2 min_th + max_th)/3 packets pass.",
        )
        .source("Floyd and Jacobson 1993; tc"),
    Field::new("max_p", PROBABILITY, Value::Real(0.02))
        .meaning("Probability of a signal, before spacing, where the average reaches max_th.")
        .source("Floyd and Jacobson 1993; tc"),
    MEAN_PACKET.source("tc avpkt"),
    Field::new("limit", LIMIT, Value::Whole(300))
        .meaning(
            "Packets that may wait, not counting the one being transmitted; at most 131071 in \
             linux.",
        )
        .source("the paper's simulation (recalled)"),
    ECN,
    Field::new("harddrop", Kind::Switch, Value::Switch(false))
        .meaning("Whether ECN-capable packets too are dropped where the average is above max_th.")
        .source("read: Linux flag harddrop"),
];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let linux = params.choice("profile") == "linux";
    let limit = params.whole("limit");
    if linux && limit > LINUX_LIMIT {
        let why = format!(
            "{limit} is more than profile \"linux\" can hold: the kernel's array has at most \
             {LINUX_LIMIT} places"
        );
        return Err(BadParams::new("limit", why));
    }
    let settings = settings(params, line, linux)?;
    let limit = BufferLimit::of_packets(limit as u32, Fit::Whole);
    let ecn = params.switch("ecn");
    Ok(Built::Discipline(if linux {
        Box::new(Choke::new(Judged::new(InIntegers::new(&settings)?, limit, ecn), true))
    } else {
        Box::new(Choke::new(Judged::new(InReals::new(&settings), limit, ecn), false))
    }))
}

fn settings(params: &Params, line: &Line, linux: bool) -> Result<Settings, BadParams> {
    let given = |name| params.given(name).then(|| params.real(name));
    let (min, max) = (given("min_th"), given("max_th"));
    let (min_th, max_th) = if linux {
        // In tc's choke max_th does not follow from min_th, unlike in its red.
        let max = max.unwrap_or((params.whole("limit") / 4).max(1) as f64);
        (min.unwrap_or_else(|| packet::math::floor(max / 3.0)), max)
    } else {
        (min.unwrap_or(100.0), max.unwrap_or(200.0))
    };
    if min_th >= max_th {
        let why = format!(
            "{min_th} is not below max_th = {max_th}: RED's test needs a band between the \
             thresholds; give both, min_th the smaller"
        );
        return Err(BadParams::new("min_th", why));
    }
    params.settle("min_th", Value::Real(min_th));
    params.settle("max_th", Value::Real(max_th));
    let weight = if linux { weight_for_burst(min_th, max_th) } else { 0.002 };
    Ok(Settings {
        min_th,
        max_th,
        w_q: params.real_or("w_q", weight),
        max_p: params.real("max_p"),
        rate: line.rate,
        mean_packet_bytes: params.whole("mean_packet_bytes") as u32,
        harddrop: params.switch("harddrop"),
    })
}

/// The discipline, which draws a waiting packet and removes it if the arrival matches it.
struct Choke<J> {
    shell: Judged<J>,
    queue: Queue,
}

impl<J: Sampler> Choke<J> {
    const fn new(shell: Judged<J>, holes: bool) -> Self {
        Choke { shell, queue: Queue::new(holes) }
    }

    /// Draws a waiting packet, and removes it if it is of `flow`.
    fn match_of(&mut self, flow: u64, cx: &mut Cx) -> Option<Packet> {
        let place = self.queue.draw(cx.rng)?;
        if self.queue.flow_at(place) == flow { Some(self.queue.remove(place)) } else { None }
    }
}

impl<J: Sampler> Discipline for Choke<J> {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx) {
        let congested = self.shell.judge_mut().sample(self.queue.backlog(), cx.now);
        if congested && let Some(victim) = self.match_of(packet.flow, cx) {
            let why = DropReason::Early;
            (cx.out)(Event::Dropped { packet: victim, why });
            (cx.out)(Event::Dropped { packet, why });
            return;
        }
        let id = packet.id;
        match self.shell.admit(&mut packet, self.queue.backlog(), cx.now, cx.rng) {
            Admission::Dropped(why) => {
                (cx.out)(Event::Dropped { packet, why });
                return;
            }
            Admission::Marked(why) => (cx.out)(Event::Marked { id, why }),
            Admission::Queued => {}
        }
        self.queue.push(packet);
        (cx.out)(Event::Queued { id });
    }

    fn dequeue(&mut self, cx: &mut Cx) -> Option<Packet> {
        let packet = self.queue.pop();
        if packet.is_none() {
            self.shell.on_idle(cx.now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.shell.gauges(show);
    }
}
