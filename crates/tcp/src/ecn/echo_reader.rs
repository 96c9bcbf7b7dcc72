//! The sender's side: what an acknowledgement says of marks.

use super::rules::EcnFeedback;
use super::state::{EcnState, Memory};
use crate::segment::{Flags, Segment};

/// What a sender needs to understand the feedback it gets.
#[derive(Debug)]
pub(crate) struct EchoReader<'a> {
    feedback: EcnFeedback,
    /// The state of accurate ECN.
    memory: Option<&'a mut Memory>,
}

impl<'a> EchoReader<'a> {
    /// `memory`: what accurate ECN counts, requested only if that was agreed on.
    pub fn new(state: EcnState, memory: impl FnOnce() -> &'a mut Memory) -> Self {
        let accurate = state.feedback == EcnFeedback::Accurate;
        EchoReader { feedback: state.feedback, memory: accurate.then(memory) }
    }

    /// Bytes that `segment` reports as marked, among those that it newly reports as received;
    /// `opening`: it completes the handshake. Call this once for every segment: one that reports
    /// nothing new may have been overtaken, unless its timestamp is newer than all before (RFC 9768
    /// appendix A.1); marked packets that it then reports carried no data, and stand for a full
    /// segment each, as in Linux.
    pub fn marked_bytes(
        &mut self,
        segment: &Segment,
        delivered: u64,
        mss: u64,
        opening: bool,
    ) -> u64 {
        let Some(memory) = &mut self.memory else {
            return if self.echoes(segment, 0) { delivered } else { 0 };
        };
        if delivered == 0 && !memory.newest {
            return 0;
        }
        if opening && segment.len == 0 {
            return (memory.counters.marks_of_third_ack(segment) * mss).min(delivered);
        }
        let by_option = segment.accecn().map(|option| memory.bytes.read(&option));
        let marks = memory.counters.marks(segment, delivered, mss, by_option);
        if delivered == 0 {
            return marks * mss;
        }
        // Section 3.2.3.2.5: the option is the truth; the header's count is kept in step.
        by_option.map(|bytes| bytes.min(delivered)).unwrap_or_else(|| {
            let counted = (marks * mss).min(delivered);
            memory.bytes.estimate(counted);
            counted
        })
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
        telling.report_bytes(AccEcn { ect1_first: true, fields: 2, counters: [1_461, 100, 1] });
        for (ack, marked) in [(plain, 1_460), (telling, 100)] {
            let mut memory = Memory::default();
            let mut reader = EchoReader::new(state, || &mut memory);
            assert_eq!(reader.marked_bytes(&ack, 1_560, 1_460, false), marked);
            // The header's count is kept in step: the next ACK without an option reports no more marks.
            assert_eq!(reader.marked_bytes(&plain, 1_460, 1_460, false), 0);
        }
        // More marks than there were packets are marks of what carried no data: no more bytes than there were.
        let mut memory = Memory::default();
        let mut reader = EchoReader::new(state, || &mut memory);
        let several = Segment { flags: Flags::ACK.with(Flags::ace(0)), ..Segment::default() };
        assert_eq!(reader.marked_bytes(&several, 1_460, 1_460, false), 1_460);
        // The ACK that completes the handshake speaks of the SYN-ACK, which no byte counter has.
        let mut memory = Memory::default();
        let mut reader = EchoReader::new(state, || &mut memory);
        telling.report_bytes(AccEcn { ect1_first: false, fields: 3, counters: [1, 0, 1] });
        assert_eq!(reader.marked_bytes(&telling, 1, 1_460, true), 1);
    }

    #[test]
    fn what_reports_nothing_new_is_read_if_its_timestamp_is_newer_than_all_before() {
        // RFC 9768 appendix A.1; Linux's __tcp_accecn_process, FLAG_TS_PROGRESS.
        let state = EcnState { feedback: EcnFeedback::Accurate, ..EcnState::default() };
        let marked = Segment { flags: Flags::ACK.with(Flags::ace(7)), ..Segment::default() };
        for (newest, bytes, later) in [(true, 2_920, 0), (false, 0, 1_460)] {
            let mut memory = Memory::default();
            memory.note_order(newest, false);
            let mut reader = EchoReader::new(state, || &mut memory);
            assert_eq!(reader.marked_bytes(&marked, 0, 1_460, false), bytes, "{newest}");
            assert_eq!(reader.marked_bytes(&marked, 1_460, 1_460, false), later, "{newest}");
            let seen = memory.seen();
            assert_eq!(seen.delivered_ce, 2, "{newest}");
        }
    }
}
