//! Text as a scenario: what a fuzzer reads (`fuzz/`), and `tests/parser.rs` with damaged examples.

use aqmlab_sim::Scenario;

pub mod numbers;

/// Reads `text`; whether it is a scenario.
///
/// # Panics
/// If reading does, if a refusal is no sentence, or if what was read is not written and read back
/// as the same.
pub fn read(text: &str) -> bool {
    let scenario = match Scenario::from_json(text) {
        Ok(scenario) => scenario,
        Err(why) => {
            let why = why.to_string();
            assert!(!why.is_empty() && !why.contains('\n'), "not one sentence: {why:?}");
            return false;
        }
    };
    let written = scenario.to_json();
    let again = Scenario::from_json(&written.to_string());
    let again = again.unwrap_or_else(|why| panic!("{why}: it does not read back: {written}"));
    assert_eq!(again.to_json(), written, "it reads back as another");
    // Constructors may refuse what the tables allow, with a sentence.
    if let Err(why) = scenario.check_parameters() {
        let why = why.to_string();
        assert!(!why.is_empty() && !why.contains('\n'), "not one sentence: {why:?}");
    }
    true
}
