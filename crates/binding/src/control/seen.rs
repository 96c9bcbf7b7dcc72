//! The objects that are passed to a congestion control in Python: its window, acknowledgements and
//! lost segments.

use plugin::control_types::{
    AQMLAB_NO_TIME, AQMLAB_STATE_CWR, AQMLAB_STATE_LOSS, AQMLAB_STATE_RECOVERY, ControlAck,
    ControlLost, ControlWindow,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn secs(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

/// Nanoseconds as seconds; None for [`AQMLAB_NO_TIME`].
fn time(nanos: u64) -> Option<f64> {
    (nanos != AQMLAB_NO_TIME).then(|| secs(nanos))
}

/// A number of bytes or bit/s that Python sets, as an integer: its fraction is cut off.
fn whole(what: &str, value: f64) -> PyResult<u64> {
    // Values above the largest window are refused later, where windows are checked.
    if value >= 0.0 {
        return Ok(value.min(1e18) as u64);
    }
    let why = format!("{what} is set to {value}: set a number that is not negative");
    Err(PyValueError::new_err(why))
}

/// The windows and pacing rate that a congestion control sets, and the state of its connection that
/// it may read. Amounts are in bytes.
#[pyclass(module = "aqmlab", name = "CongestionWindow")]
#[derive(Default)]
pub struct CongestionWindow(pub(super) ControlWindow);

#[pymethods]
impl CongestionWindow {
    /// Congestion window.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, value: f64) -> PyResult<()> {
        self.0.cwnd = whole("cwnd", value)?;
        Ok(())
    }
    /// Slow-start threshold.
    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, value: f64) -> PyResult<()> {
        self.0.ssthresh = whole("ssthresh", value)?;
        Ok(())
    }
    /// Rate at which segments are paced, in bit/s; None for Linux's rule.
    #[getter]
    fn pacing_rate(&self) -> Option<u64> {
        (self.0.pacing_bits_per_s > 0).then_some(self.0.pacing_bits_per_s)
    }
    #[setter]
    fn set_pacing_rate(&mut self, value: Option<f64>) -> PyResult<()> {
        let rate = value.map(|value| whole("pacing_rate", value)).transpose()?;
        self.0.pacing_bits_per_s = rate.map_or(0, |rate| rate.max(8));
        Ok(())
    }
    /// Segment size, bytes of payload.
    #[getter]
    fn mss(&self) -> u32 {
        self.0.mss
    }
    /// Time of the call, in seconds since the run began.
    #[getter]
    fn now_s(&self) -> f64 {
        secs(self.0.now_ns)
    }
    /// Time of the call, in nanoseconds since the run began.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now_ns
    }
    /// Bytes sent and not acknowledged.
    #[getter]
    fn outstanding(&self) -> u64 {
        self.0.outstanding
    }
    /// Receive window of the peer.
    #[getter]
    fn peer_window(&self) -> u64 {
        self.0.peer_window
    }
    /// Smoothed round-trip time in seconds; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        secs(self.0.srtt_ns)
    }
}

/// A sample of the connection at one acknowledgement. Amounts are in bytes.
#[pyclass(module = "aqmlab", name = "Ack")]
#[derive(Default)]
pub struct Ack(pub(super) ControlAck);

#[pymethods]
impl Ack {
    /// Bytes newly acknowledged, cumulatively or selectively.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }
    /// Bytes of `delivered` that the cumulative acknowledgement covers.
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }
    /// Number of segments newly acknowledged, as Linux counts them for growing the window.
    #[getter]
    fn segments(&self) -> u32 {
        self.0.segments
    }
    /// Bytes newly found lost.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }
    /// Bytes of `delivered` that were reported to have arrived with CE.
    #[getter]
    fn marked(&self) -> u64 {
        self.0.marked
    }
    /// Bytes in flight before this acknowledgement.
    #[getter]
    fn in_flight_before(&self) -> u64 {
        self.0.in_flight_before
    }
    /// Bytes in flight after this acknowledgement.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }
    /// Newest round-trip time that this acknowledgement measures, in seconds; None if it measures
    /// none.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        time(self.0.rtt_ns)
    }
    /// Smoothed round-trip time in seconds; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        secs(self.0.srtt_ns)
    }
    /// Smallest round-trip time of the last 300 s, in seconds; None before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        time(self.0.min_rtt_ns)
    }
    /// Delivery rate in bit/s; None without a sample (there are samples only with `rates = True`).
    #[getter]
    fn rate(&self) -> Option<f64> {
        let interval = secs(self.0.rate_interval_ns);
        (interval > 0.0).then(|| self.0.rate_delivered as f64 * 8.0 / interval)
    }
    /// Interval of the delivery-rate sample in seconds; 0 without a sample.
    #[getter]
    fn rate_interval_s(&self) -> f64 {
        secs(self.0.rate_interval_ns)
    }
    /// Bytes delivered in the whole connection when the newest acknowledged segment was sent.
    #[getter]
    fn rate_prior_delivered(&self) -> u64 {
        self.0.rate_prior_delivered
    }
    /// Bytes delivered in the whole connection until now.
    #[getter]
    fn rate_total_delivered(&self) -> u64 {
        self.0.rate_total_delivered
    }
    /// Bytes in flight when the newest acknowledged segment was sent.
    #[getter]
    fn rate_sent_in_flight(&self) -> u64 {
        self.0.rate_sent_in_flight
    }
    /// Bytes found lost since the newest acknowledged segment was sent.
    #[getter]
    fn rate_lost(&self) -> u64 {
        self.0.rate_lost
    }
    /// Whether the rate sample is application-limited: data to send was lacking, not window.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited != 0
    }
    /// State of loss recovery: open, cwr, recovery or loss.
    #[getter]
    fn state(&self) -> &'static str {
        match self.0.state {
            AQMLAB_STATE_CWR => "cwr",
            AQMLAB_STATE_RECOVERY => "recovery",
            AQMLAB_STATE_LOSS => "loss",
            _ => "open",
        }
    }
    /// Whether this acknowledgement ends a round trip.
    #[getter]
    fn round(&self) -> bool {
        self.0.round != 0
    }
    /// Whether cwnd limited sending at some time in this round trip.
    #[getter]
    fn window_limited(&self) -> bool {
        self.0.window_limited != 0
    }
    /// Whether cwnd may grow: it limited sending, and no loss or mark is reducing it.
    #[getter]
    fn may_grow(&self) -> bool {
        self.0.may_grow != 0
    }
    /// Whether segments are paced.
    #[getter]
    fn paced(&self) -> bool {
        self.0.paced != 0
    }
    /// Earliest time at which pacing lets the next segment be sent, in seconds since the run began.
    #[getter]
    fn next_send_s(&self) -> f64 {
        secs(self.0.next_send_ns)
    }
}

/// A segment that was found lost. Amounts are in bytes.
#[pyclass(frozen, module = "aqmlab", name = "LostSegment")]
pub struct LostSegment(pub(super) ControlLost);

#[pymethods]
impl LostSegment {
    /// Length of the lost segment in bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }
    /// Bytes in flight when the segment was sent, including the segment.
    #[getter]
    fn sent_in_flight(&self) -> u64 {
        self.0.sent_in_flight
    }
    /// Bytes found lost since the segment was sent, including the segment.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }
    /// Bytes delivered in the whole connection until now.
    #[getter]
    fn total_delivered(&self) -> u64 {
        self.0.total_delivered
    }
    /// Whether the connection was application-limited when the segment was sent.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited != 0
    }
}
