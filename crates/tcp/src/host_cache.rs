//! Metrics that a host caches of its peers, from which the next connection starts: those of
//! FreeBSD's host routes and Linux's `tcp_metrics`.
//!
//! A driver keeps one [`HostCache`] for all its hosts. While [`Endpoint::may_look_up`] holds it calls
//! [`HostCache::deliver`] in place of [`Endpoint::on_segment`], and [`HostCache::update`] once
//! [`Endpoint::may_update_cache`] does. Which numbers are kept, and what is done with them, is the system's rule:
//!
//! | | FreeBSD 2.2.8, 4.5 | Linux |
//! | --- | --- | --- |
//! | updated | `tcp_close`: at the end of TIME_WAIT, after the last ACK, or given up | `tcp_update_metrics`: all of this side is acknowledged after its close |
//! | updated by | connections with 16 samples of the round trip | all connections with a sample |
//! | round trip | mean of old and new | a longer one at once, a shorter one by an eighth |
//! | threshold | from the first one below half the send pipe; mean of old and new | only with `tcp_no_ssthresh_metrics_save = 0` |
//! | used | `tcp_mss`: with the options of the peer's SYN, in 4.5 on the passive side when the SYN cache makes the socket | `tcp_init_metrics`: after the handshake |
//! | used for | estimate, timeout, threshold | timeout, threshold |
//! | forgotten | an hour after its last use | an hour after its last update |

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use packet::{Duration, Instant};

use crate::connection::State;
use crate::end::Endpoint;
use crate::endpoint::TcpEndpoint;
use crate::host_metrics::{HostMetrics, MetricsUpdate, Remembers, Threshold};
use crate::profile::SynAck;
use crate::rtt::RTT_SAMPLES_TO_KEEP;
use crate::segment::Segment;

/// Life of an unused entry: `rtq_reallyold` of FreeBSD's `in_rmx.c`, `TCP_METRICS_TIMEOUT` of
/// Linux's `tcp_metrics.c`.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3_600);
/// Bytes of TCP and IP headers that a threshold in FreeBSD's route counts with each segment.
const HEADERS: u64 = 40;

/// A host and its peer, by the numbers that the driver gives to hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPair {
    /// The host that keeps the metrics.
    pub own: u32,
    /// The peer that the metrics describe.
    pub peer: u32,
}

impl HostPair {
    /// Both numbers in one, as the key of a map.
    fn key(self) -> u64 {
        u64::from(self.own) << 32 | u64::from(self.peer)
    }
}

/// The cache entry of one host about one peer.
#[derive(Clone, Debug, Default)]
struct Memory {
    metrics: HostMetrics,
    /// When the entry was last used (BSD) or updated (Linux).
    stamp: Instant,
    /// Updates by connections in TIME_WAIT, which take effect when it ends, in order of time. (Tens
    /// of thousands between two busy hosts.)
    to_come: VecDeque<(Instant, MetricsUpdate)>,
}

impl Memory {
    /// Applies the updates that are due by `now`.
    fn catch_up(&mut self, now: Instant) {
        while let Some(&(at, update)) = self.to_come.front().filter(|(at, _)| *at <= now) {
            self.to_come.pop_front();
            self.metrics.apply(&update);
            if !matches!(update, MetricsUpdate::Linux { rtt: None, .. }) {
                self.stamp = self.stamp.max(at);
            }
        }
    }

    fn forget_if_old(&mut self, now: Instant) {
        if now.since(self.stamp) >= FORGOTTEN_AFTER {
            (self.metrics, self.stamp) = (HostMetrics::default(), now);
        }
    }
}

/// The caches of all hosts: empty at first, as after a boot or in a new network namespace. Only
/// pairs with known metrics take memory. Not modelled: FreeBSD expires routes sooner if it keeps
/// more than 128 unused ones (`rtq_toomany`), Linux replaces the oldest of more than five entries
/// of one hash chain, and a FreeBSD connection of more than an hour counts as a use.
#[derive(Clone, Debug, Default)]
pub struct HostCache {
    /// Entries in FreeBSD's units, and entries in Linux's, by [`HostPair::key`]. A host with
    /// connections of both kinds has separate entries.
    memories: [BTreeMap<u64, Memory>; 2],
    /// For QUIC: the pairs that may resume a session, by [`HostPair::key`]. Here every user has a
    /// number, as browsers share no tickets.
    tickets: BTreeSet<u64>,
}

