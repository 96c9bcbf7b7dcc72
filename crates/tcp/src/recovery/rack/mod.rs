//! The sender with RACK-TLP (RFC 8985), proportional rate reduction, and samples for any congestion
//! control ([`AckSample`]).
//!
//! Every segment in flight has a record on the [`Tracker`]'s scoreboard; `detect` decides which are
//! lost, `ack` processes acknowledgements, `repair` moves between the states, `timers` keeps the
//! deadlines.

mod ack;
mod calm;
mod detect;
mod prr;
mod repair;
mod timers;
mod undo;

use packet::{Duration, Instant};

use crate::congestion::{self, CaState, Control};
use crate::ecn::{EchoReader, EcnState};
use crate::f_rto::FRto;
use crate::recovery::rules::RackSettings;
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};
use crate::tracker::{Bursts, Sent, Tracker};
pub(crate) use ack::{AckContext, Outcome};
use prr::Prr;
pub(crate) use timers::Due;
use timers::Timers;
use undo::Undo;

/// Counts of the segments that are sent and not yet acknowledged, from the scoreboard.
pub(crate) struct Outstanding {
    /// Segments sent and not acknowledged cumulatively.
    pub unacked: u64,
    /// Outstanding segments that are reported selectively.
    pub sacked: u64,
    /// Outstanding segments that are marked lost.
    pub lost: u64,
    /// Outstanding segments that were retransmitted and are not marked lost since.
    pub retrans: u64,
    /// Number of segments by which a segment may be late before it is taken for lost.
    pub reordering: u64,
    /// The state of loss recovery.
    pub ca_state: CaState,
}

#[derive(Clone, Debug)]
pub(crate) struct RackSender {
    tracker: Tracker,
    settings: RackSettings,
    state: CaState,
    /// Sequence number whose acknowledgement ends the state (RFC 6675's RecoveryPoint).
    recovery_point: u64,
    prr: Prr,
    /// Retransmission timeout, as the endpoint estimates it.
    rto: Duration,
    timers: Timers,
    probe: TailLossProbe,
    f_rto: FRto,
    undo: Option<Undo>,
    /// Time of the first retransmission since an acknowledgement last found nothing to repair
    /// (Linux's `retrans_stamp`); a recovery that follows another at once keeps that time.
    resent_at: Option<Instant>,
    /// The last search for losses has found a retransmission lost.
    retransmission_lost: bool,
}

/// The tail loss probe (RFC 8985 section 7).
#[derive(Clone, Copy, Debug, Default)]
struct TailLossProbe {
    /// A probe is to be sent now, whatever the window.
    due: bool,
    /// Highest sequence number sent, plus one, when a probe was sent (TLP.end_seq); 0 if no probe
    /// is out.
    end: u64,
    /// The probe that is out was a retransmission.
    resent: bool,
}

impl RackSender {
    /// Prefetches into the processor's cache the control and the oldest record.
    #[inline]
    pub fn fetch(&self) {
        prefetch::prefetch(&*self.tracker.control);
        self.tracker.board.fetch();
    }

    /// The sender's congestion control.
    pub fn control(&self) -> &dyn Control {
        &*self.tracker.control
    }

    /// A sender with these settings and this control.
    pub fn new(settings: RackSettings, control: Box<dyn Control>) -> Self {
        RackSender::with(settings, Tracker::new(control, settings.paces))
    }

    fn with(settings: RackSettings, mut tracker: Tracker) -> Self {
        tracker.bursts = settings.bursts.map(Bursts::new);
        RackSender {
            tracker,
            settings,
            state: CaState::Open,
            recovery_point: 0,
            prr: Prr::default(),
            rto: Duration::ZERO,
            timers: Timers::new(),
            probe: TailLossProbe::default(),
            f_rto: FRto::default(),
            undo: None,
            resent_at: None,
            retransmission_lost: false,
        }
    }

    /// A sender for a new connection, in the memory of this one.
    pub fn renewed(
        mut self: Box<Self>,
        settings: RackSettings,
        control: Box<dyn Control>,
    ) -> Box<Self> {
        *self = RackSender::with(settings, self.tracker.renewed(control, settings.paces));
        self
    }

    /// Starts the sender after the handshake, which has agreed on the ECN feedback `ecn`. Reno
    /// replaces a control that needs another feedback.
    pub fn start(
        &mut self,
        snd: &mut SendState,
        ecn: EcnState,
        (srtt, rto): (Duration, Duration),
        now: Instant,
    ) {
        if !self.tracker.is_served(ecn) {
            self.tracker.replace(congestion::linux_reno(), self.settings.paces);
        }
        self.rto = rto;
        self.tracker.begin(snd, srtt, now);
    }

    /// The ACK that completes the handshake may report a marked SYN-ACK (RFC 9768 section 3.2.2.2).
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

    /// The next chunk that windows, pacing and the tail loss probe allow.
    pub fn choose(&self, snd: &SendState) -> Option<Chunk> {
        if self.probe.due {
            return self.probe_chunk(snd);
        }
        if self.timers.pace != Instant::NEVER && !self.tracker.is_in_burst() {
            return None;
        }
        let room = snd.win.cwnd.saturating_sub(self.tracker.board.in_flight);
        let chunk = match self.tracker.board.first_waiting() {
            Some(number) if self.f_rto != FRto::SecondAck => self.chunk_of(number),
            _ => self.new_chunk(snd)?,
        };
        // A bare FIN needs no room.
        (chunk.len == 0 || u64::from(chunk.len) <= room).then_some(chunk)
    }

