//! The undisturbed sender: which segment it sends next, and how it processes an acknowledgement of
//! new data. Both are short forms of the general code in `mod` and `ack`, with equal results.

use packet::Instant;

use super::RackSender;
use crate::congestion::CaState;
use crate::recovery::rules::Detection;
use crate::rtt::{Rtt, RttRules};
use crate::send_state::{Chunk, SendState};
use crate::tracker::Seen;

impl RackSender {
    /// Whether no segment in flight was reported, marked lost or retransmitted, and no probe is
    /// out.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        self.tracker.board.is_untouched()
            && self.state == CaState::Open
            && self.probe.end == 0
            && self.settings.detection == Detection::Rack
    }

    /// Whether new data is sent as soon as the windows have room for it: no retransmission and no
    /// probe goes first, and pacing does not delay it.
    #[inline(always)]
    fn is_free(&self) -> bool {
        let board = &self.tracker.board;
        board.waiting == 0
            && (board.sacked == 0 || self.settings.limited_transmit)
            && !self.probe.due
            && self.timers.pace == Instant::NEVER
            && self.tracker.bursts.is_none()
    }

    /// The answer of [`RackSender::choose_at`] where it is a full segment of new data, or no segment because a
    /// window has no room for one. `None` in every other case, which [`RackSender::choose_at`] has to decide.
    // This function and the next are out of line, which keeps the code of other senders short.
    #[inline(never)]
    pub fn choose_next(&self, snd: &SendState) -> Option<Option<Chunk>> {
        let end = snd.max + snd.mss();
        if end >= snd.end || snd.idle() || !self.is_free() {
            return None;
        }
        let room = self.tracker.board.in_flight + snd.mss() <= snd.win.cwnd;
        let fits = room && end <= snd.una + snd.window();
        Some(fits.then(|| Chunk::new(snd.max, u32::from(snd.win.mss), false)))
    }

    /// Does what [`RackSender::process_ack`] would do with an acknowledgement of new data, without
    /// ECN and without SACK blocks, that reaches an undisturbed sender. Returns `false`, and does
    /// nothing, if the sender is not undisturbed, if no whole segment is acknowledged, or if a
    /// retransmission has arrived that was sent after the first segment in flight, since RACK may
    /// then take that segment for lost.
    #[inline(never)]
    pub fn take_calm_ack(
        &mut self,
        snd: &mut SendState,
        rtt: &mut Rtt,
        rules: &RttRules,
        ack: u64,
        now: Instant,
    ) -> bool {
        if !self.is_calm() {
            return false;
        }
        let in_flight_before = self.tracker.board.in_flight;
        let Some(info) = self.tracker.take_run(ack, now) else { return false };
        (snd.una, snd.nxt) = (ack, snd.nxt.max(ack));
        let trips = self.tracker.round_trips(&info, now);
        if let Some((first, _)) = trips {
            rules.sample_span(rtt, first);
            (self.tracker.srtt, self.rto) = (rules.srtt(rtt), rules.rto(rtt));
        }
        (self.resent_at, self.retransmission_lost) = (None, false);
        self.timers.reorder = Instant::NEVER;
        let seen = Seen {
            now,
            rtt: trips.map(|(_, path)| path),
            marked: 0,
            in_flight_before,
            ca_state: CaState::Open,
            any_order: false,
        };
        let sample = self.tracker.sample(snd, &info, seen);
        self.tracker.control.on_ack(&mut snd.win, &sample);
        self.tracker.set_pace(snd);
        self.restart_timers(now);
        self.tracker.run_dry_if_done(snd, 0, now);
        rules.on_advance(rtt);
        true
    }
}
