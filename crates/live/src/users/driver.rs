//! The event loop of a program of users: waits for sockets and timers, and dispatches their events.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use packet::Instant;
use record::Window;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, acceptfrom_with, recv, send};
use sim::topology::Side;

use super::acceptor::Plan;
use super::clock::Clock;
use super::facts::{ConnectionId, Fact, Log};
use super::kernel::TcpCounters;
use super::partner::{Partner, PartnerMessage};
use super::places::{Places, Ports};
use super::slots::Slots;
pub(super) use super::slots::{Place, Slot};
use super::sources::{Groups, Source};
use super::streams::Streams;
use super::timers::{Timer, Timers};
use super::{Channels, GRACE, Task, sockets};
use crate::clock::thread_cpu;
use crate::control::{Announcement, LONGEST, Message};

const PARTNER: Place = 0;

/// State of a program of users.
pub(super) struct Driver {
    pub epoll: Arc<OwnedFd>,
    pub clock: Clock,
    pub now: Instant,
    slots: Slots,
    pub timers: Timers,
    pub groups: Groups,
    pub sources: Vec<Source>,
    pub streams: Streams,
    pub ports: Ports,
    pub places: Places,
    pub side: Side,
    pub pair: u8,
    pub window: Window,
    pub measuring: bool,
    pub log: Log,
    pub partner: Partner,
    router: Option<OwnedFd>,
    /// Plans of announced connections that have not arrived, by their source address.
    pub plans: HashMap<SocketAddr, Plan>,
    /// Connections that arrived before the partner announced them, by their source address.
    pub unplanned: HashMap<SocketAddr, Place>,
    /// Whether each announced connection has arrived, and its slot, by its number.
    pub expected: HashMap<ConnectionId, Expected>,
    pub scratch: Vec<u8>,
    next_serial: u64,
    /// The current second, and the payload bytes that arrived in it by group; only if goodput is
    /// recorded.
    goodput: Option<(u64, Vec<u64>)>,
    counters: TcpCounters,
}

/// Whether an announced connection has arrived, and where to find it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    /// The connection has not arrived yet; its source address.
    From(SocketAddr),
    /// The connection has arrived; the handle of its slot.
    At(Place),
}

