//! Mah's model of web traffic, from the one trace of 1995 whose distributions are public.
//!
//! B. A. Mah, *An empirical model of HTTP network traffic*, INFOCOM 1997. The tables are
//! re-gridded summaries of the empirical distributions that Mah gave to ns-2
//! (`tcl/http/data/*.cdf`): 4,100 replies, 1,444 pages, 1,314 think gaps, 498 server stays. Their
//! headers say how each was made. First and embedded files are pooled, as in those files.

use std::sync::Arc;

use packet::About;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::{Persistence, Start, UserModel, fields};
use crate::distribution::Distribution;
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

pub use crate::distribution::shipped::{
    MAH_FILES as FILES, MAH_PAGES as PAGES, MAH_REPLY as REPLY, MAH_REQUEST as REQUEST,
    MAH_THINK_FULL as THINK_FULL, MAH_THINK_LE1000 as THINK_LE1000,
    MAH_THINK_LE1800 as THINK_LE1800,
};

/// Which think times are kept. The trace's own include nights; a constant population of users
/// needs a cut, and where to cut is our choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkCut {
    /// Think times of at most 1,000 s; their mean is 52.9 s.
    Le1000,
    /// Think times of at most 1,800 s; their mean is 72.4 s.
    Le1800,
    /// All think times; their mean is 1,804 s.
    Full,
}

impl ThinkCut {
    /// The table of these think times, in seconds.
    pub fn table(self) -> Arc<dyn Distribution> {
        let table = match self {
            ThinkCut::Le1000 => &THINK_LE1000,
            ThinkCut::Le1800 => &THINK_LE1800,
            ThinkCut::Full => &THINK_FULL,
        };
        Arc::clone(table)
    }
}

/// A pair of reply scale and think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Replies as in the trace, think times up to 1,000 s: about 402 IP bytes per user and
    /// second.
    MahRaw,
    /// Replies 1.4 times as long, so that bytes per connection agree with those of
    /// Christiansen, Jeffay, Ott and Smith, *Tuning RED for web traffic*, SIGCOMM 2000;
    /// think times up to 1,800 s: about 411 IP bytes per user and second.
    MahFit,
}

impl Preset {
    const NAMES: &'static [&'static str] = &["mah-raw", "mah-fit"];

    fn named(name: &str) -> Self {
        match name {
            "mah-raw" => Preset::MahRaw,
            "mah-fit" => Preset::MahFit,
            other => unreachable!("the field allows no {other}"),
        }
    }

    /// The factor on reply sizes.
    pub fn reply_scale(self) -> f64 {
        match self {
            Preset::MahRaw => 1.0,
            Preset::MahFit => 1.4,
        }
    }

    /// The limit up to which think times of Mah's table are kept.
    pub fn think(self) -> ThinkCut {
        match self {
            Preset::MahRaw => ThinkCut::Le1000,
            Preset::MahFit => ThinkCut::Le1800,
        }
    }

    /// The model of users with this preset, with at most `parallel` connections and this many
    /// servers.
    pub fn model(self, parallel: u32, servers: u32) -> UserModel {
        UserModel {
            request: Arc::clone(&REQUEST),
            reply: Arc::clone(&REPLY),
            reply_scale: self.reply_scale(),
            files: Arc::clone(&FILES),
            pages: Arc::clone(&PAGES),
            think: self.think().table(),
            start: Start::Spread,
            parallel,
            ..UserModel::plain(servers)
        }
    }
}

/// The entry for web users in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "web",
        summary: "Users who fetch pages of several files over new connections and think between pages.",
        year: 1997,
        source: "B. A. Mah, An empirical model of HTTP network traffic, INFOCOM 1997; distributions \
                 as given to ns-2",
        deviations: "First and embedded files draw from one distribution, because the published files \
                     pool them. Servers are chosen uniformly, not by popularity, which matters little \
                     with one bottleneck. Think times are cut, because the trace's include nights. \
                     Tables are re-gridded to about 40 quantiles that keep the means.",
        fields: FIELDS,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

/// The parameters of a group of web users.
static FIELDS: &[Field] = &[
    Field::new("model", Kind::Choice(Preset::NAMES), Value::Choice("mah-fit"))
        .meaning(
            "Which distributions users draw from: mah-raw is the 1995 trace with think times \
             up to 1000 s, mah-fit has replies 1.4 times as long and think times up to 1800 s.",
        )
        .source(
            "read: the distributions Mah gave to ns-2; constructed: the presets, fitted to the \
                 load figures of Tuning RED for web traffic",
        ),
    fields::PARALLEL,
    Field {
        name: "reply_scale",
        meaning: "Factor on every reply size; if not given, 1 for mah-raw and 1.4 for mah-fit.",
        default: Value::Unset,
        source: "constructed: 1.4 gives the 10.6 kB per connection that follow from the counts of \
                 Tuning RED for web traffic",
        ..fields::REPLY_SCALE
    },
    fields::THINK
        .meaning(
            "From the last reply of a page to the next page: le1000 keeps the trace's pauses \
             up to 1000 s (mean 52.9 s), le1800 up to 1800 s (72.4 s), full all (1804 s); or a \
             distribution of your own. If not given, le1000 for mah-raw and le1800 for mah-fit.",
        )
        .source("read: the 1995 trace; constructed: the cuts"),
    fields::THINK_FROM,
    fields::START,
    fields::HTTP,
    fields::STREAMS,
    fields::PERSISTENT,
    fields::PERSISTENT_PARALLEL,
    fields::IDLE_TIMEOUT,
    fields::CONNECTION_REQUESTS,
    fields::REQUEST,
    fields::REPLY,
    fields::EMBEDDED,
    fields::FILES,
    fields::PAGES,
    fields::PARSE,
    fields::SERVICE,
    fields::PAGE_SERVERS,
    fields::RESPONSE_ENDS,
];

/// Builds the users of a group.
///
/// # Errors
/// If the other side has no machine that could serve, or a description is wrong.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let preset = Preset::named(params.choice("model"));
    let mut model = preset.model(params.whole("parallel") as u32, group.peers);
    fields::apply(&mut model, params, &Persistence::HTTP11)?;
    model.reply_scale = params.real_or("reply_scale", preset.reply_scale());
    fields::population(model, group)
}

/// The model's name, and the distributions of its variables, which `describe` shows.
pub const MODEL: Model = Model { name: "mah", app: "web", variables };

fn variables() -> Vec<Variable> {
    let of = |name, unit, d: &Arc<dyn Distribution>| Variable::new(name, unit, Arc::clone(d));
    vec![
        of("request size", Unit::Bytes, &REQUEST),
        of("reply size, mah-raw", Unit::Bytes, &REPLY),
        Variable::new("reply size, mah-fit", Unit::Bytes, Variable::scaled(&REPLY, 1.4)),
        of("files per page", Unit::Count, &FILES),
        of("pages per server stay", Unit::Count, &PAGES),
        of("think time, mah-raw", Unit::Time, &THINK_LE1000),
        of("think time, mah-fit", Unit::Time, &THINK_LE1800),
        of("think time, full", Unit::Time, &THINK_FULL),
    ]
}
