//! How the classic recoveries change the window: by Reno directly, or by any control of the list,
//! which needs to know more of the path than they do.

use packet::{Duration, Instant};

use crate::congestion::{AckSample, CaState, Cause, Control, EcnMode};
use crate::ecn::{EchoCut, EcnState};
use crate::recovery::{Implementation, Reaction, Rules};
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};
use crate::tracker::{AckInfo, Pacer, Seen, Tracker};

/// The congestion control of a classic sender, if it is not the Reno of its [`Rules`]: that one is
/// called without a virtual call, and needs no more than its arguments.
#[derive(Clone, Debug)]
pub(crate) struct ClassicControl(Option<Box<Tracked>>);

/// Any control, and what is followed for it.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    tracker: Tracker,
    /// The sample of the ACK at hand, once it must be passed to the control.
    ack: Option<AckSample>,
    now: Instant,
    /// What duplicates have added to the window of a control that sets its window itself.
    inflation: u64,
    /// A timeout is repaired until this is acknowledged.
    loss_end: u64,
    /// Bytes found lost that were reported to the control.
    lost: u64,
    /// When the pace lets a segment go that waits for it.
    pacing_timer: Instant,
}

impl Tracked {
    fn tell(&mut self, snd: &mut SendState, ca_state: CaState) {
        if let Some(ack) = self.ack.take() {
            self.tracker.control.on_ack(snd, &AckSample { ca_state, ..ack });
            self.tracker.set_pace(snd);
        }
    }

    /// Whether a mark reduces the window as much as a loss does, so that both in one window of data are
    /// one reduction (RFC 3168 section 6.1.2); a proportional answer is less, and a loss reduces the
    /// window nevertheless (RFC 8257 section 3.4, RFC 9331 section 4.3).
    fn answers_marks_as_losses(&self) -> bool {
        self.tracker.flags.ecn == EcnMode::Classic
    }

    /// The state outside of a fast recovery.
    fn ca_state(&self, snd: &SendState) -> CaState {
        if snd.una < self.loss_end {
            CaState::Loss
        } else if snd.in_cwr() {
            CaState::Cwr
        } else {
            CaState::Open
        }
    }

    fn mark_all_lost(&mut self, snd: &SendState) {
        while let Some(number) = self.tracker.board.oldest() {
            self.tracker.mark_lost(snd, number, self.now);
        }
    }

    fn smooth(&mut self, rtt: Duration) {
        let srtt = &mut self.tracker.srtt;
        *srtt = match srtt.nanos() {
            0 => rtt,
            old => Duration::from_nanos(old - old / 8 + rtt.nanos() / 8),
        };
    }
}

impl ClassicControl {
    pub fn new(control: &dyn Control) -> Self {
        ClassicControl(control.classic().is_none().then(|| {
            Box::new(Tracked {
                tracker: Tracker::new(control.boxed(), false),
                ack: None,
                now: Instant::ZERO,
                inflation: 0,
                loss_end: 0,
                lost: 0,
                pacing_timer: Instant::NEVER,
            })
        }))
    }

    pub const fn reno() -> Self {
        ClassicControl(None)
    }

    #[inline(always)]
    pub fn is_reno(&self) -> bool {
        self.0.is_none()
    }

    /// The handshake is over: it has agreed on this feedback. Reno takes over from a control that
    /// needs another.
    pub fn begin(&mut self, snd: &mut SendState, ecn: EcnState, srtt: Duration, now: Instant) {
        match &mut self.0 {
            Some(tracked) if tracked.tracker.is_served(ecn) => {
                tracked.tracker.begin(snd, srtt, now);
            }
            _ => self.0 = None,
        }
    }

    /// What is let go beyond the congestion window, bytes.
    pub fn inflation(&self) -> u64 {
        self.0.as_ref().map_or(0, |tracked| tracked.inflation)
    }

    /// Whether the pace lets a segment go at `now`; if not, the pacing timer runs until it does.
    pub fn paces_now(&mut self, now: Instant) -> bool {
        let Some(tracked) = &mut self.0 else { return true };
        let Pacer { on, next, .. } = tracked.tracker.pacer;
        let waits = on && next > now;
        if waits {
            tracked.pacing_timer = next;
        }
        !waits
    }

    /// When the pace lets the next segment go, if one waits for it.
    #[inline(always)]
    pub fn pacing_timer(&self) -> Instant {
        self.0.as_ref().map_or(Instant::NEVER, |tracked| tracked.pacing_timer)
    }

    /// Ends the pacing timer if it is due at `now`; whether it was.
    pub fn take_pace_due(&mut self, now: Instant) -> bool {
        let due = self.pacing_timer() <= now;
        if due {
            self.stop_pacing_timer();
        }
        due
    }

