//! What an application reports about a page.

use packet::Instant;

use crate::Action;

/// The record of a page that is being fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    began: Instant,
    /// Time of the last arrival or failure of one of the page's files.
    last: Instant,
    bytes: u64,
    objects: u32,
    failed: bool,
}

impl Page {
    /// A page of which nothing has been requested yet.
    pub fn new(began: Instant) -> Self {
        Page { began, last: began, bytes: 0, objects: 0, failed: false }
    }

    /// Time at which the first file of the page was requested.
    pub fn began(&self) -> Instant {
        self.began
    }

    pub fn asks(&mut self, reply_bytes: u64) {
        self.objects += 1;
        self.bytes += reply_bytes;
    }

    /// Records that one of the page's files has arrived or failed.
    pub fn done(&mut self, now: Instant, failed: bool) {
        self.last = now;
        self.failed |= failed;
    }

    pub fn ends(&self) -> Action {
        let Page { began, last: ended, bytes, objects, failed } = *self;
        Action::PageEnds { began, ended, objects, bytes, failed }
    }
}
