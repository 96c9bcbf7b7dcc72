//! Makes an entry in the list of controls from a congestion control in a shared library.

use std::path::Path;
use std::sync::Arc;

use packet::params::Params;
use tcp::OwnControl;

use super::{Begin, Calls, ControlDescription, Happened, MOST_GAUGES, flags};
use crate::Pulse;
use crate::c::control::{State, Table};
use crate::c::control_types::{ControlAck, ControlLost, ControlWindow};
use crate::c::text;
use crate::library::field;
use crate::parameters::numbers;

/// The congestion control of the shared library at `path`, or `None` if it has none. Each begin and
/// end of a call of its functions is counted in `pulse`, which a watchdog reads.
///
/// # Errors
/// A sentence on what is wrong with the library, without its name.
pub fn load(path: &Path, pulse: &Pulse) -> Result<Option<&'static OwnControl>, String> {
    let Some(table) = Table::open(path)? else { return Ok(None) };
    let functions = table.get();
    let missing = [
        ("create", functions.create.is_none()),
        ("on_ack", functions.on_ack.is_none()),
        ("on_loss", functions.on_loss.is_none()),
        ("gauges", functions.gauge_count > 0 && functions.gauges.is_none()),
    ];
    if let Some((name, _)) = missing.into_iter().find(|(_, missing)| *missing) {
        return Err(format!("its table has no function {name}"));
    }
    let description = ControlDescription {
        name: text(functions.name),
        summary: text(functions.summary),
        source: text(functions.source),
        fields: table.parameters().iter().map(field).collect::<Result<_, _>>()?,
        flags: flags(functions.flags, functions.ecn)?,
    };
    let gauges: &'static [&'static str] = Vec::leak(table.gauge_names());
    if gauges.len() > MOST_GAUGES {
        return Err(format!("it has more than {MOST_GAUGES} gauges: show fewer"));
    }
    let settle = move |params: &Params| {
        let values = numbers(params);
        let begin = move || {
            let state = State::create(table, &values)?;
            Ok(Box::new(Native { table, state, gauges }) as Box<dyn Calls>)
        };
        Arc::new(begin) as Arc<Begin>
    };
    description.control(pulse, settle).map(Some)
}

/// One connection's state in a library.
struct Native {
    table: Table,
    state: State,
    gauges: &'static [&'static str],
}

impl Calls for Native {
    fn on(&mut self, what: Happened, window: &mut ControlWindow) -> Result<(), String> {
        let functions = self.table.get();
        let function = match what {
            Happened::Open => functions.on_open,
            Happened::Loss => functions.on_loss,
            Happened::Ecn => functions.on_ecn.or(functions.on_loss),
            Happened::Timeout => functions.on_timeout.or(functions.on_loss),
            Happened::Undo => functions.on_undo,
            Happened::AppLimited(idle) => {
                self.state.on_app_limited(window, idle.nanos());
                return Ok(());
            }
        };
        self.state.event(function, window);
        Ok(())
    }

    fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) -> Result<(), String> {
        self.state.on_ack(window, ack);
        Ok(())
    }

    fn on_lost(&mut self, window: &ControlWindow, lost: &ControlLost) -> Result<(), String> {
        self.state.on_lost(window, lost);
        Ok(())
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) -> Result<(), String> {
        let mut values = [0.0; MOST_GAUGES];
        let values = &mut values[..self.gauges.len()];
        self.state.gauges(values);
        self.gauges.iter().zip(values).for_each(|(name, value)| show(name, *value));
        Ok(())
    }
}
