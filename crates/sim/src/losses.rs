//! Loss episodes, as only an onlooker sees them: the network tells no sender what it dropped.

use record::Losses;
use tcp::{Endpoint, Flags, Segment};

use crate::carry::Flight;
use crate::world::World;

/// The last loss episode of what one end sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    /// It lasts until all below this number is acknowledged; 0 before the first.
    until: u64,
    /// Timeouts of the end when it began.
    timeouts: u32,
    /// It began in the measured interval.
    measured: bool,
    /// Another segment was dropped in it.
    multiple: bool,
    /// The retransmission timer expired in it.
    timed_out: bool,
}

impl Episode {
    fn is_open(&self, end: &Endpoint) -> bool {
        end.snd_una() < self.until
    }

    /// A segment with payload that `end` has sent was dropped.
    fn dropped(&mut self, end: &Endpoint, segment: &Segment, measured: bool, book: &mut Losses) {
        if segment.seq + u64::from(segment.len) <= end.snd_una() {
            return; // a needless copy: its loss goes unnoticed
        }
        if !self.is_open(end) {
            let (until, timeouts) = (end.snd_max(), end.counters().timeouts);
            *self = Episode { until, timeouts, measured, ..Episode::default() };
            book.episodes += u64::from(measured);
        } else if !segment.flags.has(Flags::RESENT) && !self.multiple {
            // A segment lost once more is no other segment.
            self.multiple = true;
            book.multiple += u64::from(self.measured);
        }
    }

    /// A timer of `end` has been served.
    fn timer_served(&mut self, end: &Endpoint, book: &mut Losses) {
        let expired = end.counters().timeouts > self.timeouts;
        if expired && !self.timed_out && self.is_open(end) {
            self.timed_out = true;
            book.timeout += u64::from(self.measured);
        }
    }
}

impl World {
    /// A queue has dropped a packet of a connection.
    #[cold]
    pub(crate) fn note_drop(&mut self, id: u32) {
        let Flight { segment, connection, serial, to, .. } = &self.flights[id];
        if segment.len == 0 {
            return;
        }
        let measured = self.window.contains(self.now);
        if measured {
            self.losses.segments += 1;
            self.losses.retransmissions += u64::from(segment.flags.has(Flags::RESENT));
        }
        let connection = &mut self.connections[*connection];
        if connection.serial == *serial {
            let from = usize::from(1 - to);
            let episode = &mut connection.aside.get_or_insert_default().episodes[from];
            episode.dropped(&connection.ends[from], segment, measured, &mut self.losses);
        }
    }

    /// A timer of an end was served, of a connection that may have lost data.
    #[cold]
    pub(crate) fn note_timer(&mut self, index: u32, end: usize) {
        let connection = &mut self.connections[index];
        if let Some(aside) = &mut connection.aside {
            aside.episodes[end].timer_served(&connection.ends[end], &mut self.losses);
        }
    }
}
