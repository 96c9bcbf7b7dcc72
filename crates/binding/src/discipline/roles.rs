//! The two kinds of discipline in Python: one only decides about arriving packets, the other queues
//! them.

use aqm::{Aqm, Line, Verdict};
use packet::params::{BadParams, Params};
use packet::{Backlog, DropReason, Instant, Rng};
use plugin::types::{
    AQMLAB_DROP_EARLY, AQMLAB_DROP_FORCED, AQMLAB_PASS, AQMLAB_SIGNAL_EARLY, AQMLAB_SIGNAL_FORCED,
};
use plugin::{Call, Holder, fail};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::seen::Done;
use super::{Maker, Own, Packet};

/// A discipline with `admit`, which only decides about arriving packets.
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

    fn notify(&mut self, what: &'static str, why: &'static str) {
        let Some(decided) = &self.decided else { return };
        let (now, backlog) = self.last;
        // A notification draws no random number.
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
            Some(AQMLAB_SIGNAL_EARLY) => Verdict::Signal(DropReason::Early),
            Some(AQMLAB_SIGNAL_FORCED) => Verdict::Signal(DropReason::Forced),
            Some(AQMLAB_DROP_EARLY) => Verdict::Drop(DropReason::Early),
            Some(AQMLAB_DROP_FORCED) => Verdict::Drop(DropReason::Forced),
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
            self.notify("marked", "");
        }
    }
    fn on_overflow(&mut self, backlog: Backlog, now: Instant) {
        self.last = (now, backlog);
        self.notify("dropped", DropReason::Overflow.name());
    }
    fn on_dropped(&mut self, why: DropReason) {
        if why != DropReason::Overflow {
            self.notify("dropped", why.name());
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

/// A discipline with `enqueue` and `dequeue`, which queues packets.
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

    /// Carries out the drops and marks that the object has requested.
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
