//! Types and constants of the interface between aqmlab and a discipline in a shared library. The
//! comments also become those of `aqmlab_plugin.h`. This file uses nothing else of aqmlab: a
//! discipline in Rust includes a copy.

use core::ffi::{c_char, c_void};

/// Version of this interface. It changes when any structure or meaning in this file changes.
pub const AQMLAB_PLUGIN_VERSION: u32 = 2;

/// Not-ECT: not ECN-capable. The AQMLAB_ECN_... numbers are the bits of the IP header's ECN field.
pub const AQMLAB_ECN_NOT_ECT: u8 = 0;
/// ECT(1): ECN-capable, for L4S.
pub const AQMLAB_ECN_ECT1: u8 = 1;
/// ECT(0): ECN-capable.
pub const AQMLAB_ECN_ECT0: u8 = 2;
/// CE: congestion experienced.
pub const AQMLAB_ECN_CE: u8 = 3;

/// The packet carries data, SYN or FIN, or is not TCP.
pub const AQMLAB_ACK_NO: u8 = 0;
/// A pure acknowledgement that must arrive: a duplicate, or one with new SACK blocks, flags or
/// other signals besides its acknowledgement number.
pub const AQMLAB_ACK_NEEDED: u8 = 1;
/// A pure acknowledgement whose only news is a higher number: it supersedes earlier such ones of
/// its flow.
pub const AQMLAB_ACK_NEWER: u8 = 2;

/// Event: the packet was queued.
pub const AQMLAB_QUEUED: u8 = 0;
/// Event: the packet was marked CE.
pub const AQMLAB_MARKED: u8 = 1;
/// Event: the packet was dropped.
pub const AQMLAB_DROPPED: u8 = 2;

/// Reason: the discipline's decision by a random draw (early drop or mark).
pub const AQMLAB_WHY_EARLY: u8 = 1;
/// Reason: the discipline's decision without a random draw (forced drop or mark).
pub const AQMLAB_WHY_FORCED: u8 = 2;
/// Reason: the buffer was full.
pub const AQMLAB_WHY_OVERFLOW: u8 = 3;
/// Reason: a later acknowledgement of its flow supersedes it (ACK filtering).
pub const AQMLAB_WHY_SUPERSEDED: u8 = 4;

/// Result of `admit`: the packet is accepted.
pub const AQMLAB_PASS: i32 = 0;
/// Result of `admit`: a congestion signal by a random draw. The packet is marked if ECN allows,
/// else dropped.
pub const AQMLAB_SIGNAL_EARLY: i32 = 1;
/// Result of `admit`: a congestion signal without a random draw. The packet is marked if ECN
/// allows, else dropped.
pub const AQMLAB_SIGNAL_FORCED: i32 = 2;
/// Result of `admit`: drop the packet whatever its ECN field, by a random draw.
pub const AQMLAB_DROP_EARLY: i32 = 3;
/// Result of `admit`: drop the packet whatever its ECN field, without a random draw.
pub const AQMLAB_DROP_FORCED: i32 = 4;

/// Result of `dequeue`: there is nothing to send now.
pub const AQMLAB_NOTHING: i64 = -1;
/// Value of `next_tick_ns` for no tick.
pub const AQMLAB_NEVER: u64 = u64::MAX;

/// Kind of a parameter: a number from `least` to `most`.
pub const AQMLAB_REAL: u32 = 0;
/// Kind of a parameter: a whole number from `least` to `most`.
pub const AQMLAB_WHOLE: u32 = 1;
/// Kind of a parameter: 0 or 1, which users write as false or true.
pub const AQMLAB_SWITCH: u32 = 2;
/// Kind of a parameter: one of `choices`. Its value is the index of the choice, from 0.
pub const AQMLAB_CHOICE: u32 = 3;

/// An arriving packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PluginPacket {
    /// Number of the packet's flow.
    pub flow: u64,
    /// Number of the packet while it waits; a later packet may reuse it.
    pub number: u32,
    /// IP length in bytes.
    pub bytes: u32,
    /// Number of the source host.
    pub source: u16,
    /// Number of the destination host.
    pub destination: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Kind of acknowledgement: AQMLAB_ACK_...
    pub ack: u8,
    /// ECN field: AQMLAB_ECN_...
    pub ecn: u8,
}

/// Context of a call to a discipline. It is valid during the call only.
#[repr(C)]
#[derive(Debug)]
pub struct PluginCall {
    /// Time of the call, in nanoseconds since the run began.
    pub now_ns: u64,
    /// Time of the next call of `tick`; AQMLAB_NEVER for none. Any call may set it. It is reset to
    /// AQMLAB_NEVER before `tick` is called.
    pub next_tick_ns: u64,
    /// State of the queue's random number generator; draw with aqmlab_uniform.
    pub random: u64,
    /// IP bytes that wait. The arriving packet counts in `enqueue`, but not in `admit`.
    pub bytes: u64,
    /// Number of packets that wait; the arriving packet counts as in `bytes`.
    pub packets: u32,
    /// The simulator's own flag for a wrong call; a discipline must not change it.
    pub misuse: u32,
    /// Drops the waiting or arriving packet `number`; `why` is AQMLAB_WHY_... Only disciplines with
    /// `enqueue` and `dequeue` may call it.
    pub drop: Option<unsafe extern "C" fn(call: *mut PluginCall, number: u32, why: u8)>,
    /// Sets CE in the waiting or arriving packet `number`; `why` is AQMLAB_WHY_... Only disciplines
    /// with `enqueue` and `dequeue` may call it.
    pub mark: Option<unsafe extern "C" fn(call: *mut PluginCall, number: u32, why: u8)>,
    /// The simulator's own pointer; a discipline must not change it.
    pub owner: *mut c_void,
}

