//! Makes a run's measurements from the facts that all programs logged, with the recorder of the
//! simulator.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;

use packet::{Duration, Instant};
use record::{Class, PageLoad, Recoveries, Request, Transfer};
use sim::scenario::Scenario;
use sim::{ConnectionEnd, Recorder, Reports};

use super::facts::{ConnectionId, End, Fact, RequestFact, read};

/// Measurements of the programs of users.
pub struct Collected {
    /// Recorder with all measurements except those of ports.
    pub recorder: Recorder,
    /// The applications' own reports.
    pub reports: Reports,
    /// Number of requests without a complete reply at the end.
    pub open_requests: u64,
    /// Number of sources of all groups.
    pub users: usize,
    /// How long handshakes took, s, in the order of the logs.
    pub connect_s: Vec<f64>,
    /// Processor time that the programs of each side used, by [index](crate::addresses::index).
    pub worked: [Duration; 2],
}

/// A connection, assembled from the facts of both ends.
#[derive(Default)]
struct Connection {
    opened: u64,
    client: u32,
    source: u32,
    group: u16,
    requests: bool,
    /// What each end reported: the opener first, then the acceptor.
    ends: [Option<End>; 2],
    /// Number of segments that the acceptor had retransmitted when it began each reply, by the
    /// reply's index.
    served: BTreeMap<u32, u32>,
    rows: Vec<u32>,
}

impl Connection {
    /// Time in ns when the connection was over: both ends had finished, or the opener had given up.
    fn over(&self) -> Option<u64> {
        match self.ends {
            [Some(opener), _] if opener.failed => Some(opener.at),
            [Some(opener), Some(acceptor)] if opener.over && acceptor.over => {
                Some(opener.at.max(acceptor.at))
            }
            _ => None,
        }
    }

    fn class(&self) -> Class {
        let (mut syn, mut fin, mut data) = (0, 0, 0);
        for end in self.ends.iter().flatten() {
            syn += end.syn_resent;
            // The kernel counts segments of all kinds and bytes of payload. A retransmission that
            // was not a SYN and carried no payload was a FIN; if data were retransmitted too, a FIN
            // cannot be distinguished from them.
            let later = end.resent.saturating_sub(end.syn_resent);
            *(if end.resent_bytes > 0 { &mut data } else { &mut fin }) += later;
        }
        Class::of(syn, fin, data)
    }

    /// Whether the acceptor retransmitted a segment between this reply's begin and the next
    /// reply's.
    fn resent_for(&self, index: u32) -> bool {
        let before = if index == 0 { Some(0) } else { self.served.get(&index).copied() };
        let after = self.served.get(&(index + 1)).copied();
        let after = after.or(self.ends[1].map(|end| end.resent));
        before.zip(after).is_some_and(|(before, after)| after > before)
    }

    fn delivered(&self) -> [u64; 2] {
        self.ends.map(|end| end.map_or(0, |end| end.delivered))
    }

    fn data_segments(&self) -> u64 {
        self.ends.iter().flatten().map(|end| u64::from(end.data_segments)).sum()
    }
}

