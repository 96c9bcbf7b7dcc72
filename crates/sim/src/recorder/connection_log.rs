//! The records kept with a connection until it ends: the rows of its requests, what it had done
//! when the measured interval began, and its loss episodes.

use record::{Class, Losses, Recoveries};
use tcp::{Counters, Segment};

use super::facts::ConnectionEnd;
use super::loss_episodes::Episode;
use crate::world::connection::{ACCEPTOR, Connection, OPENER};

#[derive(Debug)]
pub struct ConnectionLog {
    /// Row numbers of the connection's requests in the log of requests.
    rows: Vec<u32>,
    /// Records that most connections do not need.
    rare: Option<Box<Rare>>,
}

#[derive(Debug, Default)]
struct Rare {
    before: Before,
    /// The last loss episode in the data of each end.
    episodes: [Episode; 2],
}

/// What a connection had done when the measured interval began.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Payload bytes that had arrived in order at each end.
    delivered: [u64; 2],
    recoveries: Recoveries,
}

impl Default for ConnectionLog {
    fn default() -> Self {
        // Most connections carry one request.
        ConnectionLog { rows: Vec::with_capacity(1), rare: None }
    }
}

impl ConnectionLog {
    /// Resets the log for a new connection, keeping its allocated memory.
    pub fn reset(&mut self) {
        self.rows.clear();
        self.rare = None;
    }

    /// Adds the row number of a request.
    pub fn row(&mut self, row: u32) {
        self.rows.push(row);
    }

    pub fn rows(&self) -> &[u32] {
        &self.rows
    }
}

/// Measurements of both ends together.
impl Connection {
    /// Payload bytes that have arrived in order at each end.
    pub fn delivered(&self) -> [u64; 2] {
        [OPENER, ACCEPTOR].map(|end| self.ends[end].delivered())
    }

    fn before(&self) -> Before {
        self.log.rare.as_ref().map(|rare| rare.before).unwrap_or_default()
    }

    /// Payload bytes that have arrived in order at each end since the measured interval began.
    pub fn delivered_measured(&self) -> [u64; 2] {
        let (now, before) = (self.delivered(), self.before().delivered);
        [OPENER, ACCEPTOR].map(|end| now[end] - before[end])
    }

    /// Loss recoveries of both ends since the measured interval began.
    pub fn recoveries(&self) -> Recoveries {
        let [a, b] = [OPENER, ACCEPTOR].map(|end| self.ends[end].counters());
        let sum = |of: fn(&Counters) -> u32| u64::from(of(a)) + u64::from(of(b));
        let before = self.before().recoveries;
        Recoveries {
            timeouts: sum(|c| c.timeouts) - before.timeouts,
            fast_retransmits: sum(|c| c.fast_retransmits) - before.fast_retransmits,
            spurious_timeouts: sum(|c| c.spurious_timeouts) - before.spurious_timeouts,
            ecn_reductions: sum(|c| c.ecn_reductions) - before.ecn_reductions,
            retransmitted: sum(|c| c.resent_data) - before.retransmitted,
        }
    }

    /// Segments that either end has retransmitted: SYN, FIN, or with payload.
    pub fn resent(&self) -> u32 {
        let of = |c: &Counters| u32::from(c.resent_syn) + u32::from(c.resent_fin) + c.resent_data;
        of(self.ends[OPENER].counters()) + of(self.ends[ACCEPTOR].counters())
    }

    /// Which kinds of segments had to be retransmitted, in either direction.
    pub fn class(&self) -> Class {
        let [a, b] = [self.ends[OPENER].counters(), self.ends[ACCEPTOR].counters()];
        Class::of(
            u32::from(a.resent_syn) + u32::from(b.resent_syn),
            u32::from(a.resent_fin) + u32::from(b.resent_fin),
            a.resent_data + b.resent_data,
        )
    }

    /// What the recorder needs when the connection, or the run, ends.
    pub fn end(&self) -> ConnectionEnd<'_> {
        ConnectionEnd {
            source: self.source,
            class: self.class(),
            rows: self.log.rows(),
            recoveries: self.recoveries(),
            delivered: self.delivered_measured(),
        }
    }

    /// The measured interval begins: notes what the connection has done until now.
    pub fn begin_measuring(&mut self) {
        let before = Before { delivered: self.delivered(), recoveries: self.recoveries() };
        self.log.rare.get_or_insert_default().before = before;
    }

    /// A segment with payload that this end has sent was dropped.
    pub fn lost(&mut self, from: usize, segment: &Segment, measured: bool, losses: &mut Losses) {
        let episode = &mut self.log.rare.get_or_insert_default().episodes[from];
        episode.dropped(&self.ends[from], segment, measured, losses);
    }

    /// A timer of this end was served.
    #[inline]
    pub fn timer_served(&mut self, end: usize, losses: &mut Losses) {
        if let Some(rare) = &mut self.log.rare {
            rare.episodes[end].timer_served(&self.ends[end], losses);
        }
    }
}
