//! DCTCP's echo: which bytes were marked (RFC 8257 section 3.2).

/// An acknowledgement of earlier data, with the echo that held before the latest segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub due: bool,
    /// Sequence numbers that the latest segment has added, which this acknowledgement leaves out.
    pub added: u16,
}
