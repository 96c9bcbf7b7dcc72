//! The receiver of a video call: it puts frames together and reports every packet to the sender
//! (RFC 8888).

use packet::{Duration, Instant};

use super::picture::Picture;
use super::sender::Media;

/// Bytes of an RFC 8888 report on one stream without the blocks of its packets: header and reporter
/// 8, stream 4, range of numbers 4, timestamp 4 (section 3.1).
const REPORT: u32 = 20;

/// One arrived packet in a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub number: u64,
    pub at: Instant,
    pub marked: bool,
}

/// A feedback report.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub made: Instant,
    /// Packets in order of their numbers. Those of the previous report are repeated, so that the
    /// loss of one report does no harm.
    pub arrivals: Vec<Arrival>,
}

impl Report {
    /// Length of the RTCP packet in bytes: two for each number of its range, padded to a multiple
    /// of four.
    pub fn bytes(&self) -> u32 {
        let number = |arrival: Option<&Arrival>| arrival.map_or(0, |arrival| arrival.number);
        let range = number(self.arrivals.last()) - number(self.arrivals.first()) + 1;
        REPORT + 4 * u32::try_from(range.div_ceil(2)).expect("a report of few packets")
    }
}

/// Counts of packets since the measured interval began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Receiving {
    pub packets: u64,
    pub bytes: u64,
    pub lost: u64,
    pub marked: u64,
}

#[derive(Debug)]
pub(super) struct Receiver {
    /// Least time between two reports.
    interval: Duration,
    /// Time of the next report; never while there is nothing to report.
    next_report: Instant,
    last_report: Instant,
    /// Packets first reported in the last report, and packets not reported yet.
    reported: Vec<Arrival>,
    fresh: Vec<Arrival>,
    /// Number after that of the last packet that arrived.
    next: u64,
    /// Number of the frame that is incomplete, and how many of its packets have arrived.
    frame: u64,
    parts: u32,
    pub picture: Picture,
    pub done: Receiving,
}

impl Receiver {
    pub fn new(interval: Duration) -> Self {
        Receiver {
            interval,
            next_report: Instant::NEVER,
            last_report: Instant::ZERO,
            reported: Vec::new(),
            fresh: Vec::new(),
            next: 0,
            frame: 0,
            parts: 0,
            picture: Picture::default(),
            done: Receiving::default(),
        }
    }

    /// Time at which the next report is due.
    pub fn due(&self) -> Instant {
        self.next_report
    }

    /// Processes a packet that arrives; its number is above that of all before.
    pub fn on_media(&mut self, media: &Media, marked: bool, now: Instant) {
        self.done.packets += 1;
        self.done.bytes += u64::from(media.bytes);
        self.done.lost += media.number - self.next;
        self.done.marked += u64::from(marked);
        self.next = media.number + 1;
        if self.fresh.is_empty() {
            self.next_report = now.max(self.last_report + self.interval);
        }
        self.fresh.push(Arrival { number: media.number, at: now, marked });
        if media.frame != self.frame {
            (self.frame, self.parts) = (media.frame, 0);
        }
        self.parts += 1;
        if self.parts == media.parts {
            self.picture.shown(media.frame, media.made, now);
        }
    }

    /// The report that is due, if one is.
    pub fn report(&mut self, now: Instant) -> Option<Report> {
        if self.next_report > now {
            return None;
        }
        (self.next_report, self.last_report) = (Instant::NEVER, now);
        let fresh = std::mem::take(&mut self.fresh);
        let mut arrivals = std::mem::replace(&mut self.reported, fresh);
        arrivals.extend(&self.reported);
        Some(Report { made: now, arrivals })
    }

    /// Begins the measured interval.
    pub fn measure(&mut self, now: Instant) {
        self.done = Receiving::default();
        self.picture.measure(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Packets of frames of two packets each, one every 10 ms, made when they are sent.
    fn receiver(numbers: &[u64]) -> Receiver {
        let mut receiver = Receiver::new(Duration::from_millis(100));
        for &number in numbers {
            let made = at(20 * (number / 2));
            let media = Media { number, bytes: 1_000, frame: number / 2, parts: 2, made };
            receiver.on_media(&media, number == 3, at(10 * number + 30));
        }
        receiver
    }

    #[test]
    fn a_frame_is_shown_when_its_last_packet_is_there() {
        let receiver = receiver(&[0, 1, 2, 4, 5]); // the second frame stays incomplete
        let ms = |ms| Duration::from_millis(ms);
        assert_eq!((receiver.picture.delays(), receiver.picture.lost()), (&[ms(40); 2][..], 1));
        let Receiving { packets, bytes, lost, marked } = receiver.done;
        assert_eq!((packets, bytes, lost, marked), (5, 5_000, 1, 0));
    }

    #[test]
    fn reports_repeat_the_one_before() {
        let mut receiver = receiver(&[0, 1, 3]);
        assert_eq!(receiver.due(), at(100)); // the run's begin counts as a report
        assert!(receiver.report(at(99)).is_none());
        let numbers =
            |report: &Report| report.arrivals.iter().map(|a| a.number).collect::<Vec<_>>();
        let first = receiver.report(at(100)).unwrap();
        assert_eq!((numbers(&first), first.arrivals[2].marked), (vec![0, 1, 3], true));
        // A report on the numbers 0 to 3 has 20 and 8 bytes.
        assert_eq!((first.bytes(), receiver.due()), (28, Instant::NEVER));
        let media = Media { number: 4, bytes: 1_000, frame: 2, parts: 2, made: at(40) };
        receiver.on_media(&media, false, at(120));
        let second = receiver.report(at(200)).unwrap();
        assert_eq!((numbers(&second), second.bytes()), (vec![0, 1, 3, 4], 32));
    }
}
