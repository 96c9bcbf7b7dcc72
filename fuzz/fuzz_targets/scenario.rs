//! Any text as a scenario, and as a number in one: see `crates/sim/tests/read/`.
#![no_main]

#[path = "../../crates/sim/tests/read/mod.rs"]
#[allow(dead_code)] // the tests use more of it
mod read;

libfuzzer_sys::fuzz_target!(|text: &str| {
    read::read(text);
    read::numbers::read_as_number(text);
});
