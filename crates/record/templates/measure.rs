//! Replace this text: what is measured, where, and over which packets, connections or users.
//!
//! What `make new-measure` wrote works: the mean size of the packets that were dropped.

use crate::Summary;
use crate::measure::{BYTES, Measure, real};

/// Counters of the measured interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Template {
    packets: u64,
    bytes: u64,
}

impl Template {
    /// A packet of this many bytes was dropped in the measured interval.
    pub fn dropped(&mut self, ip_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(ip_bytes);
    }

    /// Writes the numbers into a summary.
    pub fn summarise(&self, out: &mut Summary) {
        out.write(MEASURES, self);
    }
}

// Name, unit, title, how it is read, and what it means, as a phrase.
#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Template>] = &[
    real("template", BYTES, "mean size of dropped packets", |t: &Template| t.bytes as f64 / t.packets as f64,
        "IP bytes, mean over the packets that queues or scripts dropped in the measured interval; null without any"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_of_what_was_dropped() {
        let mut dropped = Template::default();
        dropped.dropped(40);
        dropped.dropped(1_500);
        let mut out = Summary::default();
        dropped.summarise(&mut out);
        assert_eq!(out.number("template"), 770.0);
    }
}
