//! Makes a registry entry from a discipline in a shared library.

use std::path::Path;

use aqm::{Aqm, Built, Entry, LimitOrder, Line, Verdict};
use packet::params::{BadParams, Field, Params};
use packet::{Backlog, DropReason, Ecn, Instant, Packet, Rng};

use crate::c::discipline::{State, Table};
use crate::c::text;
use crate::c::types::{
    AQMLAB_DROP_EARLY, AQMLAB_DROP_FORCED, AQMLAB_DROPPED, AQMLAB_MARKED, AQMLAB_NOTHING,
    AQMLAB_PASS, AQMLAB_SIGNAL_EARLY, AQMLAB_SIGNAL_FORCED, AQMLAB_WHY_OVERFLOW, PluginLine,
    PluginParameter,
};
use crate::parameters::{Parameter, numbers};
use crate::{Call, Description, Held, Holder, Judging, Pulse, fail};

// The library gets the ECN field as this number: it must be the header's constant.
const _: () = assert!(
    Ecn::NotEct as u8 == 0 && Ecn::Ect1 as u8 == 1 && Ecn::Ect0 as u8 == 2 && Ecn::Ce as u8 == 3
);

/// The registry entry of the discipline in the library at `path`; `pulse` beats at each begin and
/// end of a call.
///
/// # Errors
/// A sentence on what is wrong with the library, without its name.
pub fn load(path: &Path, pulse: &Pulse) -> Result<&'static Entry, String> {
    let table = Table::open(path)?;
    let functions = table.get();
    let judging = match (functions.admit, functions.enqueue, functions.dequeue) {
        (Some(_), None, None) => Judging::Admits,
        (None, Some(_), Some(_)) => Judging::Holds,
        _ => return Err("its table has neither admit alone nor enqueue with dequeue".into()),
    };
    if functions.create.is_none() {
        return Err("its table has no function create".into());
    }
    if functions.gauge_count > 0 && functions.gauges.is_none() {
        return Err("its table names gauges and has no function gauges".into());
    }
    let fields = table.parameters().iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let description = Description {
        name: text(functions.name),
        summary: text(functions.summary),
        source: text(functions.source),
        fields,
        judging,
    };
    let gauges: &'static [&'static str] = Vec::leak(table.gauge_names());
    let pulse = pulse.clone();
    let make = move |params: &Params, line: &Line| make(table, gauges, &pulse, params, line);
    match judging {
        Judging::Admits => description.judge(make),
        Judging::Holds => {
            description.entry(Box::leak(Box::new(move |params: &Params, line: &Line| {
                let native = make(params, line)?;
                let first = native.state.next_tick();
                Ok(Built::Discipline(Box::new(Held::new(native, first))))
            })))
        }
    }
}

/// Converts a parameter of a table into a field of the registry.
pub(crate) fn field(of: &PluginParameter) -> Result<Field, String> {
    let parameter = Parameter {
        name: text(of.name),
        meaning: text(of.meaning),
        source: text(of.source),
        unit: text(of.unit),
        choices: text(of.choices),
        usual: of.usual,
        least: of.least,
        most: of.most,
        kind: of.kind,
    };
    parameter.field()
}

fn make(
    table: Table,
    gauges: &'static [&'static str],
    pulse: &Pulse,
    params: &Params,
    line: &Line,
) -> Result<Native, BadParams> {
    let values = numbers(params);
    let line = PluginLine { bits_per_s: line.rate.bits_per_s(), header_bytes: line.header_bytes };
    pulse.beat();
    let state = State::create(table, &values[..table.parameters().len()], line);
    pulse.beat();
    let name = text(table.get().name);
    let state = state.map_err(|why| BadParams::new("aqm", format!("{name} refuses: {why}")))?;
    let limit_first = table.get().limit_first != 0;
    Ok(Native { state, gauges, name, limit_first, pulse: pulse.clone() })
}

