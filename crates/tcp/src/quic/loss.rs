//! Loss detection: appendix A of RFC 9002, from A.8 on.

use packet::{Duration, Instant};

use super::endpoint::{DATA, HANDSHAKE, QuicEndpoint};
use super::rules::{GRANULARITY, PERSISTENT};
use super::space::Fate;
use crate::congestion::Cause;

/// Largest number of doublings of the probe timeout; the connection is given up before that.
const MOST_DOUBLINGS: u32 = 32;

impl QuicEndpoint {
    /// Finds lost packets (`DetectAndRemoveLostPackets` and `OnPacketsLost` of RFC 9002); `before`:
    /// bytes in flight before the acknowledgement or timeout. Returns the bytes lost.
    pub(super) fn detect_lost(&mut self, at: usize, before: u64, now: Instant) -> u64 {
        let space = &mut self.spaces[at];
        space.loss_time = Instant::NEVER;
        let Some(largest) = space.largest_acked else { return 0 };
        let trip = self.rtt.latest.max(self.rtt.smoothed).nanos();
        let delay = Duration::from_nanos(
            trip / 8 * self.rules.time_eighths + trip % 8 * self.rules.time_eighths / 8,
        );
        let delay = delay.max(GRANULARITY);
        let threshold = self.rules.packet_threshold;
        let (mut lost, mut last) = (0, None);
        for number in space.first..largest {
            let Some(record) = space.get(number) else { continue };
            if record.fate != Fate::Out {
                continue;
            }
            let due = record.at + delay;
            if due > now && largest < number + threshold {
                space.loss_time = space.loss_time.min(due);
                continue;
            }
            record.fate = Fate::Lost;
            let sent = *record;
            space.eliciting_out -= 1;
            if sent.seq < sent.end {
                space.out.on_lost(sent.seq, sent.end);
            }
            self.done_due |= sent.done;
            self.path.take_lost((at == DATA).then_some(number), &sent, now);
            (lost, last) = (lost + u64::from(sent.bytes), Some((number, sent.at)));
        }
        if let Some((number, sent)) = last {
            self.on_losses(at, number, sent, before, now);
        }
        lost
    }

    /// Reduces the window after losses, the last of which was packet `number`, sent at `sent` (RFC
    /// 9002 appendix B.8).
    fn on_losses(&mut self, at: usize, number: u64, sent: Instant, before: u64, now: Instant) {
        if self.path.on_congestion(Cause::Loss, sent, before, now) {
            self.counters.fast_retransmits += 1;
            self.recovery_packet = self.rules.recovery_packet;
        }
        self.path.set_pace(self.rtt.measured());
        let Some(from) = self.rtt.first_sample else { return };
        let duration = (self.rtt.pto() + self.rules.acks.max_delay) * PERSISTENT;
        let run = self.spaces[at].run_of_losses(number, from);
        if run.is_some_and(|run| run > duration) {
            self.path.collapse(now);
        }
    }

    /// Sets the loss detection timer (`SetLossDetectionTimer` of RFC 9002).
    pub(super) fn set_timer(&mut self, now: Instant) {
        let loss_time = self.spaces[HANDSHAKE].loss_time.min(self.spaces[DATA].loss_time);
        let out = self.spaces.iter().any(|space| space.eliciting_out > 0);
        self.timer = if loss_time != Instant::NEVER {
            loss_time.max(now)
        } else if self.is_amplification_limited() || (!out && self.is_validated()) {
            Instant::NEVER
        } else {
            self.pto_time(now).0.max(now)
        };
    }

    /// When the earliest probe timeout expires, and in which space (`GetPtoTimeAndSpace` of RFC
    /// 9002).
    fn pto_time(&self, now: Instant) -> (Instant, usize) {
        let backoff = 1 << self.timeouts.min(MOST_DOUBLINGS);
        if self.spaces.iter().all(|space| space.eliciting_out == 0) {
            return (now + self.rtt.pto() * backoff, HANDSHAKE);
        }
        let mut earliest = (Instant::NEVER, HANDSHAKE);
        for at in [HANDSHAKE, DATA] {
            let space = &self.spaces[at];
            if space.eliciting_out == 0 || (at == DATA && !self.confirmed) {
                continue;
            }
            let wait = (self.rtt.pto() + self.peer_delay(at)) * backoff;
            earliest = earliest.min((space.eliciting_at + wait, at));
        }
        earliest
    }

