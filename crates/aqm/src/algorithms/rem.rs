//! REM, Random Exponential Marking (S. Athuraliya, V. Li, S. Low, Q. Yin, *REM: Active Queue
//! Management*, IEEE Network 15(3), May/June 2001).
//!
//! The idea in five lines. The line has a price that rises while packets arrive faster than they
//! leave (x > c) or more of them wait than should (b > b*), and falls otherwise: it measures
//! congestion separately from queue length and loss. A packet is signalled with probability
//! 1 − φ^(−price), so that over a path of several lines the share of unsignalled packets is
//! φ^(−sum of the prices), from which a sender can read the sum.
//!
//! Follows ns-2.35 `queue/rem.cc` but for the place of the signal (`profile`).

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng, math};

use crate::buffer::{self, ECN, LIMIT, LIMIT_BYTES, PACKET_BYTES, SPARE_SHORT_QUEUE};
use crate::periodic::Ticker;
use crate::shells::watched::{Watched, Watcher};
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "rem",
        summary: "A price of congestion, from queue and rate mismatch, sets the signal probability \
                  exponentially.",
        year: 2001,
        source: "Athuraliya, Li, Low and Yin, IEEE Network 15(3), 2001; ns-2.35 Queue/REM",
        deviations: "Profile \"standard\": a full buffer is tested first and holds limit packets, \
                     and one signal test at arrival marks or drops, so that packets without ECN \
                     stay under control; profile \"ns2\" holds limit - 1, drops at arrival without \
                     ecn and marks at departure with it, as ns-2.35 does. A random draw u signals \
                     if u < p (ns-2: u <= p), and no number is drawn where no packet leaves.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks ECN-capable packets at every load if ecn is on; profile \"ns2\" then marks at \
          departure and lets other packets pass unsignalled",
    units: "packets or bytes",
    build: &build,
};

const fn number(
    name: &'static str,
    meaning: &'static str,
    (min, max): (f64, f64),
    default: f64,
    source: &'static str,
) -> Field {
    let kind = Kind::Real { unit: Unit::None, min, max, open: true };
    Field { name, meaning, kind, default: Value::Real(default), source }
}

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["standard", "ns2"]), Value::Choice("standard"))
        .meaning(
            "standard: one signal test at arrival; ns2: as ns-2.35, drops at arrival or, with ecn, \
             marks at departure.",
        )
        .source("constructed"),
    Field::new("b_star", Kind::from(Unit::Packets, 0.0, 1e8), Value::Real(20.0))
        .meaning("Target queue.")
        .source("read: ns-2.35 pbo_; Le et al. 24 and 240 (recalled)"),
    number(
        "gamma",
        "Step of the price per packet of mismatch and update.",
        (0.0, 1e6),
        0.001,
        "read: ns-2.35 gamma_",
    ),
    number(
        "alpha",
        "Weight of the queue's distance from its target, against the rate mismatch.",
        (0.0, 1e6),
        0.1,
        "read: ns-2.35, fixed there",
    ),
    number(
        "phi",
        "Base of the probability 1 - phi^(-price).",
        (1.0, 1e6),
        1.001,
        "read: ns-2.35 phi_",
    ),
    number(
        "inw",
        "Weight of the newest interval in the average of arrivals; 1 averages nothing.",
        (0.0, 1.0),
        1.0,
        "read: ns-2.35 inw_",
    ),
    Field::new("tau", crate::periodic::PERIOD, Value::Real(0.002))
        .meaning("Time between updates.")
        .source("read: ns-2.35 pupdtime_"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000))
        .meaning(
            "Mean packet size: gives the line's packets per interval, and the unit of \
             queue_in_bytes.",
        )
        .source("read: ns-2.35 mean_pktsize_"),
    Field::new("queue_in_bytes", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether queue and arrivals are counted in bytes/mean_packet_bytes, and a packet's \
             probability is scaled by its size/mean_packet_bytes.",
        )
        .source("read: ns-2.35 qib_; Le et al. 2003 measured bytes"),
    SPARE_SHORT_QUEUE,
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait, not counting the one being transmitted; profile \"ns2\" holds \
             one less, and with queue_in_bytes multiplies by mean_packet_bytes. 100 (ns2: 50) \
             unless limit_bytes is given.",
        )
        .source("ns2 read: ns-2.35 limit_; else constructed: five times the target"),
    LIMIT_BYTES,
    ECN,
];

/// REM. It tests the limit itself, since arrivals that do not fit count in the price too.
struct Rem {
    gamma: f64,
    alpha: f64,
    phi: f64,
    inw: f64,
    b_star: f64,
    /// Mean packets that the line can send between two updates.
    c: f64,
    /// Mean packet size in bytes with `queue_in_bytes`, else none.
    mean: Option<f64>,
    limit: BufferLimit,
    /// Whether the signal test is made at departure.
    late: bool,
    /// Whether a packet is never signalled while at most one waits.
    spares: bool,
    ticker: Ticker,
    /// Arrivals since the last update, in packets or bytes.
    arrivals: u64,
    /// Average number of arrivals between two updates, in packets.
    x: f64,
    price: f64,
    p: f64,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let ecn = params.switch("ecn");
    let ns2 = params.choice("profile") == "ns2";
    let judge = Rem::new(params, line, ns2 && ecn);
    if judge.late && judge.spares {
        let why = "true is not possible with profile \"ns2\" and ecn, which tests at departure; \
                   leave it out";
        return Err(BadParams::new("spare_short_queue", why));
    }
    let shell = |judge| Judged::new(judge, BufferLimit::UNLIMITED, ecn);
    Ok(if judge.late {
        Built::Discipline(Box::new(Watched::new(shell(judge), ecn)))
    } else {
        Built::Gate(Box::new(shell(judge)))
    })
}

