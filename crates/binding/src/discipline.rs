//! A discipline in Python: what it sees, and how it is called.
//!
//! It holds the interpreter's lock during its calls only, and reaches nothing of ours but through the
//! objects here: time and randomness are copied into them before a call and out of them after it.

use aqm::{Aqm, Line, Verdict};
use packet::params::{BadParams, Params, Value};
use packet::{Ack, Backlog, Duration, Ecn, Instant, Rng, Why};
use plugin::types::{
    AQMLAB_DROP_EARLY, AQMLAB_DROP_FORCED, AQMLAB_PASS, AQMLAB_SIGNAL_EARLY, AQMLAB_SIGNAL_FORCED,
};
use plugin::{Call, Holder, Pulse, fail};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A packet as a discipline sees it.
#[pyclass(frozen, module = "aqmlab")]
pub struct Packet {
    /// Flow: the same number for packets of one flow.
    #[pyo3(get)]
    flow: u64,
    number: u32,
    /// IP length.
    #[pyo3(get)]
    bytes: u32,
    /// Source host: its number.
    #[pyo3(get)]
    source: u16,
    /// Destination host, likewise.
    #[pyo3(get)]
    destination: u16,
    /// Differentiated services code point.
    #[pyo3(get)]
    dscp: u8,
    /// When it arrived, in nanoseconds since the run began.
    #[pyo3(get)]
    arrived_ns: u64,
    /// Whether it may be marked in place of being dropped.
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
    /// Whether it is an acknowledgement and nothing else: no, needed or newer.
    #[getter]
    fn ack(&self) -> &'static str {
        match self.ack {
            Ack::No => "no",
            Ack::Needed => "needed",
            Ack::Newer => "newer",
        }
    }
    /// When it arrived, in seconds since the run began.
    #[getter]
    fn arrived_s(&self) -> f64 {
        self.arrived_ns as f64 * 1e-9
    }
    fn __repr__(&self) -> String {
        format!("<packet of flow {}, {} bytes, {}>", self.flow, self.bytes, self.ecn())
    }
}

