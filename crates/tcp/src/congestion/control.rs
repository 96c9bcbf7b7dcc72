//! The interface of a congestion control: what every acknowledgement reports to it, when it is
//! notified of congestion, and what it sets.

use std::fmt::Debug;
use std::panic::RefUnwindSafe;

use packet::params::Params;
use packet::{About, Duration, Instant};

use super::classic_reno::ClassicReno;
use crate::send_state::{Flight, Window};

/// The reason why a control is notified of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Segments were found lost; the transport has just entered recovery.
    Loss,
    /// Marks were reported (once per window of data, as RFC 3168 section 6.1.2 requires).
    Mark,
    /// The retransmission timer expired: everything outstanding counts as lost.
    Timeout,
}

/// The report of one acknowledgement, gathered by the transport.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// Sequence numbers outstanding after this acknowledgement, and the receive window.
    pub flight: Flight,
    /// Bytes newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Bytes of `delivered` that the cumulative acknowledgement covers and that had not been
    /// reported before.
    pub acked: u64,
    /// Segments newly acknowledged, cumulatively or selectively, if the cumulative acknowledgement
    /// advances or enough reordering has been seen; else 0 (Linux's `acked_sacked`, under the
    /// conditions of its `tcp_may_raise_cwnd`).
    pub segments: u32,
    /// Bytes newly found lost.
    pub lost: u64,
    /// Bytes of `delivered` reported to have arrived with a CE mark (accurate ECN, DCTCP's echo);
    /// with RFC 3168's echo, all of them or none.
    pub marked: u64,
    /// Estimated bytes in flight before this acknowledgement.
    pub in_flight_before: u64,
    /// Bytes in flight after the acknowledgement.
    pub in_flight: u64,
    /// The newest round-trip time that this acknowledgement measures, if it measures one.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Smallest round-trip time of the last 300 s (of the connection, while it is younger), as
    /// Linux's `tcp_min_rtt_wlen`.
    pub min_rtt: Duration,
    /// The delivery rate measured over the acknowledged flight.
    pub rate: Option<RateSample>,
    /// A round trip has passed: everything that was outstanding at the last round's start is
    /// acknowledged.
    pub round: bool,
    /// The congestion window was the limit since the last round's start (RFC 9438 section 4.3,
    /// RFC 7661): a window that was not used does not grow.
    pub window_limited: bool,
    /// When pacing lets the next segment go; in the past if it may go at once.
    pub next_send: Instant,
    /// The transport is repairing losses (fast recovery, or after a timeout).
    pub ca_state: CaState,
    /// Segments are spread over the round trip.
    pub paced: bool,
}

impl AckSample {
    /// Whether Linux's `tcp_cong_control` and `tcp_is_cwnd_limited` let the window grow: no
    /// reduction is under way, and the window limited the sending.
    pub fn may_grow(&self) -> bool {
        self.window_limited && !matches!(self.ca_state, CaState::Recovery | CaState::Cwr)
    }
}

/// The data that one acknowledgement reports, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Sequence numbers outstanding after the acknowledgement, and the receive window.
    pub flight: Flight,
    /// Bytes newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Bytes of `delivered` reported to have arrived with a CE mark ([`AckSample::marked`]).
    pub marked: u64,
}

/// The state of loss recovery (`enum tcp_ca_state` of Linux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// Nothing is being repaired (Linux's Open, and its Disorder).
    #[default]
    Open,
    /// Marks were reported less than a window of data ago: the window is being reduced.
    Cwr,
    /// Losses are being repaired.
    Recovery,
    /// Segments are being retransmitted after a timeout.
    Loss,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr, section "Delivery Rate Samples").
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Bytes delivered between the sending of the newest acknowledged segment and now.
    pub delivered: u64,
    /// Length of the sample: the longer of the send interval and the acknowledgement interval.
    pub interval: Duration,
    /// Bytes delivered in the whole connection when the newest acknowledged segment was sent.
    pub prior_delivered: u64,
    /// Bytes delivered in the whole connection until now.
    pub total_delivered: u64,
    /// Bytes in flight when the newest acknowledged segment was sent.
    pub sent_in_flight: u64,
    /// Bytes lost since the newest acknowledged segment was sent.
    pub lost: u64,
    /// The program, not the window, limited the sending: the path may carry more than this rate.
    pub app_limited: bool,
}

