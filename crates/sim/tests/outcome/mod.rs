//! What tests look at of a run: its tables' columns and the groups of its summary.

#![allow(dead_code)] // not every test looks at everything

use aqmlab_sim::{Outcome, Scenario, run};
use record::{Column, Figure, Summary, Table};
use serde_json::Value;

/// Runs a scenario that must be right.
pub fn simulate(scenario: &Value) -> Outcome {
    run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

/// The table of this name.
pub fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no table {name}"))
}

/// A column as real numbers, exact up to 2^53.
pub fn column(table: &Table, name: &str) -> Vec<f64> {
    let (_, column) = table.columns.iter().find(|(n, _)| n == name).expect(name);
    match column {
        Column::U8(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Column::U16(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Column::U32(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Column::U64(v) => v.iter().map(|&x| x as f64).collect(),
        Column::F64(v) => v.clone(),
    }
}

/// The figures that stand together under this name.
pub fn group<'a>(summary: &'a Summary, name: &str) -> &'a Summary {
    match summary.get(name) {
        Some(Figure::Group(group)) => group,
        other => panic!("{name}: {other:?}"),
    }
}