    /// The next chunk at `now`: that of [`RackSender::choose`], unless it waits to be sent in a
    /// longer burst.
    #[inline]
    pub fn choose_at(&mut self, snd: &SendState, now: Instant) -> Option<Chunk> {
        let chunk = self.choose(snd).filter(|&chunk| !self.defers(snd, chunk, now));
        if chunk.is_none() {
            self.tracker.end_burst();
        }
        chunk
    }

    /// Whether `chunk` waits to be sent in a longer burst; probes, retransmissions and new data
    /// during a recovery never do.
    fn defers(&mut self, snd: &SendState, chunk: Chunk, now: Instant) -> bool {
        let repairs = matches!(self.state, CaState::Recovery | CaState::Loss);
        let plain = chunk.seq >= snd.max && !self.probe.due && !repairs;
        plain && self.tracker.defers(snd, chunk, now)
    }

    fn new_chunk(&self, snd: &SendState) -> Option<Chunk> {
        let chunk = snd.new_chunk()?;
        let held_back = !self.settings.limited_transmit
            && self.state == CaState::Open
            && self.tracker.board.sacked > 0
            && chunk.end() > snd.una + snd.win.cwnd;
        (!held_back).then_some(chunk)
    }

    /// The segment of a record, to be retransmitted.
    fn chunk_of(&self, number: u64) -> Chunk {
        let record = self.tracker.board.get(number);
        let len = (record.bytes() - u64::from(record.fin)) as u32;
        Chunk::new(record.seq, len, record.fin)
    }

    /// The tail loss probe (RFC 8985 section 7.3): new data if there is any, else the last segment
    /// again.
    fn probe_chunk(&self, snd: &SendState) -> Option<Chunk> {
        snd.new_chunk().or_else(|| self.tracker.board.last().map(|number| self.chunk_of(number)))
    }

    /// `chunk` is sent; `snd.max` does not include it yet.
    // Out of line, which keeps the code path of other senders short.
    #[inline(never)]
    pub fn record_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) {
        let Sent { retransmission_of, next } = self.tracker.on_sent(snd, chunk, now);
        if let Some(number) = retransmission_of {
            self.note_resent(now);
            if number == self.tracker.board.first() {
                // Linux's `tcp_xmit_retransmit_queue`: the timer restarts, since the
                // acknowledgement of this retransmission takes a round trip.
                self.timers.rto = self.timeout_from(now);
            }
        }
        self.prr.out += chunk.end() - chunk.seq;
        if self.probe.due {
            let resent = retransmission_of.is_some();
            self.probe = TailLossProbe { due: false, end: snd.max.max(chunk.end()), resent };
            // RFC 8985 section 7.3: the retransmission timer starts anew.
            self.timers.rto = self.timeout_from(now);
            self.timers.probed = Instant::NEVER;
        }
        if let Some(next) = next {
            self.timers.pace = next;
        }
        if self.timers.rto == Instant::NEVER {
            self.timers.rto = self.timeout_from(now);
        }
        if retransmission_of.is_none() {
            self.schedule_probe_after_data(now);
        }
        snd.active_at = now;
    }

    /// Whether no loss, mark or reordering is known (Linux's `TCP_CA_Open`).
    pub fn is_open(&self) -> bool {
        self.state == CaState::Open && self.tracker.board.sacked == 0
    }

    /// Whether the segment sent last ended a burst
    /// ([`Sender::ends_burst`](crate::sender::Sender::ends_burst)).
    pub fn ends_burst(&self) -> Option<bool> {
        self.tracker.bursts.map(|bursts| bursts.ends())
    }

    /// Whether nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.tracker.board.is_empty()
    }

    /// The sender begins again after a pause. Returns whether the control sets the window itself.
    pub fn restart_control(&mut self, snd: &mut SendState, idle: Duration, now: Instant) -> bool {
        self.tracker.control.on_restart(&mut snd.win, idle, now);
        self.tracker.set_pace(snd);
        self.tracker.flags.own_window
    }

    /// Counts from the scoreboard, which a program may read.
    pub fn outstanding(&self) -> Outstanding {
        let board = &self.tracker.board;
        let (lost, retrans) = board.lost_and_resent();
        Outstanding {
            unacked: board.len(),
            sacked: u64::from(board.sacked),
            lost,
            retrans,
            reordering: u64::from(self.tracker.reordering.degree(self.settings.threshold)),
            ca_state: self.state,
        }
    }

    /// Takes the first deadline that has passed at `now`.
    pub fn due(&mut self, now: Instant) -> Due {
        self.timers.take_due(now)
    }
    /// The earliest of the sender's deadlines.
    #[inline]
    pub fn earliest(&self) -> Instant {
        self.timers.next()
    }
    /// Stops all timers.
    pub fn stop(&mut self) {
        self.timers = Timers::new();
    }
}

#[cfg(test)]
mod tests;
