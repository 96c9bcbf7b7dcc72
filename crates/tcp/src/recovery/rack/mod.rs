//! The recovery of today's senders: RACK-TLP (RFC 8985), proportional rate reduction, and what a
//! congestion control is told ([`Report`]).
//!
//! Every segment that is out has a [`Record`] on the [`Board`]; `order` judges which are lost,
//! `ack` digests acknowledgements, `repair` moves between the states, `timers` keeps the deadlines.

mod ack;
mod board;
mod detect;
mod order;
mod prr;
mod rate;
mod repair;
mod timers;

use packet::{Duration, Instant};

use crate::congestion::{self, Control, Feedback, Manner, Repair};
use crate::ecn::{EcnFeedback, EcnState, Hearing};
use crate::flight::{Chunk, Flight};
use crate::recovery::{RecoveryKind, Today};
use crate::segment::Segment;
pub(crate) use ack::{Desk, Outcome};
use board::{Board, Record};
use order::Order;
use prr::Prr;
use rate::Rate;
use repair::{Trial, Undo};
pub(crate) use timers::Due;
use timers::{MinRtt, Timers};

/// The sender of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    control: Box<dyn Control>,
    manner: Manner,
    today: Today,
    board: Board,
    /// The blocks of the last report.
    reported: [(u64, u64); 3],
    state: Repair,
    /// The state ends when this is acknowledged (RFC 6675's RecoveryPoint).
    point: u64,
    order: Order,
    prr: Prr,
    rate: Rate,
    min_rtt: MinRtt,
    /// Smoothed round trip and timeout, as the endpoint estimates them.
    srtt: Duration,
    rto: Duration,
    /// A round trip ends when a segment is delivered at whose sending this much was.
    round_end: u64,
    usage: Usage,
    timers: Timers,
    probe: Probe,
    /// A timeout is on trial (F-RTO, RFC 5682).
    trial: Trial,
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
struct Usage {
    /// The window was the limit since `until` was set.
    limited: bool,
    /// Else the most that was out.
    most: u64,
    /// Highest number sent when that was noted.
    until: u64,
}

/// The tail loss probe (RFC 8985 section 7).
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
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

impl Rack {
    fn new(today: Today) -> Self {
        Rack::with(congestion::make(today.control), Board::new(), today)
    }