    /// The pacing timer does not run any more.
    pub fn stop_pacing_timer(&mut self) {
        if let Some(tracked) = &mut self.0 {
            tracked.pacing_timer = Instant::NEVER;
        }
    }

    /// `chunk` goes out; `snd.max` as it was before.
    #[inline(always)]
    pub fn on_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) {
        if let Some(tracked) = &mut self.0 {
            tracked.on_sent(snd, chunk, now);
        }
    }

    /// An ACK has come; the recovery has not processed it yet.
    pub fn hear(&mut self, snd: &SendState, heard: &Heard) {
        if let Some(tracked) = &mut self.0 {
            tracked.hear(snd, heard);
        }
    }

    /// The recovery has done with that ACK; `recovering`: a fast recovery is or was under way.
    pub fn finish(&mut self, snd: &mut SendState, recovering: bool) {
        if let Some(tracked) = &mut self.0 {
            // Who sets its window itself goes on repairing.
            let repairs = tracked.tracker.flags.own_window;
            let state = match tracked.ca_state(snd) {
                _ if recovering => CaState::Recovery,
                CaState::Loss if repairs => CaState::Loss,
                _ if snd.growth_held => CaState::Cwr,
                state => state,
            };
            tracked.tell(snd, state);
        }
    }

    /// A timeout was spurious.
    pub fn undo(&mut self, snd: &mut SendState) {
        if let Some(tracked) = &mut self.0 {
            tracked.loss_end = 0;
            tracked.tracker.control.undo(snd);
        }
    }

    /// The sender begins again after a pause; whether the control sets the window itself.
    pub fn on_restart(&mut self, snd: &mut SendState, idle: Duration, now: Instant) -> bool {
        let Some(tracked) = &mut self.0 else { return false };
        tracked.tracker.control.on_restart(snd, idle, now);
        tracked.tracker.set_pace(snd);
        tracked.tracker.flags.own_window
    }
}

/// What a recovery works on: a sender's numbers, its rules, and its congestion control.
pub(crate) struct Windows<'a> {
    pub rules: &'a Rules,
    pub snd: &'a mut SendState,
    pub control: &'a mut ClassicControl,
}

impl Windows<'_> {
    /// `acked` new numbers were acknowledged, and the window may grow.
    #[inline(always)]
    pub fn grow(&mut self, acked: u64) {
        let snd = &mut *self.snd;
        if snd.growth_held {
            return;
        }
        match &mut self.control.0 {
            None => self.rules.reno.grow(snd, acked),
            Some(tracked) => tracked.tell(snd, tracked.ca_state(snd)),
        }
    }

    /// A loss was noticed; `extra` bytes went out by limited transmit. Reduces threshold and window,
    /// and then inflates the window by `inflation`.
    pub fn on_loss(&mut self, extra: u64, inflation: u64) {
        let snd = &mut *self.snd;
        let covered = snd.echo_covers_loss(self.rules.cwr_state);
        snd.cwnd = match &mut self.control.0 {
            None if covered => snd.cwnd.min(snd.ssthresh),
            None => self.rules.reno.cut_at_loss(snd, extra),
            Some(tracked) => {
                if !(covered && tracked.answers_marks_as_losses()) {
                    tracked.tracker.control.on_congestion(snd, Cause::Loss, tracked.now);
                }
                tracked.inflation = 0;
                let own = tracked.tracker.flags.own_window;
                if own { snd.cwnd } else { snd.cwnd.min(snd.ssthresh) }
            }
        };
        self.inflate(inflation);
    }

    /// The first unacknowledged segment goes again at once: a recovery begins.
    pub fn fast_retransmit(&mut self) -> Reaction {
        self.snd.resend = true;
        let program = self.rules.implementation;
        Reaction {
            entered: true,
            stop_timer: program != Implementation::Rfc,
            resend_only: program == Implementation::Bsd,
        }
    }

    /// The retransmission timer expired: threshold and window.
    pub fn on_timeout(&mut self, now: Instant) {
        let snd = &mut *self.snd;
        let again = snd.timed_out;
        let covered = snd.echo_covers_loss(false) && !self.rules.cwr_state;
        snd.timed_out = true;
        match &mut self.control.0 {
            None if covered => {}
            None => self.rules.reno.cut_at_timeout(snd, again),
            Some(tracked) => {
                tracked.now = now;
                if !(covered && tracked.answers_marks_as_losses() || again) {
                    tracked.tracker.control.on_congestion(snd, Cause::Timeout, now);
                }
                (tracked.inflation, tracked.loss_end) = (0, snd.max);
                tracked.mark_all_lost(snd);
                snd.cwnd = snd.mss();
                tracked.tracker.control.on_timeout(snd, now);
            }
        }
        snd.cwnd = snd.mss();
    }

    /// An ECN echo requires a reduction; returns whether the control answers echoes so.
    pub fn on_echo(&mut self, cut: EchoCut) -> bool {
        let snd = &mut *self.snd;
        match &mut self.control.0 {
            None => self.rules.reno.cut_by_echo(snd, cut),
            Some(tracked) if tracked.tracker.flags.own_marks => return false,
            Some(tracked) => tracked.on_echo(snd, cut),
        }
        if self.rules.cwr_state {
            snd.cwnd = snd.ssthresh;
        }
        (snd.reduced, snd.reduced_by_echo) = (snd.max, true);
        true
    }

    /// Duplicates show that `bytes` have left the network.
    #[inline]
    pub fn inflate(&mut self, bytes: u64) {
        match &mut self.control.0 {
            Some(tracked) if tracked.tracker.flags.own_window => tracked.inflation += bytes,
            _ => self.snd.cwnd += bytes,
        }
    }

    /// The window becomes `window`, what duplicates have added taken back in part or in full; of a
    /// control that sets its window itself, all that they have added is taken back, but for `rest`.
    pub fn deflate(&mut self, window: u64, rest: u64) {
        match &mut self.control.0 {
            Some(tracked) if tracked.tracker.flags.own_window => tracked.inflation = rest,
            _ => self.snd.cwnd = window,
        }
    }
}

