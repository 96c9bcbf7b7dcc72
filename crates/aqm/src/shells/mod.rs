//! Queues that several disciplines share.

pub(crate) mod active;
pub(crate) mod bypass;
pub(crate) mod classes;
pub(crate) mod departure;
pub(crate) mod flows;
pub(crate) mod per_flow;
pub(crate) mod pool;
pub(crate) mod rounds;
pub(crate) mod watched;
