//! A congestion control of my own.

#[allow(dead_code)]
mod aqmlab_control;
#[allow(dead_code)]
mod aqmlab_plugin;

use std::ffi::{c_char, c_void};
use std::ptr;

use aqmlab_control::*;
use aqmlab_plugin::{AQMLAB_REAL, PluginParameter};

struct MyCc {
    beta: f64,
    /// Segments acknowledged and not yet turned into one of the window.
    count: u64,
}

impl MyCc {
    fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) {
        if ack.may_grow == 0 {
            return;
        }
        let (mss, mut segments) = (u64::from(window.mss), u64::from(ack.segments));
        if window.cwnd < window.ssthresh {
            // Slow start: a segment for each acknowledged.
            let room = (window.ssthresh - window.cwnd).div_ceil(mss);
            let used = room.min(segments);
            window.cwnd = (window.cwnd + used * mss).min(window.ssthresh);
            segments -= used;
        }
        if segments > 0 {
            self.avoid(window, segments);
        }
    }

    /// Congestion avoidance: a segment for every window acknowledged.
    fn avoid(&mut self, window: &mut ControlWindow, segments: u64) {
        let mss = u64::from(window.mss);
        let whole = window.cwnd / mss;
        if self.count >= whole {
            self.count = 0;
            window.cwnd += mss;
        }
        self.count += segments;
        if self.count >= whole {
            window.cwnd += self.count / whole * mss;
            self.count %= whole;
        }
    }

    fn on_loss(&mut self, window: &mut ControlWindow) {
        let mss = u64::from(window.mss);
        self.count = 0;
        let left = ((window.cwnd / mss) as f64 * self.beta) as u64;
        window.ssthresh = left.max(2) * mss;
    }
}

const PARAMETERS: &[PluginParameter; 1] = &[PluginParameter {
    name: c"beta".as_ptr(),
    meaning: c"The share of the window that congestion leaves.".as_ptr(),
    source: ptr::null(),
    unit: ptr::null(),
    choices: ptr::null(),
    usual: 0.5,
    least: 0.1,
    most: 0.9,
    kind: AQMLAB_REAL,
}];

// What aqmlab calls: between its pointers and the safe code above.

unsafe extern "C" fn create(values: *const f64, _: *mut c_char, _: usize) -> *mut c_void {
    // SAFETY: aqmlab hands over a value for each parameter.
    let beta = unsafe { *values };
    Box::into_raw(Box::new(MyCc { beta, count: 0 })).cast()
}

unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: made by `create`, destroyed once.
    drop(unsafe { Box::from_raw(state.cast::<MyCc>()) });
}

unsafe extern "C" fn on_ack(
    state: *mut c_void,
    window: *mut ControlWindow,
    ack: *const ControlAck,
) {
    // SAFETY: a state of `create`, and pointers that aqmlab keeps valid during the call.
    unsafe { (*state.cast::<MyCc>()).on_ack(&mut *window, &*ack) }
}

unsafe extern "C" fn on_loss(state: *mut c_void, window: *mut ControlWindow) {
    // SAFETY: a state of `create`, and a pointer that aqmlab keeps valid during the call.
    unsafe { (*state.cast::<MyCc>()).on_loss(&mut *window) }
}

unsafe extern "C" fn gauges(state: *const c_void, values: *mut f64) {
    // SAFETY: a state of `create`, and room for as many numbers as there are gauges.
    unsafe { values.write((*state.cast::<MyCc>()).count as f64) };
}

const GAUGES: &[*const c_char; 1] = &[c"count".as_ptr()];

struct Table(ControlTable);
// SAFETY: a table that never changes.
unsafe impl Sync for Table {}

static TABLE: Table = Table(ControlTable {
    version: AQMLAB_CONTROL_VERSION,
    size: size_of::<ControlTable>() as u32,
    window_size: size_of::<ControlWindow>() as u32,
    ack_size: size_of::<ControlAck>() as u32,
    name: c"my_cc".as_ptr(),
    summary: c"Additive increase of one segment per round trip, the share beta at congestion.".as_ptr(),
    source: ptr::null(),
    parameters: PARAMETERS.as_ptr(),
    parameter_count: 1,
    gauge_count: 1,
    flags: 0,
    ecn: AQMLAB_ECN_OF_RFC3168,
    gauge_names: GAUGES.as_ptr(),
    create: Some(create),
    destroy: Some(destroy),
    on_open: None,
    on_ack: Some(on_ack),
    on_loss: Some(on_loss),
    on_ecn: None,
    on_timeout: None,
    on_undo: None,
    on_app_limited: None,
    on_lost: None,
    gauges: Some(gauges),
});

/// The one function that the library exports.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_control() -> *const ControlTable {
    &TABLE.0
}
