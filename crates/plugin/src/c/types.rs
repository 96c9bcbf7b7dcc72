//! What passes between aqmlab and a discipline in a shared library. Comments are those of
//! `aqmlab_plugin.h`. This file names nothing else of aqmlab: a discipline in Rust takes a copy.

use core::ffi::{c_char, c_void};

/// Version of this interface. It changes when any structure or meaning here does.
pub const AQMLAB_PLUGIN_VERSION: u32 = 2;

/// The transport does not understand ECN. These are the two bits of the IP header.
pub const AQMLAB_ECN_NOT_ECT: u8 = 0;
/// ECN-capable, codepoint 1 (L4S).
pub const AQMLAB_ECN_ECT1: u8 = 1;
/// ECN-capable, codepoint 0.
pub const AQMLAB_ECN_ECT0: u8 = 2;
/// Congestion experienced.
pub const AQMLAB_ECN_CE: u8 = 3;

/// The packet carries data, SYN or FIN, or is not TCP.
pub const AQMLAB_ACK_NO: u8 = 0;
/// A pure acknowledgement that must arrive: a duplicate, or with news besides its number.
pub const AQMLAB_ACK_NEEDED: u8 = 1;
/// A pure acknowledgement that says all that earlier ones of its flow said, and more.
pub const AQMLAB_ACK_NEWER: u8 = 2;

/// The packet waits.
pub const AQMLAB_QUEUED: u8 = 0;
/// The packet waits, marked "congestion experienced".
pub const AQMLAB_MARKED: u8 = 1;
/// The packet is gone.
pub const AQMLAB_DROPPED: u8 = 2;

/// A random early decision of the discipline.
pub const AQMLAB_WHY_EARLY: u8 = 1;
/// A certain decision of the discipline.
pub const AQMLAB_WHY_FORCED: u8 = 2;
/// The buffer was full.
pub const AQMLAB_WHY_OVERFLOW: u8 = 3;
/// A later acknowledgement of its flow says all that it said.
pub const AQMLAB_WHY_SUPERSEDED: u8 = 4;

/// Answer of `admit`: the packet may wait.
pub const AQMLAB_PASS: i32 = 0;
/// Its sender should slow down, says a random draw: marked if ECN allows, else dropped.
pub const AQMLAB_SIGNAL_EARLY: i32 = 1;
/// Its sender should slow down for certain: marked if ECN allows, else dropped.
pub const AQMLAB_SIGNAL_FORCED: i32 = 2;
/// It is dropped whatever its ECN field says, by a random draw.
pub const AQMLAB_DROP_EARLY: i32 = 3;
/// It is dropped whatever its ECN field says, for certain.
pub const AQMLAB_DROP_FORCED: i32 = 4;

/// Answer of `dequeue`: nothing to send now.
pub const AQMLAB_NOTHING: i64 = -1;
/// `next_tick_ns` of a discipline that wants no tick.
pub const AQMLAB_NEVER: u64 = u64::MAX;

/// Kind of a parameter: a number from `least` to `most`.
pub const AQMLAB_REAL: u32 = 0;
/// A whole number from `least` to `most`.
pub const AQMLAB_WHOLE: u32 = 1;
/// 0 or 1: written as true or false.
pub const AQMLAB_SWITCH: u32 = 2;
/// One of `choices`: its place, from 0 on.
pub const AQMLAB_CHOICE: u32 = 3;

/// A packet that arrives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PluginPacket {
    /// Flow: the same number for packets of one flow.
    pub flow: u64,
    /// The packet's number as long as it waits; a later packet may reuse it.
    pub number: u32,
    /// IP length in bytes.
    pub bytes: u32,
    /// Source host: its number.
    pub source: u16,
    /// Destination host, numbered as the source host is.
    pub destination: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// AQMLAB_ACK_...
    pub ack: u8,
    /// AQMLAB_ECN_...
    pub ecn: u8,
}

