//! RED-PD, RED with Preferential Dropping (R. Mahajan, S. Floyd, D. Wetherall, *Controlling
//! High-Bandwidth Flows at the Congested Router*, ICNP 2001).
//!
//! The idea in five lines. RED's drops are a sample of who sends most. A flow with RED drops in K
//! of the last N short intervals sends more than a TCP flow of the target round trip time would
//! at this drop rate. Such a flow is monitored: a pre-filter drops its packets with a probability
//! of its own before RED sees them. The probability rises while RED still drops the flow's
//! packets, and falls when it no longer does; it rises faster if the flow does not respond.
//!
//! Follows ns-2.35 `queue/red-pd.cc` and the scripts that steer it (`tcl/ex/red-pd`), but for
//! what `ENTRY.deviations` says. [`lists`] works at the end of an interval, [`flow`] is one flow's
//! account.

mod fields;
mod flow;
mod lists;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Params};
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use super::family::{Early, FJ93, NS2, Ns, PacketClock, Paper, band, plain, space_signals};
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Verdict};
use lists::{Ledger, RELAX_AFTER, Rules};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "red_pd",
        summary: "RED behind a filter that drops packets of the flows that RED's own drops show to \
                  send most.",
        year: 2001,
        source: "Mahajan, Floyd and Wetherall, ICNP 2001; ns-2.35 Queue/RED/PD and its example \
                 scripts",
        deviations: "The first interval begins at the creation and lasts ten target round trips \
                     (ns-2's scripts: 10.1 s). The average that the pre-filter looks at is of the \
                     previous arrival, as in ns-2. Flows are distinguished exactly; those that lost \
                     equally much are listed in the order of their places in a table, in which a \
                     new flow takes the place given up last. The count of a flow that is monitored \
                     anew starts at 0 (ns-2: where it stood). A packet that the pre-filter drops \
                     at an idle line leaves RED's idle clock as it is (ns-2 restarts it). \
                     Intervals before the first drop count as time between changes (ns-2: as \
                     none). Without ns-2's modes for experiments (fixed drop rate, rate targets).",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "the pre-filter drops whatever the ECN field; what RED signals is marked if ecn is on \
          and the packet is ECN-capable, and counts as a drop for the lists; above max_th (with \
          gentle, twice that) RED drops",
    units: "packets; losses in bytes",
    build: &build,
};

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let (min, max) = band(params.real("min_th"), params.real("max_th"))?;
    let (often, lists) = (params.whole("K"), params.whole("N"));
    if often > lists {
        let why =
            format!("{often} is more than N = {lists}, the lists that are kept: give K at most N");
        return Err(BadParams::new("K", why));
    }
    let rules = Rules {
        often: often as usize,
        lists: lists as usize,
        rtt: params.time("R").max(Duration::from_nanos(1)),
        longest: params.whole("max_listed") as usize,
        tests: params.switch("unresponsive_test"),
    };
    let fj93 = params.choice("inner") == "fj93";
    let profile = if fj93 { &FJ93 } else { &NS2 };
    let mut inner = plain(profile, (min, max), params.real("w_q"), params.real("max_p"));
    inner.gentle = params.switch("gentle");
    inner.clock = PacketClock::of_line(line.rate, params.whole("mean_packet_bytes") as u32);
    let noidle = params.switch("noidle");
    let limit = BufferLimit::of_packets(params.whole("limit") as u32, Fit::Whole);
    let ecn = params.switch("ecn");
    Ok(Built::Gate(if fj93 {
        Box::new(Judged::new(RedPd::new(Paper::new(&inner), min, noidle, rules), limit, ecn))
    } else {
        Box::new(Judged::new(RedPd::new(Ns::new(&inner), min, noidle, rules), limit, ecn))
    }))
}

/// What has happened to the current arrival.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The pre-filter let the packet pass, and RED has not signalled it.
    Passed,
    Signalled,
    /// The pre-filter dropped the packet.
    Filtered,
}

/// RED-PD: the pre-filter with the RED `inner` behind it.
struct RedPd<J> {
    inner: J,
    min: f64,
    noidle: bool,
    ledger: Ledger,
    close_at: Instant,
    relax_at: Option<Instant>,
    /// Flow of the current arrival.
    flow: u64,
    /// Size of the current arrival in bytes.
    bytes: u64,
    /// Fate of the current arrival.
    fate: Fate,
    /// Number of monitored flows, for a gauge.
    monitored: u32,
    /// Largest P_f of a monitored flow, for a gauge.
    largest: f64,
}

