//! Web users, who think, open a page, fetch its files and think again; and PackMime's link.
//!
//! [`UserModel`] holds what users draw and how they use connections, [`User`] is one of them,
//! [`fields`] holds the parameters of a scenario, [`load`] predicts the load that users request.
//! The models are bundles of distributions: [`mah`], [`unc`], [`threegpp`], [`archive`], [`http`]
//! (all variables are parameters), [`loops`]. [`packmime`] and [`webtraf`] work differently:
//! connections that arrive on a link, sessions that arrive one after the other.

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

/// The model of the users of a group. It is shared between them, never copied.
#[derive(Clone, Debug)]
pub struct UserModel {
    /// Size of a request, bytes of payload.
    pub request: Arc<dyn Distribution>,
    /// Size of a reply before scaling, bytes of payload.
    pub reply: Arc<dyn Distribution>,
    /// Distribution of the sizes of files after the first of a page; without it as
    /// [`UserModel::reply`].
    pub embedded: Option<Arc<dyn Distribution>>,
    /// Factor on every reply size.
    pub reply_scale: f64,
    /// Number of files of a page, the page itself included.
    pub files: Arc<dyn Distribution>,
    /// Number of pages taken from one server before another is chosen.
    pub pages: Arc<dyn Distribution>,
    /// Seconds between the last reply of a page and the next page.
    pub think: Arc<dyn Distribution>,
    /// Seconds between the first reply of a page and the next request.
    pub parse: Option<Arc<dyn Distribution>>,
    /// Seconds that a server works on a reply.
    pub service: Option<Arc<dyn Distribution>>,
    /// Number of servers that supply the files of one page; without it one server.
    pub page_servers: Option<Arc<dyn Distribution>>,
    /// When users begin.
    pub start: Start,
    /// Most connections on which a user waits for replies at a time.
    pub parallel: u32,
    /// Number of machines that serve, each equally likely to be chosen; at least 1.
    pub servers: u32,
    /// Connections that carry more than one request (HTTP/1.1); without it every file has a
    /// connection of its own, which the server closes (HTTP/1.0).
    pub persistence: Option<Persistence>,
    /// Whether a reply on a connection of its own is complete only when the server has closed, and
    /// not with its last byte.
    pub to_end_of_file: bool,
    /// Whether a think time counts from the beginning of a page and not from its last reply.
    pub thinks_from_page: bool,
    /// Whether the files fetched between two pauses count as a page load of a user.
    pub browses: bool,
}

/// How connections carry more than one request.
#[derive(Clone, Debug)]
pub struct Persistence {
    /// The share of stays at a server whose files share connections.
    pub share: f64,
    /// Most connections of a user that carry more than one request.
    pub parallel: u32,
    /// Idle time after which the client closes such a connection; [`Duration::ZERO`] for never.
    pub idle: Duration,
    /// Largest number of requests that such a connection carries.
    pub requests: Option<Arc<dyn Distribution>>,
    /// When the requests of a page are written.
    pub sharing: Sharing,
}

impl Persistence {
    /// At every stay of a user at a server the files share connections, at most two, which the
    /// client closes after 120 s idle; our own choice, without a source.
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
    /// The next request is written when the reply to the last one has arrived.
    InTurn,
    /// After the first reply of a connection all further requests of the page are written at
    /// once; replies come in the order of the requests.
    Pipelined,
    /// When the first file of a page is there all further requests are written at once, on one
    /// connection to each server, and replies share it frame by frame (HTTP/2).
    Multiplexed {
        /// Most requests that wait for replies on a connection.
        streams: u32,
        /// Whether each reply is a stream that waits for no other (HTTP/3).
        independent: bool,
    },
}

/// Largest payload of a DATA frame, bytes: the initial value of SETTINGS_MAX_FRAME_SIZE, RFC 9113
/// section 6.5.2.
pub const FRAME: u32 = 16_384;

impl UserModel {
    /// A model whose fields are to be changed one by one: users who fetch one file after the other
    /// from one server without a pause, everything constant.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;

