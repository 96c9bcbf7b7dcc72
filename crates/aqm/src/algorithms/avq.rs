//! Adaptive virtual queue (S. Kunniyur, R. Srikant, *Analysis and Design of an Adaptive Virtual
//! Queue (AVQ) Algorithm for Active Queue Management*, SIGCOMM 2001).
//!
//! The idea in five lines. A counter runs along with the real queue: a virtual queue with the same
//! arrivals, served at a virtual capacity below the line's. A packet that overflows it is
//! signalled and not counted. The virtual capacity is a token bucket: it grows with time at
//! `alpha` times the wished arrival rate, `gamma` times capacity, and falls by `alpha` times what
//! arrives, so that arrivals settle at `gamma` of the line.
//!
//! | profile | virtual capacity |
//! |---|---|
//! | `paper` | bounded before an arrival is charged; every arrival counts |
//! | `ns2` | bounded after; an arrival that is dropped by the algorithm neither counts nor moves the clock, so that the *accepted* rate is controlled |

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::{ECN, LIMIT, PACKET_BYTES};

use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Verdict};

/// The entry of `avq` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "avq",
        summary: "Signals what overflows a virtual queue whose capacity adapts to the arrivals.",
        year: 2001,
        source: "Kunniyur and Srikant, SIGCOMM 2001; profile after ns-2.35 Vq",
        deviations: "paper: the virtual capacity starts at 0.8 of the line's, as in ns-2. ns2: \
                     with ecn on, a packet that cannot be marked is dropped (ns-2 lets it pass), \
                     and as a drop does not count; mark-front and drop-front are not offered.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks if ecn is on and the packet is ECN-capable, at any load; drops an overflow",
    units: "packets or bytes",
    build: &build,
};

const SHARE: Kind = Kind::above(Unit::None, 0.0, 1.0);

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["paper", "ns2"]), Value::Choice("paper"))
        .meaning("The form of the virtual capacity's update: paper or ns2.")
        .source("constructed"),
    Field::new("gamma", Kind::above(Unit::None, 0.0, 2.0), Value::Real(0.98))
        .meaning("Wished utilisation: the share of the line's capacity at which arrivals settle.")
        .source("Kunniyur and Srikant 2001 (recalled); read: ns-2.35 gamma_"),
    Field::new("alpha", Kind::above(Unit::None, 0.0, 1e6), Value::Real(0.15))
        .meaning(
            "Speed of adaptation: virtual capacity, in packets/s or bytes/s, per packet or byte \
             that arrives.",
        )
        .source("Kunniyur and Srikant 2001 (recalled); read: ns-2.35"),
    Field::new("ecnlim", SHARE, Value::Real(0.8))
        .meaning("First virtual capacity, as a share of the line's.")
        .source("read: ns-2.35 ecnlim_"),
    Field::new("buflim", SHARE, Value::Real(1.0))
        .meaning("Size of the virtual queue, as a share of the limit.")
        .source("read: ns-2.35 buflim_"),
    Field::new("units", Kind::Choice(&["byte", "packet"]), Value::Choice("byte"))
        .meaning(
            "What both queues count: bytes, thresholds being multiplied by mean_packet_bytes, or \
             packets.",
        )
        .source("read: ns-2.35 queue_in_bytes_"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000))
        .meaning("Bytes of a packet in the limit and in the line's capacity in packets/s.")
        .source("read: ns-2.35 mean_pktsize_"),
    Field::new("limit", LIMIT, Value::Whole(50))
        .meaning(
            "Room of the queue, of which buflim takes a share. units = \"packet\" counts it in packets. \
             units = \"byte\" counts it in bytes: limit times mean_packet_bytes, whatever the \
             packets' sizes.",
        )
        .source("read: ns-2.35 Queue limit_"),
    ECN.source("read: ns-2.35 markpkts_"),
];

struct Avq {
    /// Whether the queue counts bytes, not packets; the rates and sizes below have this unit.
    in_bytes: bool,
    /// Bits per unit, for the gauges.
    bits: f64,
    mean: f64,
    capacity: f64,
    wished: f64,
    alpha: f64,
    size: f64,
    /// Whether the virtual capacity is bounded after an arrival is charged, and dropped arrivals
    /// are not charged at all, as in ns-2.
    ns2: bool,

    queue: f64,
    virtual_capacity: f64,
    /// Time at which the virtual queue was last served.
    served: Option<Instant>,
    /// Time at which the virtual capacity last grew.
    grown: Instant,
    /// Size and time of a signalled arrival in ns-2's profile, which is charged only if it is
    /// marked.
    pending: Option<(f64, Instant)>,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let in_bytes = params.choice("units") == "byte";
    let (mean, limit) = (params.whole("mean_packet_bytes"), params.whole("limit"));
    let unit = if in_bytes { 1.0 } else { mean as f64 };
    let capacity = line.rate.bytes_per_s() / unit;
    let buffer = match in_bytes {
        true => BufferLimit::of_bytes(limit * mean, Fit::Whole),
        false => BufferLimit::of_packets(limit as u32, Fit::Whole),
    };
    let avq = Avq {
        in_bytes,
        bits: 8.0 * unit,
        mean: mean as f64,
        capacity,
        wished: params.real("gamma") * capacity,
        alpha: params.real("alpha"),
        size: params.real("buflim") * (limit * mean) as f64 / unit,
        ns2: params.choice("profile") == "ns2",
        queue: 0.0,
        virtual_capacity: params.real("ecnlim") * capacity,
        served: None,
        grown: Instant::ZERO,
        pending: None,
    };
    Ok(Built::Gate(Box::new(Judged::new(avq, buffer, params.switch("ecn")))))
}

