//! How Linux compresses acknowledgements that only report what came beyond a hole
//! (`__tcp_ack_snd_check`, `net.ipv4.tcp_comp_sack_nr`): the first three go out at once, later
//! ones wait a little for what comes next, and one acknowledgement reports it all.

use packet::{Duration, Instant};

use super::{Adaptive, Receiver, Timing};

/// Reports at once for each number expected (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;

/// The rules of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compress {
    /// Arrivals that one acknowledgement reports at most (`tcp_comp_sack_nr`); 0: one each.
    pub most: u8,
    /// Longest wait (`tcp_comp_sack_delay_ns`), which is otherwise this share of the round trip
    /// (`tcp_comp_sack_rtt_percent`).
    pub delay: Duration,
    pub percent: u16,
    /// How much later the timer may end (`tcp_comp_sack_slack_ns`), and does where no other ends then.
    pub slack: Duration,
}

/// The state of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// Both ends agreed on selective acknowledgements.
    pub agreed: bool,
    /// Arrivals that wait to be reported (`compressed_ack`).
    waiting: u8,
    /// Reports at once since the number expected was this (`dup_ack_counter`,
    /// `compressed_ack_rcv_nxt`).
    at_once: u8,
    next: u64,
}

/// What becomes of a report.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    AtOnce,
    /// The first that waits, until a timer ends.
    Waits,
    /// The acknowledgement joins those that wait to be sent as one.
    Joins,
}

impl Compression {
    pub fn waits(&self) -> bool {
        self.waiting > 0
    }

    pub fn on_ack_sent(&mut self) {
        self.waiting = 0;
    }

    fn on_report(&mut self, rules: &Compress, next: u64) -> Report {
        if !self.agreed || self.waiting >= rules.most {
            return Report::AtOnce;
        }
        if self.next != next {
            (self.next, self.at_once) = (next, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return Report::AtOnce;
        }
        self.waiting += 1;
        if self.waiting == 1 { Report::Waits } else { Report::Joins }
    }
}

impl Compress {
    /// How long a report waits; round trips in eighths of a microsecond, 0 if unknown.
    pub fn wait(&self, received: u64, sent: u64) -> Duration {
        let trip = if sent > 0 { received.min(sent) } else { received };
        let share = trip * 125 * u64::from(self.percent) / 100;
        self.delay.min(Duration::from_nanos(share)) + self.slack
    }
}

impl Receiver {
    /// What came lies beyond a hole, or fills a part of one: its report may wait for the next.
    pub(in crate::receiver) fn compress(&mut self, rules: &Adaptive, timing: &Timing) {
        let (next, acked, held) = (self.next, self.acked, self.held_room());
        if !self.has_hole() {
            return;
        }
        let Some(tempo) = self.tempo() else { return };
        let unread = next - acked;
        let more = unread > u64::from(rules.beyond * tempo.full);
        if more && tempo.keeps_offer(rules, held, acked) || tempo.is_quick() {
            return;
        }
        let received = tempo.buffer.trip();
        let report = tempo.compression.on_report(&rules.compress, next);
        if report == Report::AtOnce {
            return;
        }
        self.ack_now = false;
        if report == Report::Waits {
            let sent = timing.trip.rules.srtt(timing.trip.rtt).nanos() / 125;
            let until: Instant = timing.moment.at + rules.compress.wait(received, sent);
            self.ack_at = self.ack_at.min(until);
        }
    }
}
