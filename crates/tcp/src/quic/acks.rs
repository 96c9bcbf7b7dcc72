//! When a receiver acknowledges, and what (RFC 9000 section 13.2; draft-ietf-quic-ack-frequency).

use packet::{Duration, Ecn, Instant};

use super::ranges::Ranges;
use super::rules::AckRules;

/// Numbers of packets received, by ECN code point (RFC 9000 section 13.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EcnCounts {
    pub ect0: u64,
    pub ect1: u64,
    pub ce: u64,
}

impl EcnCounts {
    fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 += 1,
            Ecn::Ect1 => self.ect1 += 1,
            Ecn::Ce => self.ce += 1,
        }
    }
    /// Number of packets received with any of these code points.
    pub fn total(&self) -> u64 {
        self.ect0 + self.ect1 + self.ce
    }
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub number: u64,
    /// The packet is ack-eliciting.
    pub eliciting: bool,
    /// The packet is acknowledged without delay, since it belongs to the handshake or ends a
    /// stream.
    pub urgent: bool,
    pub ecn: Ecn,
    pub at: Instant,
}

/// The packets received in one packet number space, and the acknowledgements due for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    received: Ranges,
    pub counts: EcnCounts,
    /// When the packet with the highest number arrived.
    highest_at: Instant,
    /// The highest number of an ack-eliciting packet that was received.
    highest_eliciting: Option<u64>,
    /// The highest packet number that an acknowledgement has reported.
    reported: Option<u64>,
    /// Number of ack-eliciting packets that no acknowledgement has reported.
    waiting: u64,
    /// An acknowledgement is due.
    pub due: bool,
    /// When a delayed acknowledgement is due, if there is one.
    deadline: Option<Instant>,
}

impl Acks {
    /// Records a packet that has arrived.
    pub fn on_packet(&mut self, packet: Arrival, rules: &AckRules) {
        let Arrival { number, eliciting, urgent, ecn, at } = packet;
        if self.received.contains(number, number + 1) {
            // A duplicate: its sender has perhaps not received the acknowledgement.
            self.due |= eliciting;
            return;
        }
        if self.received.highest().is_none_or(|highest| number > highest) {
            self.highest_at = at;
        }
        self.counts.count(ecn);
        self.received.insert(number, number + 1);
        self.received.keep_highest(rules.ranges);
        if !eliciting {
            return;
        }
        self.waiting += 1;
        let out_of_order = self.is_out_of_order(number, rules.reordering);
        self.highest_eliciting = self.highest_eliciting.max(Some(number));
        if urgent || out_of_order || ecn == Ecn::Ce || self.waiting > rules.eliciting {
            self.due = true;
        } else {
            self.deadline.get_or_insert(at + rules.max_delay);
        }
    }

    /// Whether an ack-eliciting packet shows that others are late, or is late itself. With a
    /// threshold of 1 this follows RFC 9000 section 13.2.1; with a larger one section 6.2 of the
    /// draft: there is a gap that no acknowledgement has shown yet.
    fn is_out_of_order(&self, number: u64, threshold: u64) -> bool {
        let Some(highest) = self.highest_eliciting else {
            return threshold == 1 && !self.received.contains(0, number);
        };
        match threshold {
            0 => false,
            1 => number < highest || !self.received.contains(highest + 1, number),
            gap => {
                let highest = highest.max(number);
                let shown = self.reported.map_or(0, |reported| (reported + 1).saturating_sub(gap));
                let missing = (shown..highest).find(|&n| !self.received.contains(n, n + 1));
                missing.is_some_and(|missing| highest - missing >= gap)
            }
        }
    }

    /// When a delayed acknowledgement is due; [`Instant::NEVER`] if there is none.
    pub fn deadline(&self) -> Instant {
        self.deadline.unwrap_or(Instant::NEVER)
    }

    /// Makes a delayed acknowledgement due if its time has come.
    pub fn on_timer(&mut self, now: Instant) {
        self.due |= self.deadline() <= now;
    }

    /// Whether there is an ack-eliciting packet to report, or an acknowledgement is due.
    pub fn has_news(&self) -> bool {
        self.waiting > 0 || self.due
    }

