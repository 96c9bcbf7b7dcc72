//! What applications do: web users who think and fetch, bulk senders.

mod app;

pub use app::{Action, App, AppCx, Closes, Input};