/// A segment found lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When the loss was found.
    pub now: Instant,
    /// Length of the lost segment, bytes.
    pub bytes: u64,
    /// Bytes in flight when the segment was sent, its own included. The fields that describe the
    /// sending are kept only if [`ControlFlags::rates`] is set.
    pub sent_in_flight: u64,
    /// Bytes found lost since the segment was sent, its own included.
    pub lost: u64,
    /// Bytes delivered in the whole connection until now.
    pub total_delivered: u64,
    /// The program, not the window, limited the sending when the segment was sent.
    pub app_limited: bool,
}

/// Flags of a control: what it does itself, and what it needs from the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFlags {
    /// The control sets `cwnd` itself at all times; otherwise the transport lowers `cwnd` to
    /// `ssthresh` by proportional rate reduction (RFC 6937) while a loss or mark is answered.
    pub own_window: bool,
    /// The control reads [`AckSample::ca_state`] at each acknowledgement, and a recovery that
    /// starts where another ends continues it (`prev_ca_state` of Linux's BBR). Otherwise each
    /// recovery is announced by [`Cause::Loss`] (Linux's `tcp_enter_recovery`, at each change to
    /// Recovery).
    pub joins_recoveries: bool,
    /// The control reads [`AckSample::marked`] itself and is not notified of [`Cause::Mark`].
    pub own_marks: bool,
    /// Segments are sent at [`Control::pacing_rate`] whether or not the profile paces.
    pub paced: bool,
    /// The control reads [`AckSample::rate`] and the fields of [`Lost`] that describe the sending;
    /// otherwise these are not kept.
    pub rates: bool,
    /// Which ECN codepoint the control's data segments carry, and the feedback it needs.
    pub ecn: EcnMode,
}

/// Number of segments that the sender hands down as one (TSO), if the profile has such bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstSize {
    /// As many as the pacing rate sends in 1/1,024 s, and at least this number (Linux's
    /// `tcp_tso_autosize`).
    AtLeast(u64),
    /// Exactly this number (the hook `tso_segs` of L4STeam's and Google's kernels).
    Segments(u64),
}

/// The kind of ECN that a control uses, if the profile's ECN is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// RFC 3168: ECT(0), one echo per window.
    Classic,
    /// RFC 8257: ECT(0), and the echo shows which bytes were marked.
    Dctcp,
    /// RFC 9331: ECT(1), accurate ECN (draft-ietf-tcpm-accurate-ecn, RFC 9768).
    Scalable,
}

/// Flags of a control in the manner of RFC 5681: the transport does the repairs, ECN is classic,
/// and nothing is paced by the control.
pub const CLASSIC: ControlFlags = ControlFlags {
    own_window: false,
    joins_recoveries: false,
    own_marks: false,
    paced: false,
    rates: false,
    ecn: EcnMode::Classic,
};

/// A copy of a control that is known as a trait object only.
pub trait Boxed {
    /// A copy of this control. A profile's control is copied for each connection.
    fn boxed(&self) -> Box<dyn Control>;
}

impl<C: Control + Clone + 'static> Boxed for C {
    fn boxed(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
}

/// One connection's congestion control.
pub trait Control: Boxed + Debug + Send + Sync + RefUnwindSafe {
    /// The flags: what the control does itself, and what it needs.
    fn flags(&self) -> ControlFlags {
        CLASSIC
    }

    /// The handshake is over; `srtt` is the round-trip time that it showed (zero if none). May
    /// lower `cwnd`.
    fn on_open(&mut self, _win: &mut Window, _srtt: Duration, _now: Instant) {}

    /// An acknowledgement arrived. Called before the transport answers the losses and marks that it
    /// reports (Linux's `in_ack_event`), so that what [`Control::on_congestion`] reads is up to
    /// date; only for a control whose flags have [`EcnMode::Dctcp`].
    fn on_report(&mut self, _report: &Report) {}

