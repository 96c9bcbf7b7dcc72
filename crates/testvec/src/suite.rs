//! The test cases of a registry entry. Some are derived from its table of parameters; a file of
//! cases adds or changes those that need other parameters or traffic to reach all branches.
//!
//! A file of cases (`cases/<name>.json`) may have four keys, all optional:
//!
//! - `base`: values that every case begins with; its `parameters` do not apply to the case
//!   "defaults";
//! - `skip`: derived cases to leave out, by title or by the name of their parameter;
//! - `change`: by the title of a derived case, values that replace those of `base` (more packets,
//!   or a seed with which a rare event occurs);
//! - `cases`: more cases, each with a title. A parameter of `null` removes one of `base`.

use aqm::Entry;
use packet::params::{Kind, Value};
use serde_json::{Map, Value as Json, json};

use crate::{Case, Trial, document};

type Table = Map<String, Json>;

/// Small limits that random packets soon reach: in packets, and in bytes.
const SMALL: (u64, u64) = (4, 6_000);
/// Default number of random packets of a case.
const PACKETS: u64 = 40;

fn pairs<const N: usize>(pairs: [(&str, Json); N]) -> Table {
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// Cases derived from the table of parameters, as titles and changes of parameters: every choice
/// other than the default, the switch `ecn` inverted, and small limits. In all other cases `ecn` is
/// on, so that they show marks and drops.
fn derived(entry: &Entry) -> Vec<(String, Table)> {
    let mut changes = Vec::new();
    for field in entry.about.fields {
        match (field.kind, field.default, field.name) {
            (Kind::Choice(names), default, _) => {
                let others = names.iter().filter(|name| Value::Choice(name) != default);
                changes.extend(others.map(|name| (field.name, json!(name))));
            }
            (Kind::Switch, Value::Switch(on), "ecn") => changes.push(("ecn", json!(!on))),
            (Kind::Whole { .. }, _, "limit") => changes.push(("limit", json!(SMALL.0))),
            (Kind::Whole { .. }, _, "limit_bytes") => {
                changes.push(("limit_bytes", json!(SMALL.1)));
            }
            _ => {}
        }
    }
    let has_ecn = entry.about.fields.iter().any(|f| f.name == "ecn");
    let with_ecn = |(name, value): (&str, Json)| {
        let title = format!("{name} = {}", value.as_str().map_or(value.to_string(), str::to_owned));
        let mut change = pairs([(name, value)]);
        if has_ecn {
            change.entry("ecn").or_insert(json!(true));
        }
        (title, change)
    };
    changes.into_iter().map(with_ecn).collect()
}

/// The parameters of `base`, replaced by those of `change`. A limit in bytes also removes `base`'s
/// limit in packets.
fn over(base: &Table, change: &Table) -> Table {
    let mut parameters = base.clone();
    if change.contains_key("limit_bytes") {
        parameters.remove("limit");
    }
    parameters.extend(change.clone());
    parameters.retain(|_, value| !value.is_null());
    parameters
}

fn table(json: Option<&Json>, at: &str) -> Result<Table, String> {
    match json {
        None => Ok(Table::new()),
        Some(Json::Object(table)) => Ok(table.clone()),
        Some(other) => Err(format!("{at}: must be a table, not {other}")),
    }
}

fn list<'a>(file: &'a Table, key: &str) -> Result<&'a [Json], String> {
    match file.get(key) {
        None => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(format!("{key}: must be a list, not {other}")),
    }
}

/// All cases of `entry`: the derived ones, changed and extended by its file of cases if it has one.
///
/// # Errors
/// One sentence that begins with the case's title, if the file has a mistake.
pub fn cases(entry: &'static Entry, file: Option<&Json>) -> Result<Vec<Case>, String> {
    let file = table(file, "the file")?;
    const KEYS: [&str; 4] = ["base", "skip", "change", "cases"];
    if let Some(key) = file.keys().find(|k| !KEYS.contains(&k.as_str())) {
        return Err(format!("{key}: unknown key (known: {})", KEYS.join(", ")));
    }
    let mut base = table(file.get("base"), "base")?;
    let usual = table(base.remove("parameters").as_ref(), "base.parameters")?;
    let mut wanted = vec![("defaults".to_owned(), Table::new())];
    if !usual.is_empty() {
        wanted.push(("a small queue".to_owned(), usual.clone()));
    }
    let skip = list(&file, "skip")?;
    let skipped = |title: &str, name: &Json| {
        let name = name.as_str().unwrap_or_default();
        title == name || title.split(" = ").next() == Some(name)
    };
    let all = derived(entry);
    if let Some(none) = skip.iter().find(|name| !all.iter().any(|(title, _)| skipped(title, name)))
    {
        return Err(format!("skip: {none} is no derived case"));
    }
    let kept = all.iter().filter(|(title, _)| !skip.iter().any(|name| skipped(title, name)));
    wanted.extend(kept.map(|(title, change)| (title.clone(), over(&usual, change))));
    let mut changes = table(file.get("change"), "change")?;
    let mut requests = Vec::new();
    for (title, parameters) in wanted {
        let own = pairs([("title", json!(title)), ("parameters", json!(parameters))]);
        let change = table(changes.remove(&title).as_ref(), "change")?;
        requests.push(base.clone().into_iter().chain(change).chain(own).collect::<Table>());
    }
    if let Some(title) = changes.keys().next() {
        return Err(format!("change: \"{title}\" is no derived case"));
    }
    for json in list(&file, "cases")? {
        let mut case = table(Some(json), "cases")?;
        let change = table(case.get("parameters"), "cases.parameters")?;
        case.insert("parameters".to_owned(), json!(over(&usual, &change)));
        requests.push(base.clone().into_iter().chain(case).collect());
    }
    requests.into_iter().map(|request| read(entry, request)).collect()
}

