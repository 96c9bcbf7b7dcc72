//! The sender's side: what an acknowledgement says of marks.

use super::{EcnFeedback, EcnState, Memory};
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};

/// What a sender needs to understand the feedback it gets.
#[derive(Debug)]
pub(crate) struct Hearing<'a> {
    feedback: EcnFeedback,
    /// Of accurate ECN.
    memory: Option<&'a mut Memory>,
}

impl<'a> Hearing<'a> {
    pub fn new(state: EcnState, receiver: &'a mut Receiver) -> Self {
        let accurate = state.feedback == EcnFeedback::Accurate;
        Hearing { feedback: state.feedback, memory: accurate.then(|| receiver.marks()) }
    }

    /// Of the bytes that `segment` newly reports to have arrived, those that it reports as marked;
    /// `opening`: it completes the handshake. To be asked once of every segment that reports any: one
    /// that reports nothing new may have been overtaken (RFC 9768 appendix A.1).
    pub fn marked_bytes(
        &mut self,
        segment: &Segment,
        delivered: u64,
        mss: u64,
        opening: bool,
    ) -> u64 {
        if let Some(memory) = &mut self.memory {
            let handshake = opening && segment.len == 0;
            return match delivered {
                0 => 0,
                _ => memory.counters.marked_bytes(segment, delivered, mss, handshake),
            };
        }
        if self.echoes(segment, 0) { delivered } else { 0 }
    }

    /// Whether a segment that reports so many marked bytes asks for a reduction of the window:
    /// RFC 3168's echo does even if it reports nothing.
    pub fn echoes(&self, segment: &Segment, marked: u64) -> bool {
        match self.feedback {
            EcnFeedback::None => false,
            EcnFeedback::Accurate => marked > 0,
            EcnFeedback::Classic | EcnFeedback::Dctcp => segment.flags.has(Flags::ECE),
        }
    }
}
