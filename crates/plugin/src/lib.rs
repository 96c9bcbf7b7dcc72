//! Interface for a user's own queue discipline or congestion control, in any language.
//!
//! Reading order: [`Description`] (name, parameters and kind of a discipline, and its entry in the
//! registry), [`Holder`] and [`Held`] (a discipline that queues packets by their numbers; the
//! packets stay here, and every number is checked), [`Failed`] (how a failed call ends the run),
//! [`Pulse`] (detects a call that does not return), `library` (a discipline in a shared library),
//! [`control`] (a congestion control) and `c`, the only module with raw pointers. The adapter for
//! Python is in `crates/binding`.

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

/// Text of the C header for disciplines.
pub const C_HEADER: &str = include_str!("../include/aqmlab_plugin.h");
/// Source of the interface for disciplines in Rust: one file that uses nothing of this workspace.
pub const RUST_INTERFACE: &str = include_str!("c/types.rs");
/// Text of the C header for congestion controls, which includes [`C_HEADER`].
pub const C_CONTROL_HEADER: &str = include_str!("../include/aqmlab_control.h");
/// Source of the interface for congestion controls in Rust; its `super::types` is
/// [`RUST_INTERFACE`].
pub const RUST_CONTROL_INTERFACE: &str = include_str!("c/control_types.rs");