    /// The loss detection timer has expired (`OnLossDetectionTimeout` of RFC 9002).
    pub(super) fn on_loss_timer(&mut self, now: Instant) {
        let before = self.path.in_flight;
        let times = [HANDSHAKE, DATA].map(|at| self.spaces[at].loss_time);
        if let Some(at) = [HANDSHAKE, DATA].into_iter().find(|&at| times[at] <= now) {
            self.detect_lost(at, before, now);
            self.spaces[at].trim();
            return self.set_timer(now);
        }
        let (_, at) = self.pto_time(now);
        self.counters.timeouts += 1;
        self.timeouts += 1;
        // `SendOneOrTwoAckElicitingPackets` of appendix A.9; one if nothing is in flight, against a
        // deadlock.
        let out = self.spaces.iter().any(|space| space.eliciting_out > 0);
        (self.spaces[at].probes, self.spaces[at].probed) = (if out { 2 } else { 1 }, 0);
        self.set_timer(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controls;
    use crate::segment::{Flags, Segment};
    use packet::params::{Params, Raw};
    use std::sync::Arc;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A client and a server, 50 ms apart, and the packets on their way to each.
    struct Pair {
        ends: [QuicEndpoint; 2],
        under_way: [Vec<(Instant, Segment)>; 2],
    }

    impl Pair {
        fn new() -> Self {
            let quic = crate::find("quic").expect("is listed");
            let settings = [("pacing".into(), Raw::Bool(true))];
            let params = Params::check(quic.about.fields, &settings).unwrap();
            let profile = Arc::new((quic.build)(&params, &Controls::ours()).unwrap());
            let mut ends = [QuicEndpoint::new(&profile), QuicEndpoint::new(&profile)];
            ends[0].connect(at(0));
            ends[1].conn.state = crate::State::Listen;
            Pair { ends, under_way: Default::default() }
        }

        /// A millisecond passes; `lost` says which packets of the server are lost.
        fn step(&mut self, ms: u64, lost: impl Fn(&Segment) -> bool) {
            for side in [0, 1] {
                let due = |one: &(Instant, Segment)| one.0 <= at(ms);
                let arrived: Vec<_> = self.under_way[side].extract_if(.., |one| due(one)).collect();
                let end = &mut self.ends[side];
                arrived.iter().for_each(|one| end.on_segment(&one.1, at(ms)));
                while end.next_timeout().is_some_and(|due| due.at <= at(ms)) {
                    end.on_timeout(at(ms));
                }
                let mut out = None;
                while end.poll_send_into(&mut out, at(ms)) {
                    let segment: Segment = out.take().unwrap();
                    if side == 0 || !lost(&segment) {
                        self.under_way[1 - side].push((at(ms + 50), segment));
                    }
                }
            }
        }
    }

    #[test]
    fn a_loss_that_the_timer_shows_slows_the_pace_at_once() {
        let mut pair = Pair::new();
        let lost = |segment: &Segment| {
            let first = !segment.flags.has(Flags::RETRANSMISSION);
            first && segment.stamp == 8 && !segment.flags.has(Flags::SYN)
        };
        let mut before = 0;
        for ms in 0..1_000 {
            if ms == 10 {
                pair.ends[1].write(11_000, at(ms));
            }
            pair.step(ms, lost);
            let server = &pair.ends[1];
            if server.counters.fast_retransmits > 0 {
                // The timer found the loss, without an acknowledgement.
                let trip = server.rtt.measured().nanos();
                assert_eq!(server.path.pacer.rate, server.path.win.cwnd * 1_250_000_000 / trip);
                assert!(server.path.pacer.rate < before, "{before}");
                return;
            }
            before = server.path.pacer.rate;
        }
        panic!("nothing was lost");
    }
}
