//! What a host remembers of the hosts it has talked to, and what the next connection makes of it:
//! the metrics of FreeBSD's host routes and Linux's `tcp_metrics`.
//!
//! A driver keeps one [`HostCache`] for all its hosts. While [`Endpoint::may_recall`] holds it calls
//! [`HostCache::deliver`] in place of [`Endpoint::on_segment`], and [`HostCache::learn`] once
//! [`Endpoint::may_teach`] does. Which numbers are kept, and what is done with them, is the system's rule:
//!
//! | | FreeBSD 2.2.8, 4.5 | Linux |
//! | --- | --- | --- |
//! | learnt | `tcp_close`: at the end of TIME_WAIT, after the last ACK, or given up | `tcp_update_metrics`: all of this side is acknowledged after its close |
//! | by | connections with 16 samples of the round trip | all with a sample |
//! | round trip | mean of old and new | a longer one at once, a shorter one by an eighth |
//! | threshold | from the first one below half the send pipe; mean of old and new | only with `tcp_no_ssthresh_metrics_save = 0` |
//! | used | `tcp_mss`: with the options of the peer's SYN, in 4.5 on the passive side when the SYN cache makes the socket | `tcp_init_metrics`: after the handshake |
//! | for | estimate, timeout, threshold | timeout, threshold |
//! | forgotten | an hour after its last use | an hour after it was learnt |

use std::collections::{BTreeMap, VecDeque};

use packet::{Duration, Instant};

use crate::connection::State;
use crate::endpoint::Endpoint;
use crate::profile::{Profile, SynAck};
use crate::rtt::{RTT_SAMPLES_TO_KEEP, Rtt};
use crate::segment::Segment;
use crate::send_state::SendState;

/// `rtq_reallyold` of FreeBSD's `in_rmx.c`, `TCP_METRICS_TIMEOUT` of Linux's `tcp_metrics.c`.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3_600);
/// Bytes of TCP and IP headers that a threshold in FreeBSD's route counts with each segment.
const HEADERS: u64 = 40;

/// What a profile's hosts remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remembers {
    Nothing,
    /// Route metrics of 4.4BSD.
    Route {
        /// A threshold below half of this, bytes, is remembered; 0 for none.
        sendpipe: u64,
    },
    /// Linux's `tcp_metrics`.
    Linux {
        /// The threshold too.
        ssthresh: bool,
    },
}

/// A host and the one it talks to, by numbers that the driver gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPair {
    /// The host that remembers.
    pub own: u32,
    /// What it remembers.
    pub peer: u32,
}

impl HostPair {
    /// Both numbers in one.
    fn key(self) -> u64 {
        u64::from(self.own) << 32 | u64::from(self.peer)
    }
}

/// What is remembered of a host; a number that is 0 is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostMetrics {
    /// Smoothed round trip, us (BSD's `RTM_RTTUNIT`); in Linux times 8.
    pub rtt: u32,
    /// Mean deviation, us; Linux makes nothing of its own.
    pub rttvar: u32,
    /// Slow-start threshold: bytes with headers (BSD), segments (Linux).
    pub ssthresh: u32,
}

/// What an ended connection has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lesson {
    /// In a route's units; `bad_news`: the threshold is below half the send pipe.
    Route { rtt: u32, rttvar: u32, ssthresh: u32, bad_news: bool },
    /// Linux's, in its units. No round trip: no segment came back in time.
    Linux { rtt: Option<u32>, ssthresh: Option<Threshold> },
}

/// What Linux makes of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threshold {
    /// It replaces the old one.
    Is(u32),
    /// It replaces a smaller old one, and none that is not there.
    AtLeast(u32),
}

impl HostMetrics {
    /// Nothing is remembered.
    pub const NONE: HostMetrics = HostMetrics { rtt: 0, rttvar: 0, ssthresh: 0 };

    /// The handshake is over and its round trip, if there was one, is taken: Linux's
    /// `tcp_init_metrics`.
    #[cold]
    pub fn start_linux(&self, profile: &Profile, rtt: &mut Rtt, snd: &mut SendState) {
        let Remembers::Linux { ssthresh } = profile.remembers else { return };
        profile.rtt.start_by_linux(rtt, self.rtt);
        if ssthresh && self.ssthresh != 0 {
            snd.ssthresh = u64::from(self.ssthresh) * snd.mss();
        }
    }