impl Driver {
    pub fn new(task: &Task, channels: Channels) -> io::Result<Driver> {
        let scenario = &task.scenario;
        let groups = Groups::new(task).map_err(io::Error::other)?;
        let sources = groups.sources(task);
        let count = scenario.traffic.len();
        let mut driver = Driver {
            epoll: Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?),
            clock: Clock::new(0),
            now: Instant::ZERO,
            slots: Slots::default(),
            timers: Timers::default(),
            groups,
            sources,
            streams: Streams::default(),
            ports: Ports::default(),
            places: task.places,
            side: task.side,
            pair: task.pair.0,
            window: scenario.window(),
            measuring: false,
            log: Log::create(&task.log)?,
            partner: Partner::new(channels.partner),
            router: channels.router,
            plans: HashMap::new(),
            unplanned: HashMap::new(),
            expected: HashMap::new(),
            scratch: vec![0; 1 << 18],
            next_serial: 0,
            goodput: scenario.record.switch("goodput").then(|| (0, vec![0; count])),
            counters: TcpCounters::default(),
        };
        let place = driver.slots.place(Slot::Partner);
        debug_assert_eq!(place, PARTNER);
        let event = EventData::new_u64(PARTNER);
        epoll::add(&*driver.epoll, driver.partner.fd(), event, EventFlags::IN)?;
        driver.listen(task)?;
        Ok(driver)
    }

    /// Opens the server sockets of this side for groups whose applications are on the other side.
    fn listen(&mut self, task: &Task) -> io::Result<()> {
        let machines = task.scenario.network.whole(self.side.name()) as u32;
        for (number, group) in (0..).zip(&task.scenario.traffic) {
            if group.side() == self.side {
                continue;
            }
            let dscp = self.groups.at(number).group.dscp;
            let served = |machine| self.places.served(self.side, machine, self.pair, number);
            if group.entry.datagrams {
                let all: Vec<OwnedFd> = (0..machines)
                    .map(|machine| sockets::datagrams(served(machine), dscp))
                    .collect::<Result<_, _>>()?;
                for (machine, socket) in (0..).zip(all) {
                    let at = self.places.served(self.side, machine, self.pair, number);
                    self.streams.serve(at, socket.try_clone()?, dscp);
                    self.watch(Slot::Datagrams(socket, number), EventFlags::IN)?;
                }
            } else {
                // With several pairs, each has and listens at its own address of every machine.
                let options = self.groups.at(number).options.clone();
                let machines = if task.pair.1 > 1 || matches!(self.places, Places::Loopback(_)) {
                    (0..machines).map(served).collect()
                } else {
                    vec![self.places.listening(number)]
                };
                for at in machines {
                    let socket = sockets::listener(at, &options, dscp)?;
                    self.watch(Slot::Listener(socket, number), EventFlags::IN)?;
                }
            }
        }
        Ok(())
    }

    /// The slot of a handle; `None` if it was freed.
    pub fn at(&mut self, place: Place) -> Option<&mut Slot> {
        self.slots.at(place)
    }

    /// Frees a slot for another use.
    pub fn free(&mut self, place: Place) {
        self.slots.free(place);
    }

    /// Stores a slot and watches its socket for events. Returns the slot's handle.
    pub fn watch(&mut self, slot: Slot, flags: EventFlags) -> io::Result<Place> {
        let place = self.slots.place(slot);
        let epoll = Arc::clone(&self.epoll);
        if let Some(socket) = self.at(place).and_then(|slot| slot.socket()) {
            epoll::add(&*epoll, socket, EventData::new_u64(place), flags)?;
        }
        Ok(place)
    }

    /// A new number, which no other connection or stream of the run has.
    pub fn next_id(&mut self) -> ConnectionId {
        self.next_serial += 1;
        let side = u64::from(crate::addresses::index(self.side));
        side << 62 | u64::from(self.pair) << 48 | self.next_serial
    }

    /// Announces a connection or stream to the router, if there is one.
    pub fn announce(&mut self, announcement: Announcement) -> io::Result<()> {
        let Some(router) = &self.router else { return Ok(()) };
        let (bytes, length) = Message::Announce(announcement).encode();
        send(router, &bytes[..length], SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Counts `bytes` of payload that reached a program for a group.
    pub fn arrived(&mut self, group: u16, bytes: u64) {
        let Some((second, sums)) = &mut self.goodput else { return };
        let now = self.now.nanos() / 1_000_000_000;
        if now != *second {
            let before = std::mem::replace(second, now);
            Self::note_goodput(&mut self.log, before, sums);
        }
        sums[usize::from(group)] += bytes;
    }

    fn note_goodput(log: &mut Log, second: u64, sums: &mut [u64]) {
        for (group, sum) in (0..).zip(sums) {
            let bytes = std::mem::take(sum);
            if bytes > 0 {
                log.note(&Fact::Arrived { at: second * 1_000_000_000, group, bytes });
            }
        }
    }

    /// Reports to the router that servers listen, and waits for the run's begin, in ns.
    pub fn wait_for_begin(&self) -> io::Result<u64> {
        let Some(router) = &self.router else {
            return Err(io::Error::other("there is no router to say when the run begins"));
        };
        let (bytes, length) = Message::Ready.encode();
        send(router, &bytes[..length], SendFlags::NOSIGNAL)?;
        let mut answer = [0; LONGEST];
        let (_, length) = recv(router, &mut answer[..], RecvFlags::empty())?;
        match Message::decode(&answer[..length]) {
            Some(Message::Begin(at)) => Ok(at),
            _ => Err(io::Error::other("the router ended before the run began")),
        }
    }

    /// Runs the applications from `begin` (ns of `CLOCK_MONOTONIC`) to the end of the run, then
    /// waits for late datagrams, and closes the log.
    pub fn run(mut self, begin: u64) -> io::Result<()> {
        self.clock = Clock::new(begin);
        self.timers.add(self.window.from, Timer::Measure);
        self.clock.sleep_until_begin();
        let idle = thread_cpu();
        for source in 0..self.sources.len() as u32 {
            if !self.groups.at(self.sources[source as usize].group).group.waits {
                self.notify(source, traffic::Input::Start, Instant::ZERO)?;
            }
        }
        let end = self.window.to;
        let partner = self.serve(end, true)?;
        self.now = end;
        let ns = thread_cpu().nanos() - idle.nanos();
        self.log.note(&Fact::Worked { side: crate::addresses::index(self.side), ns });
        self.end_run();
        if partner {
            self.serve(end + GRACE, false)?;
        }
        self.log.finish()
    }

    /// Serves events until an instant. While the run is `on`, that includes timers, connections and
    /// applications; after it only datagrams are received. Returns whether the partner still runs.
    fn serve(&mut self, until: Instant, on: bool) -> io::Result<bool> {
        let mut events: Vec<Event> = Vec::with_capacity(512);
        loop {
            self.now = self.clock.now();
            while on && let Some((due, timer)) = self.timers.take(self.now.min(until)) {
                self.expire(due, timer)?;
            }
            if self.now >= until {
                return Ok(true);
            }
            if self.partner.flush().is_err() {
                return Ok(false);
            }
            let next = self.timers.next().filter(|_| on).map_or(until, |at| at.min(until));
            let wait = self.clock.until(next);
            events.clear();
            match epoll::wait(
                &*self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&wait),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.now = self.clock.now();
            for event in &events {
                let (place, flags) = (event.data.u64(), event.flags);
                if place == PARTNER {
                    let Ok(words) = self.partner.receive() else { return Ok(false) };
                    for word in words {
                        self.on_message(word, on)?;
                    }
                } else {
                    self.happens(place, flags, on)?;
                }
            }
        }
    }

    fn expire(&mut self, due: Instant, timer: Timer) -> io::Result<()> {
        match timer {
            Timer::Wake(source) => self.notify(source, traffic::Input::Woke, due),
            Timer::Serve(place) => self.acceptor_reacts(place),
            Timer::Acknowledged(place) => self.look(place),
            Timer::Connect(place) => self.connect_expires(place),
            Timer::Begin(group) => self.begin_group(group),
            Timer::Measure => {
                self.begin_measuring();
                Ok(())
            }
        }
    }

    /// Handles events of the socket in a slot.
    fn happens(&mut self, place: Place, flags: EventFlags, on: bool) -> io::Result<()> {
        match self.at(place) {
            Some(Slot::Datagrams(..)) => self.read_datagrams(place, on),
            Some(Slot::Listener(..)) if on => self.accept(place),
            Some(Slot::Opener(_)) if on => self.opener_happens(place, flags),
            Some(Slot::Acceptor(_)) if on => self.acceptor_happens(place, flags),
            // The run is over: connections are left as they are.
            Some(Slot::Listener(..) | Slot::Opener(_) | Slot::Acceptor(_)) => self.unwatch(place),
            Some(Slot::Partner) | None => Ok(()),
        }
    }

    fn unwatch(&mut self, place: Place) -> io::Result<()> {
        let epoll = Arc::clone(&self.epoll);
        if let Some(socket) = self.at(place).and_then(|slot| slot.socket()) {
            epoll::delete(&*epoll, socket)?;
        }
        Ok(())
    }

    fn accept(&mut self, place: Place) -> io::Result<()> {
        loop {
            let Some(Slot::Listener(listener, group)) = self.at(place) else { return Ok(()) };
            let group = *group;
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match acceptfrom_with(listener, flags) {
                Ok((socket, Some(from))) => {
                    let from = SocketAddr::try_from(from).map_err(io::Error::from)?;
                    self.accepted(group, socket, from)?;
                }
                Ok((_, None)) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Handles a message of the partner program.
    fn on_message(&mut self, word: PartnerMessage, on: bool) -> io::Result<()> {
        match word {
            PartnerMessage::Received { stream, number, at, marked } if on => {
                self.on_forwarded(stream, number, at, marked)
            }
            PartnerMessage::SendDatagram(saying) if on => self.say_back(&saying),
            PartnerMessage::GroupActive { group, at } if on => {
                self.start_dependents(group, Instant::from_nanos(at));
                Ok(())
            }
            word if on => self.plan(word),
            _ => Ok(()),
        }
    }

    /// The measured interval begins.
    fn begin_measuring(&mut self) {
        self.measuring = true;
        self.counters = TcpCounters::read();
        for slot in self.slots.all() {
            match slot {
                Slot::Opener(of) => of.pipe.begin_measuring(),
                Slot::Acceptor(of) => of.pipe.begin_measuring(),
                _ => {}
            }
        }
        for source in &mut self.sources {
            source.app.measure(self.window.from);
        }
    }

    /// Logs the state of everything that is still open at the end of the run.
    fn end_run(&mut self) {
        if self.pair == 0 {
            self.log.note(&(TcpCounters::read() - self.counters).fact());
        }
        let (end, mut requests) = (self.now, 0);
        for slot in self.slots.all() {
            match slot {
                Slot::Opener(opener) => {
                    requests += opener.unanswered();
                    self.log.note(&opener.end(end, false));
                }
                Slot::Acceptor(acceptor) => {
                    acceptor.end(end, false).iter().for_each(|fact| self.log.note(fact));
                }
                _ => {}
            }
        }
        self.log.note(&Fact::Unanswered { requests });
        if let Some((second, sums)) = &mut self.goodput {
            Self::note_goodput(&mut self.log, *second, sums);
        }
        for source in &mut self.sources {
            if let Some(report) = source.app.report(end) {
                let (group, user) = (source.group, source.user);
                self.log.note(&Fact::Said { group, user, report: (&report).into() });
            }
        }
    }
}
