//! Loops that fetch one file after the other, as test programs do.
//!
//! The TCP part of the Chariot mix of M. May, J. Bolot, C. Diot and B. Lyles, *Reasons not to
//! deploy RED*, IWQoS 1999: FTP transfers of about 100,000 B and HTTP transfers, text (small) and
//! pictures (large).

use std::sync::Arc;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::fields::{self, always};
use super::{Start, UserModel};
use crate::distribution::{Distribution, Exponential, Uniform, read_or};
use crate::entry::{Entry, Group, Population};
use crate::models::{Model, Variable};

const NAMES: &[&str] = &["ftp", "text", "picture"];

/// Size of a file that the named loop fetches, bytes: `ftp` uniform over 50 to 150 kB, `text` and
/// `picture` exponential with means 1 and 10 kB.
pub fn size(of: &str) -> Arc<dyn Distribution> {
    match of {
        "ftp" => Arc::new(Uniform { low: 50_000.0, high: 150_000.0 }),
        "text" => Arc::new(Exponential { mean: 1_000.0 }),
        _ => Arc::new(Exponential { mean: 10_000.0 }),
    }
}

/// The entry for loops in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "loop",
        summary: "Loops that fetch one file after the other, each on a new connection.",
        year: 1999,
        source: "M. May et al., Reasons not to deploy RED, IWQoS 1999: 60 % of the TCP flows FTP with \
                 files of about 100,000 B, 40 % HTTP text and pictures; the default sizes of Chariot's \
                 scripts, as a review quotes them",
        deviations: "Constructed: the spread of the sizes, the request of 100 B, no pause between \
                     transfers, the counts of 43 FTP, 17 text and 12 picture loops. Chariot's login and \
                     logoff connections are left out.",
        fields: FIELDS,
    },
    noun: ["loop of transfers", "loops of transfers"],
    fetches: true,
    datagrams: false,
    build,
};

static FIELDS: &[Field] = &[
    Field::new("model", Kind::Choice(NAMES), Value::Choice("ftp"))
        .meaning(
            "What is fetched: ftp (50 to 150 kB, uniform), text (exponential, mean 1 kB) or \
                  picture (exponential, mean 10 kB).",
        )
        .source("read: the means; recalled: that of text; constructed: the distributions"),
    fields::REPLY.meaning("Size of a file; if not given, the model's."),
    fields::REQUEST.meaning("Size of a request; if not given, 100 B.").source("constructed"),
    fields::THINK
        .meaning("From a reply to the next request; if not given, none.")
        .source("constructed"),
    Field::new("start_within", Kind::from(Unit::Time, 0.0, 86_400.0), Value::Real(10.0))
        .meaning("Each loop starts at an instant drawn uniformly from this first part of the run.")
        .source("constructed"),
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let own = |name, unit, default| read_or(params, name, unit, default);
    let model = UserModel {
        request: own("request", Unit::Bytes, always(100.0))?,
        reply: own("reply", Unit::Bytes, size(params.choice("model")))?,
        think: own("think", Unit::Time, always(0.0))?,
        start: Start::Within(params.time("start_within")),
        browses: false,
        ..UserModel::plain(group.peers)
    };
    fields::population(model, group)
}

/// The model's name, and the distributions of its variables, which `describe` shows.
pub const MODEL: Model = Model { name: "chariot", app: "loop", variables };

fn variables() -> Vec<Variable> {
    NAMES.iter().map(|name| Variable::new(name, Unit::Bytes, size(name))).collect()
}
