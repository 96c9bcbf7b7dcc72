//! The objects that are passed to a discipline in Python: packets and the queue.

use packet::{Ack, DropReason, Ecn, Rng};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An arriving packet.
#[pyclass(frozen, module = "aqmlab")]
pub struct Packet {
    /// Number of the packet's flow.
    #[pyo3(get)]
    flow: u64,
    pub(super) number: u32,
    /// IP length, bytes.
    #[pyo3(get)]
    bytes: u32,
    /// Number of the source host.
    #[pyo3(get)]
    source: u16,
    /// Number of the destination host.
    #[pyo3(get)]
    destination: u16,
    /// Differentiated services code point.
    #[pyo3(get)]
    dscp: u8,
    /// Time of the packet's arrival, in nanoseconds since the run began.
    #[pyo3(get)]
    arrived_ns: u64,
    /// Whether the packet may be marked in place of being dropped.
    #[pyo3(get)]
    ecn_capable: bool,
    ecn: Ecn,
    ack: Ack,
}

#[pymethods]
impl Packet {
    /// The ECN field on arrival: not-ect, ect0, ect1 or ce.
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }
    /// Kind of acknowledgement: "no" if not a pure one, "needed" if it must arrive, "newer" if it
    /// only has a higher number and supersedes earlier such ones of its flow.
    #[getter]
    fn ack(&self) -> &'static str {
        match self.ack {
            Ack::No => "no",
            Ack::Needed => "needed",
            Ack::Newer => "newer",
        }
    }
    /// Time of the packet's arrival, in seconds since the run began.
    #[getter]
    fn arrived_s(&self) -> f64 {
        self.arrived_ns as f64 * 1e-9
    }
    fn __repr__(&self) -> String {
        format!("<packet of flow {}, {} bytes, {}>", self.flow, self.bytes, self.ecn())
    }
}

impl Packet {
    pub(super) fn of(packet: &packet::Packet, number: u32) -> Self {
        Packet {
            flow: packet.flow,
            number,
            bytes: packet.bytes,
            source: packet.header.source,
            destination: packet.header.destination,
            dscp: packet.header.dscp,
            arrived_ns: packet.arrived.nanos(),
            ecn_capable: packet.ecn.can_be_marked(),
            ecn: packet.ecn,
            ack: packet.header.ack,
        }
    }
}

/// A drop or mark by the discipline: number of the packet, and the reason.
pub(super) enum Done {
    Dropped(u32, DropReason),
    Marked(u32, DropReason),
}

/// Context of a call to a discipline: the time, the backlog, random numbers, and methods to drop
/// and mark packets.
#[pyclass(module = "aqmlab")]
pub struct Queue {
    /// Time of the call, in nanoseconds since the run began.
    #[pyo3(get)]
    pub(super) now_ns: u64,
    /// Number of packets that wait. The arriving packet counts in `enqueue`, but not in `admit`.
    #[pyo3(get)]
    pub(super) packets: u32,
    /// IP bytes that wait; the arriving packet counts as in `packets`.
    #[pyo3(get)]
    pub(super) bytes: u64,
    pub(super) rng: Rng,
    pub(super) next_tick: Option<u64>,
    /// For each packet number, whether that packet waits; `None` if the discipline has `admit`.
    pub(super) waits: Option<Vec<bool>>,
    pub(super) done: Vec<Done>,
}

#[pymethods]
impl Queue {
    /// Time of the call, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now_ns as f64 * 1e-9
    }
    /// Next random number of the queue's own seeded stream, uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    /// Schedules the next call of `tick` for this time (seconds since the run began), in place of
    /// an earlier request.
    fn wake_at(&mut self, at_s: f64) -> PyResult<()> {
        let at = (at_s * 1e9).round();
        if !(at >= self.now_ns as f64 && at < 9.2e18) {
            return Err(PyValueError::new_err(format!("wake_at({at_s}): that time has passed")));
        }
        self.next_tick = Some(at as u64);
        Ok(())
    }
    /// Drops a waiting or arriving packet; `why` is early, forced, overflow or superseded.
    #[pyo3(signature = (packet, why="forced"))]
    fn drop(&mut self, packet: &Packet, why: &str) -> PyResult<()> {
        let why = cause(why)?;
        *self.place(packet)? = false;
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        self.done.push(Done::Dropped(packet.number, why));
        Ok(())
    }
    /// Sets CE in a waiting or arriving packet, which must be `ecn_capable`.
    #[pyo3(signature = (packet, why="forced"))]
    fn mark(&mut self, packet: &Packet, why: &str) -> PyResult<()> {
        let why = cause(why)?;
        self.place(packet)?;
        if !packet.ecn_capable {
            let sentence = "the packet is not ECN-capable: drop it, it cannot be marked";
            return Err(PyValueError::new_err(sentence));
        }
        self.done.push(Done::Marked(packet.number, why));
        Ok(())
    }
}

fn cause(name: &str) -> PyResult<DropReason> {
    DropReason::ALL.into_iter().find(|why| why.name() == name).ok_or_else(|| {
        let known = DropReason::ALL.map(DropReason::name).join(", ");
        PyValueError::new_err(format!("no reason {name:?}: give one of {known}"))
    })
}

impl Queue {
    /// The flag of a waiting packet; an error if the packet does not wait.
    pub(super) fn place(&mut self, packet: &Packet) -> PyResult<&mut bool> {
        let Some(waits) = &mut self.waits else {
            let sentence = "a discipline with `admit` drops and marks by its answer only";
            return Err(PyValueError::new_err(sentence));
        };
        let place = waits.get_mut(packet.number as usize).filter(|waits| **waits);
        place.ok_or_else(|| PyValueError::new_err("the packet does not wait: each leaves once"))
    }
}
