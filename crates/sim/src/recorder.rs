//! Measurements: the recorder takes the events of a run, and gives numbers and tables at its end.
//!
//! Queues are measured by the [`Meter`](record::Meter) of each port; all other events are reported
//! to the [`Recorder`], which never influences the simulation.

mod channels;
mod connection_log;
mod conservation;
mod facts;
mod loss_episodes;
mod outcome;
mod reports;

use std::ops::Range;

use packet::Instant;
use record::{
    Column, Concurrency, Controls, Datagrams, Flows, Goodput, Keep, Losses, PageLoad, PageSettings,
    Pages, Request, RequestSettings, Requests, RoundTrips, Sources, Transfer, Transfers, Window,
};
use tcp::{Endpoint, Flags};

pub use self::connection_log::ConnectionLog;
pub use self::conservation::Conservation;
pub use self::facts::ConnectionEnd;
pub use self::outcome::{Ended, Outcome, measures, summary_json};
pub use self::reports::Reports;
use crate::scenario::{Scenario, Traffic};
use crate::slab::Slab;
use crate::world::connection::{Cause, Connection, Exchange};
use crate::world::in_flight::InFlight;
use crate::world::payload::Payload;

/// All measurements except those of ports.
pub struct Recorder {
    keep: Keep,
    window: Window,
    requests: Requests,
    pages: Pages,
    datagrams: Datagrams,
    flows: Flows,
    transfers: Transfers,
    losses: Losses,
    round_trips: RoundTrips,
    concurrency: Concurrency,
    /// Measurements for each source; `None` unless the scenario records them.
    sources: Option<Sources>,
    /// Payload bytes that arrive in each second; `None` unless the scenario records goodput.
    goodput: Option<Goodput>,
    /// Samples of the senders' congestion controls; `None` unless the scenario records them.
    controls: Option<Controls>,
    /// Packets dropped or marked by scripts; `None` in a scenario without scripts.
    scripted: Option<Scripted>,
    /// Number of segments with payload that were sent.
    data_sent: u64,
    conservation: Conservation,
}

/// Packets that scripts dropped and marked in the measured interval.
#[derive(Clone, Copy, Debug, Default)]
struct Scripted {
    dropped: u64,
    marked: u64,
}

impl Recorder {
    /// A recorder for a scenario. `counts` is the number of sources of each group; `watched` says
    /// how much is kept of a run that is observed.
    pub fn new(
        scenario: &Scenario,
        counts: impl Iterator<Item = usize>,
        watched: Option<Keep>,
    ) -> Recorder {
        let keep = watched.unwrap_or_default();
        let (record, window) = (&scenario.record, scenario.window());
        let names = || scenario.group_names();
        let rows = |name: &str| keep == Keep::Everything && record.switch(name);
        let datagrams = Datagrams::new(window, record.time("deadline"), names(), rows("datagrams"));
        let datagrams = match watched {
            Some(keep) => datagrams.watched(keep),
            None => datagrams,
        };
        let name_if_requesting = |group: &Traffic| group.entry.fetches.then(|| group.name.clone());
        Recorder {
            keep,
            window,
            requests: Requests::new(RequestSettings {
                window,
                log: rows("responses"),
                groups: scenario.traffic.iter().map(name_if_requesting).collect(),
                by_group: record.switch("by_group"),
                keep,
                watched: watched.is_some(),
            }),
            pages: Pages::new(PageSettings { window, log: rows("pages"), groups: names(), keep }),
            datagrams,
            flows: Flows::default(),
            transfers: Transfers::new(keep),
            losses: Losses::default(),
            round_trips: RoundTrips::new(window, scenario.traffic.len()),
            concurrency: Concurrency::new(scenario.network.whole("clients") as u32),
            sources: record.switch("sources").then(|| sources(scenario, counts)),
            goodput: record.switch("goodput").then(|| Goodput::new(names().into_iter())),
            controls: rows("controls").then(|| Controls::new(record.time("queue_every"))),
            scripted: scenario.has_scripts().then(Scripted::default),
            data_sent: 0,
            conservation: Conservation::default(),
        }
    }

