//! Web users: think, open a page, fetch its files, think again.
//!
//! [`Habits`] says what users draw and how many connections they open, [`User`] is one of them,
//! [`mah`] is the traffic model of Mah, [`load`] predicts what users ask for.

pub mod load;
pub mod mah;
mod user;

use std::sync::Arc;

use crate::distribution::Distribution;

pub use user::{Start, User};

/// What the users of a group have in common. Shared between them, never copied.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Size of a request, bytes of payload.
    pub request: Arc<dyn Distribution>,
    /// Size of a reply before scaling, bytes of payload.
    pub reply: Arc<dyn Distribution>,
    /// Factor on every reply size.
    pub reply_scale: f64,
    /// Files of a page, the page itself included.
    pub files: Arc<dyn Distribution>,
    /// Pages taken from one server before another is chosen.
    pub pages: Arc<dyn Distribution>,
    /// Seconds between the last reply of a page and the next page.
    pub think: Arc<dyn Distribution>,
    /// When users begin.
    pub start: Start,
    /// How many connections a user has open at most, 1 to 64.
    pub parallel: u32,
    /// Machines that serve, each equally likely to be chosen; at least 1.
    pub servers: u32,
}
