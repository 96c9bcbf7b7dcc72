//! One session: its pages, and the objects of each.

use std::sync::Arc;

use packet::{Duration, Instant, Rng};

use super::{GapFrom, Sessions};
use crate::distribution::{Distribution, whole_bytes};
use crate::web::page::Page;
use crate::{Action, App, AppCx, Closes, Input};

/// A session's streams of random numbers: one for every variable.
#[derive(Debug)]
struct Streams {
    server: Rng,
    files: Rng,
    packets: Rng,
    request: Rng,
    object_gap: Rng,
    think: Rng,
}

/// A page of which something is still to be requested or to arrive.
#[derive(Debug)]
struct Fetching {
    /// Number of the page in its session.
    serial: u32,
    server: u32,
    /// Number of objects not requested yet.
    left: u32,
    /// Number of objects requested that have not arrived.
    waiting: u32,
    /// Time at which the next object is requested.
    next: Instant,
    page: Page,
}

/// A session: its pages come one after the other, from a server drawn for each.
///
/// Every object has a connection of its own, which its server closes, and is requested an interval
/// after the one before, whatever became of that. A page is over when each of its objects has
/// arrived or was given up. Every variable of every session has its own stream of random
/// numbers.
#[derive(Debug)]
pub struct Session {
    sessions: Arc<Sessions>,
    streams: Streams,
    begins: Duration,
    pages_left: u32,
    next_serial: u32,
    /// When the next page begins; [`Instant::NEVER`] while that is not known.
    next_page: Instant,
    pages: Vec<Fetching>,
    /// The page of each connection in use, by its number.
    open: Vec<Option<u32>>,
}

/// A drawn number of things, rounded up, at least 1.
fn rounded_up(of: &dyn Distribution, rng: &mut Rng) -> u32 {
    let drawn = of.sample(rng);
    (drawn as u32).saturating_add(u32::from(drawn.fract() > 0.0)).max(1)
}

impl Session {
    /// Session number `index` of the group called `group` in run `seed`.
    pub fn new(
        sessions: Arc<Sessions>,
        begins: Duration,
        seed: u64,
        group: &str,
        index: u64,
    ) -> Self {
        let stream = |variable: &str| Rng::indexed(seed, &format!("{group}.{variable}"), index);
        let streams = Streams {
            server: stream("server"),
            files: stream("files"),
            packets: stream("packets"),
            request: stream("request"),
            object_gap: stream("object_gap"),
            think: stream("think"),
        };
        Session {
            pages_left: rounded_up(sessions.pages.as_ref(), &mut stream("pages")),
            sessions,
            streams,
            begins,
            next_serial: 0,
            next_page: Instant::NEVER,
            pages: Vec::new(),
            open: Vec::new(),
        }
    }

    fn begin_page(&mut self, cx: &mut AppCx) {
        self.pages_left -= 1;
        self.next_page = Instant::NEVER;
        let Streams { server, files, .. } = &mut self.streams;
        self.pages.push(Fetching {
            serial: self.next_serial,
            server: server.below(u64::from(self.sessions.servers)) as u32,
            left: rounded_up(self.sessions.files.as_ref(), files),
            waiting: 0,
            next: cx.now,
            page: Page::new(cx.now),
        });
        self.next_serial += 1;
        self.ask(self.pages.len() - 1, cx);
        (cx.act)(Action::PageBegins);
        if self.sessions.gap_from == GapFrom::Start {
            self.plan_page(cx);
        }
    }

    /// Schedules a wake-up for the next page, if there is one.
    fn plan_page(&mut self, cx: &mut AppCx) {
        if self.pages_left > 0 {
            let gap = self.sessions.think.sample(&mut self.streams.think);
            self.next_page = cx.now + Duration::from_secs_f64(gap);
            (cx.act)(Action::WakeAt(self.next_page));
        }
    }

    /// Requests the next object of a page, and schedules a wake-up for the one after it.
    fn ask(&mut self, place: usize, cx: &mut AppCx) {
        let Sessions { packets, packet, request, object_gap, .. } = &*self.sessions;
        let packets = rounded_up(packets.as_ref(), &mut self.streams.packets);
        let reply_bytes = u64::from(packets) * u64::from(*packet);
        let bytes = whole_bytes(request.sample(&mut self.streams.request), 1.0);
        let fetching = &mut self.pages[place];
        fetching.left -= 1;
        fetching.waiting += 1;
        fetching.page.asks(reply_bytes);
        if fetching.left > 0 {
            let gap = object_gap.sample(&mut self.streams.object_gap);
            fetching.next = cx.now + Duration::from_secs_f64(gap);
            (cx.act)(Action::WakeAt(fetching.next));
        }
        let (peer, serial) = (fetching.server, fetching.serial);
        let conn = self.take_number(serial);
        (cx.act)(Action::Open { conn, peer, closes: Closes::Acceptor });
        (cx.act)(Action::Send { conn, bytes, reply_bytes, service: Duration::ZERO });
    }

    /// Takes the lowest connection number that is not in use, for page `serial`.
    fn take_number(&mut self, serial: u32) -> u32 {
        let free = self.open.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.open[number] = Some(serial);
        number as u32
    }

    /// Handles an object that has arrived or was given up.
    fn done(&mut self, conn: u32, failed: bool, cx: &mut AppCx) {
        let Some(serial) = self.open.get_mut(conn as usize).and_then(Option::take) else { return };
        let place = self.pages.iter().position(|fetching| fetching.serial == serial);
        let Some(place) = place else { return };
        let fetching = &mut self.pages[place];
        fetching.waiting -= 1;
        fetching.page.done(cx.now, failed);
        if fetching.left == 0 && fetching.waiting == 0 {
            (cx.act)(fetching.page.ends());
            self.pages.remove(place);
            if self.sessions.gap_from == GapFrom::End {
                self.plan_page(cx);
            }
        }
    }

    fn woke(&mut self, cx: &mut AppCx) {
        if self.next_page <= cx.now {
            self.begin_page(cx);
        }
        for place in 0..self.pages.len() {
            let fetching = &self.pages[place];
            if fetching.left > 0 && fetching.next <= cx.now {
                self.ask(place, cx);
            }
        }
    }
}

impl App for Session {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => {
                self.next_page = cx.now + self.begins;
                (cx.act)(Action::WakeAt(self.next_page));
            }
            Input::Woke => self.woke(cx),
            Input::Replied { conn } => self.done(conn, false, cx),
            Input::Failed { conn } => self.done(conn, true, cx),
            Input::Sent { .. } | Input::Received { .. } | Input::Opened { .. } => {}
        }
    }
}