/// An event that is reported to the recorder.
enum Event {
    Fact(Fact),
    Over(ConnectionId),
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

/// Time in ns at which a fact is reported to the recorder; `None` for facts that are not events.
fn time(fact: &Fact) -> Option<u64> {
    Some(match fact {
        Fact::Opened { at, .. }
        | Fact::Requested { at, .. }
        | Fact::PageBegins { at, .. }
        | Fact::Stream { at, .. }
        | Fact::Sent { at, .. }
        | Fact::Received { at, .. }
        | Fact::Arrived { at, .. } => *at,
        Fact::Ended(RequestFact { ended, .. }) | Fact::Transfer { ended, .. } => *ended,
        Fact::PageEnds(page) => page.ended,
        Fact::Served { .. }
        | Fact::OpenerEnd { .. }
        | Fact::AcceptorEnd { .. }
        | Fact::Kernel { .. }
        | Fact::Worked { .. }
        | Fact::Unanswered { .. }
        | Fact::Said { .. } => return None,
    })
}

/// Reads the logs of all programs of a run and makes the measurements.
///
/// # Errors
/// If a log cannot be read.
pub fn collect(scenario: &Scenario, logs: &[PathBuf]) -> io::Result<Collected> {
    let mut facts = Vec::new();
    for log in logs {
        facts.extend(read(log)?);
    }
    Ok(of_facts(scenario, facts))
}

/// Makes the measurements from facts in memory.
fn of_facts(scenario: &Scenario, facts: Vec<Fact>) -> Collected {
    let sources: Vec<usize> =
        scenario.traffic.iter().map(|group| group.sources().unwrap_or(0) as usize).collect();
    let recorder = Recorder::new(scenario, sources.iter().copied(), None);
    let mut all = Collector {
        recorder,
        end: scenario.window().to,
        begin: scenario.window().from,
        connections: HashMap::new(),
        datagrams: Datagrams::default(),
        reports: Vec::new(),
        open_requests: 0,
        connect_s: Vec::new(),
        worked: [Duration::ZERO; 2],
    };
    let mut events: Vec<(u64, Event)> = Vec::new();
    for fact in facts {
        match time(&fact) {
            Some(time) => {
                if let Fact::Opened { conn, at, client, source, group } = fact {
                    let of = all.connections.entry(conn).or_default();
                    (of.opened, of.client, of.source, of.group) = (at, client, source, group);
                }
                events.push((time, Event::Fact(fact)));
            }
            None => all.gather(fact),
        }
    }
    let over = |(&conn, of): (&ConnectionId, &Connection)| Some((of.over()?, Event::Over(conn)));
    events.extend(all.connections.iter().filter_map(over));
    // Order within one instant: facts as they were written, then ended connections by number.
    events.sort_by_key(|(time, event)| {
        (*time, if let Event::Over(conn) = event { *conn + 1 } else { 0 })
    });
    events.into_iter().for_each(|(time, event)| match event {
        Event::Fact(fact) => all.fact(fact),
        Event::Over(conn) => all.over(at(time), conn),
    });
    all.finish(sources.iter().sum())
}

struct Collector {
    recorder: Recorder,
    begin: Instant,
    end: Instant,
    connections: HashMap<ConnectionId, Connection>,
    datagrams: Datagrams,
    reports: Vec<(u16, u32, traffic::Report)>,
    open_requests: u64,
    connect_s: Vec<f64>,
    worked: [Duration; 2],
}

impl Collector {
    /// Stores a fact that is not an event.
    fn gather(&mut self, fact: Fact) {
        match fact {
            Fact::Served { conn, index, resent } => {
                self.connections.entry(conn).or_default().served.insert(index, resent);
            }
            Fact::OpenerEnd { conn, requests, connect, end } => {
                let of = self.connections.entry(conn).or_default();
                of.requests = requests;
                of.ends[0] = Some(end);
                self.connect_s.extend(connect.map(|ns| Duration::from_nanos(ns).secs_f64()));
            }
            Fact::AcceptorEnd { conn, end } => {
                self.connections.entry(conn).or_default().ends[1] = Some(end);
            }
            Fact::Kernel { timeouts, fast_retransmits, spurious_timeouts, retransmitted } => {
                self.recorder.recovered(Recoveries {
                    timeouts,
                    fast_retransmits,
                    spurious_timeouts,
                    retransmitted,
                    ecn_reductions: 0,
                });
            }
            Fact::Unanswered { requests } => self.open_requests += requests,
            Fact::Worked { side, ns } => {
                let of = &mut self.worked[usize::from(side)];
                *of += Duration::from_nanos(ns);
            }
            Fact::Said { group, user, report } => self.reports.push((group, user, report.into())),
            _ => {}
        }
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Opened { client, .. } => self.recorder.opened(client),
            Fact::Requested { at: ns, group, reply_bytes } => {
                self.recorder.requested(at(ns), group, reply_bytes);
            }
            Fact::Ended(request) => self.request(&request),
            Fact::PageBegins { group, .. } => self.recorder.page_begun(group),
            Fact::PageEnds(page) => self.recorder.page_ended(PageLoad {
                began: at(page.began),
                ended: at(page.ended),
                objects: page.objects,
                bytes: page.bytes,
                user: page.user,
                group: page.group,
                failed: page.failed,
            }),
            Fact::Transfer { started, ended, bytes, user, group, failed } => {
                let (started, ended) = (at(started), at(ended));
                self.recorder.transfer_ended(Transfer {
                    started,
                    ended,
                    bytes,
                    user,
                    group,
                    failed,
                });
            }
            Fact::Stream { stream, group, user, back, .. } => {
                let number = self.recorder.stream(group, user, back);
                self.datagrams.streams.insert(stream, number);
            }
            Fact::Sent { stream, number, at: ns } => {
                self.datagrams.sent(&mut self.recorder, stream, number, at(ns));
            }
            Fact::Received { stream, number, at: ns } => {
                let in_time = at(ns) <= self.end;
                self.datagrams.received(&mut self.recorder, stream, number, at(ns), in_time);
            }
            Fact::Arrived { at: ns, group, bytes } if self.recorder.follows_goodput() => {
                self.recorder.arrived(at(ns), group, bytes);
            }
            _ => {}
        }
    }

