//! A user's own queue discipline or congestion control, whatever it is written in.
//!
//! Reading order: [`Description`] (what it says of itself, and how that becomes an entry of the
//! registry), [`Holder`] and [`Held`] (one that holds packets gives them numbers only: the packets
//! stay here, and every number is checked), [`Failed`] (how a call that cannot go on ends the run),
//! [`Pulse`] (whether a call has come back), `library` (a shared library as an entry), [`control`] (a
//! congestion control, as an entry of that list) and `c`, the only place where pointers are raw. The adapter for Python stands in `crates/binding`.

mod c;
pub mod control;
mod description;
mod failed;
mod held;
#[cfg(not(target_family = "wasm"))]
pub mod library;
mod parameters;
mod pulse;
mod read;

pub use c::control_types;
pub use c::types;
pub use description::{Description, Judging, text};
pub use failed::{Failed, fail};
pub use held::{Call, Held, Holder};
pub use pulse::Pulse;

/// What a discipline in C is compiled against.
pub const C_HEADER: &str = include_str!("../include/aqmlab_plugin.h");
/// The interface for a user's own program in Rust: one file that uses nothing of this workspace.
pub const RUST_INTERFACE: &str = include_str!("c/types.rs");
/// What a congestion control in C is compiled against, besides [`C_HEADER`].
pub const C_CONTROL_HEADER: &str = include_str!("../include/aqmlab_control.h");
/// The interface for congestion controls in Rust, besides [`RUST_INTERFACE`]; its `super::types` is that.
pub const RUST_CONTROL_INTERFACE: &str = include_str!("c/control_types.rs");
