//! The C functions. Comments here are those of `include/aqmlab.h` and speak of C.
//!
//! Every pointer is tested for null and alignment before it is used, every function body runs
//! behind `catch_unwind`, and a queue whose discipline panicked answers nothing but an error. What
//! cannot be tested is the caller's promise, in the words of the header: that a pointer which is
//! neither null nor misaligned points to what its type says, that a queue is used by one thread at
//! a time and not after its destruction.
// The promises are written for readers of C, function by function, not in sections "Safety".
#![allow(unsafe_code, clippy::missing_safety_doc)]

mod types;

use core::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use packet::DropReason;

pub use types::*;
use types::{ecn_bits, event_out, status};

use crate::queue::{self, cause};

/// A queue.
pub struct Queue {
    queue: queue::Queue,
    broken: bool,
}

// A queue may be handed from thread to thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Queue>();
};

/// Runs `body`; a panic becomes an error.
fn guard(body: impl FnOnce() -> Result<Status, Status>) -> Status {
    let caught = catch_unwind(AssertUnwindSafe(body));
    caught.unwrap_or(Err(AQMLAB_ERROR_BROKEN)).unwrap_or_else(|error| error)
}

fn fits<T>(pointer: *const T) -> Result<(), Status> {
    match pointer {
        p if p.is_null() => Err(AQMLAB_ERROR_NULL),
        p if !p.is_aligned() => Err(AQMLAB_ERROR_ARGUMENT),
        _ => Ok(()),
    }
}

/// Runs `body` on a queue. The caller promises that the pointer is null or a queue that is in use
/// nowhere else.
unsafe fn with(
    queue: *mut Queue,
    body: impl FnOnce(&mut queue::Queue) -> Result<Status, Status>,
) -> Status {
    if let Err(error) = fits(queue) {
        return error;
    }
    // SAFETY: not null, aligned, and by the caller's promise a queue that nobody else uses.
    let queue = unsafe { &mut *queue };
    if queue.broken {
        return AQMLAB_ERROR_BROKEN;
    }
    // The queue counts as broken until the body returns: a panic leaves it so.
    queue.broken = true;
    guard(|| {
        let answer = body(&mut queue.queue);
        queue.broken = false;
        answer
    })
}

/// Writes `value` to where the caller wants it. The caller promises that a pointer that is not
/// null points to room for it.
unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Status> {
    fits(out)?;
    // SAFETY: not null, aligned, and by the caller's promise room for a T.
    unsafe { out.write(value) };
    Ok(())
}

/// The text at `pointer`. The caller promises that it ends with a zero byte and outlives `'a`.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Status> {
    fits(pointer)?;
    // SAFETY: not null, and by the caller's promise a text that ends with a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| AQMLAB_ERROR_ARGUMENT)
}

/// Copies as much of `text` as fits, whole characters only, and a zero byte. Answers the length of
/// the whole text. The caller promises that `out` is null or has `room` bytes.
unsafe fn copy(text: &str, out: *mut c_char, room: usize) -> usize {
    if !out.is_null() && room > 0 {
        let end = (0..=text.len().min(room - 1)).rev().find(|end| text.is_char_boundary(*end));
        let end = end.unwrap_or(0);
        // SAFETY: `end` < `room`, and by the caller's promise `out` has room for that many bytes;
        // a text of ours does not overlap with it.
        unsafe {
            out.copy_from_nonoverlapping(text.as_ptr().cast(), end);
            out.add(end).write(0);
        }
    }
    text.len()
}

/// Version of the library, e.g. "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Writes the names of all disciplines, one per line, as far as they fit into `room` bytes with a
/// zero byte at the end. Returns the length of the whole text without that byte; `out` may be null
/// to learn it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_names(out: *mut c_char, room: usize) -> usize {
    let names =
        || aqm::ALGORITHMS.iter().map(|entry| entry.about.name).collect::<Vec<_>>().join("\n");
    let names = catch_unwind(names).unwrap_or_default();
    // SAFETY: the caller promises room for `room` bytes at `out`, or null.
    unsafe { copy(&names, out, room) }
}