    fn request(&mut self, fact: &RequestFact) {
        let Some(of) = self.connections.get_mut(&fact.conn) else { return };
        let request = Request {
            requested: at(fact.requested),
            ended: at(fact.ended),
            request_bytes: fact.request_bytes,
            reply_bytes: u32::try_from(fact.reply_bytes).unwrap_or(u32::MAX),
            user: of.source,
            group: of.group,
            retransmitted: fact.resent || of.resent_for(fact.index),
            failed: fact.failed,
        };
        of.rows.push(self.recorder.request_ended(request, fact.reply_bytes));
    }

    fn over(&mut self, now: Instant, conn: ConnectionId) {
        let Some(of) = self.connections.remove(&conn) else { return };
        self.recorder.data_segments_sent(of.data_segments());
        self.recorder.connection_over(now, of.client, &connection_end(&of));
    }

    fn finish(mut self, users: usize) -> Collected {
        // In the order of connection numbers, so that equal facts give equal tables.
        let mut open: Vec<_> = self.connections.iter().collect();
        open.sort_by_key(|(conn, _)| **conn);
        for (_, of) in open {
            self.recorder.data_segments_sent(of.data_segments());
            let long = at(of.opened) <= self.begin && !of.requests;
            self.recorder.connection_open(of.group, long, &connection_end(of));
        }
        self.datagrams.lose_the_rest(&mut self.recorder);
        self.reports.sort_by_key(|(group, user, _)| (*group, *user));
        Collected {
            recorder: self.recorder,
            reports: Reports::new(self.reports.into_iter()),
            open_requests: self.open_requests,
            users,
            connect_s: self.connect_s,
            worked: self.worked,
        }
    }
}

fn connection_end(of: &Connection) -> ConnectionEnd<'_> {
    ConnectionEnd {
        source: of.source,
        class: of.class(),
        rows: &of.rows,
        recoveries: Recoveries::default(), // the kernel counts those of all connections together
        delivered: of.delivered(),
    }
}

/// Datagrams in flight.
#[derive(Default)]
struct Datagrams {
    /// The recorder's number of each stream.
    streams: HashMap<ConnectionId, u32>,
    /// Send time of each datagram that has not arrived.
    travelling: BTreeMap<(ConnectionId, u64), Instant>,
    /// Number of datagrams that arrived after the end of the run: they were in flight at its end.
    late: u64,
}

impl Datagrams {
    fn sent(&mut self, recorder: &mut Recorder, stream: ConnectionId, number: u64, now: Instant) {
        let Some(&of) = self.streams.get(&stream) else { return };
        recorder.datagram_sent(of, number, now);
        self.travelling.insert((stream, number), now);
    }

    fn received(
        &mut self,
        recorder: &mut Recorder,
        stream: ConnectionId,
        number: u64,
        now: Instant,
        in_time: bool,
    ) {
        let sent = self.travelling.remove(&(stream, number));
        match self.streams.get(&stream).zip(sent) {
            Some((&of, sent)) if in_time => recorder.datagram_received(of, number, sent, now),
            _ => self.late += 1,
        }
    }

    /// Records datagrams that never arrived as lost; the programs waited for them after the run.
    fn lose_the_rest(&mut self, recorder: &mut Recorder) {
        for ((stream, number), sent) in std::mem::take(&mut self.travelling) {
            if let Some(&of) = self.streams.get(&stream) {
                recorder.datagram_lost(of, number, sent);
            }
        }
    }
}
