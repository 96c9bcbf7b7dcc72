//! One file (or one file and its folder) per discipline.

pub(crate) mod drop_tail;
pub(crate) mod red;