impl Avq {
    fn serve(&mut self, now: Instant) {
        match self.served {
            Some(served) => {
                let drained = self.virtual_capacity * now.since(served).secs_f64();
                self.queue = (self.queue - drained).max(0.0);
            }
            None => self.grown = now,
        }
        self.served = Some(now);
    }

    /// Grows the virtual capacity by the time since it last grew and charges an arrival to it.
    fn adapt(&mut self, size: f64, now: Instant) {
        let tokens = self.alpha * self.wished * now.since(self.grown).secs_f64();
        self.grown = now;
        let grown = self.virtual_capacity + tokens;
        self.virtual_capacity = if self.ns2 {
            (grown - self.alpha * size).clamp(0.0, self.capacity)
        } else {
            (grown.min(self.capacity) - self.alpha * size).max(0.0)
        };
    }

    fn settle(&mut self) {
        if let Some((size, now)) = self.pending.take() {
            self.adapt(size, now);
        }
    }
}

impl Aqm for Avq {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        _backlog: Backlog,
        now: Instant,
        _rng: &mut Rng,
    ) -> Verdict {
        let size = if self.in_bytes { f64::from(packet.bytes) } else { 1.0 };
        self.serve(now);
        if self.queue + size <= self.size {
            self.queue += size;
            self.adapt(size, now);
            return Verdict::Pass;
        }
        if self.ns2 {
            self.pending = Some((size, now));
        } else {
            self.adapt(size, now);
        }
        Verdict::Signal(DropReason::Early)
    }

    fn on_signalled(&mut self, marked: bool) {
        if marked {
            self.settle();
        }
        self.pending = None;
    }
    fn on_overflow(&mut self, _backlog: Backlog, _now: Instant) {
        self.settle(); // the packet was to be marked: it is charged before the limit is tested
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let packet = if self.in_bytes { self.mean } else { 1.0 };
        show("virtual_queue", self.queue / packet);
        show("virtual_capacity", self.virtual_capacity * self.bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn avq(capacity: f64, virtual_capacity: f64, ns2: bool) -> Avq {
        Avq {
            in_bytes: false,
            bits: 8000.0,
            mean: 1000.0,
            capacity,
            wished: 0.98 * capacity,
            alpha: 0.15,
            size: 100.0,
            ns2,
            queue: 0.0,
            virtual_capacity,
            served: Some(Instant::ZERO),
            grown: Instant::ZERO,
            pending: None,
        }
    }

    fn after(mut avq: Avq, size: f64, nanos: u64) -> f64 {
        let before = avq.virtual_capacity;
        avq.adapt(size, Instant::from_nanos(nanos));
        avq.virtual_capacity - before
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-8, "{a} is not {b}");
    }

    #[test]
    fn published_changes_of_capacity() {
        close(after(avq(12_500.0, 10_000.0, false), 1.0, 80_000), -0.003);
        close(after(avq(12_500_000.0, 1e7, false), 1000.0, 80_000), -3.0);
        close(after(avq(12_500.0, 12_499.9, false), 1.0, 1_000_000), -0.05);
        close(after(avq(12_500.0, 12_499.9, true), 1.0, 1_000_000), 0.1);
        close(after(avq(12_500.0, 0.1, false), 2.0, 0), -0.1);
    }

    fn arrive(avq: &mut Avq, bytes: u32, nanos: u64) -> Verdict {
        let now = Instant::from_nanos(nanos);
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes,
            ecn: packet::Ecn::Ect0,
            arrived: now,
            header: Default::default(),
        };
        avq.on_arrival(&packet, Backlog::default(), now, &mut Rng::named(1, "avq"))
    }

    #[test]
    fn the_virtual_queue() {
        let mut full = Avq { in_bytes: true, queue: 99.0, ..avq(1e4, 1e4, false) };
        assert_eq!(arrive(&mut full, 2, 0), Verdict::Signal(DropReason::Early));
        close(full.queue, 99.0);
        assert_eq!(arrive(&mut full, 1, 0), Verdict::Pass);
        close(full.queue, 100.0);
        let mut drained = Avq { queue: 5.0, ..avq(12_500.0, 10_000.0, false) };
        arrive(&mut drained, 1000, 1_000_000);
        close(drained.queue, 1.0);
    }

    #[test]
    fn ns2_does_not_charge_what_it_drops() {
        // Arrivals at 0, 1 and 2 ms; if the second is dropped, the third grows the capacity by 2
        // ms.
        let run = |marked| {
            let mut avq = Avq { size: 1.0, ..avq(12_500.0, 500.0, true) };
            arrive(&mut avq, 1000, 0);
            assert_eq!(arrive(&mut avq, 1000, 1_000_000), Verdict::Signal(DropReason::Early));
            avq.on_signalled(marked);
            let before = avq.virtual_capacity;
            avq.queue = 0.0;
            arrive(&mut avq, 1000, 2_000_000);
            avq.virtual_capacity - before
        };
        close(run(false), 0.15 * (0.98 * 12_500.0 * 0.002 - 1.0));
        close(run(true), 0.15 * (0.98 * 12_500.0 * 0.001 - 1.0));
    }
}
