//! A congestion control in a shared library, called through its table of functions.

use std::ffi::{c_char, c_void};
use std::path::Path;

use super::control_types::{
    AQMLAB_CONTROL_VERSION, ControlAck, ControlLost, ControlTable, ControlWindow,
};
use super::table::{checked, opened, reason, slice, text};
use super::types::PluginParameter;

/// A function of a table that changes the window.
pub type Event = unsafe extern "C" fn(*mut c_void, *mut ControlWindow);

/// Version of the interface, and sizes of the table and of what its functions are given.
const OURS: [u32; 4] = [
    AQMLAB_CONTROL_VERSION,
    size_of::<ControlTable>() as u32,
    size_of::<ControlWindow>() as u32,
    size_of::<ControlAck>() as u32,
];

/// The table of a library that stays loaded.
#[derive(Clone, Copy)]
pub struct Table(&'static ControlTable);

// SAFETY: a table is constant data; the library promises that its functions may be called from any
// thread, one at a time for each state.
unsafe impl Send for Table {}
// SAFETY: as above; nothing of a table changes.
unsafe impl Sync for Table {}

impl Table {
    /// Opens a library, for as long as the process lives; `None` if it exports no congestion control.
    ///
    /// # Errors
    /// What is wrong with the file, in a sentence without its name.
    pub fn open(path: &Path) -> Result<Option<Self>, String> {
        type Entrance = unsafe extern "C" fn() -> *const ControlTable;
        let library = opened(path)?;
        // SAFETY: the header gives this symbol this type.
        let Ok(entrance) = (unsafe { library.get::<Entrance>(b"aqmlab_control\0") }) else {
            return Ok(None);
        };
        // SAFETY: as the header promises.
        let table = unsafe { entrance() };
        // SAFETY: a table of the interface, which begins with its version and its sizes.
        unsafe { checked(table, "aqmlab_control", "aqmlab_control.h", OURS) }
            .map(|table| Some(Table(table)))
    }

    /// The table's numbers and functions.
    pub fn get(self) -> &'static ControlTable {
        self.0
    }

    /// The table's parameters.
    pub fn parameters(self) -> &'static [PluginParameter] {
        slice(self.0.parameters, self.0.parameter_count)
    }

    /// The names of its gauges.
    pub fn gauge_names(self) -> Vec<&'static str> {
        slice(self.0.gauge_names, self.0.gauge_count).iter().map(|name| text(*name)).collect()
    }
}

/// One connection's state in a library.
pub struct State {
    table: Table,
    state: *mut c_void,
}

// SAFETY: the library promises that a state may go from thread to thread.
unsafe impl Send for State {}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(destroy) = self.table.0.destroy {
            // SAFETY: a state that `create` answered, destroyed once.
            unsafe { destroy(self.state) };
        }
    }
}

impl State {
    /// A state for these values of the parameters.
    ///
    /// # Errors
    /// The sentence by which the library refuses them.
    pub fn create(table: Table, values: &[f64]) -> Result<Self, String> {
        let mut error = [0 as c_char; 400];
        let create = table.0.create.ok_or("its table has no function create")?;
        // SAFETY: every pointer is to something that outlives the call, with the room that is said.
        let state = unsafe { create(values.as_ptr(), error.as_mut_ptr(), error.len()) };
        if state.is_null() {
            return Err(reason(&mut error));
        }
        Ok(State { table, state })
    }

    /// Calls a function of the table that changes the window, if there is one.
    pub fn event(&mut self, function: Option<Event>, window: &mut ControlWindow) {
        if let Some(function) = function {
            // SAFETY: a state of this table, and a pointer that outlives the call.
            unsafe { function(self.state, window) };
        }
    }

    /// Reports an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) {
        if let Some(on_ack) = self.table.0.on_ack {
            // SAFETY: a state of this table, and pointers that outlive the call.
            unsafe { on_ack(self.state, window, ack) };
        }
    }

    /// Reports that the program had nothing to send.
    pub fn on_app_limited(&mut self, window: &mut ControlWindow, idle_ns: u64) {
        if let Some(on_app_limited) = self.table.0.on_app_limited {
            // SAFETY: a state of this table, and a pointer that outlives the call.
            unsafe { on_app_limited(self.state, window, idle_ns) };
        }
    }

    /// Reports a lost segment.
    pub fn on_lost(&mut self, window: &ControlWindow, lost: &ControlLost) {
        if let Some(on_lost) = self.table.0.on_lost {
            // SAFETY: a state of this table, and pointers that outlive the call.
            unsafe { on_lost(self.state, window, lost) };
        }
    }

    /// Reads the gauges into `values`, which has room for all.
    pub fn gauges(&self, values: &mut [f64]) {
        assert!(values.len() >= self.table.0.gauge_count as usize, "room for every gauge");
        if let Some(gauges) = self.table.0.gauges {
            // SAFETY: a state of this table, and room for as many numbers as it says it writes.
            unsafe { gauges(self.state, values.as_mut_ptr()) };
        }
    }
}
