//! Hints about memory: to the processor, what is soon used ([`prefetch`]); to the operating system,
//! what is so large that it should lie in huge pages ([`huge_pages`]).
//!
//! A world of millions of users fits no cache, so that nearly all that an event touches comes from
//! main memory; a hint lets it come earlier. It changes nothing that a program can read, and does nothing
//! where a processor or a system has none. It has no safe form in the standard library: the `unsafe` of
//! the simulator stands here alone.

mod pages;

pub use pages::{huge_pages, push};

/// Bytes that a processor fetches together (x86-64, most of AArch64).
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
    // SAFETY: a prefetch reads nothing that the program sees, and never faults, whatever the address;
    // every x86-64 has the instruction.
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
