//! Web users of whom every variable is a parameter of the scenario.
//!
//! The defaults are the constants of ns-2's `tcl/http/http.tcl`.

use packet::About;
use packet::params::{BadParams, Params};
use packet::units::Unit;

use super::fields::always;
use super::{Persistence, UserModel, fields};
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

pub(super) fn model(servers: u32) -> UserModel {
    UserModel {
        request: always(256.0),
        reply: always(4_000.0),
        embedded: Some(always(8_000.0)),
        files: always(5.0),
        think: always(3.0),
        parallel: 4,
        ..UserModel::plain(servers)
    }
}

/// The registry's entry for web users whose variables are all parameters.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "http",
        summary: "Users whose every variable is yours: sizes, files, pages, pauses, connections.",
        year: 2000,
        source: "The defaults are those of ns-2, tcl/http/http.tcl: pages of 4,000 B with four images of \
                 8,000 B over four connections, think time 3 s",
        deviations: "ns-2's pages are fetched through caches that may hold them; here every file comes \
                     from a server.",
        fields: fields::ALL,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let mut model = model(group.peers);
    if params.given("reply") {
        model.embedded = None; // a given size of replies is that of all files
    }
    fields::users(model, params, &Persistence::HTTP11, group)
}

/// The default distributions of this application's variables, as a model that `describe` shows.
pub const MODEL: Model = Model { name: "ns2-http", app: "http", variables };

fn variables() -> Vec<Variable> {
    vec![
        Variable::new("request size", Unit::Bytes, always(256.0)),
        Variable::new("first reply size", Unit::Bytes, always(4_000.0)),
        Variable::new("embedded reply size", Unit::Bytes, always(8_000.0)),
        Variable::new("files per page", Unit::Count, always(5.0)),
        Variable::new("think time", Unit::Time, always(3.0)),
    ]
}
