//! The parameters that all web users share: every variable of [`UserModel`], each a distribution
//! that a scenario may name, and the mode of HTTP.

use std::sync::Arc;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::{Persistence, Sharing, Start, User, UserModel};
use crate::distribution::{Constant, Distribution, read};
use crate::entry::{Group, Population};

const fn distribution(name: &'static str, unit: Unit, meaning: &'static str) -> Field {
    Field::new(name, Kind::Distribution { unit }, Value::Unset).meaning(meaning).source("the model")
}

/// The parameter for the mode of HTTP.
pub const HTTP: Field = Field::new(
    "http",
    Kind::Choice(&["http10", "http11", "http11-pipelined", "http2", "http3"]),
    Value::Unset,
)
.meaning(
    "http10: every file on a connection of its own, which the server closes; http11: files \
              of a persistent stay share connections, one request after the other; \
              http11-pipelined: after the first reply of a connection its further requests of the \
              page are written at once; http2: when the first file of a page is there all others \
              are requested at once, on one connection to each server, which sends its replies in \
              frames of 16 KiB, one of each in turn; http3: as http2, but a reply is a stream of QUIC \
              that waits for no other (with tcp = \"quic\"). If not given, http10 for web and http, http11 \
              for unc and threegpp-http, http2 for web-2024.",
)
.source(
    "the model; constructed: what pipelining does; read: RFC 9113, RFC 9218 section 10 \
             (responses of equal urgency that can be used in parts take turns), RFC 9114",
);
/// Most requests that wait for replies on a connection of HTTP/2 or HTTP/3, unless the scenario
/// gives another number.
pub(super) const STREAMS_AT_ONCE: u32 = 100;
/// The parameter for the number of concurrent streams of HTTP/2 and HTTP/3.
pub const STREAMS: Field = Field::new("streams", Kind::whole(Unit::Count, 1, 10_000), Value::Unset)
    .meaning(
        "How many requests wait for replies on a connection of HTTP/2 or /3 at most; if not given, 100.",
    )
    .source("read: RFC 9113 section 6.5.2 recommends no fewer than 100");
/// The parameter for the number of parallel connections.
pub const PARALLEL: Field =
    Field::new("parallel", Kind::whole(Unit::Count, 1, 64), Value::Whole(4))
        .meaning(
            "How many connections a user has open at most, after the first file of a page; http2 \
              takes one to each server, whatever stands here.",
        )
        .source("recalled: Netscape's limit (Internet Explorer: 2)");
/// [`PARALLEL`] for a model that has a default of its own.
pub const PARALLEL_OF_MODEL: Field = Field {
    meaning: "How many connections a user has open at most, after the first file of a page; http2 \
              takes one to each server, whatever stands here; if not given, 4 for unc and http, 1 \
              for threegpp-http, 6 for web-2024.",
    default: Value::Unset,
    source: "the model",
    ..PARALLEL
};
/// The parameter for the share of stays whose files share connections.
pub const PERSISTENT: Field =
    Field::new("persistent", Kind::from(Unit::None, 0.0, 1.0), Value::Unset)
        .meaning(
            "The share of stays at a server whose files share connections (http11 modes); if not \
              given, 0.5 for unc, 1 for the others.",
        )
        .source("the model");
/// The parameter for the number of persistent connections of a user.
pub const PERSISTENT_PARALLEL: Field = Field::new(
    "persistent_parallel",
    Kind::whole(Unit::Count, 1, 64),
    Value::Unset,
)
.meaning(
    "How many persistent connections a user has at most; if not given, 2 (threegpp-http: 1, \
              web-2024: 6) or what parallel allows.",
)
.source("constructed: 2, as RFC 2616 section 8.1.4 recommends (recalled)");
/// The parameter for the idle time after which a client closes a connection.
pub const IDLE_TIMEOUT: Field =
    Field::new("idle_timeout", Kind::from(Unit::Time, 0.0, 1e6), Value::Unset)
        .meaning(
            "A persistent connection that has been idle for so long is closed by the client; 0 s \
              keeps it to the end of the stay; if not given, 120 s (threegpp-http: 0 s).",
        )
        .source("constructed: 120 s");
/// The parameter for the number of requests on a persistent connection.
pub const CONNECTION_REQUESTS: Field = distribution(
    "connection_requests",
    Unit::Count,
    "Requests that a persistent connection carries at most; if not given, as many as the stay \
     needs.",
);
/// The parameter for the size of a request.
pub const REQUEST: Field =
    distribution("request", Unit::Bytes, "Size of a request; if not given, the model's.");
/// The parameter for the size of a reply.
pub const REPLY: Field = distribution(
    "reply",
    Unit::Bytes,
    "Size of a reply before reply_scale; if not given, the model's.",
);
/// The parameter for the size of a page's replies after the first.
pub const EMBEDDED: Field = distribution(
    "embedded",
    Unit::Bytes,
    "Size of a reply after the first of a page; if not given, the model's, or as reply.",
);
/// The parameter for the factor on reply sizes.
pub const REPLY_SCALE: Field =
    Field::new("reply_scale", Kind::above(Unit::None, 0.0, 1_000.0), Value::Real(1.0))
        .meaning("Factor on every reply size.")
        .source("constructed");
