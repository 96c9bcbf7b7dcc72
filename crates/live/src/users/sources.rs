//! Groups and their sources: gives applications their inputs, and carries out their actions.

use std::io;

use packet::{Duration, Instant, Rng};
use sim::Group;
use sim::topology::Side;
use traffic::{Action, App, AppCx, Input, Population};

use super::Task;
use super::driver::{Driver, Place};
use super::end_system::{SocketOptions, refuse_quic, socket_options};
use super::facts::{Fact, PageFact};
use super::partner::PartnerMessage;
use super::timers::Timer;

/// A group of the scenario, on either side.
pub(super) struct LiveGroup {
    pub group: Group,
    pub options: SocketOptions,
    /// Time limit of a handshake; `None` for the kernel's.
    pub connect_limit: Option<Duration>,
    population: Population,
    active: bool,
}

/// All groups, in the order of the scenario.
pub(super) struct Groups(Vec<LiveGroup>);

/// A user or sender that this program runs.
pub(super) struct Source {
    pub app: Box<dyn App>,
    pub group: u16,
    /// Number of the source, counted over all groups.
    pub user: u32,
    /// Number of the source within its group.
    pub index: u32,
    pub machine: u32,
    pub rng: Rng,
    /// Handles of the source's connections, by the application's numbers for them.
    pub connections: Vec<Place>,
    /// Index of the source's datagram stream in [`Streams`](super::streams::Streams).
    pub stream: Option<usize>,
    /// Round-trip time of the connection opened next, if the application has set it.
    pub next_round_trip: Option<Duration>,
    /// Time of the last input to the application.
    last: Instant,
}

impl Groups {
    /// Makes the groups of a scenario.
    ///
    /// # Errors
    /// A sentence, if parameters contradict each other, or the scenario needs what a live run
    /// cannot do.
    pub fn new(task: &Task) -> Result<Groups, String> {
        let scenario = &task.scenario;
        refuse_quic(scenario)?;
        let parts = sim::parts(scenario).map_err(|error| error.to_string())?;
        let waits = parts.groups.iter().any(|(group, _)| group.waits);
        if waits && task.pair.1 > 1 {
            return Err("a group waits for another's start, which only one pair of programs can notice; run with one".into());
        }
        let groups =
            parts.groups.into_iter().zip(&scenario.traffic).map(|((group, population), of)| {
                let has_limit = of.profile.about.fields.iter().any(|f| f.name == "connect_limit");
                let limit = if has_limit { of.tcp.real_or("connect_limit", 0.0) } else { 0.0 };
                LiveGroup {
                    options: socket_options(of, &group.profile),
                    group,
                    connect_limit: (limit > 0.0).then(|| Duration::from_secs_f64(limit)),
                    population,
                    active: false,
                }
            });
        Ok(Groups(groups.collect()))
    }

    /// The group with this index.
    pub fn at(&self, group: u16) -> &LiveGroup {
        &self.0[usize::from(group)]
    }

    /// Makes the sources that this program runs.
    pub fn sources(&self, task: &Task) -> Vec<Source> {
        let (pair, pairs) = task.pair;
        let machines = task.scenario.network.whole(task.side.name()) as u32;
        let seed = task.scenario.params.whole("seed");
        let (mut sources, mut first) = (Vec::new(), 0);
        for (number, LiveGroup { group, population, .. }) in (0..).zip(&self.0) {
            let of_program = (u32::from(pair)..population.sources()).step_by(usize::from(pairs));
            let own = of_program.filter(|_| group.side == task.side);
            let stream = format!("{}.rtt", group.name);
            sources.extend(own.map(|index| Source {
                app: population.source(index),
                group: number,
                user: first + index,
                index,
                machine: index % machines,
                rng: Rng::indexed(seed, &stream, u64::from(index)),
                connections: Vec::new(),
                stream: None,
                next_round_trip: None,
                last: Instant::ZERO,
            }));
            first += population.sources();
        }
        sources
    }
}

