//! What passes between aqmlab and a congestion control in a shared library. Comments are those of
//! `aqmlab_control.h`. This file names nothing else of aqmlab but the neighbour that it uses: a control
//! in Rust takes a copy of both.

use core::ffi::{c_char, c_void};

use super::types::PluginParameter;

/// Version of this interface. It changes when any structure or meaning here does.
pub const AQMLAB_CONTROL_VERSION: u32 = 1;

/// State of loss recovery: no loss or mark is being answered.
pub const AQMLAB_STATE_OPEN: u8 = 0;
/// Marks were reported less than a window of data ago: the window is being reduced.
pub const AQMLAB_STATE_CWR: u8 = 1;
/// Losses are being repaired (fast recovery).
pub const AQMLAB_STATE_RECOVERY: u8 = 2;
/// Losses are being repaired after a retransmission timeout.
pub const AQMLAB_STATE_LOSS: u8 = 3;

/// ECN of RFC 3168: ECT(0), one echo per window of data.
pub const AQMLAB_ECN_OF_RFC3168: u32 = 0;
/// ECN of RFC 8257 (DCTCP): ECT(0), `marked` says which bytes were marked.
pub const AQMLAB_ECN_OF_DCTCP: u32 = 1;
/// ECN of RFC 9331 (L4S): ECT(1), `marked` says which bytes were marked.
pub const AQMLAB_ECN_OF_L4S: u32 = 2;

/// Flag: the control sets cwnd at all times. Without it, while a loss or mark is answered, the
/// transport leads cwnd to ssthresh (RFC 6937), and the control leaves cwnd alone meanwhile.
pub const AQMLAB_OWN_WINDOW: u32 = 1;
/// Flag: the control reads `marked` itself, and `on_ecn` is not called.
pub const AQMLAB_OWN_MARKS: u32 = 2;
/// Flag: segments are paced, whether or not the end system paces.
pub const AQMLAB_PACED: u32 = 4;
/// Flag: the control reads the delivery rate and what is reported of each lost segment.
pub const AQMLAB_RATES: u32 = 8;

/// Stands for "no time".
pub const AQMLAB_NO_TIME: u64 = u64::MAX;

/// What a control sets. Amounts are bytes. It is valid during the call only.
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
    /// Now, in nanoseconds since the run began.
    pub now_ns: u64,
    /// Bytes sent and not acknowledged.
    pub outstanding: u64,
    /// The peer's receive window.
    pub peer_window: u64,
    /// Smoothed round trip in nanoseconds; 0 before the first.
    pub srtt_ns: u64,
    /// Segment size, bytes of payload.
    pub mss: u32,
    /// Not for the control.
    pub unused: u32,
}

/// What one acknowledgement reports. Amounts are bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlAck {
    /// Newly acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Of these, what the cumulative acknowledgement covers.
    pub acked: u64,
    /// Newly found lost.
    pub lost: u64,
    /// Of `delivered`, what is reported to have arrived marked.
    pub marked: u64,
    /// Bytes in flight before this acknowledgement.
    pub in_flight_before: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The newest round-trip time that it measures, in nanoseconds; AQMLAB_NO_TIME if it measures
    /// none.
    pub rtt_ns: u64,
    /// Smoothed round trip in nanoseconds; 0 before the first.
    pub srtt_ns: u64,
    /// Smallest round trip of the last 300 s, in nanoseconds.
    pub min_rtt_ns: u64,
    /// The earliest time at which pacing lets the next segment be sent.
    pub next_send_ns: u64,
    /// Interval of the delivery-rate sample in nanoseconds; 0 without a sample.
    pub rate_interval_ns: u64,
    /// Bytes delivered in this interval.
    pub rate_delivered: u64,
    /// Bytes delivered in the whole connection when the newest acknowledged segment was sent.
    pub rate_prior_delivered: u64,
    /// Bytes delivered in the whole connection until now.
    pub rate_total_delivered: u64,
    /// Bytes in flight when that segment was sent.
    pub rate_sent_in_flight: u64,
    /// Bytes lost since the segment was sent that this acknowledgement samples.
    pub rate_lost: u64,
    /// Segments newly acknowledged, as Linux counts them for growth.
    pub segments: u32,
    /// AQMLAB_STATE_...
    pub state: u8,
    /// 1 if a round trip has passed.
    pub round: u8,
    /// 1 if the window was the limit since the round began.
    pub window_limited: u8,
    /// 1 if the window may grow: it was the limit, and nothing reduces it.
    pub may_grow: u8,
    /// 1 if the program, not the window, limited the sending of the rate sample.
    pub app_limited: u8,
    /// 1 if segments are paced.
    pub paced: u8,
    /// Not for the control.
    pub unused: [u8; 6],
}

/// A segment found lost. Amounts are bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlLost {
    /// Length of the lost segment, bytes.
    pub bytes: u64,
    /// Bytes in flight when it was sent, itself included.
    pub sent_in_flight: u64,
    /// Bytes found lost since it was sent, itself included.
    pub lost: u64,
    /// Bytes delivered in the whole connection until now.
    pub total_delivered: u64,
    /// 1 if the program, not the window, limited the sending when it was sent.
    pub app_limited: u8,
    /// Not for the control.
    pub unused: [u8; 7],
}

/// A congestion control: its description and its functions. `state` is what `create` returned; one
/// thread at a time uses it. Without `on_ecn` or `on_timeout`, `on_loss` stands for it.
#[repr(C)]
#[derive(Debug)]
pub struct ControlTable {
    /// AQMLAB_CONTROL_VERSION.
    pub version: u32,
    /// Size of this structure.
    pub size: u32,
    /// Size of aqmlab_control_window.
    pub window_size: u32,
    /// Size of aqmlab_control_ack.
    pub ack_size: u32,
    /// Its name: letters, digits and underscores.
    pub name: *const c_char,
    /// What it does, in a sentence.
    pub summary: *const c_char,
    /// The paper or program that it follows.
    pub source: *const c_char,
    /// Its parameters.
    pub parameters: *const PluginParameter,
    /// Number of parameters.
    pub parameter_count: u32,
    /// Number of gauges.
    pub gauge_count: u32,
    /// AQMLAB_OWN_WINDOW and the other flags, added.
    pub flags: u32,
    /// AQMLAB_ECN_OF_...
    pub ecn: u32,
    /// The names of its gauges.
    pub gauge_names: *const *const c_char,
    /// Creates one connection's state, from a value for each parameter. Null: refused, `error` says
    /// why, in at most `room` bytes with the zero at the end.
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
    /// May be null: the last reduction was wrong, and the transport has put back both windows.
    pub on_undo: Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow)>,
    /// May be null: a segment is sent after the program had nothing to send for `idle_ns`.
    pub on_app_limited:
        Option<unsafe extern "C" fn(state: *mut c_void, window: *mut ControlWindow, idle_ns: u64)>,
    /// May be null: a segment was found lost. The window cannot be set here.
    pub on_lost: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            window: *const ControlWindow,
            lost: *const ControlLost,
        ),
    >,
    /// Writes `gauge_count` numbers. May be null without gauges.
    pub gauges: Option<unsafe extern "C" fn(state: *const c_void, values: *mut f64)>,
}
