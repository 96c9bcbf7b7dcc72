//! Reads JSON objects section by section; errors give the path of the wrong field.

use packet::params::{Field, Params, Raw, unknown};
use serde_json::Value as Json;
use testvec::parameters::raw;

use crate::error::ScenarioError;

/// One JSON object of the scenario with its path, and its fields that are not read yet.
pub struct Section<'a> {
    path: String,
    fields: Vec<(String, &'a Json)>,
    /// Names of fields for which the file uses an alias, with that alias.
    written: Vec<(String, String)>,
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

impl<'a> Section<'a> {
    /// Begins to read the object at `path`.
    pub fn of(path: &str, json: &'a Json) -> Result<Self, ScenarioError> {
        let object = json.as_object().ok_or_else(|| {
            let at = if path.is_empty() { "the scenario" } else { path };
            ScenarioError(format!("{at}: must be a table, not {json}"))
        })?;
        let fields = object.iter().map(|(k, v)| (k.clone(), v)).collect();
        Ok(Section { path: path.to_owned(), fields, written: Vec::new() })
    }

    /// Reads a variant: its bare name, or a table whose field `key` names it.
    pub fn variant(
        path: &str,
        json: &'a Json,
        key: &str,
        known: &[&str],
    ) -> Result<(String, Self), ScenarioError> {
        let (name, section) = match json {
            Json::String(name) => {
                let (path, fields, written) = (path.to_owned(), Vec::new(), Vec::new());
                (name.clone(), Section { path, fields, written })
            }
            _ => {
                let mut section = Section::of(path, json)?;
                let name = section.text(key)?.ok_or_else(|| {
                    let list = known.join(", ");
                    ScenarioError(format!("{path}: {key} is missing; choose one of {list}"))
                })?;
                (name, section)
            }
        };
        if known.contains(&name.as_str()) {
            Ok((name, section))
        } else {
            let at = join(path, key);
            Err(ScenarioError(format!("{at}: {}", unknown(key, &name, known))))
        }
    }

    /// Whether the object has a field that is not read yet.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| field == name)
    }

    /// Removes and returns a field, which the caller reads; it no longer counts as unknown.
    pub fn take(&mut self, name: &str) -> Option<&'a Json> {
        let index = self.fields.iter().position(|(n, _)| n == name)?;
        Some(self.fields.swap_remove(index).1)
    }

    pub fn text(&mut self, name: &str) -> Result<Option<String>, ScenarioError> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(other) => {
                let at = join(&self.path, name);
                Err(ScenarioError(format!("{at}: must be text, not {other}")))
            }
        }
    }

    /// Removes and returns a list of tables; empty if the field is missing.
    pub fn list(&mut self, name: &str) -> Result<&'a [Json], ScenarioError> {
        match self.take(name) {
            None => Ok(&[]),
            Some(Json::Array(items)) => Ok(items),
            Some(_) => {
                let at = join(&self.path, name);
                Err(ScenarioError(format!("{at}: must be a list; write [[{name}]]")))
            }
        }
    }

    /// Removes and returns a list of texts; empty if the field is missing.
    pub fn texts(&mut self, name: &str) -> Result<Vec<String>, ScenarioError> {
        let at = join(&self.path, name);
        let items = self.list(name)?;
        let text = |item: &Json| item.as_str().map(str::to_owned);
        items
            .iter()
            .map(|i| text(i).ok_or_else(|| ScenarioError(format!("{at}: {i} is not a name"))))
            .collect()
    }

    /// Accepts `alias` as another name of the field `name`; errors use the name that the file uses.
    pub fn rename(&mut self, alias: &str, name: &str) -> Result<(), ScenarioError> {
        let has = |n: &str, fields: &[(String, &Json)]| fields.iter().any(|(f, _)| f == n);
        if has(alias, &self.fields) && has(name, &self.fields) {
            let why = format!("{}: gives both {name} and {alias}, which mean the same", self.path);
            return Err(ScenarioError(why));
        }
        for (field, _) in &mut self.fields {
            if field == alias {
                *field = name.to_owned();
                self.written.push((name.to_owned(), alias.to_owned()));
            }
        }
        Ok(())
    }

    /// The name that the file uses for the field `name`.
    pub fn written(&self, name: &str) -> String {
        let alias = self.written.iter().find(|(known, _)| known == name);
        alias.map_or(name, |(_, alias)| alias).to_owned()
    }

    /// Checks the remaining fields against the table `fields`. `also` are names of fields that are
    /// read elsewhere, which errors list as known.
    pub fn rest(self, fields: &'static [Field], also: &[&str]) -> Result<Params, ScenarioError> {
        self.split(fields, &[], also).map(|(params, _)| params)
    }

    /// Checks the remaining fields against the tables `first` and `second`; each field belongs to
    /// one of them. `also` as in [`Self::rest`].
    pub fn split(
        self,
        first: &'static [Field],
        second: &'static [Field],
        also: &[&str],
    ) -> Result<(Params, Params), ScenarioError> {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        for (name, json) in self.fields {
            let pair = (name.clone(), raw(json));
            if first.iter().any(|f| f.name == name) {
                one.push(pair);
            } else if second.iter().any(|f| f.name == name) {
                two.push(pair);
            } else {
                let known = first.iter().chain(second).map(|f| f.name);
                let known: Vec<&str> = known.chain(also.iter().copied()).collect();
                let at = join(&self.path, &name);
                return Err(ScenarioError(format!("{at}: {}", unknown("field", &name, &known))));
            }
        }
        let (path, written) = (self.path, self.written);
        let check = |fields, raw: &[(String, Raw)]| {
            Params::check(fields, raw).map_err(|bad| {
                let alias = written.iter().find(|(name, _)| *name == bad.field);
                let field = alias.map_or(&bad.field, |(_, alias)| alias);
                ScenarioError(format!("{}: {}", join(&path, field), bad.why))
            })
        };
        Ok((check(first, &one)?, check(second, &two)?))
    }
}
