//! A discipline in a shared library, called through its table of functions.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::path::Path;
use std::ptr;

use packet::{Backlog, DropReason, Instant, Packet, Rng};

use super::table::{checked, opened, reason, slice, text};
use super::types::{
    self, AQMLAB_NEVER, AQMLAB_PLUGIN_VERSION, Plugin, PluginCall, PluginLine, PluginPacket,
};
use crate::held::Call;

/// The table of a discipline in a library that stays loaded.
#[derive(Clone, Copy)]
pub struct Table(&'static Plugin);

// SAFETY: a table is constant data; the library promises that its functions may be called from any
// thread, with one thread at a time for each state.
unsafe impl Send for Table {}
// SAFETY: as above; a table is constant.
unsafe impl Sync for Table {}

/// Expected first members of a table: version of the interface, and sizes of the table, of a packet
/// and of a call.
const OURS: [u32; 4] = [
    AQMLAB_PLUGIN_VERSION,
    size_of::<Plugin>() as u32,
    size_of::<PluginPacket>() as u32,
    size_of::<PluginCall>() as u32,
];

type Entrance = unsafe extern "C" fn() -> *const Plugin;

impl Table {
    /// Opens a library, for as long as the process lives.
    ///
    /// # Errors
    /// A sentence on what is wrong with the file, without its name.
    pub fn open(path: &Path) -> Result<Self, String> {
        let library = opened(path)?;
        // SAFETY: the header declares the symbol with this type.
        let entrance =
            unsafe { library.get::<Entrance>(b"aqmlab_discipline\0") }.map_err(|_| {
                "it exports neither aqmlab_discipline nor aqmlab_control: see aqmlab_plugin.h or \
                 aqmlab_control.h"
                    .to_owned()
            })?;
        // SAFETY: the header declares a function without arguments that may be called at any time.
        let table = unsafe { entrance() };
        // SAFETY: the library promises a constant table that begins with its version and sizes.
        unsafe { checked(table, "aqmlab_discipline", "aqmlab_plugin.h", OURS) }.map(Table)
    }

    /// The table of functions and data that the library exports.
    pub fn get(self) -> &'static Plugin {
        self.0
    }

    /// The parameters of the library's discipline.
    pub fn parameters(self) -> &'static [types::PluginParameter] {
        slice(self.0.parameters, self.0.parameter_count)
    }

    /// Names of the gauges of the library's discipline.
    pub fn gauge_names(self) -> Vec<&'static str> {
        slice(self.0.gauge_names, self.0.gauge_count).iter().map(|name| text(*name)).collect()
    }
}

type Admit = unsafe extern "C" fn(*mut c_void, *const PluginPacket, *mut PluginCall) -> i32;

/// One queue's state in a library.
pub struct State {
    table: Table,
    /// The table's `admit`, kept here because it is called for every packet.
    admit: Admit,
    state: *mut c_void,
    call: Box<PluginCall>,
}

// SAFETY: the library promises that different threads may use a state, one at a time; the pointers
// of `call` are only used during a call.
unsafe impl Send for State {}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(destroy) = self.table.0.destroy {
            // SAFETY: `create` returned this state, and it is destroyed once.
            unsafe { destroy(self.state) };
        }
    }
}

/// Target of the `owner` pointer during a call: the context in which `drop` and `mark` act, and the
/// first error.
struct Owner<'a, 'b> {
    call: &'a mut Call<'b>,
    wrong: Option<String>,
}

/// A sentence on the rule of the interface that a library broke during a call.
pub type Misdeed = String;

impl State {
    /// Creates a state with these values of the parameters.
    ///
    /// # Errors
    /// The library's reason for refusing the values, in a sentence.
    pub fn create(table: Table, values: &[f64], line: PluginLine) -> Result<Self, String> {
        let call = PluginCall {
            now_ns: 0,
            next_tick_ns: AQMLAB_NEVER,
            random: 0,
            bytes: 0,
            packets: 0,
            misuse: 0,
            drop: Some(give_up),
            mark: Some(mark),
            owner: ptr::null_mut(),
        };
        let mut call = Box::new(call);
        let mut error = [0 as c_char; 400];
        let create = table.0.create.ok_or("its table has no function create")?;
        // SAFETY: every pointer is valid during the call, and `error` has the given size.
        let state =
            unsafe { create(values.as_ptr(), &line, &mut *call, error.as_mut_ptr(), error.len()) };
        if state.is_null() {
            return Err(reason(&mut error));
        }
        Ok(State { table, admit: table.0.admit.unwrap_or(pass), state, call })
    }

