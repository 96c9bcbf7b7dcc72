//! Code common to the tables of disciplines and of congestion controls: opens a library, checks its
//! table, and reads the arrays and texts that the table points to.

use std::ffi::{CStr, c_char};
use std::path::Path;

/// Opens a library, for as long as the process lives.
pub(super) fn opened(path: &Path) -> Result<&'static libloading::Library, String> {
    // SAFETY: the user who names a library is responsible for the code that runs when it is loaded.
    let library = unsafe { libloading::Library::new(path) }
        .map_err(|why| format!("it cannot be loaded ({why})"))?;
    Ok(Box::leak(Box::new(library)))
}

/// The array of `count` elements that a table points to; empty for null.
pub(super) fn slice<T>(pointer: *const T, count: u32) -> &'static [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the library promises `count` elements as long as it is loaded, and it is never
    // unloaded.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// A text that a table points to; empty for null and for invalid UTF-8.
pub fn text(pointer: *const c_char) -> &'static str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: the library promises a text that ends with a zero byte and lives as long as the
    // library.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or_default()
}

/// Checks the table that a library's function `entrance` has returned: its first four members must
/// be `ours`, the version and the sizes of the interface that `header` declares.
///
/// # Errors
/// A sentence, if there is no table, or it is of another version.
///
/// # Safety
/// A table that is neither null nor misaligned must begin with four numbers, and be constant for as
/// long as the process lives.
pub(super) unsafe fn checked<T>(
    table: *const T,
    entrance: &str,
    header: &str,
    ours: [u32; 4],
) -> Result<&'static T, String> {
    if table.is_null() || !table.is_aligned() {
        return Err(format!("its function {entrance} answers with no table"));
    }
    // SAFETY: not null and aligned; in every version of the interface the first four members are
    // numbers.
    let head: [u32; 4] = unsafe { table.cast::<[u32; 4]>().read() };
    if head != ours {
        return Err(format!(
            "it was built for version {} of the interface (sizes {:?}) and this is version {} \
             ({:?}): build it again with the {header} of this aqmlab",
            head[0],
            &head[1..],
            ours[0],
            &ours[1..],
        ));
    }
    // SAFETY: a table of this version; the caller promises that it lives as long as the process.
    Ok(unsafe { &*table })
}

/// The reason why a library refused to create a state, from the buffer that `create` has filled.
pub(super) fn reason(error: &mut [c_char]) -> String {
    if let Some(last) = error.last_mut() {
        *last = 0;
    }
    // SAFETY: the buffer ends with a zero byte.
    let said = unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy().into_owned();
    if said.is_empty() { "it gives no reason".into() } else { said }
}
