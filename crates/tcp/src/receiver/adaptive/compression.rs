//! How Linux compresses acknowledgements that only report what came beyond a hole
//! (`__tcp_ack_snd_check`, `net.ipv4.tcp_comp_sack_nr`): the first three go out at once, later ones
//! wait a little for further arrivals, and one acknowledgement reports all of these.

use packet::{Duration, Instant};

use super::{Adaptive, Receiver, Timing};

/// Number of reports that are sent at once for each expected sequence number
/// (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;

/// The settings of compression in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compress {
    /// Largest number of arrivals that one acknowledgement reports (`tcp_comp_sack_nr`); 0 for an
    /// acknowledgement of each.
    pub most: u8,
    /// Longest wait (`tcp_comp_sack_delay_ns`); a shorter wait is this percentage of the round-trip
    /// time (`tcp_comp_sack_rtt_percent`).
    pub delay: Duration,
    pub percent: u16,
    /// How much later the timer may end (`tcp_comp_sack_slack_ns`); here it always does, as in a
    /// kernel where no other timer ends at that time.
    pub slack: Duration,
}

/// The state of compression of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// Both ends agreed on selective acknowledgements.
    pub agreed: bool,
    /// Number of arrivals that wait to be reported (`compressed_ack`).
    waiting: u8,
    /// Number of reports sent at once since the expected sequence number became `next`
    /// (`dup_ack_counter`, `compressed_ack_rcv_nxt`).
    at_once: u8,
    next: u64,
}

/// When a report is sent.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    AtOnce,
    /// The report is the first one that waits, and a timer ends the wait.
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
    /// How long a report waits. `received` and `sent`: the round-trip times that the receiver and
    /// the sender have estimated, in units of 1/8 us, 0 if unknown.
    pub fn wait(&self, received: u64, sent: u64) -> Duration {
        let trip = if sent > 0 { received.min(sent) } else { received };
        let share = trip * 125 * u64::from(self.percent) / 100;
        self.delay.min(Duration::from_nanos(share)) + self.slack
    }
}

impl Receiver {
    /// Data has arrived beyond a hole, or fills a part of one: its report may wait for more
    /// arrivals.
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
