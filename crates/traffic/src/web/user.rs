//! One web user.
//!
//! B. A. Mah, *An empirical model of HTTP network traffic*, INFOCOM 1997: pages of files, runs of
//! pages from one server, thinking in between. What the paper leaves open is ours: the start
//! instant, the uniform choice of a server, when a connection slot is free again. Persistent
//! connections follow the elements that F. D. Smith, F. Hernández-Campos, K. Jeffay and D. Ott,
//! *What TCP/IP protocol headers can tell us about the web*, SIGMETRICS 2001, name.

mod multiplex;
mod rare;

use std::sync::Arc;

use packet::{Duration, Instant, Rng};

use self::rare::Rare;
use super::page::Page;
use super::start::Streams;
use super::{FRAME, Persistence, Sharing, UserModel};
use crate::distribution::{whole_bytes, whole_count};
use crate::{Action, App, AppCx, Closes, Input, Writing};

/// Number of connection numbers that a user has.
const NUMBERS: u32 = 64;

/// The state of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits to be woken for the next page, or to close an idle connection.
    Thinking,
    /// Waits for the first reply of a page.
    First,
    /// Parses the page's first reply, before it requests the other files.
    Parsing,
    /// Fetches the other files.
    Rest,
}

/// A user who fetches pages of files and thinks between pages.
///
/// * The first page begins as [`Start`](super::Start) says.
/// * A stay at a server, chosen uniformly, lasts a drawn number of pages. It is decided at its
///   beginning whether its files share connections.
/// * The first file of a page is fetched alone; when it has arrived (and been parsed) the others
///   follow in order, each on a new connection, at most `parallel` at once. A slot is free when the
///   last reply byte has arrived, or when the server has closed the connection
///   ([`UserModel::to_end_of_file`](super::UserModel::to_end_of_file)). A file whose connection
///   failed counts as fetched.
/// * In a persistent stay a file goes on an idle connection of the stay, or on a new one while
///   there are fewer than [`Persistence::parallel`]. With pipelining the files are dealt out
///   evenly: a connection that has had a reply gets its part at once, a new one the rest of its
///   part after its first reply. The client closes a connection that has been idle for long or is
///   used up, and all at the end of the stay.
/// * Where other servers supply files of the page, these go on new connections of their own.
/// * With multiplexing (HTTP/2) all files but the first are requested at once, on one connection to
///   each server: the stay's, which lasts, and one for the page to each of the others.
/// * The user thinks from the last reply of a page on
///   ([`UserModel::thinks_from_page`](super::UserModel::thinks_from_page): from its beginning).
///
/// Every variable of every user has its own stream of random numbers, so that a change of one
/// variable, or of another user, leaves the draws of the others as they are.
#[derive(Debug)]
pub struct User {
    model: Arc<UserModel>,
    streams: Streams,
    /// State that only some models need.
    rare: Option<Box<Rare>>,
    state: State,
    /// Whether the files that the user fetches from this server share connections.
    persistent: bool,
    /// Bit `c` is set while connection `c` waits for a reply.
    busy: u64,
    server: u32,
    /// Number of pages still to begin at this server.
    pages_left: u32,
    /// Number of files of this page not requested yet from this server.
    files_left: u32,
    /// When the next page begins; before the run, the time from its start to the first page.
    next_page: Instant,
    page: Page,
}