/// Creates a queue and writes it to `*queue`; aqmlab_destroy ends it.
///
/// `name` is a discipline. `parameters` is a JSON object such as
/// {"profile": "ns2", "min_th": 30, "target": "5 ms"}, with the fields that
/// `aqmlab describe NAME` lists, or null for the defaults. `line_bits_per_s`, 1 to 10^12, is the
/// rate of the line that the queue feeds: some disciplines need to know it. Queues with the same
/// arguments and packets make the same random decisions; `seed` chooses others. `now_ns` is the
/// present time.
///
/// With AQMLAB_ERROR_REFUSED, and only then, `error` holds a sentence that says what is wrong and
/// what to do, cut to fit into `error_room` bytes; `error` may be null.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // a structure would have to be versioned
pub unsafe extern "C" fn aqmlab_create(
    name: *const c_char,
    parameters: *const c_char,
    line_bits_per_s: u64,
    seed: u64,
    now_ns: u64,
    queue: *mut *mut Queue,
    error: *mut c_char,
    error_room: usize,
) -> Status {
    guard(|| {
        fits(queue)?;
        // SAFETY: the caller promises that texts end with a zero byte.
        let name = unsafe { text(name) }?;
        // SAFETY: as above.
        let parameters = if parameters.is_null() { "{}" } else { unsafe { text(parameters) }? };
        match queue::Queue::new(name, parameters, line_bits_per_s, seed, now_ns) {
            Ok(made) => {
                let made = Box::into_raw(Box::new(Queue { queue: made, broken: false }));
                // SAFETY: the caller promises room for a pointer at `queue`.
                unsafe { put(queue, made) }?;
                Ok(AQMLAB_OK)
            }
            Err(why) => {
                // SAFETY: the caller promises `error_room` bytes at `error`, or null.
                unsafe { copy(&why.replace('\0', "\\0"), error, error_room) };
                Err(AQMLAB_ERROR_REFUSED)
            }
        }
    })
}

/// Destroys a queue with all packets in it; null is nothing. The pointer must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_destroy(queue: *mut Queue) {
    if fits(queue).is_ok() {
        // SAFETY: not null, and by the caller's promise a queue of aqmlab_create that is in use
        // nowhere else and destroyed once.
        let queue = unsafe { Box::from_raw(queue) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(queue)));
    }
}

