//! What every discipline does with random calls stays as it is: a row of `golden.txt` each, the
//! packets that it sent, dropped and marked, and a fingerprint of every answer. It says nothing about
//! what is right; that do the transcriptions, vectors and worked examples. It notices what they do not
//! come by. Written anew with `AQMLAB_BLESS=1 cargo test -p aqmlab-testvec --test all golden::`; say
//! in the commit why it changed.

use std::fmt::Write;
use std::path::Path;

use aqm::{ALGORITHMS, Entry};
use aqmlab_testvec::random_calls::{Done, drive};
use packet::Rng;

/// Sequences of calls, each with parameters of its own.
const STRINGS: u64 = 250;

fn row(entry: &'static Entry) -> String {
    let (mut all, mut prints) = (Done::default(), 0u64);
    for n in 0..STRINGS {
        let mut rng = Rng::indexed(7, "golden bytes", n);
        let length = 20 + rng.below(1_500);
        let data: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
        if let Some((_, done)) = drive(&data, &[entry]) {
            all.sent += done.sent;
            all.dropped += done.dropped;
            all.marked += done.marked;
            prints = prints.rotate_left(1) ^ done.fingerprint;
        }
    }
    let name = entry.about.name;
    format!("{name:<11} {:>7} {:>7} {:>7} {prints:016x}", all.sent, all.dropped, all.marked)
}

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt")
}

fn blessing() -> bool {
    std::env::var_os("AQMLAB_BLESS").is_some()
}

#[test]
fn every_discipline_has_a_row() {
    if blessing() {
        let mut table = String::new();
        for entry in ALGORITHMS {
            writeln!(table, "{}", row(entry)).unwrap();
        }
        std::fs::write(file(), table).unwrap();
    }
    let table = std::fs::read_to_string(file()).unwrap();
    let names: Vec<_> = table.lines().filter_map(|row| row.split(' ').next()).collect();
    let known: Vec<_> = ALGORITHMS.iter().map(|entry| entry.about.name).collect();
    assert_eq!(
        names, known,
        "write the table anew: AQMLAB_BLESS=1 cargo test -p aqmlab-testvec --test all golden"
    );
}

each_discipline!(its_row_stays_as_it_is);
fn its_row_stays_as_it_is(entry: &'static Entry) {
    if blessing() {
        return;
    }
    let table = std::fs::read_to_string(file()).unwrap();
    let now = row(entry);
    assert!(
        table.lines().any(|row| row == now),
        "golden.txt has another row; if it should change, write it anew \
         (AQMLAB_BLESS=1) and say in the commit why; it is now\n{now}"
    );
}
