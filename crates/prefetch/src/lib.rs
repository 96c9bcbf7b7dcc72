//! Hints about memory: to the processor, which data is used soon ([`prefetch`]); to the operating
//! system, which vectors should use huge pages ([`huge_pages`]).
//!
//! A simulation of millions of users fits in no cache, so most data of an event comes from main
//! memory; a hint loads it earlier. Hints change no value that a program can read, and do nothing
//! on processors or systems without them. The standard library has no safe form of them, so this
//! crate has the only `unsafe` code of the simulator.

mod pages;

pub use pages::{huge_pages, push};

/// Size of a cache line in bytes (x86-64, most AArch64 processors).
const LINE: usize = 64;

/// Prefetches the cache lines of a value that will soon be used.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    let bytes = size_of_val(value);
    let first = std::ptr::from_ref(value).cast::<u8>();
    for offset in (0..bytes).step_by(LINE) {
        prefetch_line(first.wrapping_add(offset));
    }
    if !bytes.is_multiple_of(LINE) || align_of_val(value) < LINE {
        prefetch_line(first.wrapping_add(bytes.saturating_sub(1)));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code)]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch has no effect that the program can see and never faults at any address;
    // every x86-64 processor has the instruction.
    unsafe { _mm_prefetch(address.cast::<i8>(), _MM_HINT_T0) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_address: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_may_be_fetched_and_stays_as_it_is() {
        let bytes: Vec<u8> = (0..=255).collect();
        for end in 0..bytes.len() {
            prefetch(&bytes[end / 3..end]);
        }
        prefetch(&());
        let object: Box<dyn std::fmt::Debug> = Box::new([7u64; 40]);
        prefetch(&*object);
        assert!(bytes.iter().map(|&b| usize::from(b)).eq(0..256));
        assert_eq!(format!("{object:?}"), format!("{:?}", [7; 40]));
    }
}