/// The parameter for the number of files of a page.
pub const FILES: Field = distribution(
    "files",
    Unit::Count,
    "Files of a page, the page itself included; if not given, the model's.",
);
/// The parameter for the number of pages of a stay.
pub const PAGES: Field = distribution(
    "pages",
    Unit::Count,
    "Consecutive pages from one server; if not given, the model's.",
);
/// The parameter for the think time.
pub const THINK: Field = distribution(
    "think",
    Unit::Time,
    "From the last reply of a page to the next page; if not given, the model's.",
);
/// The parameter for the time that parsing takes.
pub const PARSE: Field = distribution(
    "parse",
    Unit::Time,
    "From the first reply of a page to the requests for the others; if not given, the model's or \
     none.",
);
/// The parameter for the time that a server works on a reply.
pub const SERVICE: Field = distribution(
    "service",
    Unit::Time,
    "How long a server works on a reply; if not given, the model's or no time.",
);
/// The parameter for the number of servers that supply a page.
pub const PAGE_SERVERS: Field = distribution(
    "page_servers",
    Unit::Count,
    "Servers that supply the files of a page; those beside the stay's get connections of their \
     own; if not given, 1.",
);
/// The parameter that says when a reply is complete.
pub const RESPONSE_ENDS: Field = Field::new(
    "response_ends",
    Kind::Choice(&["last byte", "end of file"]),
    Value::Choice("last byte"),
)
.meaning(
    "When a reply is complete for the user, who then goes on, and for the response time: \
              last byte, as where its length is known; or end of file, when the server's FIN has \
              come too, as where nothing else gives its length (HTTP/1.0 without Content-Length).",
)
.source(
    "constructed: papers say \"the last byte\" or nothing; recalled: RFC 1945 section \
             7.2.2",
);
/// The parameter that says from when a think time counts.
pub const THINK_FROM: Field = Field::new(
    "think_from",
    Kind::Choice(&["last reply", "page"]),
    Value::Choice("last reply"),
)
.meaning(
    "From when a think time counts: last reply (a user who waits for a page thinks later), or page: \
              from its beginning, so that the next page begins when that time is over or the page \
              is there, whichever is later, and a slow page costs no load unless it takes longer \
              than the user would have thought.",
)
.source("constructed: models give \"the time between two page retrievals\", which can be read both ways");
/// The parameter for the start of users.
pub const START: Field =
    Field::new("start", Kind::Choice(&["stationary", "spread"]), Value::Choice("stationary"))
        .meaning(
            "When users begin: stationary (as a long-running population is met; the load is at \
              its mean at once) or spread (uniform over one mean think time; the load starts high \
              and settles within the longest think times, which a warm-up must cover).",
        )
        .source("constructed: a load is what was requested from the first second on");

/// The parameters of a model that has defaults of its own for all other variables.
pub const ALL: &[Field] = &[
    HTTP,
    STREAMS,
    PARALLEL_OF_MODEL,
    PERSISTENT,
    PERSISTENT_PARALLEL,
    IDLE_TIMEOUT,
    CONNECTION_REQUESTS,
    REQUEST,
    REPLY,
    EMBEDDED,
    REPLY_SCALE,
    FILES,
    PAGES,
    THINK,
    PARSE,
    SERVICE,
    PAGE_SERVERS,
    RESPONSE_ENDS,
    THINK_FROM,
    START,
];

/// Replaces the model's variables by those that a scenario gives, and sets its persistence;
/// `defaults` is the persistence of the model in its HTTP/1.1 modes.
pub(super) fn apply(
    model: &mut UserModel,
    params: &Params,
    defaults: &Persistence,
) -> Result<(), BadParams> {
    let own = |name: &str, unit: Unit| -> Result<Option<Arc<dyn Distribution>>, BadParams> {
        params.distribution(name).map(|raw| read(name, raw, unit)).transpose()
    };
    let replace = |kept: &mut Arc<dyn Distribution>, name: &str, unit| -> Result<(), BadParams> {
        if let Some(named) = own(name, unit)? {
            *kept = named;
        }
        Ok(())
    };
    replace(&mut model.request, "request", Unit::Bytes)?;
    replace(&mut model.reply, "reply", Unit::Bytes)?;
    replace(&mut model.files, "files", Unit::Count)?;
    replace(&mut model.pages, "pages", Unit::Count)?;
    replace(&mut model.think, "think", Unit::Time)?;
    model.embedded = own("embedded", Unit::Bytes)?.or(model.embedded.take());
    model.parse = own("parse", Unit::Time)?.or(model.parse.take());
    model.service = own("service", Unit::Time)?.or(model.service.take());
    model.page_servers = own("page_servers", Unit::Count)?.or(model.page_servers.take());
    model.parallel = params.whole_or("parallel", u64::from(model.parallel)) as u32;
    model.start = match params.choice("start") {
        "spread" => Start::Spread,
        _ => Start::Stationary,
    };
    model.persistence =
        persistence(model, params, defaults, own("connection_requests", Unit::Count)?)?;
    model.to_end_of_file = params.choice("response_ends") == "end of file";
    model.thinks_from_page = params.choice("think_from") == "page";
    if model.to_end_of_file && model.persistence.is_some() {
        let why = "\"end of file\" is HTTP/1.0's: a reply on a connection that is kept must give its \
                   length; write http = \"http10\" beside it, or \"last byte\"";
        return Err(BadParams::new("response_ends", why));
    }
    Ok(())
}

