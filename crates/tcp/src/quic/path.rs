//! The congestion window and pacing of a connection, and the input of its congestion control (RFC
//! 9002 section 7, appendix B).

use packet::{Duration, Instant};

use super::pacer::Pacer;
use super::rules::{LEAST_WINDOW, QuicRules};
use super::space::Sent;
use crate::congestion::{AckSample, CaState, Cause, Control, ControlFlags};
use crate::profile::Profile;
use crate::send_state::{Flight, Window};
use crate::tracker::{MinRtt, Newest, Rate, Record};

/// The packets that one ACK frame newly acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acked {
    pub bytes: u64,
    /// Bytes of those packets that were sent after the last reduction of the window.
    pub fresh_bytes: u64,
    /// Number of those packets that were sent after the last reduction of the window.
    pub fresh: u32,
    /// Number of the packets.
    pub packets: u32,
    /// Number of those packets that were sent ECN-capable.
    pub capable: u64,
    newest: Option<Newest>,
    /// Sending time of the packet that was sent last.
    pub sent_last: Instant,
}

/// Congestion window and pacing of one connection.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub control: Box<dyn Control>,
    flags: ControlFlags,
    pub win: Window,
    pub pacer: Pacer,
    /// UDP payload of the ack-eliciting packets in flight, bytes (`bytes_in_flight`).
    pub in_flight: u64,
    /// UDP payload of all ack-eliciting packets sent so far, bytes.
    sent: u64,
    rate: Rate,
    min_rtt: MinRtt,
    /// The current round trip ends when a packet is delivered that was sent after this many bytes
    /// had been delivered.
    round_end: u64,
    /// When the window was last reduced (`congestion_recovery_start_time`).
    recovery_start: Option<Instant>,
    /// The program, not the window, limits the sending (RFC 9002 section 7.8).
    pub app_limited: bool,
    last_sent: Instant,
}

impl Path {
    pub fn new(profile: &Profile, rules: &QuicRules) -> Self {
        let control = profile.congestion.boxed();
        let flags = control.flags();
        let mss = rules.datagram;
        let cwnd = rules.initial_window * u64::from(mss);
        Path {
            flags,
            win: Window { cwnd, ssthresh: profile.initial_ssthresh, mss, ..Window::default() },
            pacer: Pacer::new(rules.pacing || flags.paced, cwnd, rules.pacing_bursts),
            in_flight: 0,
            sent: 0,
            rate: Rate::new(flags.rates),
            min_rtt: MinRtt::new(),
            round_end: 0,
            recovery_start: None,
            app_limited: false,
            last_sent: Instant::ZERO,
            control,
        }
    }

    /// The data in flight, as a control sees it.
    fn flight(&self) -> Flight {
        Flight { una: self.sent - self.in_flight, max: self.sent, window: u32::MAX }
    }

    /// Starts the control after the handshake; `srtt` is zero if it measured no round trip.
    pub fn begin(&mut self, srtt: Duration, now: Instant) {
        if srtt > Duration::ZERO {
            self.min_rtt.update(srtt, now);
        }
        self.control.on_open(&mut self.win, srtt, now);
        self.set_pace(srtt);
    }

    /// Sets the pacing rate: 1.25 times the window per round trip (RFC 9002 section 7.7), or the
    /// control's own rate.
    pub fn set_pace(&mut self, srtt: Duration) {
        if !self.pacer.on {
            return;
        }
        if srtt > Duration::ZERO {
            self.pacer.resize(self.win.cwnd, self.win.mss(), srtt);
        }
        self.pacer.rate = if self.flags.paced {
            self.control.pacing_rate(&self.win, &self.flight(), srtt).unwrap_or(0)
        } else if srtt > Duration::ZERO {
            let rate = u128::from(self.win.cwnd) * 1_250_000_000 / u128::from(srtt.nanos());
            u64::try_from(rate).unwrap_or(u64::MAX).max(1)
        } else {
            0
        };
    }

    /// Whether a packet of `bytes` fits into the window.
    pub fn fits(&self, bytes: u32) -> bool {
        self.in_flight + u64::from(bytes) <= self.win.cwnd
    }

    /// A packet is sent. `sampled`: the numbers of the first packet in flight and of this one, if
    /// delivery rates are sampled. Returns the bytes delivered so far.
    pub fn on_sent(&mut self, bytes: u64, sampled: Option<(u64, u64)>, now: Instant) -> u64 {
        self.rate.begin(self.in_flight, self.in_flight == 0, now);
        if self.in_flight == 0 {
            let (last, limited) = (self.last_sent, self.rate.is_app_limited());
            self.control.on_tx_start(&mut self.win, last, limited, now);
        }
        if let Some((first, number)) = sampled {
            self.rate.note(first, number, self.in_flight + bytes);
        }
        self.last_sent = now;
        self.in_flight += bytes;
        self.sent += bytes;
        self.pacer.on_sent(bytes, now);
        self.rate.delivered
    }

    /// Notes that there is nothing to send though the window has room.
    pub fn run_dry(&mut self, now: Instant) {
        self.app_limited = true;
        self.rate.run_dry(now);
    }

