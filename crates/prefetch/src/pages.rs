//! Huge pages for vectors that take much memory.
//!
//! With pages of 4 KiB the processor's TLB covers only some megabytes. Beyond, a cache miss first
//! waits for the translation of its address, in a virtual machine for two translations.

/// Vectors of at least this many bytes get huge pages; it is the size of two huge pages of 2 MiB.
const LARGE: usize = 4 << 20;

/// Requests huge pages for the allocated capacity of a vector, if it is large. Call it before the
/// vector is filled: pages that already hold elements stay small at first.
pub fn huge_pages<T>(vector: &Vec<T>) {
    let bytes = vector.capacity() * size_of::<T>();
    if bytes >= LARGE {
        advise(vector.as_ptr().cast::<u8>(), bytes);
    }
}

/// Appends a value. A large vector that is full moves to twice its capacity, in huge pages.
#[inline]
pub fn push<T>(vector: &mut Vec<T>, value: T) {
    if vector.len() == vector.capacity() {
        grow(vector);
    }
    vector.push(value);
}

#[cold]
#[inline(never)]
fn grow<T>(vector: &mut Vec<T>) {
    let room = 2 * vector.capacity();
    if room * size_of::<T>() >= LARGE {
        let mut larger = Vec::with_capacity(room);
        huge_pages(&larger);
        larger.append(vector);
        *vector = larger;
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise(first: *const u8, bytes: usize) {
    /// The largest base page size of Linux, bytes.
    const PAGE: usize = 1 << 16;
    let begin = first.addr().next_multiple_of(PAGE);
    let end = (first.addr() + bytes) / PAGE * PAGE;
    let place = first.wrapping_add(begin - first.addr()).cast_mut();
    // SAFETY: the range lies within memory that a vector owns, and this advice does not change its
    // content. A system without huge pages refuses the call, which has no effect then.
    let _ = unsafe {
        rustix::mm::madvise(place.cast(), end - begin, rustix::mm::Advice::LinuxHugepage)
    };
}

#[cfg(not(target_os = "linux"))]
fn advise(_first: *const u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_that_grows_holds_what_was_pushed() {
        let mut small = Vec::new();
        let mut large: Vec<[u64; 32]> = Vec::new();
        for i in 0..100_000u64 {
            push(&mut small, i);
            push(&mut large, [i; 32]);
        }
        assert!(small.iter().copied().eq(0..100_000));
        assert!(large.iter().map(|values| values[31]).eq(0..100_000));
        assert!(large.capacity() < 200_000);
    }

    #[test]
    fn values_without_size_are_counted() {
        let mut nothing = Vec::new();
        (0..10).for_each(|_| push(&mut nothing, ()));
        huge_pages(&nothing);
        assert_eq!(nothing.len(), 10);
    }

    /// The `VmFlags` of the mapping that holds an address (proc(5)).
    #[cfg(target_os = "linux")]
    fn flags_of(address: usize) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut within = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((first, end)) = range
                && let Ok(first) = usize::from_str_radix(first, 16)
                && let Ok(end) = usize::from_str_radix(end, 16)
            {
                within = (first..end).contains(&address);
            }
            if within && let Some(flags) = line.strip_prefix("VmFlags:") {
                return Some(flags.to_owned());
            }
        }
        None
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn large_vectors_are_advised_and_small_ones_are_not() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return println!("skipped: this system has no transparent huge pages");
        }
        let huge = |of: &Vec<u8>| {
            let middle = of.as_ptr().addr() + of.capacity() / 2;
            flags_of(middle).map(|flags| flags.split(' ').any(|flag| flag == "hg"))
        };
        let small = Vec::with_capacity(LARGE - 1);
        huge_pages(&small);
        let mut large = Vec::with_capacity(LARGE);
        let before = huge(&large);
        huge_pages(&large);
        let now = huge(&large);
        large.resize(LARGE, 1);
        push(&mut large, 2);
        if let (Some(small), Some(before), Some(now), Some(grown)) =
            (huge(&small), before, now, huge(&large))
        {
            assert_eq!((small, before, now, grown), (false, false, true, true));
        }
    }
}