    /// What an acknowledgement reports: the ranges, highest first, and how long the highest has waited.
    pub fn report(&self, now: Instant) -> (impl Iterator<Item = (u64, u64)> + '_, Duration) {
        (self.received.highest_first(), now.since(self.highest_at))
    }

    /// An acknowledgement is sent; returns the highest number that it reports.
    pub fn on_sent(&mut self) -> Option<u64> {
        (self.waiting, self.due, self.deadline) = (0, false, None);
        self.reported = self.received.highest();
        self.reported
    }

    /// The peer has received an acknowledgement with this highest number: what it reported need not be reported
    /// again (RFC 9000 section 13.2.4).
    pub fn on_known(&mut self, highest: u64) {
        self.received.remove(0, highest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> AckRules {
        AckRules { eliciting: 1, max_delay: Duration::from_millis(25), reordering: 1, ranges: 32 }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn arrival(number: u64, ms: u64) -> Arrival {
        Arrival { number, eliciting: true, urgent: false, ecn: Ecn::NotEct, at: at(ms) }
    }

    /// Whether an acknowledgement is sent at once when each of these packet numbers arrives.
    fn at_once(rules: &AckRules, numbers: &[u64]) -> Vec<bool> {
        let mut acks = Acks::default();
        let mut due = |&number: &u64| {
            acks.on_packet(arrival(number, number), rules);
            let due = acks.due;
            if due {
                acks.on_sent();
            }
            due
        };
        numbers.iter().map(&mut due).collect()
    }

    #[test]
    fn every_second_packet_and_every_gap_is_acknowledged_at_once() {
        // RFC 9000 sections 13.2.1 and 13.2.2.
        assert_eq!(at_once(&rules(), &[0, 1, 2, 3]), [false, true, false, true]);
        assert_eq!(at_once(&rules(), &[0, 2, 1, 3]), [false, true, true, false]);
        let lazy = AckRules { eliciting: 3, ..rules() };
        assert_eq!(at_once(&lazy, &[0, 1, 2, 3, 4]), [false, false, false, true, false]);
        let blind = AckRules { reordering: 0, eliciting: 9, ..rules() };
        assert_eq!(at_once(&blind, &[0, 2, 1, 9]), [false; 4]);
    }

    #[test]
    fn a_gap_shows_where_it_is_as_wide_as_the_threshold() {
        // Section 6.2.1 of the draft, with a threshold of 3: numbers 0, 1, then 3, 4, 5 and 8.
        let three = AckRules { reordering: 3, eliciting: 99, ..rules() };
        let seen = at_once(&three, &[0, 1, 3, 4, 5, 8, 9, 10]);
        assert_eq!(seen, [false, false, false, false, true, false, true, true]);
    }

    #[test]
    fn a_lone_packet_waits_for_25_ms_and_a_marked_one_not() {
        let mut acks = Acks::default();
        acks.on_packet(arrival(0, 10), &rules());
        assert_eq!((acks.due, acks.deadline()), (false, at(35)));
        acks.on_timer(at(35));
        assert!(acks.due);
        acks.on_sent();
        acks.on_packet(Arrival { ecn: Ecn::Ce, ..arrival(1, 40) }, &rules());
        assert!(acks.due, "RFC 9000 section 13.2.1");
        acks.on_sent();
        acks.on_packet(Arrival { eliciting: false, ..arrival(2, 41) }, &rules());
        assert!(!acks.has_news(), "no acknowledgement of an acknowledgement");
        assert_eq!(acks.counts, EcnCounts { ect0: 0, ect1: 0, ce: 1 });
    }

    #[test]
    fn what_the_peer_knows_is_not_reported_again() {
        let mut acks = Acks::default();
        [0, 1, 4, 5].iter().for_each(|&n| acks.on_packet(arrival(n, n), &rules()));
        acks.on_known(5);
        let (ranges, waited) = acks.report(at(9));
        assert_eq!((ranges.collect::<Vec<_>>(), waited), (vec![(5, 6)], Duration::from_millis(4)));
    }
}
