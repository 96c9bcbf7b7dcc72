//! Types and constants of the interface between aqmlab and a congestion control in a shared
//! library. The comments also become those of `aqmlab_control.h`. This file uses `types.rs` and
//! nothing else of aqmlab: a control in Rust includes a copy of both.

use core::ffi::{c_char, c_void};

use super::types::PluginParameter;

/// Version of this interface. It changes when any structure or meaning in this file changes.
pub const AQMLAB_CONTROL_VERSION: u32 = 1;

/// State of loss recovery: the sender is not reacting to a loss or mark (TCP_CA_Open of Linux).
pub const AQMLAB_STATE_OPEN: u8 = 0;
/// State of loss recovery: the window is being reduced after marks (TCP_CA_CWR of Linux).
pub const AQMLAB_STATE_CWR: u8 = 1;
/// State of loss recovery: losses are being repaired by fast recovery.
pub const AQMLAB_STATE_RECOVERY: u8 = 2;
/// State of loss recovery: losses are being repaired after a retransmission timeout.
pub const AQMLAB_STATE_LOSS: u8 = 3;

/// ECN of RFC 3168: packets are ECT(0), and marks are reported once per window of data.
pub const AQMLAB_ECN_OF_RFC3168: u32 = 0;
/// ECN of RFC 8257 (DCTCP): packets are ECT(0), and `marked` counts the marked bytes.
pub const AQMLAB_ECN_OF_DCTCP: u32 = 1;
/// ECN of RFC 9331 (L4S): packets are ECT(1), and `marked` counts the marked bytes.
pub const AQMLAB_ECN_OF_L4S: u32 = 2;

/// Flag: the control sets cwnd at all times. Without it, the transport moves cwnd towards ssthresh
/// after a loss or mark (RFC 6937), and the control must not set cwnd meanwhile.
pub const AQMLAB_OWN_WINDOW: u32 = 1;
/// Flag: the control reads `marked` itself, and `on_ecn` is not called.
pub const AQMLAB_OWN_MARKS: u32 = 2;
/// Flag: segments are paced, whether or not the end system paces.
pub const AQMLAB_PACED: u32 = 4;
/// Flag: the control needs delivery-rate samples, and `on_lost` for each lost segment.
pub const AQMLAB_RATES: u32 = 8;

/// Stands for a time without a value.
pub const AQMLAB_NO_TIME: u64 = u64::MAX;

/// Windows and pacing rate, which the control sets, and the state of the connection. Amounts are in
/// bytes. The structure is valid during the call only.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlWindow {
    /// Congestion window; at least one segment.
    pub cwnd: u64,
    /// Slow-start threshold; at least one segment.
    pub ssthresh: u64,
    /// Rate at which segments are paced; 0 for Linux's rule (twice cwnd/srtt below half of ssthresh,
    /// 1.2 times above).
    pub pacing_bits_per_s: u64,
    /// Time of the call, in nanoseconds since the run began.
    pub now_ns: u64,
    /// Bytes sent and not acknowledged.
    pub outstanding: u64,
    /// Receive window of the peer.
    pub peer_window: u64,
    /// Smoothed round-trip time in nanoseconds; 0 before the first sample.
    pub srtt_ns: u64,
    /// Segment size, bytes of payload.
    pub mss: u32,
    /// Padding; the control must not use it.
    pub unused: u32,
}

/// A sample of the connection at one acknowledgement. Amounts are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlAck {
    /// Bytes newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Bytes of `delivered` that the cumulative acknowledgement covers.
    pub acked: u64,
    /// Bytes newly found lost.
    pub lost: u64,
    /// Bytes of `delivered` that were reported to have arrived with CE.
    pub marked: u64,
    /// Bytes in flight before this acknowledgement.
    pub in_flight_before: u64,
    /// Bytes in flight after this acknowledgement.
    pub in_flight: u64,
    /// Newest round-trip time that this acknowledgement measures, in nanoseconds; AQMLAB_NO_TIME if
    /// it measures none.
    pub rtt_ns: u64,
    /// Smoothed round-trip time in nanoseconds; 0 before the first sample.
    pub srtt_ns: u64,
    /// Smallest round-trip time of the last 300 s, in nanoseconds.
    pub min_rtt_ns: u64,
    /// Earliest time at which pacing lets the next segment be sent, in nanoseconds since the run
    /// began.
    pub next_send_ns: u64,
    /// Interval of the delivery-rate sample in nanoseconds; 0 without a sample.
    pub rate_interval_ns: u64,
    /// Bytes delivered in the interval of the delivery-rate sample.
    pub rate_delivered: u64,
    /// Bytes delivered in the whole connection when the newest acknowledged segment was sent.
    pub rate_prior_delivered: u64,
    /// Bytes delivered in the whole connection until now.
    pub rate_total_delivered: u64,
    /// Bytes in flight when the newest acknowledged segment was sent.
    pub rate_sent_in_flight: u64,
    /// Bytes found lost since the newest acknowledged segment was sent.
    pub rate_lost: u64,
    /// Number of segments newly acknowledged, as Linux counts them for growing the window.
    pub segments: u32,
    /// State of loss recovery: AQMLAB_STATE_...
    pub state: u8,
    /// 1 if this acknowledgement ends a round trip.
    pub round: u8,
    /// 1 if cwnd limited sending at some time in this round trip.
    pub window_limited: u8,
    /// 1 if cwnd may grow: it limited sending, and no loss or mark is reducing it.
    pub may_grow: u8,
    /// 1 if the rate sample is application-limited: data to send was lacking, not window.
    pub app_limited: u8,
    /// 1 if segments are paced.
    pub paced: u8,
    /// Padding; the control must not use it.
    pub unused: [u8; 6],
}