    fn with(mut control: Box<dyn Control>, board: Board, today: Today) -> Self {
        if today.classic_fallback {
            control.detect_classic_queues();
        }
        Rack {
            manner: control.manner(),
            control,
            today,
            board,
            reported: [(0, 0); 3],
            state: Repair::None,
            point: 0,
            order: Order::new(),
            prr: Prr::default(),
            rate: Rate::default(),
            min_rtt: MinRtt::new(),
            srtt: Duration::ZERO,
            rto: Duration::ZERO,
            round_end: 0,
            usage: Usage::default(),
            timers: Timers::new(),
            probe: Probe::default(),
            trial: Trial::None,
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
    pub fn of(kind: RecoveryKind, used: Option<Box<Rack>>) -> Option<Box<Rack>> {
        let RecoveryKind::Rack(today) = kind else { return None };
        let Some(mut rack) = used.filter(|rack| rack.today.control == today.control) else {
            return Some(Box::new(Rack::new(today)));
        };
        let Rack { mut control, mut board, .. } = *rack;
        control.reset();
        board.reset();
        *rack = Rack::with(control, board, today);
        Some(rack)
    }

    /// Whether segments are spread over the round trip.
    fn is_paced(&self) -> bool {
        self.today.paces || self.manner.paced
    }

    /// The handshake is over.
    pub fn begin(&mut self, flight: &mut Flight, srtt: Duration, rto: Duration, now: Instant) {
        (self.srtt, self.rto) = (srtt, rto);
        if srtt > Duration::ZERO {
            self.min_rtt.learn(srtt, now);
        }
        self.control.on_open(flight, srtt, now);
        self.set_pace(flight);
    }

    /// What the handshake agreed on. A control that needs to know which data was marked and will not
    /// be told is replaced by Reno, as in Linux; a scalable one must be (RFC 9331 section 4.3).
    pub fn need_feedback(&mut self, ecn: EcnState) {
        let served = match self.manner.ecn {
            Feedback::Classic => true,
            Feedback::Dctcp => ecn.on(),
            Feedback::Scalable => ecn.feedback == EcnFeedback::Accurate,
        };
        if !served {
            self.today.control = CLASSIC_CONTROL;
            self.control = congestion::make(CLASSIC_CONTROL);
            self.manner = self.control.manner();
        }
    }

    /// The ACK that completes the handshake may tell of a marked SYN-ACK (RFC 9768 section 3.2.2.2).
    pub fn on_opening(
        &mut self,
        flight: &mut Flight,
        ecn: &mut Hearing,
        ack: &Segment,
        now: Instant,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let marked = ecn.marked_bytes(ack, 1, flight.mss(), true);
        if ecn.echoes(ack, marked) {
            self.answer_marks(flight, now, &mut outcome);
        }
        outcome
    }

    fn set_pace(&mut self, flight: &Flight) {
        if self.is_paced() {
            self.pacing_rate = self.control.pacing_rate(flight, self.srtt).unwrap_or(0);
        }
    }

    /// What the windows, the pace and the probe let go next.
    // Out of line, as all that an endpoint calls: the way of other senders stays short.
    #[inline(never)]
    pub fn next(&self, flight: &Flight) -> Option<Chunk> {
        if self.probe.due {
            return self.probe_chunk(flight);
        }
        if self.timers.pace != Instant::NEVER {
            return None;
        }
        let room = flight.cwnd.saturating_sub(self.board.in_flight);
        let chunk = match self.board.first_waiting() {
            Some(number) if self.trial != Trial::Second => self.chunk_of(number),
            _ => self.new_chunk(flight)?,
        };
        // A bare FIN needs no room.
        (chunk.len == 0 || u64::from(chunk.len) <= room).then_some(chunk)
    }

    fn new_chunk(&self, flight: &Flight) -> Option<Chunk> {
        let chunk = flight.new_chunk()?;
        let held_back = !self.today.limited_transmit
            && self.state == Repair::None
            && self.board.sacked > 0
            && chunk.end() > flight.una + flight.cwnd;
        (!held_back).then_some(chunk)
    }

    /// The segment of a record, to be sent again.
    fn chunk_of(&self, number: u64) -> Chunk {
        let record = self.board.get(number);
        let len = (record.bytes() - u64::from(record.fin)) as u32;
        Chunk { seq: record.seq, len, fin: record.fin }
    }

    /// RFC 8985 section 7.3: new data if there is any, else the last segment again.
    fn probe_chunk(&self, flight: &Flight) -> Option<Chunk> {
        flight.new_chunk().or_else(|| self.board.last().map(|number| self.chunk_of(number)))
    }

    /// `chunk` goes out; `flight.max` as it was before. Returns the next deadline.
    #[inline(never)]
    pub fn on_sent(&mut self, flight: &mut Flight, chunk: Chunk, now: Instant) -> Instant {
        let bytes = chunk.end() - chunk.seq;
        let snapshot = self.rate.snapshot(self.board.in_flight, bytes, now);
        if self.board.in_flight == 0 {
            self.control.on_tx_start(flight, self.sent_at, snapshot.app_limited, now);
            if self.manner.own_window {
                self.set_pace(flight);
            }
        }
        self.sent_at = now;
        let again = chunk.seq < flight.max;
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
            self.probe = Probe { due: false, end: flight.max.max(chunk.end()), resent: again };
            // Section 7.3: the retransmission timer starts anew.
            self.timers.rto = now + self.rto;
        }
        self.note_usage(flight, chunk);
        self.pace(bytes, now);
        self.run_dry_if_done(flight, chunk.end(), now);
        self.timers.on_sent(now + self.rto);
        if !again {
            self.schedule_probe(now);
        }
        self.timers.next()
    }

    fn note_usage(&mut self, flight: &Flight, chunk: Chunk) {
        let limited = self.board.in_flight + flight.mss() > flight.cwnd;
        let until = flight.max.max(chunk.end());
        let out = until - flight.una;
        let usage = &mut self.usage;
        if limited || flight.una >= usage.until || (!usage.limited && out > usage.most) {
            *usage = Usage { limited, most: out, until };
        }
    }

    /// Whether the window was used (Linux's `tcp_is_cwnd_limited`).
    fn window_limited(&self, flight: &Flight) -> bool {
        let slow_start = flight.cwnd < flight.ssthresh;
        self.usage.limited || (slow_start && flight.cwnd < 2 * self.usage.most)
    }

    /// Notes when the program has nothing more to send though the window has room.
    fn run_dry_if_done(&mut self, flight: &Flight, sent_to: u64, now: Instant) {
        let out_of_data = sent_to.max(flight.max) >= flight.end && self.board.waiting == 0;
        if out_of_data && self.board.in_flight < flight.cwnd {
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
    pub fn is_calm(&self) -> bool {
        self.state == Repair::None && self.board.sacked == 0
    }

    /// Whether nothing is out.
    pub fn is_idle(&self) -> bool {
        self.board.is_empty()
    }

    /// The sender begins again after a pause; whether the control sets the window itself.
    pub fn on_restart(&mut self, flight: &mut Flight, idle: Duration, now: Instant) -> bool {
        self.control.on_restart(flight, idle, now);
        self.set_pace(flight);
        self.manner.own_window
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
