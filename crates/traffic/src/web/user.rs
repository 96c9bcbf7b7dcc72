//! One web user of Mah's model.
//!
//! B. A. Mah, *An empirical model of HTTP network traffic*, INFOCOM 1997: pages of files, runs of
//! pages from one server, thinking in between. What the paper leaves open is ours: the start
//! instant, the uniform choice of a server, when a connection slot is free again.

use std::sync::Arc;

use packet::{Duration, Instant, Rng};

use super::Habits;
use crate::distribution::{residual, whole_bytes, whole_count};
use crate::{Action, App, AppCx, Closes, Input};

/// When users begin their first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At an instant uniform over one mean think time: nobody is in a long pause at first, so
    /// the load starts above its mean and settles within some of the longest think times.
    Spread,
    /// In the middle of a pause as a long-running population is met: the load is at its mean
    /// from the beginning.
    Stationary,
}

impl Start {
    fn after(self, habits: &Habits, rng: &mut Rng) -> Duration {
        Duration::from_secs_f64(match self {
            Start::Spread => habits.think.mean() * rng.uniform(),
            Start::Stationary => residual(habits.think.as_ref(), rng),
        })
    }
}

/// A user who fetches pages of files, one new connection per file, and thinks between pages.
///
/// * The first page begins as [`Start`] says.
/// * A stay at a server, chosen uniformly, lasts a drawn number of pages.
/// * The first file of a page is fetched alone; when it has arrived the others follow in order,
///   at most `parallel` at once. A slot is free when the last reply byte has arrived, not when the
///   connection has closed. A file whose connection failed counts as fetched.
/// * The user thinks from the last reply of a page on.
///
/// Every variable has its own stream, so changing one leaves the draws of the others alone; every
/// user has its own streams, so other users do not matter either.
#[derive(Debug)]
pub struct User {
    habits: Arc<Habits>,
    starts_after: Duration,
    streams: Streams,
    /// Bit `c` is set while connection `c` waits for its reply.
    open: u64,
    server: u32,
    /// Pages still to begin at this server.
    pages_left: u32,
    /// Files of this page still to ask for.
    files_left: u32,
    /// Waiting to be woken for the next page.
    thinking: bool,
}

#[derive(Debug)]
struct Streams {
    server: Rng,
    pages: Rng,
    files: Rng,
    request: Rng,
    reply: Rng,
    think: Rng,
}

impl User {
    /// User number `index` of the group called `group` in run `seed`.
    ///
    /// # Panics
    /// If `habits.parallel` is not within 1 to 64 or there is no server.
    pub fn new(habits: Arc<Habits>, seed: u64, group: &str, index: u64) -> Self {
        assert!(
            (1..=64).contains(&habits.parallel),
            "1 to 64 connections, not {}",
            habits.parallel
        );
        assert!(habits.servers > 0, "a web user needs a server");
        let stream = |variable: &str| Rng::indexed(seed, &format!("{group}.{variable}"), index);
        let starts_after = habits.start.after(&habits, &mut stream("start"));
        User {
            habits,
            starts_after,
            streams: Streams {
                server: stream("server"),
                pages: stream("pages"),
                files: stream("files"),
                request: stream("request"),
                reply: stream("reply"),
                think: stream("think"),
            },
            open: 0,
            server: 0,
            pages_left: 0,
            files_left: 0,
            thinking: true,
        }
    }

    fn begin_page(&mut self, cx: &mut AppCx) {
        if self.pages_left == 0 {
            self.server = self.streams.server.below(u64::from(self.habits.servers)) as u32;
            self.pages_left = whole_count(self.habits.pages.sample(&mut self.streams.pages));
        }
        self.pages_left -= 1;
        self.files_left = whole_count(self.habits.files.sample(&mut self.streams.files));
        self.thinking = false;
        self.fetch(cx); // alone: the others wait until it is done
    }

    /// Asks for the next file on the lowest free connection number.
    fn fetch(&mut self, cx: &mut AppCx) {
        let conn = self.open.trailing_ones();
        self.open |= 1 << conn;
        self.files_left -= 1;
        let request = self.habits.request.sample(&mut self.streams.request);
        let reply = self.habits.reply.sample(&mut self.streams.reply);
        (cx.act)(Action::Open { conn, peer: self.server, closes: Closes::Acceptor });
        (cx.act)(Action::Send {
            conn,
            bytes: whole_bytes(request, 1.0),
            reply_bytes: whole_bytes(reply, self.habits.reply_scale),
        });
    }

    /// The file on `conn` has come, or never will.
    fn file_is_done(&mut self, conn: u32, cx: &mut AppCx) {
        let bit = 1u64.checked_shl(conn).unwrap_or(0);
        if self.open & bit == 0 {
            return; // A connection that fails after its reply is no longer ours.
        }
        self.open ^= bit;
        while self.files_left > 0 && self.open.count_ones() < self.habits.parallel {
            self.fetch(cx);
        }
        if self.open == 0 {
            self.think(cx.now, cx);
        }
    }

    fn think(&mut self, from: Instant, cx: &mut AppCx) {
        self.thinking = true;
        let pause = self.habits.think.sample(&mut self.streams.think);
        (cx.act)(Action::WakeAt(from + Duration::from_secs_f64(pause)));
    }
}

impl App for User {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => (cx.act)(Action::WakeAt(cx.now + self.starts_after)),
            Input::Woke if self.thinking => self.begin_page(cx),
            Input::Replied { conn } | Input::Failed { conn } => self.file_is_done(conn, cx),
            Input::Woke | Input::Sent { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_users_fit_in_little_memory() {
        // With the box's pointer pair a host keeps per user.
        assert!(size_of::<User>() + size_of::<Box<dyn App>>() <= 160, "{}", size_of::<User>());
    }
}