    /// A packet leaves its host.
    #[inline]
    pub(crate) fn sent(&mut self, now: Instant, packet: &InFlight) {
        self.conservation.sent(packet.flow(), packet.ip_bytes());
        match packet.payload() {
            Payload::Segment(segment) => self.data_sent += u64::from(segment.len > 0),
            Payload::Datagram(datagram) => {
                self.datagram_sent(packet.place(), datagram.origin().0, now);
            }
        }
    }

    /// As [`Recorder::sent`], for a segment of `ip_bytes`; `data` says whether it has payload.
    #[inline]
    pub(crate) fn segment_sent(&mut self, packet: &InFlight, ip_bytes: u32, data: bool) {
        self.conservation.sent(packet.flow(), ip_bytes);
        self.data_sent += u64::from(data);
    }

    /// A packet reaches its host.
    #[inline]
    pub(crate) fn delivered(&mut self, now: Instant, packet: &InFlight) {
        self.conservation.delivered(packet.flow(), packet.ip_bytes());
        if let Payload::Datagram(datagram) = packet.payload() {
            let (number, sent) = datagram.origin();
            self.datagram_received(packet.place(), number, sent, now);
        }
    }

    /// How much the recorder keeps: everything, or a bounded amount.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// The log of requests so far, for an observer.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Requests and goodput of these seconds, one column for each series.
    pub fn per_second(&self, seconds: Range<usize>) -> Vec<(String, Column)> {
        let goodput = self.goodput.iter().flat_map(|goodput| goodput.per_second(seconds.clone()));
        self.requests.per_second(seconds.clone()).into_iter().chain(goodput).collect()
    }

    /// Columns of these seconds that only an observer of the run receives.
    pub fn watched_per_second(&self, seconds: Range<usize>) -> Vec<(String, Column)> {
        self.datagrams.per_second(seconds)
    }

    /// Samples of the senders' congestion controls so far.
    pub fn controls(&self) -> Option<&Controls> {
        self.controls.as_ref()
    }

    /// The samples of the senders' congestion controls, to add more.
    pub fn controls_mut(&mut self) -> Option<&mut Controls> {
        self.controls.as_mut()
    }