impl HostCache {
    fn memories(&mut self, remembers: Remembers) -> Option<&mut BTreeMap<u64, Memory>> {
        match remembers {
            Remembers::Nothing => None,
            Remembers::Route { .. } => Some(&mut self.memories[0]),
            Remembers::Linux { .. } => Some(&mut self.memories[1]),
        }
    }

    /// Delivers a segment ([`Endpoint::on_segment`]) to an end whose host may have metrics of the
    /// peer.
    pub fn deliver(&mut self, pair: HostPair, end: &mut Endpoint, segment: &Segment, now: Instant) {
        match end {
            Endpoint::Tcp(end) => self.deliver_to(pair, end, segment, now),
            Endpoint::Quic(end) => {
                let awaited = end.awaits_ticket();
                end.on_segment(segment, now);
                if awaited && !end.awaits_ticket() {
                    self.tickets.insert(pair.key());
                }
            }
        }
    }

    /// Whether a connection of this pair may resume an earlier one, which [`Endpoint::resume`] makes both ends do.
    pub fn has_ticket(&self, pair: HostPair) -> bool {
        self.tickets.contains(&pair.key())
    }

    fn deliver_to(
        &mut self,
        pair: HostPair,
        end: &mut TcpEndpoint,
        segment: &Segment,
        now: Instant,
    ) {
        let cached = self.lookup(pair, end.profile.remembers, now);
        end.on_segment_cached(segment, &cached, now);
    }

    fn lookup(&mut self, pair: HostPair, remembers: Remembers, now: Instant) -> HostMetrics {
        let known = self.memories(remembers).and_then(|memories| memories.get_mut(&pair.key()));
        let Some(memory) = known else { return HostMetrics::NONE };
        memory.catch_up(now);
        memory.forget_if_old(now);
        if let Remembers::Route { .. } = remembers {
            memory.stamp = now;
        }
        memory.metrics
    }

    /// Adds the metrics of an `end` that [`may_update_cache`](Endpoint::may_update_cache); in
    /// FreeBSD, from the end of a TIME_WAIT that still runs.
    pub fn update(&mut self, pair: HostPair, end: &mut Endpoint, now: Instant) {
        if let Endpoint::Tcp(end) = end {
            self.update_from(pair, end, now);
        }
    }

    fn update_from(&mut self, pair: HostPair, end: &mut TcpEndpoint, now: Instant) {
        end.tx.rtt.cached = true;
        let remembers = end.profile.remembers;
        let Some(memories) = self.memories(remembers) else { return };
        let waits =
            end.conn.state == State::TimeWait && matches!(remembers, Remembers::Route { .. });
        let at = if waits { end.conn.conn_timer } else { now };
        let update = end.update();
        if let Some(MetricsUpdate::Linux { rtt: Some(_), .. } | MetricsUpdate::Route { .. }) =
            update
        {
            memories.entry(pair.key()).or_default();
        }
        let Some(memory) = memories.get_mut(&pair.key()) else { return };
        memory.catch_up(now);
        if let Remembers::Linux { .. } = remembers {
            memory.forget_if_old(now);
        }
        match update {
            Some(update) => {
                let place = memory.to_come.partition_point(|&(due, _)| due <= at);
                memory.to_come.insert(place, (at, update));
                memory.catch_up(now);
            }
            // A connection without an update still counts as a use of the route.
            None => memory.stamp = memory.stamp.max(at),
        }
    }
}

impl TcpEndpoint {
    /// Whether the connection is still being opened on a host with a cache
    /// ([`Endpoint::may_look_up`]).
    #[inline]
    pub fn may_look_up(&self) -> bool {
        matches!(self.conn.state, State::Listen | State::SynSent | State::SynReceived)
            && self.profile.remembers()
    }