    /// An acknowledgement arrived and its losses and marks have been answered. Called for every
    /// one; a control without `own_window` leaves `cwnd` alone unless `ack.ca_state` is
    /// [`CaState::Open`] or [`CaState::Loss`].
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample);

    /// A segment was found lost. Called for each one, before the `on_congestion` that it causes and
    /// before the `on_ack` of the acknowledgement that showed the loss.
    fn on_lost(&mut self, _win: &Window, _lost: &Lost) {}

    /// Congestion was noticed: sets `ssthresh` (and, with `own_window`, `cwnd`). After a timeout
    /// the transport then sets `cwnd` to the bytes in flight and one segment more.
    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, now: Instant);

    /// The retransmission timer expired: Linux's state Loss begins, and the transport retransmits
    /// from the oldest segment on. Called also if the threshold is not reduced again, because it
    /// was already reduced for this window of data.
    fn on_timeout(&mut self, _win: &Window, _flight: &Flight, _now: Instant) {}

    /// The last `on_congestion` was spurious (the data was only late or reordered): restores what
    /// it had changed besides the windows. The transport restores the windows itself.
    /// `ends`: the same acknowledgement ends the recovery, which Linux then reports as well
    /// (`CA_EVENT_COMPLETE_CWR` in `tcp_end_cwnd_reduction`).
    fn undo(&mut self, _win: &mut Window, _ends: bool) {}

    /// The sender begins again after a pause of `idle`, with nothing outstanding.
    fn on_restart(&mut self, _win: &mut Window, _idle: Duration, _now: Instant) {}

    /// A segment is sent while nothing is in flight (Linux's `CA_EVENT_TX_START`). `last` is when
    /// the segment before it was sent; `app_limited` says that the pause came because the program
    /// had nothing to send.
    fn on_tx_start(
        &mut self,
        _win: &mut Window,
        _last: Instant,
        _app_limited: bool,
        _now: Instant,
    ) {
    }

    /// Pacing rate, bytes per second. The default is Linux's for controls without a rate of their
    /// own: 2 cwnd/srtt while cwnd is below half of ssthresh, else 1.2 cwnd/srtt; none before a
    /// round-trip time is known.
    fn pacing_rate(&self, win: &Window, flight: &Flight, srtt: Duration) -> Option<u64> {
        linux_pacing_rate(win, flight, srtt)
    }

    /// Number of segments of `mss` bytes that go down as one at a pacing rate of `rate` bytes per
    /// second (0 before there is one). The default is Linux's `net.ipv4.tcp_min_tso_segs`.
    fn burst_size(&self, _rate: u64, _mss: u64) -> BurstSize {
        BurstSize::AtLeast(2)
    }

    /// Passes numbers of the inner state to `show`, by name and always in one order.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}

    /// Makes a new scalable control look for classic queues and, behind one, answer marks as
    /// classic senders do (RFC 9331 section 4.3). Other controls ignore this.
    fn detect_classic_queues(&mut self) {}

    /// This control, if it is a Reno that classic senders call directly.
    #[doc(hidden)]
    fn classic(&self) -> Option<ClassicReno> {
        None
    }
}

impl Clone for Box<dyn Control> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// Linux's `tcp_update_pacing_rate`: 200 % of cwnd/srtt while cwnd < ssthresh/2, else 120 %.
/// Outstanding bytes take the place of cwnd if they are more (while a loss is repaired).
pub fn linux_pacing_rate(win: &Window, flight: &Flight, srtt: Duration) -> Option<u64> {
    if srtt == Duration::ZERO {
        return None;
    }
    let percent = if win.cwnd < win.ssthresh / 2 { 200 } else { 120 };
    let out = win.cwnd.max(flight.outstanding());
    let rate = u128::from(out) * percent * 10_000_000 / u128::from(srtt.nanos());
    Some(rate.max(1) as u64)
}

/// A control of the registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Name, summary, sources and parameters of the control.
    pub about: About,
    /// Makes a control from checked parameters.
    pub make: fn(&Params) -> Box<dyn Control>,
}
