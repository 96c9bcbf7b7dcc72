//! A host without a network: replies come after a time that the script says.

pub mod network;
pub mod sample;

use std::collections::BTreeMap;

use aqmlab_traffic::{Action, App, AppCx, Closes, Input};
use packet::{Duration, Instant};

/// One file that the application asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    pub page: usize,
    pub peer: u32,
    pub request: u64,
    pub reply: u64,
    pub requested: Instant,
    pub done: Instant,
    /// Connections open when this one had been opened, itself included.
    pub open: usize,
}

/// How a file ends.
pub struct Outcome {
    pub after: Duration,
    pub fails: bool,
}

/// Carries out an application's wishes until it has begun enough pages.
pub struct Host<'a> {
    app: &'a mut dyn App,
    script: &'a mut dyn FnMut(usize, &Fetch) -> Outcome,
    now: Instant,
    wake: Option<Instant>,
    /// Connections in use: the fetch, when it ends, and whether it fails then.
    open: BTreeMap<u32, (usize, Instant, bool)>,
    /// Everything asked for so far.
    pub fetches: Vec<Fetch>,
    /// Instants at which pages began.
    pub pages: Vec<Instant>,
    /// Pages that are over.
    pub ended: usize,
}

impl<'a> Host<'a> {
    /// Runs `app` until it is about to begin page number `pages`.
    pub fn run(
        app: &'a mut dyn App,
        pages: usize,
        script: &'a mut dyn FnMut(usize, &Fetch) -> Outcome,
    ) -> Self {
        let (now, wake, open) = (Instant::ZERO, None, BTreeMap::new());
        let mut host =
            Host { app, script, now, wake, open, fetches: vec![], pages: vec![], ended: 0 };
        host.notify(Input::Start);
        while host.step(pages) {}
        host
    }

    /// Handles what happens next. False when enough pages have been done.
    fn step(&mut self, pages: usize) -> bool {
        let next = self.open.iter().map(|(&conn, &(_, at, _))| (at, conn)).min();
        if let Some((at, conn)) = next {
            assert_eq!(self.wake, None, "a user does not think while files are on their way");
            let (fetch, _, fails) = self.open.remove(&conn).unwrap();
            self.now = at;
            self.fetches[fetch].done = at;
            self.notify(if fails { Input::Failed { conn } } else { Input::Replied { conn } });
            return true;
        }
        self.now = self.wake.take().expect("a user without open files has asked to be woken");
        if self.pages.len() == pages {
            return false;
        }
        self.pages.push(self.now);
        self.notify(Input::Woke);
        true
    }

    /// Hands over `input` and carries out the answer.
    fn notify(&mut self, input: Input) {
        let mut wishes = Vec::new();
        self.app.on(input, &mut AppCx { now: self.now, act: &mut |wish| wishes.push(wish) });
        let mut wishes = wishes.into_iter();
        while let Some(wish) = wishes.next() {
            match wish {
                Action::WakeAt(at) => assert_eq!(self.wake.replace(at), None),
                Action::Open { conn, peer, closes } => {
                    assert_eq!(closes, Closes::Acceptor);
                    let Some(Action::Send { conn: on, bytes, reply_bytes, .. }) = wishes.next()
                    else {
                        panic!("a request follows each opening")
                    };
                    assert_eq!(on, conn);
                    self.fetch(conn, peer, bytes, reply_bytes);
                }
                Action::PageBegins => assert_eq!(self.ended + 1, self.pages.len()),
                Action::PageEnds { .. } => self.ended += 1,
                other => panic!("a web user never says {other:?}"),
            }
        }
    }

    fn fetch(&mut self, conn: u32, peer: u32, request: u64, reply: u64) {
        let number = self.fetches.len();
        let (requested, done) = (self.now, Instant::NEVER);
        let (page, open) = (self.pages.len() - 1, self.open.len() + 1);
        let fetch = Fetch { page, peer, request, reply, requested, done, open };
        let outcome = (self.script)(number, &fetch);
        let taken = self.open.insert(conn, (number, requested + outcome.after, outcome.fails));
        assert_eq!(taken, None, "connection number {conn} is in use");
        self.fetches.push(fetch);
    }
}

/// Replies come 100 ms plus 1 ms per 100 bytes after the request.
pub fn by_size(_number: usize, fetch: &Fetch) -> Outcome {
    Outcome { after: Duration::from_micros(100_000 + 10 * fetch.reply), fails: false }
}
