//! The sender with RACK-TLP (RFC 8985), proportional rate reduction, and what a
//! congestion control is told ([`AckSample`]).
//!
//! Every segment that is out has a [`Record`] on the [`Scoreboard`]; `order` judges which are lost,
//! `ack` digests acknowledgements, `repair` moves between the states, `timers` keeps the deadlines.

mod ack;
mod detect;
mod prr;
mod rate;
mod reordering;
mod repair;
mod scoreboard;
mod timers;

use packet::{Duration, Instant};

use crate::congestion::{self, CaState, Control, ControlFlags, EcnMode};
use crate::ecn::{EchoReader, EcnFeedback, EcnState};
use crate::recovery::{RackSettings, RecoveryKind};
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};
pub(crate) use ack::{AckContext, Outcome};
use prr::Prr;
use rate::Rate;
use reordering::Reordering;
use repair::{FRto, Undo};
use scoreboard::{Record, Scoreboard};
pub(crate) use timers::Due;
use timers::{MinRtt, Timers};

/// The sender of one connection.
#[derive(Clone, Debug)]
pub(crate) struct RackSender {
    control: Box<dyn Control>,
    flags: ControlFlags,
    settings: RackSettings,
    board: Scoreboard,
    /// The blocks of the last report.
    reported: [(u64, u64); 3],
    state: CaState,
    /// The state ends when this is acknowledged (RFC 6675's RecoveryPoint).
    recovery_point: u64,
    reordering: Reordering,
    prr: Prr,
    rate: Rate,
    min_rtt: MinRtt,
    /// Smoothed round trip and timeout, as the endpoint estimates them.
    srtt: Duration,
    rto: Duration,
    /// A round trip ends when a segment is delivered at whose sending this much was.
    round_end: u64,
    usage: CwndUsage,
    timers: Timers,
    probe: TailLossProbe,
    /// A timeout is on trial (F-RTO, RFC 5682).
    f_rto: FRto,
    undo: Option<Undo>,
    /// Among what was found lost last was a retransmission.
    lost_again: bool,
    /// Segments with data sent so far, as far as pacing counts.
    unpaced: u8,
    pacing_rate: u64,
    /// When the last paced segment allowed the next.
    paced_to: Instant,
    /// When data went out last.
    sent_at: Instant,
}

/// How much of the congestion window is used (Linux's `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
struct CwndUsage {
    /// The window was the limit since `until` was set.
    limited: bool,
    /// Else the most that was out.
    most: u64,
    /// Highest number sent when that was noted.
    until: u64,
}

/// The tail loss probe (RFC 8985 section 7).
#[derive(Clone, Copy, Debug, Default)]
struct TailLossProbe {
    /// One goes out now, whatever the window.
    due: bool,
    /// Highest number sent when one went out (TLP.end_seq); 0 while none is out.
    end: u64,
    /// It was a retransmission.
    resent: bool,
}

/// Segments sent before pacing begins (Linux's `tcp_update_skb_after_send`).
const UNPACED: u8 = 10;

/// What takes over where there is no feedback for another.
const CLASSIC_CONTROL: &str = "reno";

impl RackSender {
    fn new(settings: RackSettings) -> Self {
        RackSender::with(congestion::make(settings.control), Scoreboard::new(), settings)
    }

    fn with(mut control: Box<dyn Control>, board: Scoreboard, settings: RackSettings) -> Self {
        if settings.classic_fallback {
            control.detect_classic_queues();
        }
        RackSender {
            flags: control.flags(),
            control,
            settings,
            board,
            reported: [(0, 0); 3],
            state: CaState::Open,
            recovery_point: 0,
            reordering: Reordering::new(),
            prr: Prr::default(),
            rate: Rate::default(),
            min_rtt: MinRtt::new(),
            srtt: Duration::ZERO,
            rto: Duration::ZERO,
            round_end: 0,
            usage: CwndUsage::default(),
            timers: Timers::new(),
            probe: TailLossProbe::default(),
            f_rto: FRto::Off,
            undo: None,
            lost_again: false,
            unpaced: 0,
            pacing_rate: 0,
            paced_to: Instant::ZERO,
            sent_at: Instant::ZERO,
        }
    }

