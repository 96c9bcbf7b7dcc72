//! Web users: think, open a page, fetch its files, think again; and PackMime's link.
//!
//! [`UserModel`] says what users draw and how they use connections, [`User`] is one of them,
//! [`fields`] is how a scenario says it, [`load`] predicts what users ask for. The models are
//! bundles of distributions: [`mah`], [`unc`], [`threegpp`], [`archive`], [`http`] (all of one's own),
//! [`loops`]. [`packmime`] and [`webtraf`] are other machines: connections that arrive on a link,
//! sessions that arrive one after the other.

pub mod archive;
pub mod fields;
pub mod http;
pub mod load;
pub mod loops;
pub mod mah;
pub mod packmime;
mod page;
mod persistent;
mod start;
pub mod threegpp;
pub mod unc;
mod user;
pub mod webtraf;

use std::sync::Arc;

use packet::Duration;

use crate::distribution::{Constant, Distribution};

pub use start::Start;
pub use user::User;

/// What the users of a group have in common. Shared between them, never copied.
#[derive(Clone, Debug)]
pub struct UserModel {
    /// Size of a request, bytes of payload.
    pub request: Arc<dyn Distribution>,
    /// Size of a reply before scaling, bytes of payload.
    pub reply: Arc<dyn Distribution>,
    /// The same for files after the first of a page; without it as [`UserModel::reply`].
    pub embedded: Option<Arc<dyn Distribution>>,
    /// Factor on every reply size.
    pub reply_scale: f64,
    /// Files of a page, the page itself included.
    pub files: Arc<dyn Distribution>,
    /// Pages taken from one server before another is chosen.
    pub pages: Arc<dyn Distribution>,
    /// Seconds between the last reply of a page and the next page.
    pub think: Arc<dyn Distribution>,
    /// Seconds between the first reply of a page and the next request.
    pub parse: Option<Arc<dyn Distribution>>,
    /// Seconds that a server works on a reply.
    pub service: Option<Arc<dyn Distribution>>,
    /// Servers that supply the files of one page; without it one.
    pub page_servers: Option<Arc<dyn Distribution>>,
    /// When users begin.
    pub start: Start,
    /// On how many connections a user waits for replies at most.
    pub parallel: u32,
    /// Machines that serve, each equally likely to be chosen; at least 1.
    pub servers: u32,
    /// Connections that carry more than one request (HTTP/1.1); without it every file has a
    /// connection of its own, which the server closes (HTTP/1.0).
    pub persistence: Option<Persistence>,
    /// Whether a reply on a connection of its own has come when the server has closed, and not
    /// when its last byte is there.
    pub to_end_of_file: bool,
    /// Whether a think time counts from the beginning of a page and not from its last reply.
    pub thinks_from_page: bool,
    /// Whether what is fetched between two pauses is a page that somebody waits for.
    pub browses: bool,
}

/// How connections are used again.
#[derive(Clone, Debug)]
pub struct Persistence {
    /// The share of stays at a server whose files share connections.
    pub share: f64,
    /// How many such connections a user has at most.
    pub parallel: u32,
    /// The client closes one that has been idle for so long; [`Duration::ZERO`] for never.
    pub idle: Duration,
    /// Requests that one of them carries at most.
    pub requests: Option<Arc<dyn Distribution>>,
    /// When the requests of a page are written.
    pub sharing: Sharing,
}

impl Persistence {
    /// Two connections that all stays share, closed after 120 s idle (constructed).
    pub const HTTP11: Persistence = Persistence {
        share: 1.0,
        parallel: 2,
        idle: Duration::from_secs(120),
        requests: None,
        sharing: Sharing::InTurn,
    };
}

/// How the requests of a page share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The next one is written when a reply has come.
    InTurn,
    /// After the first reply of a connection all further requests of the page are written at
    /// once; replies come in the order of the requests.
    Pipelined,
    /// When the first file of a page is there all further requests are written at once, on one
    /// connection to each server, and replies share it frame by frame (HTTP/2).
    Multiplexed {
        /// Requests that wait for replies on a connection at most.
        streams: u32,
    },
}

/// Payload of a DATA frame at most, bytes: the initial value of SETTINGS_MAX_FRAME_SIZE, RFC 9113
/// section 6.5.2.
pub const FRAME: u32 = 16_384;

impl UserModel {
    /// Users who fetch one file after the other from one server without a pause, everything
    /// constant: to be changed field by field.
    pub fn plain(servers: u32) -> Self {
        let constant = |value: f64| -> Arc<dyn Distribution> { Arc::new(Constant(value)) };
        UserModel {
            request: constant(256.0),
            reply: constant(4_000.0),
            embedded: None,
            reply_scale: 1.0,
            files: constant(1.0),
            pages: constant(1.0),
            think: constant(0.0),
            parse: None,
            service: None,
            page_servers: None,
            start: Start::Spread,
            parallel: 1,
            servers,
            persistence: None,
            to_end_of_file: false,
            thinks_from_page: false,
            browses: true,
        }
    }
}
