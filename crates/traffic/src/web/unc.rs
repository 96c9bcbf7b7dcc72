//! Web traffic with persistent connections, in the structure of the model of the University of
//! North Carolina.
//!
//! F. D. Smith, F. Hernández-Campos, K. Jeffay and D. Ott, *What TCP/IP protocol headers can tell
//! us about the web*, SIGMETRICS 2001, and F. Hernández-Campos, K. Jeffay and F. D. Smith,
//! *Tracking the evolution of web traffic: 1995-2003*, MASCOTS 2003: request and response sizes,
//! objects per page and per persistent connection, parallel connections, consecutive documents
//! and servers per page, think times. The authors' distributions may not be passed on. Those here
//! come from sources that may: PackMime's sizes (the same links), Mah's pages and pauses.

use std::sync::Arc;

use packet::About;
use packet::params::{BadParams, Params};
use packet::units::Unit;

use super::{Persistence, UserModel, fields};
use crate::distribution::{Distribution, Mixture, shipped};
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

/// The share of responses that only say "not modified" (PackMime's, from 100 connections/s on).
pub const NOT_MODIFIED: f64 = 0.275;

/// Connections of HTTP/1.1 users. Half of the stays are persistent, so that half of the objects
/// are (published); 15.5 % of the connections come out persistent, with 5.5 requests each.
pub const PERSISTENCE: Persistence = Persistence { share: 0.5, ..Persistence::HTTP11 };

/// Size of a response, bytes.
pub fn response() -> Arc<dyn Distribution> {
    let parts: Vec<(Arc<dyn Distribution>, f64)> = vec![
        (Arc::clone(&shipped::PACKMIME_NOT_MODIFIED), NOT_MODIFIED),
        (Arc::clone(&shipped::PACKMIME_DOWNLOAD), 1.0 - NOT_MODIFIED),
    ];
    Arc::new(Mixture::new(parts).expect("two shares that sum to 1"))
}

/// The model of users, with this number of servers.
pub fn model(servers: u32) -> UserModel {
    UserModel {
        request: Arc::clone(&shipped::PACKMIME_REQUEST),
        reply: response(),
        files: Arc::clone(&shipped::MAH_FILES),
        pages: Arc::clone(&shipped::MAH_PAGES),
        think: Arc::clone(&shipped::MAH_THINK_LE1800),
        parallel: 4,
        persistence: Some(PERSISTENCE),
        ..UserModel::plain(servers)
    }
}

/// The registry's entry for users of the UNC model.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "unc",
        summary: "Users who fetch pages, half of them over persistent connections, and think between \
                  pages.",
        year: 2001,
        source: "F. D. Smith et al., What TCP/IP protocol headers can tell us about the web, SIGMETRICS \
                 2001; F. Hernandez-Campos et al., Tracking the evolution of web traffic: 1995-2003, \
                 MASCOTS 2003: the variables, and that half of the objects travel on persistent \
                 connections",
        deviations: "The authors' distributions may not be passed on: sizes are PackMime's (88 % of \
                     responses up to 13 kB, the largest tenth carries 72 % of the bytes), pages and \
                     pauses Mah's. Constructed: a stay at a server is persistent or not as a whole, with \
                     two connections closed by the client after 120 s idle or at its end; one server per \
                     page (page_servers = \"unc_servers_per_page\" gives more). A user who holds the \
                     distributions can name them field by field.",
        fields: fields::ALL,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    fields::users(model(group.peers), params, &PERSISTENCE, group)
}

/// The model's name, and the distributions of its variables, which `describe` shows.
pub const MODEL: Model = Model { name: "unc", app: "unc", variables };

fn variables() -> Vec<Variable> {
    let of = |name, unit, d: &Arc<dyn Distribution>| Variable::new(name, unit, Arc::clone(d));
    vec![
        of("request size", Unit::Bytes, &shipped::PACKMIME_REQUEST),
        of("response size", Unit::Bytes, &response()),
        of("objects per page", Unit::Count, &shipped::MAH_FILES),
        of("pages per server stay", Unit::Count, &shipped::MAH_PAGES),
        of("think time", Unit::Time, &shipped::MAH_THINK_LE1800),
        of("requests per persistent connection (option)", Unit::Count, &shipped::UNC_REQUESTS),
        of("servers per page (option)", Unit::Count, &shipped::UNC_SERVERS),
    ]
}
