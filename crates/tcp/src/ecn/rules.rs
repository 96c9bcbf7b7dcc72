//! What a profile says of ECN.

/// How the receiver tells the sender of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EcnFeedback {
    /// Not at all: no ECN was agreed on.
    #[default]
    None,
    /// RFC 3168 section 6.1.3: ECE from the first mark on until the sender says CWR.
    Classic,
    /// RFC 8257 section 3.2: ECE if and only if the data acknowledged was marked.
    Dctcp,
    /// RFC 9768: a counter of marked packets.
    Accurate,
}

/// The ECN of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnRules {
    /// The SYN asks for ECN, or the SYN-ACK agrees.
    pub on: bool,
    pub feedback: EcnFeedback,
    /// The receiver tells what it saw; else it agrees to ECN and never reports a mark.
    pub honest: bool,
    /// Data says that its sender is scalable, by ECT(1) (RFC 9331 section 4.1), if the feedback
    /// turns out to be accurate.
    pub scalable: bool,
}

impl EcnRules {
    /// The feedback after a handshake by RFC 3168's two flags, which is DCTCP's too (RFC 8257
    /// section 5).
    pub fn without_accuracy(&self) -> EcnFeedback {
        match self.feedback {
            EcnFeedback::Dctcp => EcnFeedback::Dctcp,
            _ => EcnFeedback::Classic,
        }
    }
}