    fn learn(&mut self, lesson: &Lesson) {
        match *lesson {
            Lesson::Route { rtt, rttvar, ssthresh, bad_news } => {
                average(&mut self.rtt, rtt);
                average(&mut self.rttvar, rttvar);
                if self.ssthresh != 0 || bad_news {
                    average(&mut self.ssthresh, ssthresh);
                }
            }
            Lesson::Linux { rtt: None, .. } => self.rtt = 0,
            Lesson::Linux { rtt: Some(rtt), ssthresh } => {
                // Too long is better than too short.
                let shorter = self.rtt.saturating_sub(rtt);
                self.rtt = if shorter == 0 { rtt } else { self.rtt - (shorter >> 3) };
                match ssthresh {
                    Some(Threshold::Is(new)) => self.ssthresh = new,
                    Some(Threshold::AtLeast(new)) if self.ssthresh != 0 => {
                        self.ssthresh = self.ssthresh.max(new);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// `tcp_close`: half the old and half the new value, if there are both.
fn average(old: &mut u32, new: u32) {
    *old =
        if *old != 0 && new != 0 { ((u64::from(*old) + u64::from(new)) / 2) as u32 } else { new };
}

/// What one host remembers of another.
#[derive(Clone, Debug, Default)]
struct Memory {
    metrics: HostMetrics,
    /// When it was last used (BSD) or learnt (Linux).
    stamp: Instant,
    /// What connections in TIME_WAIT will leave, and when; in order. (Tens of thousands between two
    /// busy hosts.)
    to_come: VecDeque<(Instant, Lesson)>,
}

impl Memory {
    /// Whatever has happened until `now`.
    fn catch_up(&mut self, now: Instant) {
        while let Some(&(at, lesson)) = self.to_come.front().filter(|(at, _)| *at <= now) {
            self.to_come.pop_front();
            self.metrics.learn(&lesson);
            if !matches!(lesson, Lesson::Linux { rtt: None, .. }) {
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

/// What all hosts remember: empty at first, as after a boot or in a new network namespace. Only
/// pairs that have something to remember take room. Left out: that FreeBSD forgets sooner where it
/// keeps more than 128 unused routes (`rtq_toomany`), that Linux replaces the oldest of more than
/// five entries of one hash chain, and that a FreeBSD connection of more than an hour is a use.
#[derive(Clone, Debug, Default)]
pub struct HostCache {
    /// FreeBSD's and Linux's units never meet: hosts of both kinds under one number are two. By
    /// [`HostPair::key`], which is compared at once.
    memories: [BTreeMap<u64, Memory>; 2],
}

impl HostCache {
    fn memories(&mut self, remembers: Remembers) -> Option<&mut BTreeMap<u64, Memory>> {
        match remembers {
            Remembers::Nothing => None,
            Remembers::Route { .. } => Some(&mut self.memories[0]),
            Remembers::Linux { .. } => Some(&mut self.memories[1]),
        }
    }

    /// A segment reaches an end whose host may remember the peer: as [`Endpoint::on_segment`].
    pub fn deliver(&mut self, pair: HostPair, end: &mut Endpoint, segment: &Segment, now: Instant) {
        let recalled = self.recall(pair, end.profile.remembers, now);
        end.on_segment_recalling(segment, &recalled, now);
    }

    fn recall(&mut self, pair: HostPair, remembers: Remembers, now: Instant) -> HostMetrics {
        let known = self.memories(remembers).and_then(|memories| memories.get_mut(&pair.key()));
        let Some(memory) = known else { return HostMetrics::NONE };
        memory.catch_up(now);
        memory.forget_if_old(now);
        if let Remembers::Route { .. } = remembers {
            memory.stamp = now;
        }
        memory.metrics
    }

    /// The host learns from an `end` that [`may_teach`](Endpoint::may_teach); a TIME_WAIT that
    /// still runs is waited for.
    pub fn learn(&mut self, pair: HostPair, end: &mut Endpoint, now: Instant) {
        end.tx.rtt.taught = true;
        let remembers = end.profile.remembers;
        let Some(memories) = self.memories(remembers) else { return };
        let waits =
            end.conn.state == State::TimeWait && matches!(remembers, Remembers::Route { .. });
        let at = if waits { end.conn.conn_timer } else { now };
        let lesson = end.lesson();
        if let Some(Lesson::Linux { rtt: Some(_), .. } | Lesson::Route { .. }) = lesson {
            memories.entry(pair.key()).or_default();
        }
        let Some(memory) = memories.get_mut(&pair.key()) else { return };
        memory.catch_up(now);
        if let Remembers::Linux { .. } = remembers {
            memory.forget_if_old(now);
        }
        match lesson {
            Some(lesson) => {
                let place = memory.to_come.partition_point(|&(due, _)| due <= at);
                memory.to_come.insert(place, (at, lesson));
                memory.catch_up(now);
            }
            // To have had a connection is to have used the route.
            None => memory.stamp = memory.stamp.max(at),
        }
    }
}

impl Endpoint {
    /// Whether the connection is still being opened on a host that remembers: it makes a
    /// difference who delivers, see [`HostCache::deliver`].
    #[inline]
    pub fn may_recall(&self) -> bool {
        matches!(self.conn.state, State::Listen | State::SynSent | State::SynReceived)
            && self.profile.remembers()
    }

    /// Whether the host cache is still to be updated from this end and now may be; `over`: both
    /// ends have finished, and the place is about to be used again. FreeBSD: `tcp_close`. Linux:
    /// `tcp_time_wait` or LAST-ACK to CLOSE, never when given up.
    #[inline]
    pub fn may_teach(&self, over: bool) -> bool {
        let closed = matches!(self.conn.state, State::FinWait2 | State::TimeWait | State::Closed);
        !self.tx.rtt.taught
            && match self.profile.remembers {
                Remembers::Nothing => false,
                Remembers::Route { .. } => over,
                Remembers::Linux { .. } => closed,
            }
    }

    fn lesson(&self) -> Option<Lesson> {
        match self.profile.remembers {
            Remembers::Nothing => None,
            Remembers::Route { sendpipe } => self.route_lesson(sendpipe),
            Remembers::Linux { ssthresh } => Some(self.linux_lesson(ssthresh)),
        }
    }

    /// `tcp_close` of FreeBSD 2.1.7.1, 3.2 and 4.x.
    fn route_lesson(&self, sendpipe: u64) -> Option<Lesson> {
        if self.tx.rtt.samples() < RTT_SAMPLES_TO_KEEP {
            return None;
        }
        let (rtt, rttvar) = self.profile.rtt.route_metrics(&self.tx.rtt);
        let (ssthresh, mss) = (self.tx.snd.ssthresh, self.tx.snd.mss());
        // To segments, and to their bytes with headers.
        let segments = (ssthresh.saturating_add(mss / 2) / mss).max(2);
        let bytes = u32::try_from(segments.saturating_mul(mss + HEADERS)).unwrap_or(u32::MAX);
        Some(Lesson::Route { rtt, rttvar, ssthresh: bytes, bad_news: ssthresh < sendpipe / 2 })
    }

    /// `tcp_update_metrics`. What it keeps of the deviation and the window it uses nowhere.
    fn linux_lesson(&self, ssthresh: bool) -> Lesson {
        let rtt = self.profile.rtt.linux_metrics(&self.tx.rtt);
        let threshold = || {
            let f = &self.tx.snd;
            let (cwnd, ssthresh) = (f.cwnd / f.mss(), f.ssthresh / f.mss());
            let whole = |segments: u64| u32::try_from(segments).unwrap_or(u32::MAX);
            let calm = self.tx.sender.is_calm();
            if f.ssthresh >= self.profile.initial_ssthresh {
                Threshold::AtLeast(whole(cwnd >> 1))
            } else if cwnd >= ssthresh && calm {
                Threshold::Is(whole((cwnd >> 1).max(ssthresh)))
            } else {
                Threshold::AtLeast(whole(ssthresh))
            }
        };
        Lesson::Linux { rtt, ssthresh: ssthresh.then(threshold) }
    }

    /// The options of the peer's SYN are read; FreeBSD's `tcp_mss`. `socket`: by whom the passive
    /// side is looked after now, or nobody's on the active one.
    #[cold]
    pub(crate) fn start_from_route(&mut self, recalled: &HostMetrics, by: Option<SynAck>) {
        let Remembers::Route { .. } = self.profile.remembers else { return };
        if by == Some(SynAck::Cache) {
            return; // it has no metrics; the socket that it makes in the end has
        }
        self.profile.rtt.start_by_route(&mut self.tx.rtt, recalled.rtt, recalled.rttvar);
        if recalled.ssthresh != 0 {
            self.tx.snd.ssthresh = (2 * self.tx.snd.mss()).max(u64::from(recalled.ssthresh));
        }
    }
}

#[cfg(test)]
mod tests;