    /// Time of the discipline's next tick.
    #[inline]
    pub fn next_tick(&self) -> Option<Instant> {
        let at = self.call.next_tick_ns;
        (at != AQMLAB_NEVER).then(|| Instant::from_nanos(at))
    }

    #[inline]
    fn set_call(&mut self, now: Instant, backlog: Backlog, rng: &Rng) {
        let call = &mut *self.call;
        call.now_ns = now.nanos();
        call.random = rng.state();
        call.bytes = backlog.bytes;
        call.packets = backlog.packets;
    }

    /// Calls an algorithm's `admit`. Returns its result, and whether it called `drop` or `mark`,
    /// which only a discipline that queues packets may do.
    #[inline]
    pub fn admit(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> (i32, bool) {
        self.set_call(now, backlog, rng);
        // SAFETY: the state belongs to this table, and the pointers are valid during the call.
        let answer = unsafe { (self.admit)(self.state, seen(packet), &mut *self.call) };
        *rng = Rng::from_state(self.call.random);
        (answer, self.call.misuse != 0)
    }

    /// Reports the fate of a packet to an algorithm; without `now` the call has the time of the
    /// previous call.
    pub fn decided(&mut self, what: u8, why: u8, now: Option<Instant>) {
        let Some(decided) = self.table.0.decided else { return };
        if let Some(now) = now {
            self.call.now_ns = now.nanos();
        }
        // SAFETY: the state belongs to this table, and the pointer is valid during the call.
        unsafe { decided(self.state, what, why, &mut *self.call) };
    }

    /// Reports to an algorithm that the line has become idle.
    pub fn idle(&mut self, now: Instant) {
        let Some(idle) = self.table.0.idle else { return };
        self.call.now_ns = now.nanos();
        (self.call.bytes, self.call.packets) = (0, 0);
        // SAFETY: the state belongs to this table, and the pointer is valid during the call.
        unsafe { idle(self.state, &mut *self.call) };
    }

    /// Calls the `tick` of an algorithm that only admits packets.
    pub fn tick(&mut self, backlog: Backlog, now: Instant, rng: &mut Rng) {
        self.set_call(now, backlog, rng);
        self.call.next_tick_ns = AQMLAB_NEVER;
        if let Some(tick) = self.table.0.tick {
            // SAFETY: the state belongs to this table, and the pointer is valid during the call.
            unsafe { tick(self.state, &mut *self.call) };
        }
        *rng = Rng::from_state(self.call.random);
    }

    /// Calls the `enqueue` of a discipline that queues packets.
    ///
    /// # Errors
    /// The rule that the library broke.
    pub fn enqueue(&mut self, packet: &Packet, call: &mut Call) -> Result<(), Misdeed> {
        let Some(enqueue) = self.table.0.enqueue else { return Ok(()) };
        self.with(call, |state, table_call| {
            // SAFETY: the state belongs to this table, and the pointers are valid during the call.
            unsafe { enqueue(state, seen(packet), table_call) };
        })
    }

    /// Calls the `dequeue` of a discipline that queues packets. Returns the next packet's number.
    ///
    /// # Errors
    /// The rule that the library broke.
    pub fn dequeue(&mut self, call: &mut Call) -> Result<i64, Misdeed> {
        let Some(dequeue) = self.table.0.dequeue else { return Ok(types::AQMLAB_NOTHING) };
        self.with(call, |state, table_call| {
            // SAFETY: the state belongs to this table, and the pointer is valid during the call.
            unsafe { dequeue(state, table_call) }
        })
    }

    /// Calls the `tick` of a discipline that queues packets.
    ///
    /// # Errors
    /// The rule that the library broke.
    pub fn tick_holder(&mut self, call: &mut Call) -> Result<(), Misdeed> {
        self.call.next_tick_ns = AQMLAB_NEVER;
        let Some(tick) = self.table.0.tick else { return Ok(()) };
        self.with(call, |state, table_call| {
            // SAFETY: the state belongs to this table, and the pointer is valid during the call.
            unsafe { tick(state, table_call) };
        })
    }

    /// Makes a call during which the discipline may drop and mark packets.
    #[inline]
    fn with<T>(
        &mut self,
        call: &mut Call,
        ask: impl FnOnce(*mut c_void, *mut PluginCall) -> T,
    ) -> Result<T, Misdeed> {
        self.set_call(call.now, call.backlog(), call.rng);
        let mut owner = Owner { call, wrong: None };
        self.call.owner = (&raw mut owner).cast();
        let answer = ask(self.state, &mut *self.call);
        self.call.owner = ptr::null_mut();
        *owner.call.rng = Rng::from_state(self.call.random);
        match owner.wrong {
            None => Ok(answer),
            Some(wrong) => Err(wrong),
        }
    }

    /// Reads the gauges into `values`, which must have room for all.
    pub fn gauges(&self, values: &mut [f64]) {
        assert!(values.len() >= self.table.0.gauge_count as usize, "room for every gauge");
        if let Some(gauges) = self.table.0.gauges {
            // SAFETY: the state belongs to this table, and `values` has room for all its gauges.
            unsafe { gauges(self.state, values.as_mut_ptr()) };
        }
    }
}

/// Placeholder for the `admit` of a discipline that queues packets.
extern "C" fn pass(_: *mut c_void, _: *const PluginPacket, _: *mut PluginCall) -> i32 {
    types::AQMLAB_PASS
}

unsafe extern "C" fn give_up(call: *mut PluginCall, number: u32, why: u8) {
    // SAFETY: the library passes the `call` pointer that it got.
    unsafe { act(call, why, |call, why| call.drop(number, why)) }
}

unsafe extern "C" fn mark(call: *mut PluginCall, number: u32, why: u8) {
    // SAFETY: as above.
    unsafe { act(call, why, |call, why| call.mark(number, why)) }
}

/// Drops or marks a packet as the library requests during a call; keeps the first error.
unsafe fn act(
    call: *mut PluginCall,
    why: u8,
    what: impl FnOnce(&mut Call, DropReason) -> Result<(), String>,
) {
    // SAFETY: the caller promises the pointer of a call that has not returned. Only the members
    // `owner` and `misuse` are accessed here: the library may hold pointers to other members.
    let owner = unsafe { (*call).owner }.cast::<Owner>();
    if owner.is_null() {
        // SAFETY: as above.
        unsafe { (*call).misuse = 1 };
        return;
    }
    // SAFETY: `with` has set the pointer; its target lives until that call returns, and nothing
    // else uses it.
    let owner = unsafe { &mut *owner };
    let of = |why: u8| DropReason::ALL.get(usize::from(why).wrapping_sub(1)).copied();
    let done = match of(why) {
        Some(why) => what(owner.call, why),
        None => Err(format!("it gives the reason {why}: give one of AQMLAB_WHY_...")),
    };
    if let Err(wrong) = done {
        owner.wrong.get_or_insert(wrong);
    }
}

// A packet's memory begins with the layout of `PluginPacket`, so packets are passed without a copy.
const _: () = assert!(
    offset_of!(Packet, flow) == offset_of!(PluginPacket, flow)
        && offset_of!(Packet, id) == offset_of!(PluginPacket, number)
        && offset_of!(Packet, bytes) == offset_of!(PluginPacket, bytes)
        && offset_of!(Packet, header.source) == offset_of!(PluginPacket, source)
        && offset_of!(Packet, header.destination) == offset_of!(PluginPacket, destination)
        && offset_of!(Packet, header.dscp) == offset_of!(PluginPacket, dscp)
        && offset_of!(Packet, header.ack) == offset_of!(PluginPacket, ack)
        && offset_of!(Packet, ecn) == offset_of!(PluginPacket, ecn)
        && size_of::<PluginPacket>() <= size_of::<Packet>()
        && align_of::<PluginPacket>() <= align_of::<Packet>()
);

/// Pointer to a packet for a library.
#[inline]
const fn seen(packet: &Packet) -> *const PluginPacket {
    ptr::from_ref(packet).cast()
}

#[cfg(test)]
mod tests {
    use super::super::types::*;
    use packet::{Ack, DropReason, Ecn};

    /// Libraries read packets in place, and numbers are cast: the header's constants must equal
    /// ours.
    #[test]
    fn numbers_that_cross_are_those_of_the_header() {
        let ecn = [AQMLAB_ECN_NOT_ECT, AQMLAB_ECN_ECT1, AQMLAB_ECN_ECT0, AQMLAB_ECN_CE];
        assert_eq!(ecn, [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(|ecn| ecn as u8));
        let ack = [AQMLAB_ACK_NO, AQMLAB_ACK_NEEDED, AQMLAB_ACK_NEWER];
        assert_eq!(ack, [Ack::No, Ack::Needed, Ack::Newer].map(|ack| ack as u8));
        let whys =
            [AQMLAB_WHY_EARLY, AQMLAB_WHY_FORCED, AQMLAB_WHY_OVERFLOW, AQMLAB_WHY_SUPERSEDED];
        for (code, why) in
            whys.into_iter().zip([DropReason::Early, DropReason::Forced, DropReason::Overflow])
        {
            assert_eq!(DropReason::ALL[usize::from(code) - 1], why);
            assert_eq!(code, why as u8 + 1);
        }
        assert_eq!(whys.len(), DropReason::ALL.len());
    }
}