impl Packet {
    fn of(packet: &packet::Packet, number: u32) -> Self {
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

enum Done {
    Dropped(u32, Why),
    Marked(u32, Why),
}

/// What a discipline is handed at each call: the time, what waits, random numbers, and where it
/// says what becomes of packets.
#[pyclass(module = "aqmlab")]
pub struct Queue {
    /// Now, in nanoseconds since the run began.
    #[pyo3(get)]
    now_ns: u64,
    /// Packets that wait; in `enqueue` the one that arrives counts, in `admit` it does not.
    #[pyo3(get)]
    packets: u32,
    /// Their IP bytes.
    #[pyo3(get)]
    bytes: u64,
    rng: Rng,
    next_tick: Option<u64>,
    /// Whether each number waits, of a holder.
    waits: Option<Vec<bool>>,
    done: Vec<Done>,
}

#[pymethods]
impl Queue {
    /// Now, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now_ns as f64 * 1e-9
    }
    /// The next random number of this queue's own seeded stream, uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    /// `tick` is called at this time (seconds since the run began), in place of any set before.
    fn wake_at(&mut self, at_s: f64) -> PyResult<()> {
        let at = (at_s * 1e9).round();
        if !(at >= self.now_ns as f64 && at < 9.2e18) {
            return Err(PyValueError::new_err(format!("wake_at({at_s}): that time has passed")));
        }
        self.next_tick = Some(at as u64);
        Ok(())
    }
    /// Gives up a packet that waits or arrives; `why` is early, forced, overflow or superseded.
    #[pyo3(signature = (packet, why="forced"))]
    fn drop(&mut self, packet: &Packet, why: &str) -> PyResult<()> {
        let why = cause(why)?;
        *self.place(packet)? = false;
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        self.done.push(Done::Dropped(packet.number, why));
        Ok(())
    }
    /// Marks such a packet "congestion experienced"; it must be `ecn_capable`.
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

fn cause(name: &str) -> PyResult<Why> {
    Why::ALL.into_iter().find(|why| why.name() == name).ok_or_else(|| {
        let known = Why::ALL.map(Why::name).join(", ");
        PyValueError::new_err(format!("no reason {name:?}: give one of {known}"))
    })
}

impl Queue {
    /// Whether a packet waits; an error if it does not.
    fn place(&mut self, packet: &Packet) -> PyResult<&mut bool> {
        let Some(waits) = &mut self.waits else {
            let sentence = "a discipline with `admit` drops and marks by its answer only";
            return Err(PyValueError::new_err(sentence));
        };
        let place = waits.get_mut(packet.number as usize).filter(|waits| **waits);
        place.ok_or_else(|| PyValueError::new_err("the packet does not wait: each leaves once"))
    }
}

/// How objects of a discipline are made, and what is said of their exceptions.
pub struct Maker {
    name: &'static str,
    make: Py<PyAny>,
    explain: Py<PyAny>,
    pulse: Pulse,
}

impl Maker {
    pub fn new(name: &'static str, make: Py<PyAny>, explain: Py<PyAny>, pulse: Pulse) -> Self {
        Maker { name, make, explain, pulse }
    }
}

/// What `explain` says of an exception.
fn sentence(py: Python<'_>, explain: &Py<PyAny>, error: &PyErr) -> String {
    // With its traceback, which tells the line.
    let value = error.clone_ref(py).into_value(py);
    let told = explain.call1(py, (value,));
    told.and_then(|told| told.extract(py)).unwrap_or_else(|_| error.to_string())
}

/// One queue's object, and its methods.
struct Own {
    name: &'static str,
    explain: Py<PyAny>,
    object: Py<PyAny>,
    queue: Py<Queue>,
    pulse: Pulse,
    /// Time between two ticks, if they come by themselves.
    period: Option<Duration>,
    next_tick: Option<Instant>,
    tick: Option<Py<PyAny>>,
    gauges: Vec<&'static str>,
}

fn written(py: Python<'_>, params: &Params) -> PyResult<Py<PyDict>> {
    let values = PyDict::new(py);
    for (field, value) in params.iter() {
        match value {
            Value::Switch(v) => values.set_item(field.name, v)?,
            Value::Whole(v) => values.set_item(field.name, v)?,
            Value::Real(v) => values.set_item(field.name, v)?,
            Value::Choice(v) => values.set_item(field.name, v)?,
            Value::Unset | Value::Written(_) => values.set_item(field.name, py.None())?,
        }
    }
    Ok(values.unbind())
}

impl Own {
    fn new(
        maker: &Maker,
        params: &Params,
        line: &Line,
        waits: Option<Vec<bool>>,
    ) -> Result<Self, BadParams> {
        maker.pulse.beat();
        let made = Python::attach(|py| {
            let made = Own::made(py, maker, params, line, waits);
            made.map_err(|error| sentence(py, &maker.explain, &error))
        });
        maker.pulse.beat();
        made.map_err(|why| BadParams::new("aqm", why))
    }

    fn made(
        py: Python<'_>,
        maker: &Maker,
        params: &Params,
        line: &Line,
        waits: Option<Vec<bool>>,
    ) -> PyResult<Self> {
        let values = written(py, params)?;
        let object = maker.make.call1(py, (values, line.rate.bits_per_s(), line.header_bytes))?;
        let period: Option<f64> = object.getattr(py, intern!(py, "period"))?.extract(py)?;
        let period = match period {
            Some(s) if !(1e-9..1e9).contains(&s) => {
                return Err(PyValueError::new_err(format!(
                    "period is {s}: give seconds from 1e-9 to 1e9"
                )));
            }
            period => period.map(Duration::from_secs_f64),
        };
        let names: Vec<String> = object.getattr(py, intern!(py, "gauges"))?.extract(py)?;
        let queue = Queue {
            now_ns: 0,
            packets: 0,
            bytes: 0,
            rng: Rng::from_state(0),
            next_tick: None,
            waits,
            done: Vec::new(),
        };
        Ok(Own {
            name: maker.name,
            explain: maker.explain.clone_ref(py),
            tick: object.getattr(py, intern!(py, "tick")).ok(),
            queue: Py::new(py, queue)?,
            pulse: maker.pulse.clone(),
            next_tick: period.map(|period| Instant::ZERO + period),
            period,
            gauges: names.iter().map(|name| plugin::text(name)).collect(),
            object,
        })
    }

    fn method(&self, name: &str) -> Option<Py<PyAny>> {
        Python::attach(|py| self.object.getattr(py, name).ok())
    }

    /// A call: the object sees time, backlog and randomness of now.
    fn ask<T>(
        &mut self,
        now: Instant,
        backlog: Backlog,
        rng: &mut Rng,
        call: impl FnOnce(Python<'_>, &Py<Queue>) -> PyResult<T>,
    ) -> T {
        self.pulse.beat();
        let answer = Python::attach(|py| {
            {
                let mut queue = self.queue.borrow_mut(py);
                queue.now_ns = now.nanos();
                queue.packets = backlog.packets;
                queue.bytes = backlog.bytes;
                queue.rng = rng.clone();
            }
            let answer = call(py, &self.queue).map_err(|error| sentence(py, &self.explain, &error));
            let mut queue = self.queue.borrow_mut(py);
            rng.clone_from(&queue.rng);
            if let Some(at) = queue.next_tick.take() {
                self.next_tick = Some(Instant::from_nanos(at));
            }
            answer
        });
        self.pulse.beat();
        answer.unwrap_or_else(|why| fail(why))
    }

    fn tick(&mut self, backlog: Backlog, now: Instant, rng: &mut Rng) {
        self.next_tick = match (self.next_tick, self.period) {
            (Some(due), Some(period)) => Some(due + period),
            _ => None,
        };
        let Some(tick) = self.tick.take() else { return };
        self.ask(now, backlog, rng, |py, queue| tick.call1(py, (queue,)).map(drop));
        self.tick = Some(tick);
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if self.gauges.is_empty() {
            return;
        }
        self.pulse.beat();
        let read = Python::attach(|py| {
            let read = |name: &&str| self.object.getattr(py, *name)?.extract::<f64>(py);
            self.gauges.iter().map(read).collect::<PyResult<Vec<f64>>>()
        });
        self.pulse.beat();
        match read {
            Ok(values) => self.gauges.iter().zip(values).for_each(|(name, v)| show(name, v)),
            Err(error) => fail(format!("{}: a gauge is no number: {error}", self.name)),
        }
    }
}

/// A discipline with `admit`.
pub struct OwnJudge {
    own: Own,
    admit: Py<PyAny>,
    decided: Option<Py<PyAny>>,
    idle: Option<Py<PyAny>>,
    limit_first: bool,
    /// Time and backlog of the last call.
    last: (Instant, Backlog),
}

impl OwnJudge {
    pub fn new(maker: &Maker, params: &Params, line: &Line) -> Result<Self, BadParams> {
        let own = Own::new(maker, params, line, None)?;
        let admit = own.method("admit").ok_or_else(|| BadParams::new("aqm", "has no admit"))?;
        let first = own.method("limit_first");
        let limit_first =
            first.is_some_and(|first| Python::attach(|py| first.is_truthy(py)).unwrap_or(false));
        let (decided, idle) = (own.method("decided"), own.method("idle"));
        let last = (Instant::ZERO, Backlog::default());
        Ok(OwnJudge { own, admit, decided, idle, limit_first, last })
    }

    fn tell(&mut self, what: &'static str, why: &'static str) {
        let Some(decided) = &self.decided else { return };
        let (now, backlog) = self.last;
        // No random number is drawn by who is only told.
        let mut none = Rng::from_state(0);
        self.own.ask(now, backlog, &mut none, |py, queue| {
            decided.call1(py, (what, why, queue)).map(drop)
        });
    }
}

impl Aqm for OwnJudge {
    fn on_arrival(
        &mut self,
        packet: &packet::Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.last = (now, backlog);
        let OwnJudge { own, admit, .. } = self;
        let answer = own.ask(now, backlog, rng, |py, queue| {
            let seen = Py::new(py, Packet::of(packet, 0))?;
            let answer = admit.call1(py, (seen, queue))?;
            if answer.is_none(py) { Ok(Some(AQMLAB_PASS)) } else { Ok(answer.extract(py).ok()) }
        });
        match answer {
            Some(AQMLAB_PASS) => Verdict::Pass,
            Some(AQMLAB_SIGNAL_EARLY) => Verdict::Signal(Why::Early),
            Some(AQMLAB_SIGNAL_FORCED) => Verdict::Signal(Why::Forced),
            Some(AQMLAB_DROP_EARLY) => Verdict::Drop(Why::Early),
            Some(AQMLAB_DROP_FORCED) => Verdict::Drop(Why::Forced),
            _ => fail(format!(
                "{}: admit answered something else than aqmlab.PASS, SIGNAL, SIGNAL_FORCED, DROP or \
                 DROP_FORCED: return one of them",
                own.name
            )),
        }
    }

    fn limit_order(&self) -> aqm::LimitOrder {
        if self.limit_first { aqm::LimitOrder::BeforeJudge } else { aqm::LimitOrder::AfterJudge }
    }
    fn on_signalled(&mut self, marked: bool) {
        if marked {
            self.tell("marked", "");
        }
    }
    fn on_overflow(&mut self, backlog: Backlog, now: Instant) {
        self.last = (now, backlog);
        self.tell("dropped", Why::Overflow.name());
    }
    fn on_dropped(&mut self, why: Why) {
        if why != Why::Overflow {
            self.tell("dropped", why.name());
        }
    }
    fn on_idle(&mut self, now: Instant) {
        let Some(idle) = &self.idle else { return };
        let mut none = Rng::from_state(0);
        self.own.ask(now, Backlog::default(), &mut none, |py, queue| {
            idle.call1(py, (queue,)).map(drop)
        });
    }
    fn next_tick(&self) -> Option<Instant> {
        self.own.next_tick
    }
    fn on_tick(&mut self, backlog: Backlog, now: Instant, rng: &mut Rng) {
        self.own.tick(backlog, now, rng);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.own.gauges(show);
    }
}

/// A discipline with `enqueue` and `dequeue`.
pub struct OwnHolder {
    own: Own,
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
}

impl OwnHolder {
    pub fn new(maker: &Maker, params: &Params, line: &Line) -> Result<Self, BadParams> {
        let own = Own::new(maker, params, line, Some(Vec::new()))?;
        let method = |name: &str| {
            own.method(name).ok_or_else(|| BadParams::new("aqm", format!("has no {name}")))
        };
        let (enqueue, dequeue) = (method("enqueue")?, method("dequeue")?);
        Ok(OwnHolder { own, enqueue, dequeue })
    }

    pub fn first_tick(&self) -> Option<Instant> {
        self.own.next_tick
    }

    /// Carries out what the object said of packets.
    fn carry_out(&mut self, call: &mut Call) {
        let done = Python::attach(|py| std::mem::take(&mut self.own.queue.borrow_mut(py).done));
        for one in done {
            let carried = match one {
                Done::Dropped(number, why) => call.drop(number, why),
                Done::Marked(number, why) => call.mark(number, why),
            };
            carried.unwrap_or_else(|why| fail(format!("{}: {why}", self.own.name)));
        }
        *call.next_tick = self.own.next_tick;
    }
}

impl Holder for OwnHolder {
    fn name(&self) -> &str {
        self.own.name
    }

    fn enqueue(&mut self, packet: &packet::Packet, call: &mut Call) {
        let enqueue = &self.enqueue;
        self.own.ask(call.now, call.backlog(), call.rng, |py, queue| {
            {
                let mut queue = queue.borrow_mut(py);
                let waits = queue.waits.get_or_insert_default();
                let place = packet.id as usize;
                if waits.len() <= place {
                    waits.resize(place + 1, false);
                }
                waits[place] = true;
            }
            let seen = Py::new(py, Packet::of(packet, packet.id))?;
            enqueue.call1(py, (seen, queue)).map(drop)
        });
        self.carry_out(call);
    }

    fn dequeue(&mut self, call: &mut Call) -> Option<u32> {
        let OwnHolder { own, dequeue, .. } = self;
        let name = own.name;
        let number = own.ask(call.now, call.backlog(), call.rng, |py, queue| {
            let answer = dequeue.call1(py, (queue,))?;
            if answer.is_none(py) {
                return Ok(None);
            }
            let Ok(packet) = answer.cast_bound::<Packet>(py) else {
                return Err(PyValueError::new_err(format!(
                    "{name}: dequeue answered no packet: return one that waits, or None"
                )));
            };
            *queue.borrow_mut(py).place(packet.get())? = false;
            Ok(Some(packet.get().number))
        });
        self.carry_out(call);
        number
    }

    fn tick(&mut self, call: &mut Call) {
        self.own.tick(call.backlog(), call.now, call.rng);
        self.carry_out(call);
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.own.gauges(show);
    }
}
