//! Explicit congestion notification at both ends: RFC 3168 section 6.1, and two kinds of feedback
//! that report more than one mark per window: DCTCP's echo ([`dctcp`], RFC 8257) and accurate ECN
//! ([`accurate`], RFC 9768).

mod abe;
mod accurate;
mod dctcp;
mod echo_reader;
mod marks;
mod negotiation;
mod option;
mod rules;
mod state;

pub(crate) use abe::BetaEcn;
pub(crate) use echo_reader::EchoReader;
pub(crate) use rules::{EchoCut, EcnFeedback, EcnRules};
pub use state::MarksSeen;
pub(crate) use state::{EcnState, Memory};