/// What a discipline is handed at each call. It is valid during the call only.
#[repr(C)]
#[derive(Debug)]
pub struct PluginCall {
    /// Now, in nanoseconds since the run began.
    pub now_ns: u64,
    /// When `tick` is to be called; set it in any call, AQMLAB_NEVER for not at all. Before `tick`
    /// it is set to AQMLAB_NEVER.
    pub next_tick_ns: u64,
    /// State of the queue's random numbers; draw with aqmlab_uniform.
    pub random: u64,
    /// IP bytes that wait; in `enqueue` the packet that arrives counts, in `admit` it does not.
    pub bytes: u64,
    /// Packets that wait; the arriving packet counts as in `bytes`.
    pub packets: u32,
    /// The simulator's own note of a wrong call; a discipline leaves it alone.
    pub misuse: u32,
    /// Gives up a packet that waits or arrives, for AQMLAB_WHY_... Only for who holds packets.
    pub drop: Option<unsafe extern "C" fn(call: *mut PluginCall, number: u32, why: u8)>,
    /// Marks such a packet "congestion experienced". Only for who holds packets.
    pub mark: Option<unsafe extern "C" fn(call: *mut PluginCall, number: u32, why: u8)>,
    /// The simulator's own pointer; a discipline leaves it alone.
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

/// A parameter that users may set. Texts end with a zero byte; null is an empty one.
#[repr(C)]
#[derive(Debug)]
pub struct PluginParameter {
    /// The parameter's name: letters, digits and underscores.
    pub name: *const c_char,
    /// What it means, in a sentence.
    pub meaning: *const c_char,
    /// Where the default comes from.
    pub source: *const c_char,
    /// "time" (handed over in seconds), "rate" (bit/s), "packets", "bytes", "count" or "".
    pub unit: *const c_char,
    /// Of AQMLAB_CHOICE: the names, with commas between them.
    pub choices: *const c_char,
    /// The default in base units; of a switch 0 or 1, of a choice its place.
    pub usual: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// AQMLAB_REAL, AQMLAB_WHOLE, AQMLAB_SWITCH or AQMLAB_CHOICE.
    pub kind: u32,
}

/// A discipline: what it says of itself, and its functions. Either `admit` is given (a judge: it
/// decides at arrival, and queue, limit and ECN are aqmlab's), or `enqueue` and `dequeue` (it keeps
/// packets by their numbers). `self` is what `create` answered; one thread at a time uses it.
#[repr(C)]
#[derive(Debug)]
pub struct Plugin {
    /// AQMLAB_PLUGIN_VERSION.
    pub version: u32,
    /// Size of this structure.
    pub size: u32,
    /// Size of aqmlab_plugin_packet.
    pub packet_size: u32,
    /// Size of aqmlab_plugin_call.
    pub call_size: u32,
    /// Its name: letters, digits and underscores.
    pub name: *const c_char,
    /// What it does, in a sentence.
    pub summary: *const c_char,
    /// Whom it follows.
    pub source: *const c_char,
    /// Its parameters; those of the buffer (limit, limit_bytes, ecn) are added to a judge's.
    pub parameters: *const PluginParameter,
    /// Number of parameters.
    pub parameter_count: u32,
    /// How many gauges it shows.
    pub gauge_count: u32,
    /// Of a judge: 1 if the buffer's limit is tested before `admit` (which then never sees a packet
    /// that does not fit), 0 if after.
    pub limit_first: u32,
    /// Names of the gauges.
    pub gauge_names: *const *const c_char,
    /// Creates one queue's state, from a value for each parameter. Null: refused, `error` says why,
    /// in at most `room` bytes with the zero at the end.
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
    /// Judges a packet that arrives: AQMLAB_PASS, AQMLAB_SIGNAL_... or AQMLAB_DROP_...
    pub admit: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            packet: *const PluginPacket,
            call: *mut PluginCall,
        ) -> i32,
    >,
    /// Of a judge, may be null: what became of the packet that it signalled or that did not fit.
    /// AQMLAB_MARKED or AQMLAB_DROPPED, and AQMLAB_WHY_...
    pub decided:
        Option<unsafe extern "C" fn(state: *mut c_void, what: u8, why: u8, call: *mut PluginCall)>,
    /// Of a judge, may be null: the line finished its last packet, and nothing waits.
    pub idle: Option<unsafe extern "C" fn(state: *mut c_void, call: *mut PluginCall)>,
    /// Takes a packet in, or drops it or others.
    pub enqueue: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            packet: *const PluginPacket,
            call: *mut PluginCall,
        ),
    >,
    /// The number of the next packet to send, or AQMLAB_NOTHING. If packets wait nevertheless,
    /// `next_tick_ns` says when to call again.
    pub dequeue: Option<unsafe extern "C" fn(state: *mut c_void, call: *mut PluginCall) -> i64>,
    /// The time of `next_tick_ns` has come. May be null if none is ever set.
    pub tick: Option<unsafe extern "C" fn(state: *mut c_void, call: *mut PluginCall)>,
    /// Writes `gauge_count` numbers. May be null without gauges.
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
