//! Functions that the page provides to this module. They call a user's own congestion controls,
//! which are separate WebAssembly modules (`web/own.js`). A function that returns 0 has failed, and
//! `why` copies the sentence on its failure.
// Imported functions get pointers into this module's memory that are valid during the call.
#![allow(unsafe_code)]

use plugin::control::module::{About, Host};
use plugin::control_types::{ControlAck, ControlLost, ControlWindow};

#[link(wasm_import_module = "own")]
unsafe extern "C" {
    safe fn fresh();
    safe fn table(which: u32) -> u32;
    fn read(which: u32, at: u32, into: *mut u8, bytes: usize) -> u32;
    fn why(into: *mut u8, room: usize) -> usize;
    fn create(which: u32, function: u32, values: *const f64, count: usize) -> u32;
    fn call(
        which: u32,
        function: u32,
        state: u32,
        window: *mut ControlWindow,
        sample: *const u8,
        bytes: usize,
    ) -> u32;
    fn idle(which: u32, function: u32, state: u32, window: *mut ControlWindow, idle_ns: u64)
    -> u32;
    fn gauges(which: u32, function: u32, state: u32, into: *mut f64, count: usize) -> u32;
    safe fn destroy(which: u32, function: u32, state: u32);
}

/// Makes the controls discard their state, before a new run.
pub fn forget() {
    fresh();
}

/// A user's congestion control, identified by its number in the page.
#[derive(Clone, Copy)]
pub struct Own(pub u32);

fn done(answer: u32) -> Result<u32, String> {
    if answer != 0 {
        return Ok(answer);
    }
    let mut said = [0; 400];
    // SAFETY: `why` writes at most `said.len()` bytes.
    let length = unsafe { why(said.as_mut_ptr(), said.len()) };
    Err(String::from_utf8_lossy(&said[..length.min(said.len())]).into_owned())
}

impl Host for Own {
    fn table(&self) -> Result<u32, String> {
        done(table(self.0))
    }

    fn read(&self, at: u32, into: &mut [u8]) -> Result<(), String> {
        // SAFETY: `read` writes at most `into.len()` bytes.
        done(unsafe { read(self.0, at, into.as_mut_ptr(), into.len()) }).map(drop)
    }

    fn create(&self, function: u32, values: &[f64]) -> Result<u32, String> {
        // SAFETY: `values` holds as many numbers as its length says.
        done(unsafe { create(self.0, function, values.as_ptr(), values.len()) })
    }

    fn call(
        &self,
        function: u32,
        state: u32,
        window: &mut ControlWindow,
        about: About,
    ) -> Result<(), String> {
        let (sample, bytes): (*const u8, usize) = match about {
            // SAFETY: `window` points to a ControlWindow of this module.
            About::Idle(ns) => {
                return done(unsafe { idle(self.0, function, state, window, ns) }).map(drop);
            }
            About::Nothing => (std::ptr::null(), 0),
            About::Ack(ack) => (std::ptr::from_ref(ack).cast(), size_of::<ControlAck>()),
            About::Lost(lost) => (std::ptr::from_ref(lost).cast(), size_of::<ControlLost>()),
        };
        // SAFETY: `window` points to a ControlWindow of this module, and `sample` to `bytes` bytes.
        done(unsafe { call(self.0, function, state, window, sample, bytes) }).map(drop)
    }

    fn gauges(&self, function: u32, state: u32, values: &mut [f64]) -> Result<(), String> {
        // SAFETY: `gauges` writes at most `values.len()` numbers.
        done(unsafe { gauges(self.0, function, state, values.as_mut_ptr(), values.len()) })
            .map(drop)
    }

    fn destroy(&self, function: u32, state: u32) {
        destroy(self.0, function, state);
    }
}