/// A segment that was found lost. Amounts are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlLost {
    /// Length of the lost segment, bytes.
    pub bytes: u64,
    /// Bytes in flight when the segment was sent, including the segment.
    pub sent_in_flight: u64,
    /// Bytes found lost since the segment was sent, including the segment.
    pub lost: u64,
    /// Bytes delivered in the whole connection until now.
    pub total_delivered: u64,
    /// 1 if the connection was application-limited when the segment was sent.
    pub app_limited: u8,
    /// Padding; the control must not use it.
    pub unused: [u8; 7],
}

/// A congestion control: its description and its functions. `state` is what `create` returned; one
/// thread at a time uses it. If `on_ecn` or `on_timeout` is null, `on_loss` is called instead.
#[repr(C)]
#[derive(Debug)]
pub struct ControlTable {
    /// AQMLAB_CONTROL_VERSION.
    pub version: u32,
    /// Size of this structure in bytes.
    pub size: u32,
    /// Size of aqmlab_control_window in bytes.
    pub window_size: u32,
    /// Size of aqmlab_control_ack in bytes.
    pub ack_size: u32,
    /// Name of the control: letters, digits and underscores.
    pub name: *const c_char,
    /// What the control does, in a sentence.
    pub summary: *const c_char,
    /// The paper or program that the control follows.
    pub source: *const c_char,
    /// Parameters of the control.
    pub parameters: *const PluginParameter,
    /// Number of parameters.
    pub parameter_count: u32,
    /// Number of gauges.
    pub gauge_count: u32,
    /// Sum of the flags: AQMLAB_OWN_WINDOW, AQMLAB_OWN_MARKS, AQMLAB_PACED, AQMLAB_RATES.
    pub flags: u32,
    /// Kind of ECN: AQMLAB_ECN_OF_...
    pub ecn: u32,
    /// Names of the gauges.
    pub gauge_names: *const *const c_char,
    /// Creates the state of one connection. `values` has a value for each parameter. To refuse
    /// them, return null and write the reason into `error`: at most `room` bytes with the zero byte
    /// at the end.
    pub create: Option<
        unsafe extern "C" fn(values: *const f64, error: *mut c_char, room: usize) -> *mut c_void,
    >,
    /// Destroys a connection's state.
    pub destroy: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// May be null: the handshake is over.
    pub on_open: Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow)>,
    /// An acknowledgement has arrived.
    pub on_ack: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            window: *mut ControlWindow,
            ack: *const ControlAck,
        ),
    >,
    /// Losses were found, and recovery has begun: set ssthresh (and cwnd with AQMLAB_OWN_WINDOW).
    pub on_loss: Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow)>,
    /// May be null: marks were reported, once per window of data.
    pub on_ecn: Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow)>,
    /// May be null: the retransmission timer expired.
    pub on_timeout: Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow)>,
    /// May be null: the last reduction was spurious, and the transport has restored cwnd and
    /// ssthresh.
    pub on_undo: Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow)>,
    /// May be null: a segment is sent after the application had nothing to send for `idle_ns`.
    pub on_app_limited:
        Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow, idle_ns: u64)>,
    /// May be null: a segment was found lost. The control cannot set the windows in this call.
    pub on_lost: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            window: *const ControlWindow,
            lost: *const ControlLost,
        ),
    >,
    /// Writes the values of all gauges into `values`. May be null without gauges.
    pub gauges: Option<unsafe extern "C" fn(state: *const c_void, values: *mut f64)>,
}
