//! Any bytes as a packet capture: see `crates/capture/tests/any/mod.rs`.
#![no_main]

#[path = "../../crates/capture/tests/any/mod.rs"]
mod any;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    any::read(data);
});
