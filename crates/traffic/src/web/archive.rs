//! Pages as the HTTP Archive found them in 2024.
//!
//! HTTP Archive, *Web Almanac 2024*, chapter Page Weight (almanac.httparchive.org/en/2024/page-weight):
//! what a crawl of millions of pages loads, of which the chapter prints quantiles. A crawl has no
//! users, caches or pauses; those are ours.

use std::sync::Arc;

use packet::params::{BadParams, Params};
use packet::units::Unit;
use packet::{About, math};

use super::{Persistence, Sharing, UserModel, fields};
use crate::distribution::{Distribution, Exponential, LogNormal};
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

/// Number of files of the median desktop page (read).
const FILES: f64 = 71.0;
/// Size of the median desktop page, in units of 1,024 bytes (read: 2,652 KB, 18 of them HTML).
const PAGE_KIB: f64 = 2_652.0;
const HTML_KIB: f64 = 18.0;

/// HTTP/1.1 as browsers have it: six connections (from memory, without a source at hand).
pub(super) const PERSISTENCE: Persistence = Persistence { parallel: 6, ..Persistence::HTTP11 };

/// Files of a page: log-normal about the printed median. Printed for 10, 25, 50, 75 and 90 % of
/// desktop pages: 24, 42, 71, 115, 176; this has 27, 43, 71, 118, 186.
pub fn files() -> Arc<dyn Distribution> {
    Arc::new(LogNormal { mu: math::ln(FILES), sigma: 0.75 })
}

/// Size of the page itself, bytes. The median is the printed one, the spread our own choice.
pub fn html() -> Arc<dyn Distribution> {
    Arc::new(LogNormal { mu: math::ln(HTML_KIB * 1_024.0), sigma: 1.0 })
}

/// Size of another file, bytes. The mean is that of the median page, its bytes over its files; the
/// spread is our own choice.
pub fn object() -> Arc<dyn Distribution> {
    const SIGMA: f64 = 1.5;
    let mean = (PAGE_KIB - HTML_KIB) * 1_024.0 / (FILES - 1.0);
    Arc::new(LogNormal { mu: math::ln(mean) - 0.5 * SIGMA * SIGMA, sigma: SIGMA })
}

pub(super) fn model(servers: u32) -> UserModel {
    let sharing = Sharing::Multiplexed { streams: fields::STREAMS_AT_ONCE, independent: false };
    UserModel {
        request: fields::always(500.0),
        reply: html(),
        embedded: Some(object()),
        files: files(),
        think: Arc::new(Exponential { mean: 30.0 }),
        parallel: 6,
        persistence: Some(Persistence { parallel: 1, sharing, ..PERSISTENCE }),
        ..UserModel::plain(servers)
    }
}

/// The registry's entry for users who fetch pages as of the HTTP Archive.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "web-2024",
        summary: "Users who fetch pages of some 71 files and 2.7 MB over one HTTP/2 connection and read \
                  them.",
        year: 2024,
        source: "HTTP Archive, Web Almanac 2024, chapter Page Weight: desktop pages of October 2024",
        deviations: "Read: the median page's 71 files, 2,652 KB and 18 KB of HTML, and other quantiles of \
                     its files, which a log-normal law meets within 13 %. Constructed: the spread of \
                     sizes, requests of 500 B, a reading time of 30 s, one server, a page for each stay, \
                     no caches and no third parties (page_servers gives more servers).",
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
pub const MODEL: Model = Model { name: "http-archive-2024", app: "web-2024", variables };

fn variables() -> Vec<Variable> {
    vec![
        Variable::new("size of the page itself", Unit::Bytes, html()),
        Variable::new("size of another file", Unit::Bytes, object()),
        Variable::new("files per page", Unit::Count, files()),
        Variable::new("reading time", Unit::Time, Arc::new(Exponential { mean: 30.0 })),
    ]
}