/// One queue's state in a library, for a discipline that only admits or one that queues packets.
struct Native {
    state: State,
    gauges: &'static [&'static str],
    name: &'static str,
    limit_first: bool,
    pulse: Pulse,
}

impl Native {
    /// The result of a call; ends the run if the call broke a rule of the interface.
    fn believed<T>(&self, what: &str, answer: Result<T, String>) -> T {
        answer.unwrap_or_else(|wrong| fail(format!("{}: in {what} {wrong}", self.name)))
    }

    fn show(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let mut values = [0.0; 64];
        let Some(values) = values.get_mut(..self.gauges.len()) else {
            fail(format!("{}: it has more than 64 gauges: show fewer", self.name))
        };
        self.pulse.beat();
        self.state.gauges(values);
        self.pulse.beat();
        for (name, value) in self.gauges.iter().zip(values) {
            show(name, *value);
        }
    }
}

impl Aqm for Native {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.pulse.beat();
        let (answer, misuse) = self.state.admit(packet, backlog, now, rng);
        self.pulse.beat();
        if misuse {
            fail(format!("{}: a judge drops and marks by its answer only", self.name));
        }
        match answer {
            AQMLAB_PASS => Verdict::Pass,
            AQMLAB_SIGNAL_EARLY => Verdict::Signal(DropReason::Early),
            AQMLAB_SIGNAL_FORCED => Verdict::Signal(DropReason::Forced),
            AQMLAB_DROP_EARLY => Verdict::Drop(DropReason::Early),
            AQMLAB_DROP_FORCED => Verdict::Drop(DropReason::Forced),
            other => fail(format!(
                "{}: admit answered {other}: answer AQMLAB_PASS, AQMLAB_SIGNAL_... or \
                 AQMLAB_DROP_...",
                self.name
            )),
        }
    }

    fn limit_order(&self) -> LimitOrder {
        if self.limit_first { LimitOrder::BeforeJudge } else { LimitOrder::AfterJudge }
    }

    fn on_signalled(&mut self, marked: bool) {
        if marked {
            self.state.decided(AQMLAB_MARKED, 0, None);
        }
    }
    fn on_overflow(&mut self, _: Backlog, now: Instant) {
        self.state.decided(AQMLAB_DROPPED, AQMLAB_WHY_OVERFLOW, Some(now));
    }
    fn on_dropped(&mut self, why: DropReason) {
        if why != DropReason::Overflow {
            self.state.decided(AQMLAB_DROPPED, why as u8 + 1, None);
        }
    }
    fn on_idle(&mut self, now: Instant) {
        self.state.idle(now);
    }
    fn next_tick(&self) -> Option<Instant> {
        self.state.next_tick()
    }
    fn on_tick(&mut self, backlog: Backlog, now: Instant, rng: &mut Rng) {
        self.pulse.beat();
        self.state.tick(backlog, now, rng);
        self.pulse.beat();
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.show(show);
    }
}

impl Holder for Native {
    fn name(&self) -> &str {
        self.name
    }

    fn enqueue(&mut self, packet: &Packet, call: &mut Call) {
        self.pulse.beat();
        let done = self.state.enqueue(packet, call);
        self.pulse.beat();
        self.believed("enqueue", done);
        *call.next_tick = self.state.next_tick();
    }

    fn dequeue(&mut self, call: &mut Call) -> Option<u32> {
        self.pulse.beat();
        let answer = self.state.dequeue(call);
        self.pulse.beat();
        let answer = self.believed("dequeue", answer);
        *call.next_tick = self.state.next_tick();
        if answer == AQMLAB_NOTHING {
            return None;
        }
        let wrong = || fail(format!("{}: dequeue answered {answer}, no packet", self.name));
        Some(u32::try_from(answer).unwrap_or_else(|_| wrong()))
    }

    fn tick(&mut self, call: &mut Call) {
        self.pulse.beat();
        let done = self.state.tick_holder(call);
        self.pulse.beat();
        self.believed("tick", done);
        *call.next_tick = self.state.next_tick();
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.show(show);
    }
}
