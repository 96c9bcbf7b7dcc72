//! The sender's side of ECN: reads the marks that an acknowledgement reports.

use super::rules::EcnFeedback;
use super::state::{EcnState, Memory};
use crate::segment::{Flags, Segment};

/// The state with which a sender reads ECN feedback.
#[derive(Debug)]
pub(crate) struct EchoReader<'a> {
    feedback: EcnFeedback,
    /// The state of accurate ECN, if that was negotiated.
    memory: Option<&'a mut Memory>,
}

impl<'a> EchoReader<'a> {
    /// `memory` returns the state of accurate ECN; it is called only if that was negotiated.
    pub fn new(state: EcnState, memory: impl FnOnce() -> &'a mut Memory) -> Self {
        let accurate = state.feedback == EcnFeedback::Accurate;
        EchoReader { feedback: state.feedback, memory: accurate.then(memory) }
    }

    /// Bytes that `segment` reports as marked, among those that it newly reports as received.
    /// `opening` says that it completes the handshake. This is called once for every segment. One
    /// that reports nothing new may have been overtaken, unless its timestamp is newer than all
    /// before (RFC 9768 appendix A.1); the marked packets that it then reports carried no data and
    /// count as a full segment each, as in Linux.
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
        // Section 3.2.3.2.5: the option takes precedence. Without one, the header's count is
        // converted to bytes and added to the option's counter.
        by_option.map(|bytes| bytes.min(delivered)).unwrap_or_else(|| {
            let counted = (marks * mss).min(delivered);
            memory.bytes.estimate(counted);
            counted
        })
    }

    /// Whether a segment that reports `marked` bytes requires a reduction of the window. RFC 3168's
    /// echo requires one even if the segment reports nothing new.
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
        // The data is a segment of 1,460 B and a marked one of 100 B.
        let state = EcnState { feedback: EcnFeedback::Accurate, ..EcnState::default() };
        let flags = Flags::ACK.with(Flags::ace(6));
        let plain = Segment { flags, ..Segment::default() };
        let mut telling = plain;
        telling.report_bytes(AccEcn { ect1_first: true, fields: 2, counters: [1_461, 100, 1] });
        for (ack, marked) in [(plain, 1_460), (telling, 100)] {
            let mut memory = Memory::default();
            let mut reader = EchoReader::new(state, || &mut memory);
            assert_eq!(reader.marked_bytes(&ack, 1_560, 1_460, false), marked);
            // The header's count was taken over as well: the next ACK without an option reports no
            // marks.
            assert_eq!(reader.marked_bytes(&plain, 1_460, 1_460, false), 0);
        }
        // Marks beyond the number of packets are those of packets without data; the marked bytes
        // are at most the delivered ones.
        let mut memory = Memory::default();
        let mut reader = EchoReader::new(state, || &mut memory);
        let several = Segment { flags: Flags::ACK.with(Flags::ace(0)), ..Segment::default() };
        assert_eq!(reader.marked_bytes(&several, 1_460, 1_460, false), 1_460);
        // The ACK that completes the handshake reports on the SYN-ACK, which no byte counter
        // includes.
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