fn persistence(
    model: &UserModel,
    params: &Params,
    defaults: &Persistence,
    requests: Option<Arc<dyn Distribution>>,
) -> Result<Option<Persistence>, BadParams> {
    let default = match model.persistence.as_ref().map(|kept| kept.sharing) {
        None => "http10",
        Some(Sharing::Multiplexed { independent: false, .. }) => "http2",
        Some(Sharing::Multiplexed { independent: true, .. }) => "http3",
        Some(Sharing::InTurn | Sharing::Pipelined) => "http11",
    };
    let http = match params.value("http") {
        Value::Choice(http) => http,
        _ => default,
    };
    let refused = |fields: &[&'static str], why: &str| -> Result<(), BadParams> {
        fields.iter().try_for_each(|field| params.without_effect(field, why))
    };
    let multiplexed = matches!(http, "http2" | "http3");
    if !multiplexed {
        refused(&["streams"], "is of HTTP/2 and HTTP/3; write http = \"http2\" beside it")?;
    }
    if http == "http10" {
        let fields = ["persistent", "persistent_parallel", "idle_timeout", "connection_requests"];
        let why = "means nothing in HTTP/1.0, where no connection carries a second request; write \
                   http = \"http11\" beside it";
        return refused(&fields, why).map(|()| None);
    }
    let idle =
        if params.given("idle_timeout") { params.time("idle_timeout") } else { defaults.idle };
    if multiplexed {
        let fields = ["persistent", "persistent_parallel", "connection_requests"];
        let why = "means nothing in HTTP/2 and HTTP/3, where one connection to each server carries all \
                   requests; leave it out";
        refused(&fields, why)?;
        let streams = params.whole_or("streams", u64::from(STREAMS_AT_ONCE)) as u32;
        let sharing = Sharing::Multiplexed { streams, independent: http == "http3" };
        return Ok(Some(Persistence { share: 1.0, parallel: 1, idle, requests: None, sharing }));
    }
    let parallel =
        params.whole_or("persistent_parallel", u64::from(defaults.parallel.min(model.parallel)));
    if parallel > u64::from(model.parallel) {
        let why = format!(
            "{parallel} persistent connections are more than the {} that parallel allows; raise \
             parallel or lower it",
            model.parallel
        );
        return Err(BadParams::new("persistent_parallel", why));
    }
    let pipelined = http == "http11-pipelined";
    Ok(Some(Persistence {
        share: params.real_or("persistent", defaults.share),
        parallel: parallel as u32,
        idle,
        requests: requests.or(defaults.requests.clone()),
        sharing: if pipelined { Sharing::Pipelined } else { Sharing::InTurn },
    }))
}

/// Builds the users of a group with this model, in which the scenario may replace variables.
///
/// # Errors
/// As [`apply`] and [`population`].
pub(super) fn users(
    mut model: UserModel,
    params: &Params,
    defaults: &Persistence,
    group: &Group,
) -> Result<Population, BadParams> {
    apply(&mut model, params, defaults)?;
    model.reply_scale = params.real("reply_scale");
    population(model, group)
}

/// Builds the users of a group with this model.
///
/// # Errors
/// If the other side has no machine that could serve.
pub(super) fn population(model: UserModel, group: &Group) -> Result<Population, BadParams> {
    if group.peers == 0 {
        let why = "web users fetch from the other side, but it has no machine; give it at least 1";
        return Err(BadParams::new("peers", why));
    }
    let kept = model.persistence.as_ref().map(|kept| kept.sharing);
    let over_streams = matches!(kept, Some(Sharing::Multiplexed { independent: true, .. }));
    let estimate = model.expected_ip_bytes_per_user_s();
    let (model, seed, name) = (Arc::new(model), group.seed, group.name.clone());
    let user = move |i| User::new(Arc::clone(&model), seed, &name, u64::from(i));
    Ok(Population::new(group.sources, user).requesting(estimate).over_streams(over_streams))
}

pub(crate) fn always(value: f64) -> Arc<dyn Distribution> {
    Arc::new(Constant(value))
}