/// The line behind the queue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PluginLine {
    /// Rate of the line, bit/s.
    pub bits_per_s: u64,
    /// Bytes of link-layer header that sizes of packets include.
    pub header_bytes: u32,
}

/// A parameter that users may set. Texts end with a zero byte; a null pointer is an empty text.
#[repr(C)]
#[derive(Debug)]
pub struct PluginParameter {
    /// The parameter's name: letters, digits and underscores.
    pub name: *const c_char,
    /// Meaning of the parameter, in a sentence.
    pub meaning: *const c_char,
    /// Where the default comes from.
    pub source: *const c_char,
    /// Unit: "time" (values in seconds), "rate" (in bit/s), "packets", "bytes", "count" or "".
    pub unit: *const c_char,
    /// Names of the choices, separated by commas, for AQMLAB_CHOICE.
    pub choices: *const c_char,
    /// Default in base units; 0 or 1 for a switch, the index of a choice; NaN for no default.
    pub usual: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// AQMLAB_REAL, AQMLAB_WHOLE, AQMLAB_SWITCH or AQMLAB_CHOICE.
    pub kind: u32,
}

/// A discipline: its description and its functions. Either `admit` is given: the discipline only
/// decides at arrival, and aqmlab keeps the queue, tests its limit, and marks or drops. Or
/// `enqueue` and `dequeue` are given: the discipline queues packets by their numbers. `state` is
/// what `create` returned; one thread at a time uses it.
#[repr(C)]
#[derive(Debug)]
pub struct Plugin {
    /// AQMLAB_PLUGIN_VERSION.
    pub version: u32,
    /// Size of this structure in bytes.
    pub size: u32,
    /// Size of aqmlab_plugin_packet in bytes.
    pub packet_size: u32,
    /// Size of aqmlab_plugin_call in bytes.
    pub call_size: u32,
    /// Name of the discipline: letters, digits and underscores.
    pub name: *const c_char,
    /// What the discipline does, in a sentence.
    pub summary: *const c_char,
    /// The paper or program that the discipline follows.
    pub source: *const c_char,
    /// Parameters. With `admit` those of the buffer (limit, limit_bytes, ecn) are added.
    pub parameters: *const PluginParameter,
    /// Number of parameters.
    pub parameter_count: u32,
    /// Number of gauges.
    pub gauge_count: u32,
    /// With `admit`: 1 if the buffer's limit is tested before `admit` is called, which then never
    /// gets a packet that does not fit; 0 if it is tested after.
    pub limit_first: u32,
    /// Names of the gauges.
    pub gauge_names: *const *const c_char,
    /// Creates the state of one queue. `values` has a value for each parameter. To refuse them,
    /// return null and write the reason into `error`: at most `room` bytes with the zero byte at
    /// the end.
    pub create: Option<
        unsafe extern "C" fn(
            values: *const f64,
            line: *const PluginLine,
            call: *mut PluginCall,
            error: *mut c_char,
            room: usize,
        ) -> *mut c_void,
    >,
    /// Destroys a queue's state.
    pub destroy: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// Decides about an arriving packet. Returns AQMLAB_PASS, AQMLAB_SIGNAL_... or AQMLAB_DROP_...
    pub admit: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            packet: *const PluginPacket,
            call: *mut PluginCall,
        ) -> i32,
    >,
    /// With `admit`, may be null: reports that a packet was marked or dropped. `what` is
    /// AQMLAB_MARKED or AQMLAB_DROPPED; `why` is AQMLAB_WHY_... of a drop, 0 of a mark.
    pub decided:
        Option<unsafe extern "C" fn(state: *mut c_void, what: u8, why: u8, call: *mut PluginCall)>,
    /// With `admit`, may be null: the line has sent its last packet, and no packet waits.
    pub idle: Option<unsafe extern "C" fn(state: *mut c_void, call: *mut PluginCall)>,
    /// Enqueues an arriving packet; may drop it or others by `drop` of the call.
    pub enqueue: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            packet: *const PluginPacket,
            call: *mut PluginCall,
        ),
    >,
    /// Returns the number of the next packet to send, or AQMLAB_NOTHING. If packets wait
    /// nevertheless, `next_tick_ns` must be the time of the next attempt.
    pub dequeue: Option<unsafe extern "C" fn(state: *mut c_void, call: *mut PluginCall) -> i64>,
    /// Called at the time `next_tick_ns`. May be null if that is never set.
    pub tick: Option<unsafe extern "C" fn(state: *mut c_void, call: *mut PluginCall)>,
    /// Writes the values of all gauges into `values`. May be null without gauges.
    pub gauges: Option<unsafe extern "C" fn(state: *const c_void, values: *mut f64)>,
}

impl PluginCall {
    /// The next random number, uniform in [0, 1) (SplitMix64): compare with `u < p`.
    pub fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}
