//! QUIC as an end system (RFC 9000, 9001, 9002): what a connection does with packets that are never sent twice.
//!
//! Each packet has a packet number of its own; lost data is sent again in a new packet, under a new
//! number. An acknowledgement reports ranges of packet numbers. The data of a direction is numbered
//! as in TCP (byte n that the program writes is n, the FIN follows the last), in the order of the
//! writes; a stream is a set of ranges of these numbers, and a range that has arrived waits for no
//! other.
//!
//! Reading order: `endpoint` (what a driver calls, what goes out next), `handshake`, `arrival`
//! (what a packet brings), `loss` (appendix A of RFC 9002), `path` (window, pacing, input of the
//! congestion control), `space` (packet numbers and the content of each packet), `acks` (when to
//! acknowledge), `data` (data to send and data received), `packet` (frames and their length on the
//! wire).

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
