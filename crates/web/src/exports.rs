//! The functions that the module exports. The page writes a text to the address that [`input`]
//! returns, then calls the function that reads it. The answer is [`output_bytes`] bytes at
//! [`output`], until the next call. Functions that return `i32` return 1 for an answer, and 0 for
//! an error, which is one sentence. After a trap [`output`] holds the error; only the functions for
//! output and [`own_failed`] may be called then.
// The module has one thread. `no_mangle` counts as unsafe since symbols must be unique; no pointer
// is dereferenced.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::panic::PanicHookInfo;

use plugin::Failed;

use crate::lab::{Answer, Lab};

thread_local! {
    static LAB: RefCell<Lab> = RefCell::default();
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OWN_FAILED: Cell<bool> = const { Cell::new(false) };
}

fn put(bytes: Vec<u8>) {
    OUTPUT.with(|output| output.replace(bytes));
}

fn answer(answer: Answer) -> i32 {
    let good = answer.is_ok();
    put(answer.unwrap_or_else(|why| why).into_bytes());
    good.into()
}

/// Calls `work` with the [`Lab`] and the text that the page has written to [`input`]; stores the
/// answer for [`output`].
fn with_text(work: impl FnOnce(&mut Lab, &str) -> Answer) -> i32 {
    let input = INPUT.with(RefCell::take);
    let text = String::from_utf8_lossy(&input);
    answer(LAB.with(|lab| work(&mut lab.borrow_mut(), &text)))
}

/// Discards the previous run and the state of the user's own congestion controls, then starts a run
/// by calling `work` as [`with_text`] does.
fn begun(work: impl FnOnce(&mut Lab, &str) -> Answer) -> i32 {
    with_text(|lab, text| {
        lab.leave();
        #[cfg(target_family = "wasm")]
        crate::own::forget();
        work(lab, text)
    })
}

fn with_lab<T>(work: impl FnOnce(&mut Lab) -> T) -> T {
    LAB.with(|lab| work(&mut lab.borrow_mut()))
}

/// Installs a panic hook that stores the message of a panic for [`output`]. Call it once, first.
#[unsafe(no_mangle)]
pub extern "C" fn begin() {
    std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        if let Some(Failed(sentence)) = panic.payload().downcast_ref() {
            OWN_FAILED.set(true);
            return put(sentence.clone().into_bytes());
        }
        let text = panic.payload().downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.payload().downcast_ref::<String>().map(String::as_str));
        let said = text.unwrap_or("no reason given");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        put(format!("{said}, {place}").into_bytes());
    }));
}

/// Allocates a buffer for a text of `bytes` bytes. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with(|input| {
        let mut input = input.borrow_mut();
        input.clear();
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// The address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with(|output| output.borrow().as_ptr())
}

/// Length of the last answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_bytes() -> usize {
    OUTPUT.with(|output| output.borrow().len())
}

/// Whether a user's own congestion control caused the trap: 1, or else 0.
#[unsafe(no_mangle)]
pub extern "C" fn own_failed() -> i32 {
    OWN_FAILED.get().into()
}

/// Adds the user's own congestion control with number `which` in the page; answers with its name
/// ([`Lab::add`]).
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
pub extern "C" fn add(which: u32) -> i32 {
    answer(with_lab(|lab| lab.add(crate::own::Own(which))))
}

/// Answers with the simulator's version and build as JSON ([`Lab::version`]).
#[unsafe(no_mangle)]
pub extern "C" fn version() -> i32 {
    answer(Ok(Lab::version()))
}

/// Answers with all queue disciplines, TCP profiles, congestion controls and applications, and the
/// sections of a scenario, as JSON ([`Lab::catalogue`]).
#[unsafe(no_mangle)]
pub extern "C" fn catalogue() -> i32 {
    answer(Ok(with_lab(|lab| lab.catalogue())))
}

/// Checks the scenario in the input (JSON); answers with the scenario with every default filled in
/// ([`Lab::check`]).
#[unsafe(no_mangle)]
pub extern "C" fn check() -> i32 {
    with_text(|lab, text| lab.check(text))
}

/// Answers with the number of users for the offered load in the input's scenario, as JSON
/// ([`Lab::users`]).
#[unsafe(no_mangle)]
pub extern "C" fn users() -> i32 {
    with_text(|lab, text| lab.users(text))
}

/// Sets up a run of the input's scenario that is observed in bins of `bin_s` simulated seconds
/// ([`Lab::start`]).
#[unsafe(no_mangle)]
pub extern "C" fn start(bin_s: f64) -> i32 {
    begun(|lab, text| lab.start(text, bin_s))
}

/// Sets up a run of the input's scenario without observations ([`Lab::start_unwatched`]).
#[unsafe(no_mangle)]
pub extern "C" fn start_unwatched() -> i32 {
    begun(Lab::start_unwatched)
}

/// Sets up a run of the input's scenario that captures the packets of the first link for Wireshark
/// ([`Lab::start_capture`]).
#[unsafe(no_mangle)]
pub extern "C" fn start_capture() -> i32 {
    begun(Lab::start_capture)
}

/// Advances the run to `until_s`, or until about `events` more events were served. Returns the
/// simulated time reached, in seconds; NaN without a run ([`Lab::step`]).
#[unsafe(no_mangle)]
pub extern "C" fn step(until_s: f64, events: f64) -> f64 {
    with_lab(|lab| lab.step(until_s, events))
}

/// Answers with the observations since the last call, as JSON ([`Lab::look`]).
#[unsafe(no_mangle)]
pub extern "C" fn look() -> i32 {
    answer(with_lab(Lab::look))
}

/// Answers with the packet events since the last call as little-endian `f64`, in the format of
/// [`sim::PACKET_NUMBERS`]. Returns the count of numbers.
#[unsafe(no_mangle)]
pub extern "C" fn packets() -> usize {
    with_lab(|lab| {
        let rows = lab.packets();
        put(rows.iter().flat_map(|number| number.to_le_bytes()).collect());
        rows.len()
    })
}

/// Turns the recording of packet events on (not 0) or off ([`Lab::watch_packets`]).
#[unsafe(no_mangle)]
pub extern "C" fn watch_packets(on: i32) {
    with_lab(|lab| lab.watch_packets(on != 0));
}

/// Answers with the bytes of the capture that were written since the last call. Returns their count
/// ([`Lab::captured`]).
#[unsafe(no_mangle)]
pub extern "C" fn captured() -> usize {
    let bytes = with_lab(Lab::captured);
    let length = bytes.len();
    put(bytes);
    length
}

/// Advances the run to its end; answers with its summary and fingerprint as JSON ([`Lab::finish`]).
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> i32 {
    answer(with_lab(Lab::finish))
}

/// Panics with the input text, so that tests can check what a user sees after a fault.
#[unsafe(no_mangle)]
pub extern "C" fn fail() {
    let input = INPUT.with(RefCell::take);
    panic!("{}", String::from_utf8_lossy(&input));
}
