//! Congestion control: how fast a sender sends. One file per algorithm, one line each in
//! [`registry`].
//!
//! The transport (loss detection, ECN, pacing) passes an [`AckSample`] to the control for every
//! acknowledgement and notifies it of congestion. The control sets `cwnd` and `ssthresh` of the
//! [`Window`] and may set a pacing rate. These calls are its only input: it has no clock and never
//! reads segments. Windows and amounts are in bytes.

mod bbr;
mod bbr3;
mod careful_resume;
mod classic_reno;
pub(crate) mod control;
mod copa;
mod cubic;
mod dctcp;
mod growth;
mod htcp;
mod hystart;
mod hystart_plus;
mod ledbatpp;
#[cfg(test)]
mod marking;
mod nv;
mod prague;
mod registry;
mod reno;
mod rfc9002;
mod rfc9438;
mod scream;
mod search;
#[cfg(test)]
#[path = "../../templates/control.rs"]
#[allow(dead_code)] // only the registry reads it
mod template; // the file that `make new-control` writes
#[cfg(test)]
mod testing;
mod vegas;
mod vegas_linux;
mod westwood;
mod windowed;

pub(crate) use classic_reno::{Arithmetic, ClassicReno};
pub use control::linux_pacing_rate as usual_pacing_rate;
pub use control::{
    AckSample, BurstSize, CaState, Cause, Control, ControlFlags, EcnMode, Lost, RateSample, Report,
};
pub use registry::{Controls, MakeControl, OwnControl, controls};
pub(crate) use registry::{KIND, linux_reno, make_usual};
pub(crate) use rfc9002::Rfc9002;
