//! DCTCP's echo: which bytes were marked (RFC 8257 section 3.2).

/// What is to be acknowledged with the echo that held before the latest segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub due: bool,
    /// Numbers that the latest segment has added since.
    pub added: u16,
}