    /// Discards the values per second of all seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        self.requests.forget_before(second);
        self.datagrams.forget_before(second);
        self.goodput.iter_mut().for_each(|goodput| goodput.forget_before(second));
    }

    /// Whether goodput is recorded, so that [`Recorder::arrived`] must be called.
    #[inline]
    pub fn follows_goodput(&self) -> bool {
        self.goodput.is_some()
    }

    /// Payload bytes reach a program of this group.
    pub fn arrived(&mut self, now: Instant, group: u16, bytes: u64) {
        if let Some(goodput) = &mut self.goodput {
            goodput.arrived(group, now, bytes);
        }
    }

    /// A packet was dropped, by a queue or a script.
    #[cold]
    pub(crate) fn lost(
        &mut self,
        now: Instant,
        packet: &InFlight,
        connections: &mut Slab<Connection>,
    ) {
        self.conservation.dropped(packet.flow(), packet.ip_bytes());
        let segment = match packet.payload() {
            Payload::Segment(segment) => segment,
            Payload::Datagram(datagram) => {
                let (number, sent) = datagram.origin();
                return self.datagram_lost(packet.place(), number, sent);
            }
        };
        if segment.len == 0 {
            return;
        }
        let measured = self.window.contains(now);
        if measured {
            self.losses.segments += 1;
            self.losses.retransmissions += u64::from(segment.flags.has(Flags::RETRANSMISSION));
        }
        let connection = &mut connections[packet.place()];
        if packet.is_of(connection) {
            connection.lost(packet.from(), segment, measured, &mut self.losses);
        }
    }

    /// An effect sends a copy of a packet.
    pub(crate) fn copied(&mut self, packet: &InFlight) {
        self.conservation.sent(packet.flow(), packet.ip_bytes());
    }

    /// The copy of a duplicated packet was dropped, which does not count as a loss.
    #[cold]
    pub(crate) fn copy_lost(&mut self, packet: &InFlight) {
        self.conservation.dropped(packet.flow(), packet.ip_bytes());
    }

    /// A script marks a packet, or drops it. The drop itself must be reported like any other.
    pub fn scripted(&mut self, now: Instant, marked: bool) {
        if let Some(scripted) = self.scripted.as_mut().filter(|_| self.window.contains(now)) {
            *(if marked { &mut scripted.marked } else { &mut scripted.dropped }) += 1;
        }
    }

    /// Records the sample of the round-trip time that an end of a connection took from a received
    /// segment. An end of TCP must have one.
    #[inline(always)]
    pub fn sample_round_trip(&mut self, now: Instant, connection: &mut Connection, end: usize) {
        let group = connection.group();
        match &mut connection.ends[end] {
            Endpoint::Tcp(end) => {
                let (sample, smoothed) = end.take_round_trip();
                self.round_trips.sampled_rounded(now, group, sample, smoothed);
            }
            Endpoint::Quic(end) => {
                if let Some((sample, smoothed)) = end.take_round_trip() {
                    self.round_trips.sampled(now, group, sample, smoothed);
                }
            }
        }
    }

    /// A timer of an end of a connection was served.
    #[inline]
    pub fn timer_served(&mut self, connection: &mut Connection, end: usize) {
        connection.timer_served(end, &mut self.losses);
    }

    /// Adds a stream of datagrams that `user` sends or, if `back`, that the peer sends to the user.
    /// Returns the stream's number.
    pub fn stream(&mut self, group: u16, user: u32, back: bool) -> u32 {
        self.datagrams.stream(group, user, back)
    }

    /// A connection of this client machine is opened.
    pub fn opened(&mut self, client: u32) {
        self.concurrency.opened(client);
    }

    /// A user of `group` requests a reply.
    pub fn requested(&mut self, now: Instant, group: u16, reply_bytes: u64) {
        self.requests.requested(now, group, reply_bytes);
    }

    /// A request has ended: its reply has arrived, or its connection was given up.
    pub fn replied(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        group: u16,
        exchange: Exchange,
    ) {
        let (Cause::Requested { at, resent }, false) = (exchange.cause, exchange.is_unrequested())
        else {
            return; // no reply was requested
        };
        let request = Request {
            requested: at,
            ended: now,
            request_bytes: exchange.request_bytes,
            reply_bytes: u32::try_from(exchange.reply_bytes).unwrap_or(u32::MAX),
            user: connection.source,
            group,
            retransmitted: connection.resent() > resent,
            failed: connection.failed,
        };
        let row = self.request_ended(request, exchange.reply_bytes);
        connection.log.row(row);
    }

    /// A transfer has ended: all its data is acknowledged, or its connection was given up.
    pub fn transferred(&mut self, now: Instant, connection: &Connection, group: u16) {
        self.transfer_ended(Transfer {
            started: connection.opened,
            ended: now,
            bytes: connection.written,
            user: connection.source,
            group,
            failed: connection.failed,
        });
    }

    /// A user of `group` requests the first file of a page.
    pub fn page_begun(&mut self, group: u16) {
        self.pages.begun(group);
    }

    /// A page has arrived, or was given up.
    pub fn page_ended(&mut self, page: PageLoad) {
        self.pages.ended(page);
    }

    /// A connection has ended: checks that all bytes arrived once, and records what it did.
    pub fn closed(&mut self, now: Instant, connection: &Connection) {
        if !connection.failed {
            assert_eq!(
                connection.delivered(),
                [connection.promised, connection.written],
                "bytes arrive once"
            );
        }
        self.connection_over(now, connection.client(), &connection.end());
    }

    /// Records a connection that is still open at the end of the run.
    pub fn still_open(&mut self, connection: &Connection, group: u16) {
        // A connection with replies is no long flow: users decide how much it carries.
        let long = connection.opened <= self.window.from && connection.promised == 0;
        self.connection_open(group, long, &connection.end());
    }

    /// Asserts that every packet sent has arrived, was dropped, or is in flight in a used slot of
    /// `places`.
    pub(crate) fn check_flows(&mut self, places: &[InFlight]) {
        let in_use = places.iter().filter(|packet| packet.is_on_its_way());
        self.conservation.check(in_use.map(|packet| (packet.flow(), packet.ip_bytes())));
    }
}

/// The table of sources, which are `counts` in each group; only those that send requests get a row.
fn sources(scenario: &Scenario, counts: impl Iterator<Item = usize>) -> Sources {
    let mut sources = Sources::default();
    for (number, (group, count)) in (0..).zip(scenario.traffic.iter().zip(counts)) {
        (0..count).for_each(|_| sources.add(number, group.entry.fetches));
    }
    sources
}