    /// Names of a model's variables, and what its users draw them from.
    type Drawn = Vec<(&'static str, Arc<dyn Distribution>)>;

    #[test]
    fn users_draw_what_their_model_says() {
        let of = |model: &UserModel, names: [&'static str; 4]| -> Drawn {
            let [reply, embedded, files, think] = names;
            let other = model.embedded.clone().unwrap_or_else(|| model.reply.clone());
            let kept = [model.reply.clone(), other, model.files.clone(), model.think.clone()];
            [reply, embedded, files, think].into_iter().zip(kept).collect()
        };
        let with = |mut drawn: Drawn, name, distribution: &Arc<dyn Distribution>| {
            drawn.push((name, Arc::clone(distribution)));
            drawn
        };
        let mah = mah::Preset::MahRaw.model(4, 1);
        let mah_drawn = of(
            &mah,
            ["reply size, mah-raw", "reply size, mah-raw", "files per page", "think time, mah-raw"],
        );
        let mah_drawn = with(mah_drawn, "request size", &mah.request);
        let unc = unc::model(1);
        let unc_drawn =
            of(&unc, ["response size", "response size", "objects per page", "think time"]);
        let unc_drawn = with(unc_drawn, "request size", &unc.request);
        let threegpp = threegpp::model(1);
        let threegpp_drawn = of(
            &threegpp,
            [
                "main object size",
                "embedded object size",
                "files per page (rounded)",
                "reading time",
            ],
        );
        let parse = threegpp.parse.as_ref().expect("it parses");
        let archive = archive::model(1);
        let archive_drawn = of(
            &archive,
            ["size of the page itself", "size of another file", "files per page", "reading time"],
        );
        let http = http::model(1);
        let http_drawn =
            of(&http, ["first reply size", "embedded reply size", "files per page", "think time"]);
        let cases: [(Model, Drawn); 5] = [
            (mah::MODEL, with(mah_drawn, "pages per server stay", &mah.pages)),
            (unc::MODEL, with(unc_drawn, "pages per server stay", &unc.pages)),
            (threegpp::MODEL, with(threegpp_drawn, "parsing time", parse)),
            (archive::MODEL, archive_drawn),
            (http::MODEL, with(http_drawn, "request size", &http.request)),
        ];
        for (model, drawn) in cases {
            let said = (model.variables)();
            for (name, distribution) in drawn {
                let variable = said.iter().find(|variable| variable.name == name);
                let variable = variable.unwrap_or_else(|| panic!("{}: {name}", model.name));
                let means = [distribution.mean(), variable.distribution.mean()];
                assert_eq!(means[0], means[1], "{}: {name}", model.name);
            }
        }
    }

    #[test]
    fn what_models_leave_open_is_as_constructed() {
        assert_eq!(archive::model(1).request.mean(), 500.0);
        assert_eq!(threegpp::model(1).request.mean(), 328.0);
        // A page's files over one HTTP/2 connection, or over a browser's six.
        let kept = archive::model(1).persistence.expect("connections are kept");
        assert_eq!((kept.parallel, archive::model(1).parallel), (1, 6));
        assert!(matches!(kept.sharing, Sharing::Multiplexed { streams: 100, independent: false }));
        assert_eq!(archive::PERSISTENCE.parallel, 6);
        // ns-3's one connection, which its server never closes.
        let kept = threegpp::model(1).persistence.expect("a connection is kept");
        assert_eq!((kept.parallel, kept.idle), (1, Duration::ZERO));
        // Mah's users begin their first page at instants spread over one mean think time.
        assert_eq!(mah::Preset::MahFit.model(4, 1).start, Start::Spread);
    }

    #[test]
    fn every_model_is_found_by_its_name_and_has_an_application() {
        for model in crate::models::MODELS {
            let found = crate::models::model(model.name).expect("is listed");
            assert_eq!((found.name, found.app), (model.name, model.app));
            assert!(crate::find(model.app).is_some(), "{}", model.app);
            let variables = (model.variables)();
            assert!(!variables.is_empty(), "{}", model.name);
            for variable in variables {
                assert!(variable.distribution.quantile(0.5) > 0.0, "{}", variable.name);
            }
        }
        assert!(crate::models::model("mha").is_none());
    }
}
