//! Any sequence of calls to any discipline: see `testvec::random_calls`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let ours: Vec<_> = aqm::ALGORITHMS.iter().collect();
    testvec::random_calls::drive(data, &ours);
});