    /// The sender that `kind` asks for, as new, with what `used` has allocated; none for a kind of
    /// former times.
    pub fn of(kind: RecoveryKind, used: Option<Box<RackSender>>) -> Option<Box<RackSender>> {
        let RecoveryKind::Rack(settings) = kind else { return None };
        let Some(mut rack) = used.filter(|rack| rack.settings.control == settings.control) else {
            return Some(Box::new(RackSender::new(settings)));
        };
        let RackSender { mut control, mut board, .. } = *rack;
        control.reset();
        board.reset();
        *rack = RackSender::with(control, board, settings);
        Some(rack)
    }

    /// Whether segments are spread over the round trip.
    fn is_paced(&self) -> bool {
        self.settings.paces || self.flags.paced
    }

    /// The handshake is over.
    pub fn begin(&mut self, snd: &mut SendState, srtt: Duration, rto: Duration, now: Instant) {
        (self.srtt, self.rto) = (srtt, rto);
        if srtt > Duration::ZERO {
            self.min_rtt.learn(srtt, now);
        }
        self.control.on_open(snd, srtt, now);
        self.set_pace(snd);
    }

    /// What the handshake agreed on. A control that needs to know which data was marked and will not
    /// be told is replaced by Reno, as in Linux; a scalable one must be (RFC 9331 section 4.3).
    pub fn need_feedback(&mut self, ecn: EcnState) {
        let served = match self.flags.ecn {
            EcnMode::Classic => true,
            EcnMode::Dctcp => ecn.on(),
            EcnMode::Scalable => ecn.feedback == EcnFeedback::Accurate,
        };
        if !served {
            self.settings.control = CLASSIC_CONTROL;
            self.control = congestion::make(CLASSIC_CONTROL);
            self.flags = self.control.flags();
        }
    }

    /// The ACK that completes the handshake may tell of a marked SYN-ACK (RFC 9768 section 3.2.2.2).
    pub fn on_opening(
        &mut self,
        snd: &mut SendState,
        ecn: &mut EchoReader,
        ack: &Segment,
        now: Instant,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let marked = ecn.marked_bytes(ack, 1, snd.mss(), true);
        if ecn.echoes(ack, marked) {
            self.answer_marks(snd, now, &mut outcome);
        }
        outcome
    }

    fn set_pace(&mut self, snd: &SendState) {
        if self.is_paced() {
            self.pacing_rate = self.control.pacing_rate(snd, self.srtt).unwrap_or(0);
        }
    }

    /// What the windows, the pace and the probe let go next.
    // Out of line, as all that an endpoint calls: the way of other senders stays short.
    #[inline(never)]
    pub fn next(&self, snd: &SendState) -> Option<Chunk> {
        if self.probe.due {
            return self.probe_chunk(snd);
        }
        if self.timers.pace != Instant::NEVER {
            return None;
        }
        let room = snd.cwnd.saturating_sub(self.board.in_flight);
        let chunk = match self.board.first_waiting() {
            Some(number) if self.f_rto != FRto::SecondAck => self.chunk_of(number),
            _ => self.new_chunk(snd)?,
        };
        // A bare FIN needs no room.
        (chunk.len == 0 || u64::from(chunk.len) <= room).then_some(chunk)
    }

    fn new_chunk(&self, snd: &SendState) -> Option<Chunk> {
        let chunk = snd.new_chunk()?;
        let held_back = !self.settings.limited_transmit
            && self.state == CaState::Open
            && self.board.sacked > 0
            && chunk.end() > snd.una + snd.cwnd;
        (!held_back).then_some(chunk)
    }

    /// The segment of a record, to be sent again.
    fn chunk_of(&self, number: u64) -> Chunk {
        let record = self.board.get(number);
        let len = (record.bytes() - u64::from(record.fin)) as u32;
        Chunk { seq: record.seq, len, fin: record.fin }
    }

    /// RFC 8985 section 7.3: new data if there is any, else the last segment again.
    fn probe_chunk(&self, snd: &SendState) -> Option<Chunk> {
        snd.new_chunk().or_else(|| self.board.last().map(|number| self.chunk_of(number)))
    }

