//! A viewer's playback buffer, which fills by segments and empties with time.

use std::collections::VecDeque;

use packet::{Duration, Instant};

use crate::report::ViewerReport;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Playback {
    Starting,
    Playing,
    Stalled,
    /// The viewer has left.
    Stopped,
}

#[derive(Debug)]
pub(super) struct PlaybackBuffer {
    segment: Duration,
    /// Playing time in the buffer with which playback starts, and starts again after a stall.
    enough: Duration,
    ladder: &'static [u64],
    began: Instant,
    at: Instant,
    playback: Playback,
    /// Indices in `ladder` of the rates of the segments in the buffer, in order.
    buffer: VecDeque<u8>,
    /// How much of the first segment in the buffer was seen.
    seen_of_first: Duration,
    /// Index of the rate of the picture seen last.
    last: Option<u8>,
    startup: Option<Duration>,
    stalls: u64,
    stalled: Duration,
    switches: u64,
    segments: u64,
    seen: Vec<Duration>,
}

impl PlaybackBuffer {
    /// The buffer of a viewer who begins at `began`.
    pub fn new(
        segment: Duration,
        enough: Duration,
        ladder: &'static [u64],
        began: Instant,
    ) -> Self {
        PlaybackBuffer {
            segment,
            enough,
            ladder,
            began,
            at: began,
            playback: Playback::Starting,
            buffer: VecDeque::new(),
            seen_of_first: Duration::ZERO,
            last: None,
            startup: None,
            stalls: 0,
            stalled: Duration::ZERO,
            switches: 0,
            segments: 0,
            seen: vec![Duration::ZERO; ladder.len()],
        }
    }

    /// Playing time in the buffer at `now`.
    pub fn buffered(&mut self, now: Instant) -> Duration {
        self.advance(now);
        self.segment * self.buffer.len() as u64 - self.seen_of_first
    }

    /// Adds a segment that has arrived, with the rate at index `place` of the ladder.
    pub fn arrived(&mut self, place: usize, now: Instant) {
        self.segments += 1;
        let buffered = self.buffered(now) + self.segment;
        self.buffer.push_back(place as u8);
        let still = matches!(self.playback, Playback::Starting | Playback::Stalled);
        if still && buffered >= self.enough {
            if self.playback == Playback::Starting {
                self.startup = Some(now.since(self.began));
            }
            self.playback = Playback::Playing;
            self.show();
        }
    }

    /// Shows the first segment of the buffer.
    fn show(&mut self) {
        let place = self.buffer[0];
        let before = self.last.replace(place);
        self.switches += u64::from(before.is_some_and(|before| before != place));
    }

    fn advance(&mut self, now: Instant) {
        while self.playback == Playback::Playing && self.at < now {
            let step = (self.segment - self.seen_of_first).min(now.since(self.at));
            self.seen[usize::from(self.buffer[0])] += step;
            self.seen_of_first += step;
            self.at += step;
            if self.seen_of_first == self.segment {
                self.next_segment();
            }
        }
        if self.playback == Playback::Stalled {
            self.stalled += now.since(self.at);
        }
        self.at = self.at.max(now);
    }

    fn next_segment(&mut self) {
        self.buffer.pop_front();
        self.seen_of_first = Duration::ZERO;
        if self.buffer.is_empty() {
            self.playback = Playback::Stalled;
            self.stalls += 1;
        } else {
            self.show();
        }
    }

    /// Stops the playback: the viewer leaves.
    pub fn off(&mut self, now: Instant) {
        self.advance(now);
        self.playback = Playback::Stopped;
    }

    /// Begins the measured interval. A stall that is under way goes on; it was counted when it
    /// began.
    pub fn measure(&mut self, now: Instant) {
        self.advance(now);
        (self.stalls, self.switches, self.segments) = (0, 0, 0);
        self.stalled = Duration::ZERO;
        self.seen.fill(Duration::ZERO);
    }

    /// The report on what was seen until `now`.
    pub fn viewing(&mut self, now: Instant) -> ViewerReport {
        self.advance(now);
        ViewerReport {
            startup: self.startup,
            stalls: self.stalls,
            stalled: self.stalled,
            switches: self.switches,
            segments: self.segments,
            seen: self.ladder.iter().copied().zip(self.seen.iter().copied()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    const LADDER: &[u64] = &[1_000, 2_000];

    /// The buffer of a viewer who begins at 1 s; segments last 4 s, playback starts with 8 s.
    fn buffer() -> PlaybackBuffer {
        PlaybackBuffer::new(Duration::from_secs(4), Duration::from_secs(8), LADDER, at(1))
    }

    fn seen(viewing: &ViewerReport) -> Vec<f64> {
        viewing.seen.iter().map(|(_, time)| time.secs_f64()).collect()
    }

    #[test]
    fn it_starts_freezes_and_goes_on_when_the_buffer_says() {
        let mut buffer = buffer();
        buffer.arrived(0, at(2));
        assert_eq!(buffer.buffered(at(3)), Duration::from_secs(4)); // no picture yet
        buffer.arrived(1, at(5)); // plays until 13 s
        assert_eq!(buffer.buffered(at(6)), Duration::from_secs(7));
        buffer.arrived(0, at(15)); // frozen, not enough
        let frozen = buffer.viewing(at(16));
        assert_eq!((frozen.stalls, frozen.stalled), (1, Duration::from_secs(3)));
        buffer.arrived(0, at(18)); // plays again until 26 s
        let viewing = buffer.viewing(at(20));
        assert_eq!(viewing.startup, Some(Duration::from_secs(4)));
        assert_eq!((viewing.stalls, viewing.stalled), (1, Duration::from_secs(5)));
        // Rates 0 and 1 were shown and, after the stall, 0 again: two switches.
        assert_eq!((viewing.switches, viewing.segments), (2, 4));
        assert_eq!(seen(&viewing), [6.0, 4.0]);
    }

    #[test]
    fn only_what_is_seen_in_the_measured_interval_counts_but_the_start() {
        let mut buffer = buffer();
        buffer.arrived(0, at(2));
        buffer.arrived(1, at(5));
        buffer.measure(at(14)); // frozen since 13 s
        buffer.arrived(1, at(15));
        buffer.arrived(1, at(16));
        let viewing = buffer.viewing(at(17));
        assert_eq!((viewing.stalls, viewing.stalled), (0, Duration::from_secs(2)));
        assert_eq!((viewing.switches, viewing.segments), (0, 2));
        assert_eq!(seen(&viewing), [0.0, 1.0]);
        assert_eq!(viewing.startup, Some(Duration::from_secs(4)));
    }

    #[test]
    fn who_has_left_sees_nothing_more() {
        let mut buffer = buffer();
        buffer.arrived(0, at(2));
        buffer.arrived(0, at(3));
        buffer.off(at(5));
        assert_eq!(seen(&buffer.viewing(at(50))), [2.0, 0.0]);
        assert_eq!(buffer.viewing(at(60)).stalls, 0);
    }
}
