//! A report of an application, with its group and user.

use std::ops::Deref;

/// A report by the application of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported<T> {
    /// Index of the user's group in the scenario.
    pub group: u16,
    /// The user, numbered over all groups.
    pub user: u32,
    pub report: T,
}

impl<T> Deref for Reported<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.report
    }
}
