//! A congestion control in a shared library, called through its table of functions.

use std::ffi::{c_char, c_void};
use std::path::Path;

use super::control_types::{
    AQMLAB_CONTROL_VERSION, ControlAck, ControlLost, ControlTable, ControlWindow,
};
use super::table::{checked, opened, reason, slice, text};
use super::types::PluginParameter;

/// Signature of the table's functions that take only the window.
pub type Event = unsafe extern "C" fn(*mut c_void, *mut ControlWindow);

/// Expected first members of a table: version of the interface, and sizes of the table, of a window
/// and of an acknowledgement.
const OURS: [u32; 4] = [
    AQMLAB_CONTROL_VERSION,
    size_of::<ControlTable>() as u32,
    size_of::<ControlWindow>() as u32,
    size_of::<ControlAck>() as u32,
];

/// The table of a congestion control in a library that stays loaded.
#[derive(Clone, Copy)]
pub struct Table(&'static ControlTable);

// SAFETY: a table is constant data; the library promises that its functions may be called from any
// thread, with one thread at a time for each state.
unsafe impl Send for Table {}
// SAFETY: as above; a table is constant.
unsafe impl Sync for Table {}

impl Table {
    /// Opens a library, for as long as the process lives; `None` if it exports no congestion control.
    ///
    /// # Errors
    /// A sentence on what is wrong with the file, without its name.
    pub fn open(path: &Path) -> Result<Option<Self>, String> {
        type Entrance = unsafe extern "C" fn() -> *const ControlTable;
        let library = opened(path)?;
        // SAFETY: the header declares the symbol with this type.
        let Ok(entrance) = (unsafe { library.get::<Entrance>(b"aqmlab_control\0") }) else {
            return Ok(None);
        };
        // SAFETY: the header declares a function without arguments that may be called at any time.
        let table = unsafe { entrance() };
        // SAFETY: the library promises a constant table that begins with its version and sizes.
        unsafe { checked(table, "aqmlab_control", "aqmlab_control.h", OURS) }
            .map(|table| Some(Table(table)))
    }

    /// The table of functions and data that the library exports.
    pub fn get(self) -> &'static ControlTable {
        self.0
    }

    /// The parameters of the library's congestion control.
    pub fn parameters(self) -> &'static [PluginParameter] {
        slice(self.0.parameters, self.0.parameter_count)
    }

    /// Names of the gauges of the library's congestion control.
    pub fn gauge_names(self) -> Vec<&'static str> {
        slice(self.0.gauge_names, self.0.gauge_count).iter().map(|name| text(*name)).collect()
    }
}

/// One connection's state in a library.
pub struct State {
    table: Table,
    state: *mut c_void,
}

// SAFETY: the library promises that different threads may use a state, one at a time.
unsafe impl Send for State {}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(destroy) = self.table.0.destroy {
            // SAFETY: `create` returned this state, and it is destroyed once.
            unsafe { destroy(self.state) };
        }
    }
}

impl State {
    /// Creates a state with these values of the parameters.
    ///
    /// # Errors
    /// The library's reason for refusing the values, in a sentence.
    pub fn create(table: Table, values: &[f64]) -> Result<Self, String> {
        let mut error = [0 as c_char; 400];
        let create = table.0.create.ok_or("its table has no function create")?;
        // SAFETY: every pointer is valid during the call, and `error` has the given size.
        let state = unsafe { create(values.as_ptr(), error.as_mut_ptr(), error.len()) };
        if state.is_null() {
            return Err(reason(&mut error));
        }
        Ok(State { table, state })
    }

    /// Calls a function of the table that takes only the window, unless it is null.
    pub fn event(&mut self, function: Option<Event>, window: &mut ControlWindow) {
        if let Some(function) = function {
            // SAFETY: the state belongs to this table, and the pointer is valid during the call.
            unsafe { function(self.state, window) };
        }
    }

    /// Reports an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) {
        if let Some(on_ack) = self.table.0.on_ack {
            // SAFETY: the state belongs to this table, and the pointers are valid during the call.
            unsafe { on_ack(self.state, window, ack) };
        }
    }

    /// Reports that a segment is sent after the application had nothing to send for `idle_ns`.
    pub fn on_app_limited(&mut self, window: &mut ControlWindow, idle_ns: u64) {
        if let Some(on_app_limited) = self.table.0.on_app_limited {
            // SAFETY: the state belongs to this table, and the pointer is valid during the call.
            unsafe { on_app_limited(self.state, window, idle_ns) };
        }
    }

    /// Reports a lost segment.
    pub fn on_lost(&mut self, window: &ControlWindow, lost: &ControlLost) {
        if let Some(on_lost) = self.table.0.on_lost {
            // SAFETY: the state belongs to this table, and the pointers are valid during the call.
            unsafe { on_lost(self.state, window, lost) };
        }
    }

    /// Reads the gauges into `values`, which must have room for all.
    pub fn gauges(&self, values: &mut [f64]) {
        assert!(values.len() >= self.table.0.gauge_count as usize, "room for every gauge");
        if let Some(gauges) = self.table.0.gauges {
            // SAFETY: the state belongs to this table, and `values` has room for all its gauges.
            unsafe { gauges(self.state, values.as_mut_ptr()) };
        }
    }
}
