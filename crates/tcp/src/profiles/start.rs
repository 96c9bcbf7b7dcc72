//! How connections of a profile begin: the handshake's timers and limits, the first threshold.

use packet::Duration;
use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use super::parts::shared;
use crate::profile::{SynRetries, TimeLimit};

pub(super) const INITIAL_SSTHRESH: Field = shared(
    "initial_ssthresh",
    "First slow-start threshold.",
    Kind::Whole { unit: Unit::Bytes, min: 64, max: 1 << 40 },
);
pub(super) const RTO_INITIAL: Field = shared(
    "rto_initial",
    "Retransmission timeout before a round trip is measured, and so the first wait of a SYN and of a \
     SYN-ACK.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 60.0, open: true },
);
pub(super) const SYN_LINEAR: Field = shared(
    "syn_linear",
    "Timeouts of a SYN after which it waits as long as before; after each further one twice as long. \
     A SYN-ACK doubles from the first.",
    Kind::Whole { unit: Unit::Count, min: 0, max: 100 },
);
pub(super) const SYN_RETRIES: Field = shared(
    "syn_retries",
    "Retransmissions of a SYN; a timeout more and the attempt is given up.",
    Kind::Whole { unit: Unit::Count, min: 0, max: 250 },
);
pub(super) const SYN_ACK_RETRIES: Field = shared(
    "synack_retries",
    "Retransmissions of a SYN-ACK; a timeout more and the server forgets the connection.",
    Kind::Whole { unit: Unit::Count, min: 0, max: 250 },
);
pub(super) const CONNECT_LIMIT: Field = shared(
    "connect_limit",
    "Longest time that either end spends on a handshake; none unless given or named by the profile.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 100_000.0, open: true },
);

/// The same as a scenario chose them.
pub(super) struct Start {
    pub rto: Duration,
    pub syn_linear: u8,
    syn_retries: u8,
    syn_ack_retries: u8,
    /// None is no limit.
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

    /// The first threshold, where the profile does not say `otherwise`, bytes.
    pub fn ssthresh(&self, otherwise: u64) -> u64 {
        self.ssthresh.unwrap_or(otherwise)
    }

    pub fn waits(&self) -> SynRetries {
        let Start { syn_linear, syn_retries, syn_ack_retries, .. } = *self;
        SynRetries { syn_linear, syn_retries, syn_ack_retries }
    }

    /// The limit of a handshake, not counted in ticks.
    pub fn life(&self) -> TimeLimit {
        self.limit.map_or(TimeLimit::Unlimited, TimeLimit::Exact)
    }
}