/// What an ACK says to whom it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<'a> {
    pub segment: &'a Segment,
    /// New numbers that it acknowledges.
    pub acked: u64,
    /// Of the bytes it reports to have arrived, those that were marked.
    pub marked: u64,
    /// Data is reported selectively: a duplicate alone carries no information.
    pub sack: bool,
    pub now: Instant,
}

impl Tracked {
    fn on_echo(&mut self, snd: &mut SendState, cut: EchoCut) {
        let before = snd.cwnd;
        self.tracker.control.on_congestion(snd, Cause::Mark, self.now);
        if let EchoCut::Beta(beta) = cut {
            snd.ssthresh = beta.threshold(before, snd.mss());
        }
        if !self.tracker.flags.own_window {
            snd.cwnd = snd.cwnd.min(snd.ssthresh);
        }
    }

    fn on_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) {
        if chunk.seq < snd.max {
            // That it was lost is known when it is retransmitted.
            let number = self.tracker.board.find(chunk.seq);
            let record = self.tracker.board.get(number);
            if !record.lost && !record.sacked {
                self.tracker.mark_lost(snd, number, now);
            }
        }
        self.tracker.on_sent(snd, chunk, now);
    }

    fn hear(&mut self, snd: &SendState, heard: &Heard) {
        let Heard { segment, acked, marked, sack, now } = *heard;
        self.now = now;
        let in_flight_before = self.tracker.board.in_flight;
        let mut info = AckInfo::default();
        info.advances = acked > 0;
        self.tracker.take_cumulative(segment.ack, |_| false, 0, now, &mut info);
        if segment.sack.is_telling() {
            self.tracker.take_reports(segment, 0, now, &mut info);
        }
        if !sack {
            let goes_on = snd.una < snd.reduced;
            self.tracker.count_duplicates(segment, snd.mss(), (goes_on, true), &mut info);
        }
        let rtt = self.tracker.round_trips(&info, now).map(|(_, path)| path);
        if let Some(rtt) = rtt {
            self.smooth(rtt);
        }
        info.lost = self.tracker.rate.lost - self.lost;
        self.lost = self.tracker.rate.lost;
        let marked = marked.min(info.delivered);
        let seen =
            Seen { now, rtt, marked, in_flight_before, ca_state: CaState::Open, any_order: false };
        self.ack = Some(self.tracker.sample(snd, &info, seen));
        self.tracker.run_dry_if_done(snd, 0, now);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::clock::HostClock;
    use crate::congestion::{CLASSIC, ControlFlags};
    use crate::endpoint::Endpoint;
    use crate::recovery::RecoveryKind;
    use crate::recovery::tests::rfc;
    use crate::segment::Flags;
    use packet::params::{Params, Raw};

    /// A control that changes nothing and records its calls; copies share the record.
    #[derive(Clone, Debug)]
    struct Noting {
        flags: ControlFlags,
        notes: Arc<Mutex<Vec<String>>>,
    }

    impl Noting {
        fn new(flags: ControlFlags) -> Self {
            Noting { flags, notes: Arc::default() }
        }
        fn note(&self, what: String) {
            self.notes.lock().unwrap().push(what);
        }
        /// The calls since the last call of this method.
        fn told(&self) -> Vec<String> {
            std::mem::take(&mut self.notes.lock().unwrap())
        }
    }

    impl Control for Noting {
        fn flags(&self) -> ControlFlags {
            self.flags
        }
        fn on_ack(&mut self, _: &mut SendState, ack: &AckSample) {
            self.note(format!("{:?}", ack.ca_state));
        }
        fn on_congestion(&mut self, _: &mut SendState, cause: Cause, _: Instant) {
            self.note(format!("{cause:?}!"));
        }
        fn undo(&mut self, _: &mut SendState) {
            self.note("undo".into());
        }
    }

    /// Ten segments of 100 B are out.
    fn ten_out() -> SendState {
        SendState { una: 1, nxt: 1_001, max: 1_001, cwnd: 1_000, mss: 100, ..SendState::default() }
    }

    #[test]
    fn a_spurious_timeout_is_over_for_the_control_too() {
        let (control, rules, mut snd) = (Noting::new(CLASSIC), rfc(RecoveryKind::Reno), ten_out());
        let mut classic = ClassicControl::new(&control);
        let hear = |classic: &mut ClassicControl, snd: &mut SendState| {
            snd.una += 100;
            let segment = &Segment { ack: snd.una, ..Segment::default() };
            let now = Instant::ZERO;
            classic.hear(snd, &Heard { segment, acked: 100, marked: 0, sack: true, now });
            Windows { rules: &rules, snd, control: classic }.grow(100);
            control.told()
        };
        assert_eq!(hear(&mut classic, &mut snd), ["Open"]);
        let windows = &mut Windows { rules: &rules, snd: &mut snd, control: &mut classic };
        windows.on_timeout(Instant::ZERO);
        assert_eq!(hear(&mut classic, &mut snd), ["Timeout!", "Loss"]);
        classic.undo(&mut snd);
        assert_eq!(hear(&mut classic, &mut snd), ["undo", "Open"]);
    }

    #[test]
    fn an_echo_holds_the_window_while_a_timeout_is_repaired() {
        // RFC 3168 section 6.1.2: an acknowledgement with ECE set grows nothing.
        for (own_window, held, recovering, told) in [
            (false, true, false, "Cwr"),
            (false, false, false, "Loss"),
            (true, true, false, "Loss"),
            (false, true, true, "Recovery"),
        ] {
            let control = Noting::new(ControlFlags { own_window, ..CLASSIC });
            let (rules, mut snd) = (rfc(RecoveryKind::Reno), ten_out());
            let mut classic = ClassicControl::new(&control);
            let windows = &mut Windows { rules: &rules, snd: &mut snd, control: &mut classic };
            windows.on_timeout(Instant::ZERO);
            (snd.una, snd.growth_held) = (101, held);
            let segment = &Segment { ack: 101, ..Segment::default() };
            let now = Instant::ZERO;
            classic.hear(&snd, &Heard { segment, acked: 100, marked: 0, sack: true, now });
            classic.finish(&mut snd, recovering);
            assert_eq!(control.told(), ["Timeout!", told]);
        }
    }

    #[test]
    fn a_control_that_reads_marks_itself_hears_of_no_echo() {
        for own_marks in [false, true] {
            let (control, mut snd) =
                (Noting::new(ControlFlags { own_marks, ..CLASSIC }), ten_out());
            let (rules, mut classic) = (rfc(RecoveryKind::Reno), ClassicControl::new(&control));
            let windows = &mut Windows { rules: &rules, snd: &mut snd, control: &mut classic };
            assert_eq!(windows.on_echo(EchoCut::AsLoss), !own_marks);
            assert_eq!(control.told().len(), usize::from(!own_marks));
            assert_eq!(snd.reduced_by_echo, !own_marks);
        }
    }

    #[test]
    fn the_ack_that_shows_a_timeout_spurious_grows_nothing() {
        // RFC 4015 sets the windows: the control gets the ACK once they are restored, with the flag
        // that they must not grow.
        let control = Noting::new(CLASSIC);
        let given = [("f_rto", Raw::Bool(true)), ("initial_window", Raw::Number(4.0))];
        let entry = crate::find("plain").unwrap();
        let given = given.map(|(name, value)| (name.to_owned(), value));
        let params = Params::check(entry.about.fields, &given).unwrap();
        let mut profile = (entry.build)(&params).unwrap();
        profile.congestion = Box::new(control.clone());
        let mut server = Endpoint::new(&Arc::new(profile), HostClock::default());
        let hear = |server: &mut Endpoint, flags, ack, ms| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            server.on_segment(
                &Segment { seq: u64::from(ack > 0), ack, flags, ..Segment::default() },
                now,
            );
            while server.poll_send(now).is_some() {}
            control.told()
        };
        hear(&mut server, Flags::SYN, 0, 50);
        server.write(20_000, Instant::ZERO + Duration::from_millis(150));
        hear(&mut server, Flags::ACK, 1, 150);
        let due = server.next_timeout().unwrap().at;
        server.on_timeout(due);
        assert_eq!(hear(&mut server, Flags::ACK, 1_461, 5_000), ["Timeout!", "Loss"]);
        assert_eq!(hear(&mut server, Flags::ACK, 2_921, 5_000), ["undo", "Cwr"]);
    }
}