fn read(entry: &'static Entry, mut request: Table) -> Result<Case, String> {
    if !request.contains_key("arrivals") {
        request.entry("packets").or_insert(json!(PACKETS));
    }
    let title = request.get("title").cloned().ok_or("a case of the list has no title")?;
    Case::of(Some(entry), &request).map_err(|why| format!("case {title}: {why}"))
}

/// The document with the test vectors of `entry`.
///
/// # Errors
/// One sentence, if the file of cases has a mistake or a case cannot be carried out.
pub fn vectors(entry: &'static Entry, file: Option<&Json>) -> Result<String, String> {
    let run = |case: Case| -> Result<(Case, Trial), String> {
        let trial = case.run().map_err(|why| format!("case \"{}\": {why}", case.title))?;
        Ok((case, trial))
    };
    let cases = cases(entry, file)?.into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    Ok(document::write(entry, &cases))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(file: Json) -> Result<Vec<Case>, String> {
        cases(aqm::find("droptail").unwrap(), Some(&file))
    }

    fn titles(cases: &[Case]) -> Vec<&str> {
        cases.iter().map(|case| case.title.as_str()).collect()
    }

    #[test]
    fn a_table_of_parameters_suggests_its_cases() {
        let cases = cases(aqm::find("droptail").unwrap(), None).unwrap();
        let expected = ["defaults", "limit = 4", "limit_bytes = 6000", "profile = ns2"];
        assert_eq!(titles(&cases), expected);
        assert!(cases[0].parameters.is_empty());
        let red = super::cases(aqm::find("red").unwrap(), None).unwrap();
        let linux = red.iter().find(|case| case.title == "profile = linux").unwrap();
        assert_eq!(json!(linux.parameters), json!({"profile": "linux", "ecn": true}));
    }

    #[test]
    fn a_file_changes_leaves_out_and_adds_cases() {
        let cases = named(json!({
            "base": {"seed": 5, "packets": 9, "parameters": {"limit": 7}},
            "skip": ["profile", "limit = 4"],
            "change": {"limit_bytes = 6000": {"seed": 6}},
            "cases": [
                {"title": "front", "seed": 8, "parameters": {"from_front": true}},
                {"title": "bytes", "parameters": {"limit": null, "limit_bytes": 9}},
            ],
        }))
        .unwrap();
        let expected = ["defaults", "a small queue", "limit_bytes = 6000", "front", "bytes"];
        assert_eq!(titles(&cases), expected);
        assert_eq!(cases.iter().map(|c| c.seed).collect::<Vec<_>>(), [5, 5, 6, 8, 5]);
        let parameters: Vec<Json> = cases.iter().map(|c| json!(c.parameters)).collect();
        let front = json!({"limit": 7, "from_front": true});
        let small = json!({"limit": 7});
        let (soon, nine) = (json!({"limit_bytes": 6000}), json!({"limit_bytes": 9}));
        assert_eq!(parameters, [json!({}), small, soon, front, nine]);
    }

    #[test]
    fn a_wrong_file_is_one_sentence() {
        let why = |file| named(file).unwrap_err();
        assert_eq!(
            why(json!({"bases": {}})),
            "bases: unknown key (known: base, skip, change, cases)"
        );
        assert_eq!(why(json!({"skip": ["flavor"]})), "skip: \"flavor\" is no derived case");
        assert_eq!(why(json!({"change": {"x": {}}})), "change: \"x\" is no derived case");
        assert!(why(json!({"cases": [{}]})).contains("no title"));
        let sentence = why(json!({"cases": [{"title": "x", "packet": 3}]}));
        assert!(sentence.starts_with("case \"x\": packet: unknown key"), "{sentence}");
    }
}
