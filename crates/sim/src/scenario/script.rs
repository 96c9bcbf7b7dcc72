//! Scripts: rules that drop or mark packets by their numbers.

use packet::params::Params;
use serde_json::{Map, Value as Json, json};
use testvec::parameters;

use crate::error::ScenarioError;
use crate::scenario::schema;
use crate::scenario::section::Section;

/// Largest number of entries in a list, and the largest entry.
const MOST_NUMBERS: usize = 1_000_000;
const MOST: u64 = 1 << 53;

/// A rule that drops or marks packets of a group.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Whether the packets are marked; otherwise they are dropped.
    pub marks: bool,
    /// Numbers of the packets from 1, ascending.
    pub numbers: Vec<u64>,
    /// Which transmissions of such a packet the rule applies to, from 1, ascending.
    pub sent: Vec<u64>,
    /// Numbers of the users or flows from 1, ascending; empty for all.
    pub flows: Vec<u64>,
    /// Parameters of the rule: what is counted, and which side sends; see [`schema::SCRIPT`].
    pub params: Params,
}

/// Keys of a rule that are not parameters.
const LISTS: &[&str] = &["drop", "mark", "sent", "flows"];

/// Reads the list `script` of a traffic group.
pub(super) fn read(path: &str, json: Option<&Json>) -> Result<Vec<Rule>, ScenarioError> {
    let Some(json) = json else { return Ok(Vec::new()) };
    let rules = json.as_array().ok_or_else(|| {
        ScenarioError(format!(
            "{path}: must be a list of tables; write for example [{{ drop = [15, 17] }}]"
        ))
    })?;
    rules.iter().enumerate().map(|(i, rule)| read_rule(&format!("{path}.{i}"), rule)).collect()
}

fn read_rule(path: &str, json: &Json) -> Result<Rule, ScenarioError> {
    let mut section = Section::of(path, json)?;
    let mut list =
        |name: &str| section.take(name).map(|j| numbers(&format!("{path}.{name}"), j)).transpose();
    let (drop, mark, sent, flows) = (list("drop")?, list("mark")?, list("sent")?, list("flows")?);
    let (marks, numbers) = match (drop, mark) {
        (Some(numbers), None) => (false, numbers),
        (None, Some(numbers)) => (true, numbers),
        (Some(_), Some(_)) => {
            return Err(ScenarioError(format!(
                "{path}: gives both drop and mark; write two rules, one for each"
            )));
        }
        (None, None) => {
            return Err(ScenarioError(format!(
                "{path}: gives neither drop nor mark; write for example drop = [15, 17]"
            )));
        }
    };
    let params = section.rest(schema::SCRIPT, LISTS)?;
    let count = params.choice("count");
    if sent.is_some() && count != schema::COUNT_DATA {
        return Err(ScenarioError(format!(
            "{path}.sent: count = \"{count}\" counts every transmission by itself; leave sent out or write count = \"data\""
        )));
    }
    let sent = sent.unwrap_or_else(|| vec![1]);
    Ok(Rule { marks, numbers, sent, flows: flows.unwrap_or_default(), params })
}

/// Refuses numbers of users that a group does not have; `users` is `None` where a load decides
/// their number.
pub(super) fn check(path: &str, rules: &[Rule], users: Option<u64>) -> Result<(), ScenarioError> {
    let Some(users) = users else { return Ok(()) };
    for (i, rule) in rules.iter().enumerate() {
        let beyond = rule.flows.iter().find(|&&flow| flow > users);
        let Some(flow) = beyond else { continue };
        return Err(ScenarioError(match users {
            0 => format!(
                "{path}.script.{i}.flows: the group has no users to number; leave flows out"
            ),
            _ => format!(
                "{path}.script.{i}.flows: there is no flow {flow}; the group has {users}, from 1"
            ),
        }));
    }
    Ok(())
}

/// Reads a number or a list of numbers. Returns them sorted and without duplicates.
fn numbers(at: &str, json: &Json) -> Result<Vec<u64>, ScenarioError> {
    let one = std::slice::from_ref(json);
    let items = json.as_array().map_or(one, Vec::as_slice);
    if items.is_empty() || items.len() > MOST_NUMBERS {
        return Err(ScenarioError(format!(
            "{at}: has {} numbers; give between 1 and {MOST_NUMBERS}",
            items.len()
        )));
    }
    let number = |item: &Json| {
        // What Python writes as a float may still be whole.
        let whole = item.as_f64().filter(|n| *n >= 1.0 && *n <= MOST as f64 && n.fract() == 0.0);
        whole.map(|n| n as u64).ok_or_else(|| {
            ScenarioError(format!(
                "{at}: {item} is not a whole number from 1; packets count from 1"
            ))
        })
    };
    let mut numbers = items.iter().map(number).collect::<Result<Vec<u64>, _>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

impl Rule {
    pub(super) fn write(&self) -> Json {
        let mut object: Map<String, Json> = parameters::write(&self.params);
        object.insert(if self.marks { "mark" } else { "drop" }.into(), json!(self.numbers));
        if self.params.choice("count") == schema::COUNT_DATA {
            object.insert("sent".into(), json!(self.sent));
        }
        if !self.flows.is_empty() {
            object.insert("flows".into(), json!(self.flows));
        }
        Json::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_numbers_as_can_be_kept_are_read() {
        let most = Json::from(vec![7; MOST_NUMBERS]);
        assert_eq!(numbers("a", &most).unwrap(), [7]);
    }
}
