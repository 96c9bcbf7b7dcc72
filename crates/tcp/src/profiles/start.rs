//! How connections of a profile begin: timers and limits of the handshake, and the initial
//! slow-start threshold.

use packet::Duration;
use packet::params::{Params, Value};

use crate::profile::{SynRetries, TimeLimit};

/// The settings of a connection's beginning, as a scenario chose them.
pub(super) struct Start {
    pub rto: Duration,
    pub syn_linear: u8,
    syn_retries: u8,
    syn_ack_retries: u8,
    /// Longest time of a handshake; none for no limit.
    pub limit: Option<Duration>,
    ssthresh: Option<u64>,
}

impl Start {
    /// Reads the fields; counts that are not given have no limit.
    pub fn read(params: &Params) -> Start {
        let given = |name: &str| params.value(name) != Value::Unset;
        let unlimited = u64::from(u8::MAX);
        Start {
            rto: params.time("rto_initial"),
            syn_linear: params.whole("syn_linear") as u8,
            syn_retries: params.whole_or("syn_retries", unlimited) as u8,
            syn_ack_retries: params.whole_or("synack_retries", unlimited) as u8,
            limit: given("connect_limit").then(|| params.time("connect_limit")),
            ssthresh: given("initial_ssthresh").then(|| params.whole("initial_ssthresh")),
        }
    }

    /// The initial slow-start threshold in bytes: the scenario's, or `otherwise`, the profile's.
    pub fn ssthresh(&self, otherwise: u64) -> u64 {
        self.ssthresh.unwrap_or(otherwise)
    }

    pub fn waits(&self) -> SynRetries {
        let Start { syn_linear, syn_retries, syn_ack_retries, .. } = *self;
        SynRetries { syn_linear, syn_retries, syn_ack_retries }
    }

    /// The limit of a handshake as an exact time, not in ticks.
    pub fn life(&self) -> TimeLimit {
        self.limit.map_or(TimeLimit::Unlimited, TimeLimit::Exact)
    }
}
