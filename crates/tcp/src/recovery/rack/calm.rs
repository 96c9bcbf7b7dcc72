//! Where nothing is wrong: what an acknowledgement of new data comes to then.

use packet::Instant;

use super::RackSender;
use crate::congestion::{CaState, Report};
use crate::recovery::rules::Detection;
use crate::rtt::{Rtt, RttRules};
use crate::send_state::SendState;
use crate::tracker::Seen;

impl RackSender {
    /// Whether nothing is repaired, reported or probed for, of what is out.
    #[inline(always)]
    pub fn is_calm(&self) -> bool {
        self.tracker.board.is_untouched()
            && self.state == CaState::Open
            && self.probe.end == 0
            && self.settings.detection == Detection::Rack
    }

    /// What [`RackSender::process_ack`] does, of a sender that [`is_calm`](Self::is_calm), with an
    /// acknowledgement of new data without ECN that reports nothing: it shows a round trip, and nothing is lost.
    /// Returns `false`, and does nothing, if it covers no whole segment, or if a retransmission has arrived that was
    /// sent after the first of what is out, which RACK may therefore take for lost.
    #[inline(never)]
    pub fn take_calm_ack(
        &mut self,
        snd: &mut SendState,
        rtt: &mut Rtt,
        rules: &RttRules,
        ack: u64,
        now: Instant,
    ) -> bool {
        let in_flight_before = self.tracker.board.in_flight;
        let Some(info) = self.tracker.take_run(ack, now) else { return false };
        (snd.una, snd.nxt) = (ack, snd.nxt.max(ack));
        let trips = self.tracker.round_trips(&info, now);
        if let Some((first, _)) = trips {
            rules.sample_span(rtt, first);
            (self.tracker.srtt, self.rto) = (rules.srtt(rtt), rules.rto(rtt));
        }
        let report = Report { flight: snd.flight(), delivered: info.delivered, marked: 0 };
        self.tracker.control.on_report(&report);
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