fn limit(params: &Params, mean: u64) -> BufferLimit {
    if params.choice("profile") == "standard" {
        return buffer::limit(params, 100);
    }
    let bytes = params.whole("limit_bytes");
    if params.given("limit_bytes") && !params.given("limit") {
        return BufferLimit::of_bytes(bytes, Fit::Short);
    }
    let limit = params.whole_or("limit", 50);
    match (params.given("limit_bytes"), params.switch("queue_in_bytes")) {
        (true, _) => BufferLimit::of_packets(limit as u32, Fit::Short).and_bytes(bytes),
        (false, true) => BufferLimit::of_bytes(limit * mean, Fit::Short),
        (false, false) => BufferLimit::of_packets(limit as u32, Fit::Short),
    }
}

impl Rem {
    fn new(params: &Params, line: &Line, late: bool) -> Self {
        let mean = params.whole("mean_packet_bytes");
        Rem {
            gamma: params.real("gamma"),
            alpha: params.real("alpha"),
            phi: params.real("phi"),
            inw: params.real("inw"),
            b_star: params.real("b_star"),
            c: params.real("tau") * line.rate.bytes_per_s() / mean as f64,
            mean: if params.switch("queue_in_bytes") { Some(mean as f64) } else { None },
            limit: limit(params, mean),
            late,
            spares: params.switch("spare_short_queue"),
            ticker: Ticker::every(params.time("tau")),
            arrivals: 0,
            x: 0.0,
            price: 0.0,
            p: 0.0,
        }
    }

    fn update(&mut self, queue: f64) {
        let arrivals = self.arrivals as f64 / self.mean.unwrap_or(1.0);
        self.arrivals = 0;
        self.x = (1.0 - self.inw) * self.x + self.inw * arrivals;
        let mismatch = self.x - self.c + self.alpha * (queue - self.b_star);
        let price = (self.price + self.gamma * mismatch).max(0.0);
        // On an idle line the price stays at zero: the power need not be computed.
        if price != self.price {
            self.price = price;
            self.p = 1.0 - math::pow(self.phi, -price);
        }
    }

    #[inline]
    fn test(&self, packet: &Packet, backlog: Backlog, rng: &mut Rng) -> bool {
        let scale = self.mean.map_or(1.0, |mean| f64::from(packet.bytes) / mean);
        rng.uniform() < self.p * scale && !buffer::is_spared(self.spares, backlog)
    }
}

impl Aqm for Rem {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        _: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.arrivals += if self.mean.is_some() { u64::from(packet.bytes) } else { 1 };
        if !self.limit.admits(backlog, packet.bytes) {
            Verdict::Drop(DropReason::Overflow)
        } else if !self.late && self.test(packet, backlog, rng) {
            Verdict::Signal(DropReason::Early)
        } else {
            Verdict::Pass
        }
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, backlog: Backlog, _: Instant, _: &mut Rng) {
        self.ticker.done();
        self.update(match self.mean {
            Some(mean) => backlog.bytes as f64 / mean,
            None => f64::from(backlog.packets),
        });
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("price", self.price);
        show("p", self.p);
    }
}

impl Watcher for Rem {
    fn on_departure(
        &mut self,
        packet: &Packet,
        _: Duration,
        backlog: Backlog,
        _: Instant,
        rng: &mut Rng,
    ) -> bool {
        self.late && self.test(packet, backlog, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rate;

    /// REM on a line of 100 Mbit/s with 1000-byte packets, updated every 2 ms: c = 25.
    fn rem() -> Rem {
        let line = Line::of(Rate::from_bits_per_s(100_000_000));
        let rem = Rem::new(&Params::defaults(FIELDS), &line, false);
        assert_eq!(rem.c, 25.0);
        rem
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-6 * expected.abs() + 1e-12, "{found} {expected}");
    }

    #[test]
    fn prices() {
        let mut rem = rem();
        rem.arrivals = 30;
        rem.update(40.0);
        close(rem.price, 0.007);
        close(rem.p, 6.99648e-6);
        rem.arrivals = 30;
        rem.update(60.0);
        close(rem.price, 0.016);
        rem.price = 0.001;
        rem.arrivals = 10;
        rem.update(0.0);
        assert_eq!((rem.price, rem.p), (0.0, 0.0));
    }

    #[test]
    fn probabilities() {
        for (price, p) in [(100.0, 0.0951174), (1000.0, 0.6319367), (3000.0, 0.9501382)] {
            let mut rem = rem();
            rem.price = price - 0.001;
            rem.arrivals = 26; // one too many, at the target queue: the price rises by gamma
            rem.update(20.0);
            close(rem.price, price);
            close(rem.p, p);
        }
    }

    #[test]
    fn arrivals_are_averaged() {
        let mut rem = Rem { inw: 0.5, x: 20.0, arrivals: 30, ..rem() };
        rem.update(20.0);
        close(rem.x, 25.0);
        assert_eq!(rem.arrivals, 0);
    }
}
