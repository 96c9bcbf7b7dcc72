//! The error message for a scenario that cannot run.

/// A mistake in a scenario: one sentence that names the field and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(pub String);

impl ScenarioError {
    /// This error on one line: the parts of the scenario that it quotes may hold line breaks.
    pub(crate) fn on_one_line(self) -> Self {
        let escape = |c: char| if c.is_control() { c.escape_default().collect() } else { c.into() };
        ScenarioError(self.0.chars().map(escape).collect::<Vec<String>>().concat())
    }
}

impl std::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for ScenarioError {}