    /// `chunk` goes out; `snd.max` as it was before. Returns the next deadline.
    #[inline(never)]
    pub fn on_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) -> Instant {
        let bytes = chunk.end() - chunk.seq;
        let snapshot = self.rate.snapshot(self.board.in_flight, bytes, now);
        if self.board.in_flight == 0 {
            self.control.on_tx_start(snd, self.sent_at, snapshot.app_limited, now);
            if self.flags.own_window {
                self.set_pace(snd);
            }
        }
        self.sent_at = now;
        let again = chunk.seq < snd.max;
        if again {
            let number = self.board.find(chunk.seq);
            self.board.resend(number, now, snapshot);
            self.note_resent(now);
            if number == self.board.first() {
                // Linux's `tcp_xmit_retransmit_queue`: its acknowledgement takes a round trip.
                self.timers.rto = now + self.rto;
            }
        } else {
            self.board.push(Record {
                seq: chunk.seq,
                end: chunk.end(),
                at: now,
                snapshot,
                fin: chunk.fin,
                ..Record::default()
            });
        }
        self.prr.out += bytes;
        if self.probe.due {
            self.probe = TailLossProbe { due: false, end: snd.max.max(chunk.end()), resent: again };
            // Section 7.3: the retransmission timer starts anew.
            self.timers.rto = now + self.rto;
        }
        self.note_usage(snd, chunk);
        self.pace(bytes, now);
        self.run_dry_if_done(snd, chunk.end(), now);
        self.timers.on_sent(now + self.rto);
        if !again {
            self.schedule_probe(now);
        }
        self.timers.next()
    }

    fn note_usage(&mut self, snd: &SendState, chunk: Chunk) {
        let limited = self.board.in_flight + snd.mss() > snd.cwnd;
        let until = snd.max.max(chunk.end());
        let out = until - snd.una;
        let usage = &mut self.usage;
        if limited || snd.una >= usage.until || (!usage.limited && out > usage.most) {
            *usage = CwndUsage { limited, most: out, until };
        }
    }

    /// Whether the window was used (Linux's `tcp_is_cwnd_limited`).
    fn window_limited(&self, snd: &SendState) -> bool {
        let slow_start = snd.cwnd < snd.ssthresh;
        self.usage.limited || (slow_start && snd.cwnd < 2 * self.usage.most)
    }

    /// Notes when the program has nothing more to send though the window has room.
    fn run_dry_if_done(&mut self, snd: &SendState, sent_to: u64, now: Instant) {
        let out_of_data = sent_to.max(snd.max) >= snd.end && self.board.waiting == 0;
        if out_of_data && self.board.in_flight < snd.cwnd {
            self.rate.run_dry(now);
        }
    }

    /// The earliest instant for the next segment: Linux's `tcp_update_skb_after_send`, with a
    /// quantum of one segment (constructed: what TSO would send at once is spread too).
    fn pace(&mut self, bytes: u64, now: Instant) {
        if !self.is_paced() {
            return;
        }
        if self.unpaced < UNPACED || self.pacing_rate == 0 {
            self.unpaced = (self.unpaced + 1).min(UNPACED);
            return;
        }
        let gap = u128::from(bytes) * 1_000_000_000 / u128::from(self.pacing_rate);
        let gap = gap.min(u128::from(u32::MAX) * 1_000) as u64;
        // Lateness is made up for, by at most half a gap.
        let credit = now.since(self.paced_to).nanos().min(gap / 2);
        self.paced_to = now + Duration::from_nanos(gap - credit);
        self.timers.pace = self.paced_to;
    }

    /// Whether nothing is wrong (Linux's `TCP_CA_Open`).
    pub fn is_open(&self) -> bool {
        self.state == CaState::Open && self.board.sacked == 0
    }

    /// Whether nothing is out.
    pub fn is_idle(&self) -> bool {
        self.board.is_empty()
    }

    /// The sender begins again after a pause; whether the control sets the window itself.
    pub fn on_restart(&mut self, snd: &mut SendState, idle: Duration, now: Instant) -> bool {
        self.control.on_restart(snd, idle, now);
        self.set_pace(snd);
        self.flags.own_window
    }

    /// What became due at `now`.
    pub fn due(&mut self, now: Instant) -> Due {
        self.timers.take_due(now)
    }
    /// The next deadline.
    pub fn deadline(&self) -> Instant {
        self.timers.next()
    }
}
