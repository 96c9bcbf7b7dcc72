//! Any sequence of calls to any discipline: see `crates/aqm/tests/drive/mod.rs`.
#![no_main]

#[path = "../../crates/aqm/tests/drive/mod.rs"]
mod drive;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    drive::drive(data);
});
