//! A queue discipline of my own.

#[allow(dead_code)]
mod aqmlab_plugin;

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use aqmlab_plugin::*;

struct MyAqm {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    p: f64,
}

impl MyAqm {
    /// From the values of `PARAMETERS`, in their order.
    fn new(values: &[f64]) -> Result<Self, &'static str> {
        let &[min_th, max_th, max_p] = values else { return Err("three parameters are needed") };
        if min_th >= max_th {
            return Err("min_th must be smaller than max_th");
        }
        Ok(MyAqm { min_th, max_th, max_p, p: 0.0 })
    }

    /// Whether the sender of the packet that arrives should slow down.
    fn admit(&mut self, _packet: &PluginPacket, call: &mut PluginCall) -> i32 {
        let share = (f64::from(call.packets) - self.min_th) / (self.max_th - self.min_th);
        self.p = self.max_p * share.clamp(0.0, 1.0);
        if call.uniform() < self.p { AQMLAB_SIGNAL_EARLY } else { AQMLAB_PASS }
    }
}

const fn whole(name: &'static CStr, meaning: &'static CStr, usual: f64) -> PluginParameter {
    PluginParameter {
        name: name.as_ptr(),
        meaning: meaning.as_ptr(),
        source: ptr::null(),
        unit: c"packets".as_ptr(),
        choices: ptr::null(),
        usual,
        least: 0.0,
        most: 1e6,
        kind: AQMLAB_WHOLE,
    }
}

const COUNT: usize = 3;
const PARAMETERS: &[PluginParameter; COUNT] = &[
    whole(c"min_th", c"Packets below which nothing is signalled.", 10.0),
    whole(c"max_th", c"Packets from which max_p holds.", 60.0),
    PluginParameter {
        unit: ptr::null(),
        usual: 0.1,
        least: 1e-9,
        most: 1.0,
        kind: AQMLAB_REAL,
        ..whole(c"max_p", c"The largest probability.", 0.1)
    },
];

// What aqmlab calls: between its pointers and the safe code above.

unsafe extern "C" fn create(
    values: *const f64,
    _line: *const PluginLine,
    _call: *mut PluginCall,
    error: *mut c_char,
    room: usize,
) -> *mut c_void {
    // SAFETY: aqmlab hands over a value for each parameter.
    match MyAqm::new(unsafe { std::slice::from_raw_parts(values, COUNT) }) {
        Ok(made) => Box::into_raw(Box::new(made)).cast(),
        Err(why) => {
            let length = why.len().min(room.saturating_sub(1));
            // SAFETY: there is room for `room` bytes; the last one is zero already.
            unsafe { ptr::copy_nonoverlapping(why.as_ptr(), error.cast(), length) };
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: made by `create`, destroyed once.
    drop(unsafe { Box::from_raw(state.cast::<MyAqm>()) });
}

unsafe extern "C" fn admit(
    state: *mut c_void,
    packet: *const PluginPacket,
    call: *mut PluginCall,
) -> i32 {
    // SAFETY: a state of `create`, and pointers that aqmlab keeps valid during the call.
    unsafe { (*state.cast::<MyAqm>()).admit(&*packet, &mut *call) }
}

unsafe extern "C" fn gauges(state: *const c_void, values: *mut f64) {
    // SAFETY: a state of `create`, and room for as many numbers as there are gauges.
    unsafe { values.write((*state.cast::<MyAqm>()).p) };
}

const GAUGES: &[*const c_char; 1] = &[c"p".as_ptr()];

struct Table(Plugin);
// SAFETY: a table that never changes.
unsafe impl Sync for Table {}

static TABLE: Table = Table(Plugin {
    version: AQMLAB_PLUGIN_VERSION,
    size: size_of::<Plugin>() as u32,
    packet_size: size_of::<PluginPacket>() as u32,
    call_size: size_of::<PluginCall>() as u32,
    name: c"my_aqm".as_ptr(),
    summary: c"Signals with a probability that rises from min_th to max_th packets that wait.".as_ptr(),
    source: ptr::null(),
    parameters: PARAMETERS.as_ptr(),
    parameter_count: COUNT as u32,
    gauge_count: 1,
    limit_first: 0,
    gauge_names: GAUGES.as_ptr(),
    create: Some(create),
    destroy: Some(destroy),
    admit: Some(admit),
    decided: None,
    idle: None,
    enqueue: None,
    dequeue: None,
    tick: None,
    gauges: Some(gauges),
});

/// The one function that the library exports.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_discipline() -> *const Plugin {
    &TABLE.0
}
