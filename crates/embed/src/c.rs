//! The functions of the C interface. Their comments also become those of `include/aqmlab.h`.
//!
//! Every pointer is tested for null and alignment before it is used, every function body runs
//! inside `catch_unwind`, and all calls for a queue whose discipline panicked return an error. Two
//! promises of the caller cannot be tested: a pointer that is neither null nor misaligned points to
//! a value of its type, and a queue is used by one thread at a time and never after its
// destruction. The promises are in the comments for readers of C, not in sections "Safety".
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

// The header promises that different threads may use a queue, one at a time.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Queue>();
};

/// Runs `body`; turns a panic into AQMLAB_ERROR_BROKEN.
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

/// Runs `body` on a queue. The caller promises that the pointer is null or a queue that no other
/// call uses now.
unsafe fn with(
    queue: *mut Queue,
    body: impl FnOnce(&mut queue::Queue) -> Result<Status, Status>,
) -> Status {
    if let Err(error) = fits(queue) {
        return error;
    }
    // SAFETY: not null, aligned, and by the caller's promise a queue that no other call uses.
    let queue = unsafe { &mut *queue };
    if queue.broken {
        return AQMLAB_ERROR_BROKEN;
    }
    // The queue counts as broken until `body` returns: after a panic it stays broken.
    queue.broken = true;
    guard(|| {
        let answer = body(&mut queue.queue);
        queue.broken = false;
        answer
    })
}

/// Writes `value` to `*out`. The caller promises that `out` is null or has room for a T.
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

/// Copies as many whole characters of `text` as fit, and a zero byte. Returns the length of the
/// whole text in bytes. The caller promises that `out` is null or has `room` bytes.
unsafe fn copy(text: &str, out: *mut c_char, room: usize) -> usize {
    if !out.is_null() && room > 0 {
        let end = (0..=text.len().min(room - 1)).rev().find(|end| text.is_char_boundary(*end));
        let end = end.unwrap_or(0);
        // SAFETY: `end` < `room`, and by the caller's promise `out` has room for `room` bytes; a
        // Rust text does not overlap with it.
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
/// zero byte at the end. Returns the length of the whole text in bytes, without the zero byte;
/// `out` may be null to get this length only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_names(out: *mut c_char, room: usize) -> usize {
    let names =
        || aqm::ALGORITHMS.iter().map(|entry| entry.about.name).collect::<Vec<_>>().join("\n");
    let names = catch_unwind(names).unwrap_or_default();
    // SAFETY: the caller promises room for `room` bytes at `out`, or null.
    unsafe { copy(&names, out, room) }
}

/// Creates a queue and writes its pointer to `*queue`; aqmlab_destroy destroys it.
///
/// `name` is the name of a discipline. `parameters` is a JSON object such as
/// {"profile": "ns2", "min_th": 30, "target": "5 ms"}, with the fields that
/// `aqmlab describe NAME` lists, or null for the defaults. `line_bits_per_s`, 1 to 10^12, is the
/// rate of the line that the queue feeds, which some disciplines need. Queues with equal arguments
/// and packets make equal random decisions; another `seed` gives others. `now_ns` is the present
/// time.
///
/// Only with the result AQMLAB_ERROR_REFUSED, `error` holds a sentence that says what is wrong and
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

/// Destroys a queue with all packets in it; does nothing for null. The pointer must not be used
/// again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_destroy(queue: *mut Queue) {
    if fits(queue).is_ok() {
        // SAFETY: not null, and by the caller's promise a queue of aqmlab_create that no other call
        // uses and that is destroyed once.
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
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses.
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

/// Dequeues the next packet to send; call it when the line is free at `now_ns`. Writes the packet's
/// id and its new ECN field to `*departure`. AQMLAB_NONE: the line stays idle. Call again after an
/// arrival, or, if packets still wait, at the time of aqmlab_next_tick. The discipline may drop
/// packets in this call, which events report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_dequeue(
    queue: *mut Queue,
    now_ns: u64,
    departure: *mut Departure,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, and that
    // `departure` has room for a departure.
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

/// Writes the time of the discipline's next periodic update to `*at_ns`. AQMLAB_NONE: it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_next_tick(queue: *mut Queue, at_ns: *mut u64) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, and that
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

/// Runs all periodic updates that are due by `now_ns`. aqmlab_enqueue and aqmlab_dequeue also do
/// this; call it before reading the gauges of an idle queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_tick(queue: *mut Queue, now_ns: u64) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses.
    unsafe {
        with(queue, |queue| {
            queue.tick(now_ns).map_err(status)?;
            Ok(AQMLAB_OK)
        })
    }
}

/// Moves events, oldest first, into the array `events`, which has room for `room` events, and
/// writes their number to `*count`. Events that do not fit stay for the next call; they are never
/// discarded, so take all events regularly, for example after each enqueue and dequeue to free
/// dropped packets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_take_events(
    queue: *mut Queue,
    events: *mut EventOut,
    room: usize,
    count: *mut usize,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, that
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

/// Writes the number of packets and of IP bytes that wait. Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_backlog(
    queue: *mut Queue,
    packets: *mut u32,
    bytes: *mut u64,
) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, and that
    // a pointer that is not null has room for a number.
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

/// Writes the counts since creation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_get_stats(queue: *mut Queue, stats: *mut Stats) -> Status {
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, and that
    // `stats` has room for the counts.
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

/// Writes the names of the queue's gauges (such as RED's average), one per line, as aqmlab_names
/// does. Returns the length of the whole text in bytes, or 0 if the queue is null or broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_gauges(queue: *mut Queue, out: *mut c_char, room: usize) -> usize {
    let mut names = String::new();
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, and that
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
    // SAFETY: the caller promises that `queue` is null or a queue that no other call uses, that
    // `name` ends with a zero byte, and that `value` has room for a number.
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
