//! How a user begins: when, and with which streams of random numbers.

use packet::{Duration, Rng};

use super::UserModel;
use crate::distribution::residual;

/// When users begin their first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Users begin at instants uniform over one mean think time: no user is in a long pause at
    /// first, so the load starts above its mean and settles within some of the longest think times.
    Spread,
    /// Users begin in a pause, after the rest of it, as in a population that has run for long: the
    /// load is at its mean from the beginning.
    Stationary,
    /// Users begin at instants uniform over the first part of the run, which lasts this long.
    Within(Duration),
}

impl Start {
    /// Time from the beginning of the run to the first page.
    pub(super) fn after(self, model: &UserModel, rng: &mut Rng) -> Duration {
        Duration::from_secs_f64(match self {
            Start::Spread => model.think.mean() * rng.uniform(),
            Start::Stationary => residual(model.think.as_ref(), rng),
            Start::Within(window) => window.secs_f64() * rng.uniform(),
        })
    }
}

/// A user's streams of random numbers: one for every variable that all models have.
#[derive(Debug)]
pub(super) struct Streams {
    pub server: Rng,
    pub pages: Rng,
    pub files: Rng,
    pub request: Rng,
    pub reply: Rng,
    pub think: Rng,
}

/// A user's streams of random numbers for variables that only some models have.
#[derive(Debug)]
pub(super) struct RareStreams {
    pub parse: Rng,
    pub service: Rng,
    pub page_servers: Rng,
    pub persistent: Rng,
    pub limit: Rng,
}

impl Streams {
    /// A user's random streams; `stream` makes each one by its name.
    pub fn new(stream: impl Fn(&str) -> Rng) -> Self {
        Streams {
            server: stream("server"),
            pages: stream("pages"),
            files: stream("files"),
            request: stream("request"),
            reply: stream("reply"),
            think: stream("think"),
        }
    }
}

impl RareStreams {
    /// A user's random streams; `stream` makes each one by its name.
    pub fn new(stream: impl Fn(&str) -> Rng) -> Self {
        RareStreams {
            parse: stream("parse"),
            service: stream("service"),
            page_servers: stream("page_servers"),
            persistent: stream("persistent"),
            limit: stream("limit"),
        }
    }
}