    /// A packet in flight is acknowledged; `sampled`: its number, if delivery rates are sampled.
    pub fn take_acked(
        &mut self,
        sampled: Option<u64>,
        sent: &Sent,
        acked: &mut Acked,
        now: Instant,
    ) {
        let bytes = u64::from(sent.bytes);
        self.in_flight -= bytes;
        acked.bytes += bytes;
        acked.packets += 1;
        acked.capable += u64::from(sent.capable);
        acked.sent_last = acked.sent_last.max(sent.at);
        if !self.is_in_recovery(sent.at) {
            acked.fresh_bytes += bytes;
            acked.fresh += 1;
        }
        if let Some(turn) = sampled {
            let record = Record::of_packet(turn, bytes, sent.at, sent.delivered);
            self.rate.deliver(turn, &record, &mut acked.newest, now);
        }
    }

    /// A packet in flight is lost; `sampled`: its number, if delivery rates are sampled.
    pub fn take_lost(&mut self, sampled: Option<u64>, sent: &Sent, now: Instant) {
        let bytes = u64::from(sent.bytes);
        self.in_flight -= bytes;
        let then = sampled.and_then(|number| self.rate.snapshot_of(number));
        let lost = self.rate.lose(then, bytes, now);
        self.control.on_lost(&self.win, &lost);
    }

    /// A packet in flight will never be acknowledged: its keys are gone.
    pub fn forget(&mut self, bytes: u64) {
        self.in_flight -= bytes;
    }

    /// `InCongestionRecovery`: whether a packet was sent no later than the last reduction of the
    /// window.
    fn is_in_recovery(&self, sent: Instant) -> bool {
        self.recovery_start.is_some_and(|start| sent <= start)
    }

    /// `OnCongestionEvent`: a packet sent at `sent` was lost, or marked. `before`: bytes in flight
    /// before that was known. Returns whether the window was reduced.
    pub fn on_congestion(
        &mut self,
        cause: Cause,
        sent: Instant,
        before: u64,
        now: Instant,
    ) -> bool {
        if self.is_in_recovery(sent) {
            return false;
        }
        self.recovery_start = Some(now);
        let flight = Flight { una: self.sent - before, ..self.flight() };
        self.control.on_congestion(&mut self.win, &flight, cause, now);
        if !self.flags.own_window {
            self.win.cwnd = self.win.ssthresh.min(self.win.cwnd).max(self.least());
        }
        true
    }

    /// Persistent congestion (RFC 9002 section 7.6.2): the window becomes the smallest one.
    pub fn collapse(&mut self, now: Instant) {
        let flight = self.flight();
        self.control.on_timeout(&self.win, &flight, now);
        if !self.flags.own_window {
            self.win.cwnd = self.least();
        }
        self.recovery_start = None;
    }

    fn least(&self) -> u64 {
        LEAST_WINDOW * self.win.mss()
    }

    /// Whether the control reads marks itself.
    pub fn reads_marks(&self) -> bool {
        self.flags.own_marks
    }

    /// Passes an acknowledgement to the control.
    pub fn on_ack(&mut self, mut acked: Acked, seen: Seen, now: Instant) {
        // Losses were handled before (RFC 9002 appendix A.7): after a reduction at this instant
        // these packets do not grow the window.
        match self.recovery_start {
            None => (acked.fresh_bytes, acked.fresh) = (acked.bytes, acked.packets),
            Some(start) if start == now => (acked.fresh_bytes, acked.fresh) = (0, 0),
            Some(_) => {}
        }
        let Seen { rtt, srtt, lost, marked, before } = seen;
        if let Some(rtt) = rtt {
            self.min_rtt.update(rtt, now);
        }
        let round = acked.newest.is_some_and(|n| n.prior_delivered >= self.round_end);
        if round {
            self.round_end = self.rate.delivered;
        }
        let repairing = acked.packets > 0 && acked.fresh == 0;
        let min_rtt = self.min_rtt.get();
        let sample = AckSample {
            now,
            flight: self.flight(),
            delivered: acked.bytes,
            acked: acked.fresh_bytes,
            segments: acked.fresh,
            lost,
            marked,
            in_flight_before: before,
            in_flight: self.in_flight,
            rtt,
            srtt,
            min_rtt,
            rate: self.rate.sample(acked.newest, min_rtt, now),
            round,
            window_limited: !self.app_limited,
            next_send: Instant::ZERO,
            ca_state: if repairing { CaState::Recovery } else { CaState::Open },
            paced: self.pacer.on,
        };
        self.control.on_ack(&mut self.win, &sample);
        if !self.flags.own_window {
            self.win.cwnd = self.win.cwnd.max(self.least());
        }
        self.set_pace(srtt);
    }
}

/// Parts of a control's sample besides the acknowledged packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub rtt: Option<Duration>,
    pub srtt: Duration,
    pub lost: u64,
    /// Bytes reported to have been marked.
    pub marked: u64,
    /// Bytes in flight before the acknowledgement.
    pub before: u64,
}