    /// Whether the metrics of this end are not yet in its host's cache and may be stored now.
    /// `over`: both ends have closed, and this endpoint is about to be reused. FreeBSD stores them
    /// in `tcp_close`, Linux in `tcp_time_wait` or at the end of LAST-ACK, never when the
    /// connection has failed.
    #[inline]
    pub fn may_update_cache(&self, over: bool) -> bool {
        let closed = matches!(self.conn.state, State::FinWait2 | State::TimeWait | State::Closed);
        !self.tx.rtt.cached
            && match self.profile.remembers {
                Remembers::Nothing => false,
                Remembers::Route { .. } => over,
                Remembers::Linux { .. } => closed,
            }
    }

    fn update(&self) -> Option<MetricsUpdate> {
        match self.profile.remembers {
            Remembers::Nothing => None,
            Remembers::Route { sendpipe } => self.route_update(sendpipe),
            Remembers::Linux { ssthresh } => Some(self.linux_update(ssthresh)),
        }
    }

    /// The update of a route by an ended connection: `tcp_close` of FreeBSD 2.1.7.1, 3.2 and 4.x.
    fn route_update(&self, sendpipe: u64) -> Option<MetricsUpdate> {
        if self.tx.rtt.samples() < RTT_SAMPLES_TO_KEEP {
            return None;
        }
        let (rtt, rttvar) = self.profile.rtt.route_metrics(&self.tx.rtt);
        let (ssthresh, mss) = (self.tx.snd.win.ssthresh, self.tx.snd.mss());
        // The threshold in whole segments, and then in bytes with headers.
        let segments = (ssthresh.saturating_add(mss / 2) / mss).max(2);
        let bytes = u32::try_from(segments.saturating_mul(mss + HEADERS)).unwrap_or(u32::MAX);
        Some(MetricsUpdate::Route {
            rtt,
            rttvar,
            ssthresh: bytes,
            bad_news: ssthresh < sendpipe / 2,
        })
    }

    /// Linux's `tcp_update_metrics`, without deviation and window, which it stores but never uses.
    fn linux_update(&self, ssthresh: bool) -> MetricsUpdate {
        let rtt = self.profile.rtt.linux_metrics(&self.tx.rtt);
        let threshold = || {
            let f = &self.tx.snd;
            let (cwnd, ssthresh) = (f.win.cwnd / f.mss(), f.win.ssthresh / f.mss());
            let whole = |segments: u64| u32::try_from(segments).unwrap_or(u32::MAX);
            let calm = self.tx.sender.is_calm();
            if f.win.ssthresh >= self.profile.initial_ssthresh {
                Threshold::AtLeast(whole(cwnd >> 1))
            } else if cwnd >= ssthresh && calm {
                Threshold::Is(whole((cwnd >> 1).max(ssthresh)))
            } else {
                Threshold::AtLeast(whole(ssthresh))
            }
        };
        MetricsUpdate::Linux { rtt, ssthresh: ssthresh.then(threshold) }
    }

    /// Starts from the metrics of the route, after the options of the peer's SYN are read
    /// (FreeBSD's `tcp_mss`). `by`: what retransmits the SYN-ACK of this end; `None` on the active
    /// side and once the connection is open.
    #[cold]
    pub(crate) fn start_from_route(&mut self, cached: &HostMetrics, by: Option<SynAck>) {
        let Remembers::Route { .. } = self.profile.remembers else { return };
        if by == Some(SynAck::Cache) {
            return; // a SYN cache uses no metrics; the socket that it makes later does
        }
        self.profile.rtt.start_by_route(&mut self.tx.rtt, cached.rtt, cached.rttvar);
        if cached.ssthresh != 0 {
            self.tx.snd.win.ssthresh = (2 * self.tx.snd.mss()).max(u64::from(cached.ssthresh));
        }
    }
}

#[cfg(test)]
mod tests;
