//! QUIC as an end system (RFC 9000, 9001, 9002): what a connection does with packets that are never sent twice.
//!
//! A packet has a number that no other has; what is lost goes again in a new packet, under a new number. An
//! acknowledgement reports ranges of packet numbers. Data of a direction has numbers as in TCP (byte n of what is
//! written is n, the FIN follows the last), in the order in which the program wrote it; what a stream has written is
//! ranges of these, and a range that has arrived waits for no other.
//!
//! Reading order: `endpoint` (what a driver calls, what goes out next), `handshake`, `arrival` (what a packet brings),
//! `loss` (appendix A of RFC 9002), `path` (window, pace, what the control is shown), `space` (numbers of packets and
//! what each carried), `acks` (when to acknowledge), `data` (what is written and what has arrived), `packet` (what
//! stands on the wire, and how long it is).

mod acks;
mod arrival;
mod data;
mod endpoint;
mod handshake;
mod loss;
mod pacer;
mod packet;
mod path;
mod ranges;
mod readings;
mod rtt;
mod rules;
mod space;

pub use endpoint::QuicEndpoint;
pub(crate) use rules::{AckRules, QuicRules, RESUMED_FLIGHT};
