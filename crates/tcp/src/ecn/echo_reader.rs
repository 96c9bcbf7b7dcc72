//! The sender's side: what an acknowledgement says of marks.

use super::rules::EcnFeedback;
use super::state::{EcnState, Memory};
use crate::segment::{Flags, Segment};

/// What a sender needs to understand the feedback it gets.
#[derive(Debug)]
pub(crate) struct EchoReader<'a> {
    feedback: EcnFeedback,
    /// Of accurate ECN.
    memory: Option<&'a mut Memory>,
}

impl<'a> EchoReader<'a> {
    /// `memory`: what accurate ECN counts, requested only if that was agreed on.
    pub fn new(state: EcnState, memory: impl FnOnce() -> &'a mut Memory) -> Self {
        let accurate = state.feedback == EcnFeedback::Accurate;
        EchoReader { feedback: state.feedback, memory: accurate.then(memory) }
    }

    /// Of the bytes that `segment` newly reports to have arrived, those that it reports as marked;
    /// `opening`: it completes the handshake. To be called once for every segment that reports any: one
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
            if delivered == 0 {
                return 0;
            }
            let counted = memory.counters.marked_bytes(segment, delivered, mss, handshake);
            if handshake {
                return counted;
            }
            return match segment.accecn() {
                // Section 3.2.3.2.5: the option is the truth; the header's count is kept in step.
                Some(option) => memory.bytes.read(&option).min(delivered),
                None => {
                    memory.bytes.estimate(counted);
                    counted
                }
            };
        }
        if self.echoes(segment, 0) { delivered } else { 0 }
    }

    /// Whether a segment that reports `marked` bytes requires a reduction of the window:
    /// RFC 3168's echo does even if it reports nothing.
    pub fn echoes(&self, segment: &Segment, marked: u64) -> bool {
        match self.feedback {
            EcnFeedback::None => false,
            EcnFeedback::Accurate => marked > 0,
            EcnFeedback::Classic | EcnFeedback::Dctcp => segment.flags.has(Flags::ECE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::AccEcn;

    #[test]
    fn the_option_reports_bytes_where_the_header_reports_packets() {
        // A segment of 1,460 B and a marked one of 100 B.
        let state = EcnState { feedback: EcnFeedback::Accurate, ..EcnState::default() };
        let flags = Flags::ACK.with(Flags::ace(6));
        let plain = Segment { flags, ..Segment::default() };
        let mut telling = plain;
        telling.set_accecn(AccEcn { ect1_first: true, fields: 2, counters: [1_461, 100, 1] });
        for (ack, marked) in [(plain, 1_460), (telling, 100)] {
            let mut memory = Memory::default();
            let mut reader = EchoReader::new(state, || &mut memory);
            assert_eq!(reader.marked_bytes(&ack, 1_560, 1_460, false), marked);
            // The header's count is kept in step: the next ACK without an option reports no more marks.
            assert_eq!(reader.marked_bytes(&plain, 1_460, 1_460, false), 0);
        }
        // The ACK that completes the handshake speaks of the SYN-ACK, which no byte counter has.
        let mut memory = Memory::default();
        let mut reader = EchoReader::new(state, || &mut memory);
        telling.set_accecn(AccEcn { ect1_first: false, fields: 3, counters: [1, 0, 1] });
        assert_eq!(reader.marked_bytes(&telling, 1, 1_460, true), 1);
    }
}
