//! Any text as a scenario: see `crates/sim/tests/read/mod.rs`.
#![no_main]

#[path = "../../crates/sim/tests/read/mod.rs"]
mod read;

libfuzzer_sys::fuzz_target!(|text: &str| {
    read::read(text);
});
