//! Runs a scenario given as JSON on standard input and prints its summary.
use std::io::Read;

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("standard input is readable");
    let result = aqmlab_sim::Scenario::from_json(&text).and_then(aqmlab_sim::run);
    match result {
        Ok(outcome) => println!("{:#}", aqmlab_sim::summary_json(&outcome.summary)),
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(2);
        }
    }
}