impl<J: Early> RedPd<J> {
    fn new(inner: J, min: f64, noidle: bool, rules: Rules) -> Self {
        let ledger = Ledger::new(rules);
        RedPd {
            inner,
            min,
            noidle,
            close_at: Instant::ZERO + ledger.first_interval(),
            ledger,
            relax_at: None,
            flow: 0,
            bytes: 0,
            fate: Fate::Passed,
            monitored: 0,
            largest: 0.0,
        }
    }

    /// Whether the pre-filter drops the current arrival, which finds `queue` packets waiting.
    fn filters(&mut self, queue: u32, rng: &mut Rng) -> bool {
        let busy = queue > 1;
        let congested = busy && self.inner.average() >= self.min;
        let flow = self.ledger.flows.enter(self.flow);
        flow.arrived += self.bytes;
        let Some(p) = flow.p else { return false };
        let hit = rng.uniform() < space_signals(p, f64::from(flow.count));
        let allowed = if flow.unresponsive { busy || !self.noidle } else { congested };
        if hit && allowed {
            flow.count = 0;
            flow.filtered += self.bytes;
            return true;
        }
        flow.count += 1;
        false
    }

    /// Counts the current arrival as lost: RED signalled it, or it overflowed.
    fn loses(&mut self) {
        self.fate = Fate::Signalled;
        self.ledger.lost += self.bytes;
        self.ledger.flows.enter(self.flow).lost += self.bytes;
    }
}

impl<J: Early> Aqm for RedPd<J> {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        (self.flow, self.bytes) = (packet.flow, u64::from(packet.bytes));
        if self.filters(backlog.packets, rng) {
            self.fate = Fate::Filtered;
            return Verdict::Drop(DropReason::Early);
        }
        self.fate = Fate::Passed;
        self.ledger.arrived += self.bytes;
        let verdict = self.inner.on_arrival(packet, backlog, now, rng);
        if verdict != Verdict::Pass {
            self.loses();
        }
        verdict
    }

    fn on_dropped(&mut self, why: DropReason) {
        if self.fate == Fate::Filtered {
            return; // RED has not seen the packet
        }
        if self.fate == Fate::Passed {
            self.loses();
        }
        self.inner.on_dropped(why);
    }
    fn on_idle(&mut self, now: Instant) {
        self.inner.on_idle(now);
    }

    fn next_tick(&self) -> Option<Instant> {
        Some(self.relax_at.unwrap_or(self.close_at))
    }
    fn on_tick(&mut self, _: Backlog, now: Instant, _: &mut Rng) {
        if self.relax_at.take().is_some() {
            self.ledger.relax(now);
        } else {
            // The new interval lasts at least 2 R, and R at least 1 ms: it ends after this tick,
            // which lowers drop probabilities in 1 ms.
            self.close_at = now + self.ledger.close(now);
            self.relax_at = Some(now + RELAX_AFTER);
        }
        (self.monitored, self.largest) = self.ledger.monitored();
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.inner.gauges(show);
        show("ambient", self.ledger.ambient());
        show("monitored", f64::from(self.monitored));
        show("p_f", self.largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RED-PD with this `min` and `noidle`, before a RED with thresholds of 5 and 15 packets whose
    /// average is zero.
    fn red_pd(min: f64, noidle: bool) -> RedPd<Paper> {
        let rtt = Duration::from_millis(40);
        let rules = Rules { often: 3, lists: 5, rtt, longest: 100, tests: true };
        let inner = Paper::new(&plain(&FJ93, (5.0, 15.0), 0.002, 0.1));
        RedPd { flow: 7, bytes: 700, ..RedPd::new(inner, min, noidle, rules) }
    }

    #[test]
    fn a_monitored_flow_is_filtered_where_there_is_congestion() {
        // P_f is 1. A responsive flow is filtered with more than a packet waiting and the average
        // at `min` or above; an unresponsive one whatever waits, unless `noidle` requires more than
        // a packet.
        for (unresponsive, min, noidle, waiting, filtered) in [
            (false, 0.0, false, 2, true),
            (false, 0.0, false, 1, false),
            (false, 5.0, false, 2, false),
            (true, 5.0, false, 0, true),
            (true, 5.0, true, 1, false),
            (true, 5.0, true, 2, true),
        ] {
            let mut judge = red_pd(min, noidle);
            let flow = judge.ledger.flows.enter(7);
            (flow.p, flow.unresponsive) = (Some(1.0), unresponsive);
            let hit = judge.filters(waiting, &mut Rng::named(1, "red_pd"));
            assert_eq!(hit, filtered, "{unresponsive} {min} {noidle} {waiting}");
            let flow = judge.ledger.flows.enter(7);
            assert_eq!((flow.arrived, flow.filtered), (700, if filtered { 700 } else { 0 }));
        }
    }
}
