//! PackMime-HTTP: web connections as they arrive on a link.
//!
//! J. Cao, W. S. Cleveland, Y. Gao, K. Jeffay, F. D. Smith and M. C. Weigle, *Stochastic models for
//! generating synthetic HTTP source traffic*, INFOCOM 2004, with the constants and the rules of
//! ns-2's `packmime_ranvar.cc` and `packmime_HTTP.cc`. The one control is the rate: connections
//! start on schedule whether or not earlier ones have finished.

mod connection;
mod laws;
mod link;

use std::sync::Arc;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::fields;
use crate::distribution::{Distribution, Weibull, read_or, shipped};
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

pub use connection::Sequence;
pub use laws::{Laws, Mode, ServerDelay};
pub use link::{Arrivals, Link};

/// The rate at which the model is described where none is given, connections per second.
const NOMINAL_RATE: f64 = 100.0;

/// The entry for PackMime in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "packmime",
        summary: "Web connections that arrive on a link, with long-range dependence; no users.",
        year: 2004,
        source: "J. Cao et al., Stochastic models for generating synthetic HTTP source traffic, INFOCOM \
                 2004; constants and rules as in ns-2 2.35, packmime",
        deviations: "Sizes come from tables of 25 quantiles of the fitted curves, which keep their means; \
                     the largest response is 61.6 MB, where the fitted curve ends. Location and scale of \
                     gaps are drawn for each connection (ns-2: once in a simulation). Clients and servers \
                     are chosen uniformly. Network delays are the scenario's. Constructed: pipelining.",
        fields: FIELDS,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

static FIELDS: &[Field] = &[
    Field::new("connections_per_s", Kind::from(Unit::None, 0.001, 1e6), Value::Unset)
        .meaning("New connections per second, in place of users; or give a load.")
        .source("required, or load"),
    Field {
        meaning: "http10: one request per connection; http11: 9 % of the connections carry more, one \
                  after the other with gaps; http11-pipelined: the further requests of a page are \
                  written at once when the connection has seen a reply.",
        kind: Kind::Choice(&["http10", "http11", "http11-pipelined"]),
        default: Value::Choice("http11"),
        source: "read: ns-2 has both and no pipelining; constructed: which is the default",
        ..fields::HTTP
    },
    fields::REQUEST,
    Field {
        name: "download",
        meaning: "Size of a response that carries content; if not given, the model's.",
        ..fields::REPLY
    },
    Field {
        name: "not_modified",
        meaning: "Size of a response that only says \"not modified\"; if not given, the model's.",
        ..fields::REPLY
    },
    fields::SERVICE,
];

/// Builds the link's arrival processes: one for each source of the group, each with the full rate.
///
/// # Errors
/// If a side has no machine, or a description is wrong.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("connections")?;
    let own = |name, unit, default: &Arc<dyn Distribution>| {
        read_or(params, name, unit, Arc::clone(default))
    };
    let delay: Arc<dyn Distribution> = Arc::new(ServerDelay);
    let laws = Laws {
        request: own("request", Unit::Bytes, &shipped::PACKMIME_REQUEST)?,
        download: own("download", Unit::Bytes, &shipped::PACKMIME_DOWNLOAD)?,
        not_modified: own("not_modified", Unit::Bytes, &shipped::PACKMIME_NOT_MODIFIED)?,
        service: own("service", Unit::Time, &delay)?,
        ..Laws::new(
            params.real_or("connections_per_s", NOMINAL_RATE),
            Mode::named(params.choice("http")),
        )
    };
    let estimate = laws.ip_bytes_per_connection();
    let (laws, group) = (Arc::new(laws), group.clone());
    let sources = group.sources;
    let link = move |i| Link::new(Arc::clone(&laws), &group, i);
    Ok(Population::new(sources, link).requesting(estimate))
}

/// The model and its variables, at 100 connections per second.
pub const MODEL: Model = Model { name: "packmime", app: "packmime", variables };

fn variables() -> Vec<Variable> {
    let laws = Laws::new(NOMINAL_RATE, Mode::Http11);
    let (gap, response) = (laws.gap, laws.response());
    vec![
        Variable::new("gap between connections, 100/s", Unit::Time, Arc::new(gap)),
        Variable::new("request size", Unit::Bytes, laws.request),
        Variable::new("response size, download", Unit::Bytes, laws.download),
        Variable::new("response size, not modified", Unit::Bytes, laws.not_modified),
        Variable::new("response size, 100/s", Unit::Bytes, response),
        Variable::new("server delay", Unit::Time, laws.service),
    ]
}

/// The Weibull law of the gaps at this rate, whose mean is 1 / `rate` seconds.
fn gaps(rate: f64, shape: f64) -> Weibull {
    Weibull::with_mean(shape, 1.0 / rate)
}