/// Offers a packet to the queue at `now_ns`. Events report whether it was queued, marked or
/// dropped, and whether others were dropped to make room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_enqueue(
    queue: *mut Queue,
    packet: *const PacketIn,
    now_ns: u64,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else.
    unsafe {
        with(queue, |queue| {
            fits(packet)?;
            // Not null, aligned, and by the caller's promise a packet.
            let packet = packet.read().read()?;
            queue.enqueue(packet, now_ns).map_err(status)?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Takes the next packet to send, when the line is free at `now_ns`; `departure` says which, and
/// what its ECN field must be. AQMLAB_NONE: the line rests. Call again after an arrival, or, if
/// packets still wait, at the time of aqmlab_next_tick. Packets may be dropped on the way: look at
/// the events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_dequeue(
    queue: *mut Queue,
    now_ns: u64,
    departure: *mut Departure,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, and that
    // `departure` has room for one.
    unsafe {
        with(queue, |queue| {
            fits(departure)?;
            let Some(sent) = queue.dequeue(now_ns).map_err(status)? else {
                return Ok(AQMLAB_NONE);
            };
            let queue::Sent { id, bytes, ecn, waited_ns } = sent;
            put(departure, Departure { waited_ns, id, bytes, ecn: ecn_bits(ecn) })?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Writes to `*at_ns` when the discipline has a periodic update to make. AQMLAB_NONE: never.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_next_tick(queue: *mut Queue, at_ns: *mut u64) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, and that
    // `at_ns` has room for a number.
    unsafe {
        with(queue, |queue| {
            fits(at_ns)?;
            let Some(at) = queue.next_tick() else { return Ok(AQMLAB_NONE) };
            put(at_ns, at)?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Makes all periodic updates that are due at `now_ns` or before. aqmlab_enqueue and
/// aqmlab_dequeue do so themselves; this is for a queue that is looked at while it rests, and for
/// disciplines that hold packets back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_tick(queue: *mut Queue, now_ns: u64) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else.
    unsafe {
        with(queue, |queue| {
            queue.tick(now_ns).map_err(status)?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Moves events, oldest first, into the array `events` with room for `room` of them, and writes
/// their number to `*count`. Those that do not fit wait for the next call, and so do all that are
/// never taken: a caller that frees bodies by events takes them after each enqueue and dequeue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_take_events(
    queue: *mut Queue,
    events: *mut EventOut,
    room: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, that
    // `events` has room for `room` events, and `count` for a number.
    unsafe {
        with(queue, |queue| {
            fits(events)?;
            fits(count)?;
            let taken = room.min(queue.events());
            for i in 0..taken {
                let Some(event) = queue.take_event() else { break };
                events.add(i).write(event_out(event));
            }
            put(count, taken)?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Writes how many packets and IP bytes wait. Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_backlog(
    queue: *mut Queue,
    packets: *mut u32,
    bytes: *mut u64,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, and that
    // what is not null has room for a number.
    unsafe {
        with(queue, |queue| {
            let backlog = queue.backlog();
            if !packets.is_null() {
                put(packets, backlog.packets)?;
            }
            if !bytes.is_null() {
                put(bytes, backlog.bytes)?;
            }
            Ok(AQMLAB_OK)
        })
    }
}

/// Writes what happened since creation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_get_stats(queue: *mut Queue, stats: *mut Stats) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, and that
    // `stats` has room for them.
    unsafe {
        with(queue, |queue| {
            let (counts, backlog) = (queue.counts(), queue.backlog());
            let dropped = |why| counts.dropped[cause(why)];
            let made = Stats {
                arrived: counts.arrived.0,
                queued: counts.queued,
                marked: counts.marked,
                dropped: counts.dropped.iter().sum(),
                dropped_early: dropped(DropReason::Early),
                dropped_forced: dropped(DropReason::Forced),
                dropped_overflow: dropped(DropReason::Overflow),
                dropped_superseded: dropped(DropReason::AckFiltered),
                sent: counts.sent.0,
                waiting: u64::from(backlog.packets),
                arrived_bytes: counts.arrived.1,
                dropped_bytes: counts.dropped_bytes,
                sent_bytes: counts.sent.1,
                waiting_bytes: backlog.bytes,
            };
            put(stats, made)?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Writes the names of the queue's gauges (its average, its probability, ...), one per line, as
/// aqmlab_names does. Returns 0 if the queue is null or broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_gauges(queue: *mut Queue, out: *mut c_char, room: usize) -> usize {
    let mut names = String::new();
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, and that
    // `out` is null or has `room` bytes.
    unsafe {
        with(queue, |queue| {
            let gauges = queue.gauges();
            names = gauges.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\n");
            Ok(AQMLAB_OK)
        });
        copy(&names, out, room)
    }
}

/// Writes the value of the gauge called `name`. AQMLAB_NONE: there is no such gauge.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_gauge(
    queue: *mut Queue,
    name: *const c_char,
    value: *mut f64,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue in use nowhere else, that `name`
    // ends with a zero byte, and that `value` has room for a number.
    unsafe {
        with(queue, |queue| {
            fits(value)?;
            let name = text(name)?;
            let gauges = queue.gauges();
            let Some((_, found)) = gauges.iter().find(|(gauge, _)| *gauge == name) else {
                return Ok(AQMLAB_NONE);
            };
            put(value, *found)?;
            Ok(AQMLAB_OK)
        })
    }
}

#[cfg(test)]
mod tests;
