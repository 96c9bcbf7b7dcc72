//! Any sequence of calls to any discipline, with any parameters it accepts: pseudo-random bytes,
//! and those that a fuzzer once found something with (`fuzz/seeds/queue`).

use std::collections::BTreeMap;
use std::fs;
use std::panic::{catch_unwind, resume_unwind};
use std::path::Path;

use aqm::{ALGORITHMS, Entry};
use aqmlab_testvec::random_calls::{Done, drive};
use packet::Rng;

fn ours() -> Vec<&'static Entry> {
    ALGORITHMS.iter().collect()
}

/// Drives so many random byte strings; what each discipline did.
fn random(seed: u64, strings: u64) -> BTreeMap<&'static str, Done> {
    let mut all = BTreeMap::<_, Done>::new();
    for n in 0..strings {
        let mut rng = Rng::indexed(seed, "random bytes", n);
        let length = 20 + rng.below(1_500);
        let data: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
        let outcome = catch_unwind(|| drive(&data, &ours())).unwrap_or_else(|why| {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{seed}-{n}"));
            fs::write(&file, &data).expect("the bytes are kept");
            eprintln!("bytes that break a law: {}; keep them as a seed", file.display());
            resume_unwind(why)
        });
        if let Some((name, done)) = outcome {
            let sum = all.entry(name).or_default();
            sum.sent += done.sent;
            sum.dropped += done.dropped;
            sum.marked += done.marked;
        }
    }
    all
}

#[test]
fn random_bytes_break_no_law() {
    let all = random(1, 4_000);
    assert_eq!(all.len(), ALGORITHMS.len(), "each was driven");
    for (name, done) in &all {
        assert!(done.sent > 500 && done.dropped > 50, "{name} hardly moved: {done:?}");
    }
    assert!(all.values().filter(|done| done.marked > 20).count() > 15, "{all:#?}");
}

#[test]
#[ignore = "minutes: `make validate` runs it, and AQMLAB_FUZZ_SEED takes it elsewhere"]
fn many_more_random_bytes_break_no_law() {
    let seed = std::env::var("AQMLAB_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok());
    random(seed.unwrap_or(2), 100_000);
}

#[test]
fn what_fuzzers_found_stays_mended() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/queue");
    let mut driven = 0;
    for file in fs::read_dir(seeds).expect("the seeds").flatten() {
        drive(&fs::read(file.path()).expect("a seed"), &ours());
        driven += 1;
    }
    assert!(driven > 0);
}