impl Driver {
    /// Gives a source an input that occurred at `at`, and carries out its actions. Times that a
    /// source gets never decrease.
    pub fn notify(&mut self, source: u32, input: Input, at: Instant) -> io::Result<()> {
        let mut actions = Vec::new();
        let of = &mut self.sources[source as usize];
        of.last = of.last.max(at);
        of.app.on(input, &mut AppCx { now: of.last, act: &mut |action| actions.push(action) });
        let now = of.last;
        actions.into_iter().try_for_each(|action| self.act(source, now, action))
    }

    fn act(&mut self, source: u32, now: Instant, action: Action) -> io::Result<()> {
        let group = self.sources[source as usize].group;
        match action {
            Action::WakeAt(at) => self.timers.add(at, Timer::Wake(source)),
            Action::Move { machine } => self.sources[source as usize].machine = machine,
            Action::SetRtt { round_trip } => {
                self.sources[source as usize].next_round_trip = Some(round_trip);
            }
            Action::PageBegins => self.log.note(&Fact::PageBegins { at: now.nanos(), group }),
            Action::PageEnds { began, ended, objects, bytes, failed } => {
                let user = self.sources[source as usize].user;
                let (began, ended) = (began.nanos(), ended.nanos());
                self.log.note(&Fact::PageEnds(PageFact {
                    began,
                    ended,
                    objects,
                    bytes,
                    user,
                    group,
                    failed,
                }));
            }
            Action::Open { conn, peer, closes } => return self.open(source, conn, peer, closes),
            Action::Await { conn } => {
                self.with_number(source, conn, |opener| opener.awaited = true)
            }
            Action::Send { conn, bytes, reply_bytes, service } => {
                return self.send(source, conn, bytes, reply_bytes, service);
            }
            Action::Script { conn, after, gap, bytes } => {
                self.script(source, conn, after, gap, bytes)
            }
            Action::Close { conn } => return self.close(source, conn),
            Action::Stop { conn } => return self.stop(source, conn),
            Action::Datagram { peer, bytes } => return self.datagram(source, peer, bytes),
            Action::SendDatagram { peer, bytes, back, ecn } => {
                return self.say(source, peer, bytes, back, ecn);
            }
            Action::Multiplex { .. } | Action::Upload { .. } => {
                let name = &self.groups.at(group).group.name;
                return Err(io::Error::other(format!(
                    "traffic {name}: replies that share a connection frame by frame (HTTP/2) are not run live; choose another mode"
                )));
            }
        }
        Ok(())
    }

    /// Called when a source opens a connection or sends its first datagram. At the first such event
    /// of a group the groups that wait for it get their start times.
    pub fn on_group_active(&mut self, group: u16) {
        if !std::mem::replace(&mut self.groups.0[usize::from(group)].active, true)
            && !self.groups.at(group).group.dependents.is_empty()
        {
            let at = self.clock.now();
            self.partner.enqueue(&PartnerMessage::GroupActive { group, at: at.nanos() });
            self.start_dependents(group, at);
        }
    }

    /// Sets the start timers of this side's groups that wait for `group`, which became active at
    /// `at`.
    pub fn start_dependents(&mut self, group: u16, at: Instant) {
        self.groups.0[usize::from(group)].active = true;
        let dependents = std::mem::take(&mut self.groups.0[usize::from(group)].group.dependents);
        for (dependent, delay) in dependents {
            if self.groups.at(dependent).group.side == self.side {
                self.timers.add(at + delay, Timer::Begin(dependent));
            }
        }
    }

    /// Starts the sources of a group that has waited for another group.
    pub fn begin_group(&mut self, group: u16) -> io::Result<()> {
        let now = self.now;
        (0..self.sources.len() as u32)
            .filter(|&source| self.sources[source as usize].group == group)
            .collect::<Vec<_>>()
            .into_iter()
            .try_for_each(|source| self.notify(source, Input::Start, now))
    }

    /// The client's machine of a connection between a machine of this side and one of the other.
    pub fn client_of(&self, own: u32, peer: u32) -> u32 {
        if self.side == Side::Clients { own } else { peer }
    }
}
