//! Runs a scenario given as JSON on standard input and prints its summary.
use std::io::{Read, Write};

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("standard input is readable");
    let result = aqmlab_sim::Scenario::from_json(&text).and_then(aqmlab_sim::run);
    match result {
        Ok(outcome) => {
            // In one piece: standard output would be written line by line.
            let text = format!("{:#}\n", aqmlab_sim::summary_json(&outcome.summary));
            std::io::stdout().write_all(text.as_bytes()).expect("standard output is writable");
        }
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(2);
        }
    }
}