impl User {
    /// User number `index` of the group called `group` in run `seed`.
    ///
    /// # Panics
    /// If the model allows no connection, more than 64 or none to any server.
    pub fn new(model: Arc<UserModel>, seed: u64, group: &str, index: u64) -> Self {
        let kept = model.persistence.as_ref().map_or(0, |p| p.parallel);
        assert!(
            model.parallel >= 1 && kept <= model.parallel && model.parallel <= NUMBERS,
            "1 to 64 connections, not {} and {kept} persistent ones",
            model.parallel
        );
        assert!(model.servers > 0, "a web user needs a server");
        let family = Rng::named(seed, group).called(".");
        let stream = |variable: &str| family.called(variable).member(index);
        let starts_after = model.start.after(&model, &mut stream("start"));
        User {
            rare: Rare::needed(&model).then(|| Box::new(Rare::new(stream))),
            streams: Streams::new(stream),
            model,
            state: State::Thinking,
            persistent: false,
            busy: 0,
            server: 0,
            pages_left: 0,
            files_left: 0,
            next_page: Instant::ZERO + starts_after,
            page: Page::new(Instant::ZERO),
        }
    }

    fn begin_page(&mut self, cx: &mut AppCx) {
        if self.pages_left == 0 {
            self.begin_stay();
        }
        self.pages_left -= 1;
        let files = whole_count(self.model.files.sample(&mut self.streams.files));
        self.files_left = files;
        if self.model.page_servers.is_some() {
            self.choose_others(files);
        }
        self.state = State::First; // the others wait until the first is done
        self.page = Page::new(cx.now);
        self.fetch(cx);
        if self.model.browses {
            (cx.act)(Action::PageBegins);
        }
    }

    fn begin_stay(&mut self) {
        self.server = self.streams.server.below(u64::from(self.model.servers)) as u32;
        self.pages_left = whole_count(self.model.pages.sample(&mut self.streams.pages));
        if let Some(Persistence { share, .. }) = self.model.persistence {
            self.persistent = self.rare().streams.persistent.uniform() < share;
        }
    }

    /// Requests the next file from the stay's server.
    fn fetch(&mut self, cx: &mut AppCx) {
        self.files_left -= 1;
        if !self.persistent {
            return self.fetch_alone(self.server, cx);
        }
        let place = self.rare().open.idle().unwrap_or_else(|| self.open_kept(self.server, cx));
        self.ask(place, cx);
    }

    /// Opens a connection for one file; the server closes it.
    fn fetch_alone(&mut self, peer: u32, cx: &mut AppCx) {
        let conn = self.free_number();
        self.busy |= 1 << conn;
        let to_end = self.model.to_end_of_file;
        let closes = if to_end { Closes::AcceptorToEnd } else { Closes::Acceptor };
        (cx.act)(Action::Open { conn, peer, closes });
        self.send(conn, cx);
    }

    /// The lowest connection number that is not in use.
    fn free_number(&self) -> u32 {
        self.numbers().trailing_ones()
    }

    /// A mask in which bit `c` is set while connection number `c` is in use.
    fn numbers(&self) -> u64 {
        self.busy | self.rare.as_ref().map_or(0, |rare| rare.open.numbers())
    }

    /// The state that only some models need; the model must be one of them.
    fn rare(&mut self) -> &mut Rare {
        self.rare.as_mut().expect("only models that need it ask for it")
    }

    /// Opens a connection that the stay keeps.
    fn open_kept(&mut self, peer: u32, cx: &mut AppCx) -> usize {
        let limit = self.persistence().requests.clone();
        let streams = &mut self.rare().streams;
        let room = limit.map_or(u32::MAX, |d| whole_count(d.sample(&mut streams.limit)));
        let conn = self.free_number();
        (cx.act)(Action::Open { conn, peer, closes: Closes::Opener });
        if let Sharing::Multiplexed { independent, .. } = self.persistence().sharing {
            (cx.act)(Action::Multiplex { conn, writing: Writing::when_ready(FRAME), independent });
        }
        self.rare().open.add(conn, room, cx.now)
    }

    fn persistence(&self) -> &Persistence {
        self.model.persistence.as_ref().expect("only persistent stays keep connections")
    }

    /// Sends one request on a kept connection.
    fn ask(&mut self, place: usize, cx: &mut AppCx) {
        let kept = self.rare().open.at(place);
        kept.waiting += 1;
        kept.room -= 1;
        let conn = u32::from(kept.conn);
        self.busy |= 1 << conn;
        self.send(conn, cx);
    }

    fn send(&mut self, conn: u32, cx: &mut AppCx) {
        let UserModel { request, reply, embedded, service, reply_scale, .. } = &*self.model;
        let first = self.state == State::First;
        let of = if first { reply } else { embedded.as_ref().unwrap_or(reply) };
        let bytes = whole_bytes(request.sample(&mut self.streams.request), 1.0);
        let reply_bytes = whole_bytes(of.sample(&mut self.streams.reply), *reply_scale);
        let service = match (service, &mut self.rare) {
            (Some(service), Some(rare)) => service.sample(&mut rare.streams.service),
            _ => 0.0,
        };
        let service = Duration::from_secs_f64(service);
        self.page.asks(reply_bytes);
        (cx.act)(Action::Send { conn, bytes, reply_bytes, service });
    }

    /// Handles the end of a request: a reply has arrived or, if `failed`, none will.
    fn file_is_done(&mut self, conn: u32, failed: bool, cx: &mut AppCx) {
        if let Some(place) = self.rare.as_ref().and_then(|rare| rare.open.find(conn)) {
            let busy = self.rare().open.at(place).waiting > 0;
            if failed {
                self.kept_failed(place)
            } else {
                self.kept_replied(place, cx)
            }
            if !busy {
                return; // the connection failed while idle
            }
        } else {
            let bit = 1u64.checked_shl(conn).unwrap_or(0);
            if self.busy & bit == 0 {
                return; // A connection that failed after its reply is not in use.
            }
            self.busy ^= bit;
        }
        self.page.done(cx.now, failed);
        match self.state {
            State::First => self.parse(cx),
            State::Rest => self.go_on(cx),
            State::Parsing | State::Thinking => {}
        }
    }

    fn kept_failed(&mut self, place: usize) {
        let kept = self.rare().open.remove(place);
        self.busy &= !(1 << kept.conn);
        self.files_left += kept.queued;
    }

    fn kept_replied(&mut self, place: usize, cx: &mut AppCx) {
        let one_for_one = self.streams_at_once().is_some();
        let kept = self.rare().open.at(place);
        kept.waiting -= 1;
        kept.seasoned = true;
        let follow = if one_for_one { kept.queued.min(1) } else { kept.queued };
        kept.queued -= follow;
        for _ in 0..follow {
            self.ask(place, cx);
        }
        let kept = self.rare().open.at(place);
        if kept.waiting == 0 {
            kept.idle_since = cx.now;
            let (conn, used_up) = (u32::from(kept.conn), kept.room == 0 || kept.for_page);
            self.busy &= !(1 << conn);
            if used_up {
                self.rare().open.remove(place);
                (cx.act)(Action::Close { conn });
            }
        }
    }

    /// Parses the first file of a page, which has arrived.
    fn parse(&mut self, cx: &mut AppCx) {
        let Some(parse) = &self.model.parse else { return self.fetch_rest(cx) };
        let streams = &mut self.rare.as_mut().expect("a model that parses has it").streams;
        let pause = parse.sample(&mut streams.parse);
        self.state = State::Parsing;
        (cx.act)(Action::WakeAt(cx.now + Duration::from_secs_f64(pause)));
    }

    fn fetch_rest(&mut self, cx: &mut AppCx) {
        self.state = State::Rest;
        if self.persistent && self.persistence().sharing == Sharing::Pipelined {
            self.deal(cx);
        }
        self.go_on(cx);
    }

    /// With pipelining: hands every connection its part of the page.
    fn deal(&mut self, cx: &mut AppCx) {
        let connections = self.persistence().parallel.min(self.files_left);
        for dealt in 0..connections {
            let part = self.files_left.div_ceil(connections - dealt);
            let place = if (dealt as usize) < self.rare().open.len() {
                dealt as usize
            } else {
                self.open_kept(self.server, cx)
            };
            let kept = self.rare().open.at(place);
            let part = part.min(kept.room).min(u32::from(u16::MAX));
            let at_once = if kept.seasoned { part } else { 1 };
            kept.queued = part - at_once;
            self.files_left -= part;
            for _ in 0..at_once {
                self.ask(place, cx);
            }
        }
    }

    /// Sends every request that may be sent. If no file is left or in flight, the user thinks.
    fn go_on(&mut self, cx: &mut AppCx) {
        if let Some(streams) = self.streams_at_once() {
            self.ask_for_all(streams, cx);
        }
        while self.busy.count_ones() < self.model.parallel {
            if self.files_left > 0 && self.may_fetch() {
                self.fetch(cx);
            } else if let Some(peer) = self.next_other() {
                self.fetch_alone(peer, cx);
            } else {
                break;
            }
        }
        if self.busy == 0 {
            self.think(cx);
        }
    }

    /// Whether a connection for a file of the stay's server is there or may be opened.
    fn may_fetch(&self) -> bool {
        let Some(rare) = self.rare.as_ref().filter(|_| self.persistent) else {
            return self.has_number();
        };
        let room = (rare.open.len() as u32) < self.persistence().parallel;
        rare.open.idle().is_some() || (room && self.has_number())
    }

    fn has_number(&self) -> bool {
        self.numbers() != u64::MAX
    }

    fn think(&mut self, cx: &mut AppCx) {
        if self.model.browses {
            (cx.act)(self.page.ends());
        }
        self.state = State::Thinking;
        let pause = self.model.think.sample(&mut self.streams.think);
        let from = if self.model.thinks_from_page { self.page.began() } else { cx.now };
        self.next_page = cx.now.max(from + Duration::from_secs_f64(pause));
        if let Some(rare) = self.rare.as_mut().filter(|_| self.pages_left == 0) {
            while let Some(kept) = rare.open.pop() {
                (cx.act)(Action::Close { conn: u32::from(kept.conn) });
            }
        }
        self.sleep(cx);
    }

    /// Schedules a wake-up for the next page, or earlier to close a connection that idles too long.
    fn sleep(&mut self, cx: &mut AppCx) {
        let limit = self.model.persistence.as_ref().map_or(Duration::ZERO, |p| p.idle);
        let rare = self.rare.as_ref().filter(|_| limit > Duration::ZERO);
        let stale = rare.and_then(|rare| rare.open.next_stale(limit));
        // A connection may have been idle for longer while the page was fetched over another.
        let at = stale.map_or(self.next_page, |at| at.min(self.next_page));
        (cx.act)(Action::WakeAt(at.max(cx.now)));
    }

    /// Handles a wake-up while the user thinks.
    fn wake(&mut self, cx: &mut AppCx) {
        if cx.now >= self.next_page {
            return self.begin_page(cx);
        }
        let limit = self.model.persistence.as_ref().map_or(Duration::ZERO, |p| p.idle);
        if let Some(rare) = &mut self.rare {
            while let Some(kept) = rare.open.take_stale(cx.now, limit) {
                (cx.act)(Action::Close { conn: u32::from(kept.conn) });
            }
        }
        self.sleep(cx);
    }
}

impl App for User {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match (input, self.state) {
            (Input::Start, _) => {
                let first = std::mem::take(&mut self.next_page).since(Instant::ZERO);
                (cx.act)(Action::WakeAt(cx.now + first));
            }
            (Input::Woke, State::Thinking) => self.wake(cx),
            (Input::Woke, State::Parsing) => self.fetch_rest(cx),
            (Input::Replied { conn }, _) => self.file_is_done(conn, false, cx),
            (Input::Failed { conn }, _) => self.file_is_done(conn, true, cx),
            (
                Input::Woke | Input::Sent { .. } | Input::Received { .. } | Input::Opened { .. },
                _,
            ) => {}
        }
    }
}
