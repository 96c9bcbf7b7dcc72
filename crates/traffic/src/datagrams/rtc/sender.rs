//! The sender of video: an encoder, a buffer that paces its frames, and the congestion control that
//! sets the rate.

use std::collections::VecDeque;

use packet::{Duration, Instant};

use super::congestion::{Control, Feedback, Observed};
use super::encoder::Encoder;
use super::receiver::Report;

/// Bytes of an RTP header (RFC 3550 section 5.1).
const RTP: u32 = 12;

/// One RTP packet of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Media {
    /// Number of RTP packets that were sent before this one.
    pub number: u64,
    /// Length of the RTP packet, bytes.
    pub bytes: u32,
    /// Number of the frame, the number of its packets, and the time at which it was made.
    pub frame: u64,
    pub parts: u32,
    pub made: Instant,
}

/// Counts since the measured interval began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sending {
    pub frames: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub(super) struct Sender {
    encoder: Encoder,
    control: Box<dyn Control>,
    /// Largest length of an RTP packet, bytes.
    most: u32,
    /// Time at which the next frame is made; never once the video is over.
    next_frame: Instant,
    frames: u64,
    /// Packets that wait for the pacer.
    buffer: VecDeque<Media>,
    /// Bytes of these packets.
    buffered: u64,
    /// Time from which the next packet may go.
    next_send: Instant,
    /// Packets that no report has covered yet: length in bytes, and time of sending.
    outstanding: VecDeque<(u32, Instant)>,
    /// Number of the first of these packets.
    first: u64,
    pub done: Sending,
}

impl Sender {
    /// A sender whose first frame is made at `begin`.
    pub fn new(encoder: Encoder, control: Box<dyn Control>, most: u32, begin: Instant) -> Self {
        Sender {
            encoder,
            control,
            most,
            next_frame: begin,
            frames: 0,
            buffer: VecDeque::new(),
            buffered: 0,
            next_send: begin,
            outstanding: VecDeque::new(),
            first: 0,
            done: Sending::default(),
        }
    }

    /// Time at which the next frame or packet is due.
    pub fn due(&self) -> Instant {
        self.next_frame.min(self.may_send())
    }

    /// When pacer and window let the next packet go; never while none waits.
    fn may_send(&self) -> Instant {
        let first = self.buffer.front();
        first.map_or(Instant::NEVER, |first| self.next_send.max(self.control.opens(first.bytes)))
    }

    /// Makes the frame that is due, if one is.
    pub fn film(&mut self, now: Instant) {
        if self.next_frame > now {
            return;
        }
        self.give_up(now);
        self.control.on_frame(self.buffered, now);
        let frame = self.encoder.frame(self.control.rates(self.buffered).encoder, now);
        let parts = frame.bytes.div_ceil(self.most - RTP);
        for part in 0..parts {
            // The sizes of the packets differ by at most a byte.
            let bytes = frame.bytes / parts + u32::from(part < frame.bytes % parts) + RTP;
            let media = Media { number: 0, bytes, frame: self.frames, parts, made: now };
            self.buffer.push_back(media);
            self.buffered += u64::from(bytes);
        }
        self.frames += 1;
        self.done.frames += 1;
        self.next_frame = now + frame.until_next;
    }

    /// Discards packets that have waited for too long.
    fn give_up(&mut self, now: Instant) {
        let patience = self.control.patience();
        while self.buffer.front().is_some_and(|media| now.since(media.made) > patience) {
            let media = self.buffer.pop_front().expect("there is one");
            self.buffered -= u64::from(media.bytes);
        }
    }

    /// Ends the video: no further frame is made.
    pub fn end(&mut self) {
        self.next_frame = Instant::NEVER;
    }

    /// Takes the packet that pacer and window let go now, if there is one.
    pub fn send(&mut self, now: Instant) -> Option<Media> {
        if self.may_send() > now {
            return None;
        }
        let rate = self.control.rates(self.buffered).pacer;
        let mut media = self.buffer.pop_front()?;
        self.buffered -= u64::from(media.bytes);
        media.number = self.first + self.outstanding.len() as u64;
        self.outstanding.push_back((media.bytes, now));
        self.done.bytes += u64::from(media.bytes);
        self.control.on_sent(media.bytes, now);
        self.next_send = now + Duration::from_secs_f64(8.0 * f64::from(media.bytes) / rate);
        Some(media)
    }

    /// Processes a report. Packets that it leaves out, up to the last packet that arrived, are
    /// lost.
    pub fn on_report(&mut self, report: &Report, now: Instant) {
        let Some(last) = report.arrivals.last().filter(|last| last.number >= self.first) else {
            return; // an earlier report covered all of it
        };
        let mut arrivals = report.arrivals.iter().peekable();
        let mut packets = Vec::with_capacity((last.number - self.first + 1) as usize);
        for number in self.first..=last.number {
            let (bytes, sent) = self.outstanding.pop_front().expect("it was sent");
            while arrivals.next_if(|arrival| arrival.number < number).is_some() {}
            let arrival = arrivals.next_if(|arrival| arrival.number == number);
            let (arrived, marked) = (arrival.map(|a| a.at), arrival.is_some_and(|a| a.marked));
            packets.push(Observed { bytes, sent, arrived, marked });
        }
        self.first = last.number + 1;
        let newest = packets.last().expect("there is one at least");
        let round_trip = now.since(newest.sent + report.made.since(last.at));
        let feedback = Feedback { now, made: report.made, round_trip, packets: &packets };
        self.control.on_feedback(&feedback);
    }
}

#[cfg(test)]
mod tests {
    use packet::Rng;
    use packet::params::Params;

    use super::super::congestion::Rates;
    use super::*;
    use crate::datagrams::rtc::encoder::{self, Encoding};

    /// A control with a constant rate; packets are given up after a second.
    #[derive(Clone, Debug)]
    struct Fixed(f64);

    impl Control for Fixed {
        fn copy(&self) -> Box<dyn Control> {
            Box::new(self.clone())
        }
        fn on_feedback(&mut self, _feedback: &Feedback) {}
        fn rates(&self, _buffered: u64) -> Rates {
            Rates { encoder: self.0, pacer: self.0 }
        }
        fn patience(&self) -> Duration {
            Duration::from_secs(1)
        }
    }

    /// A sender at this rate, whose first frame has 3.24 times the mean of 30 frames a second.
    fn sender(rate: f64) -> Sender {
        let encoding = Encoding::read(&Params::defaults(&encoder::FIELDS));
        let encoder = Encoder::new(encoding, rate, Rng::named(1, "film"));
        Sender::new(encoder, Box::new(Fixed(rate)), 1_200, Instant::ZERO)
    }

    #[test]
    fn a_frame_is_cut_into_equal_packets_of_the_allowed_length() {
        // RFC 3550's header leaves 1,188 B of a packet: 13,635 B take 12 packets, 14,268 B take 13.
        // If the header came on top of 1,200 B, 12 would do.
        for (frame, parts) in [(13_635, 12), (14_268, 13)] {
            let mut sender = sender(f64::from(frame) * 240.0 / 3.24);
            sender.film(Instant::ZERO);
            let packets: Vec<&Media> = sender.buffer.iter().collect();
            assert_eq!(packets.len(), parts);
            let lengths = || packets.iter().map(|media| media.bytes);
            assert_eq!(lengths().sum::<u32>(), frame + 12 * parts as u32);
            let (least, most) = (lengths().min().unwrap(), lengths().max().unwrap());
            assert!(most <= 1_200 && most - least == 1, "{least} to {most}");
            assert!(packets.iter().all(|media| media.frame == 0 && media.parts == parts as u32));
        }
    }

    #[test]
    fn what_has_waited_for_longer_than_the_patience_is_given_up() {
        for (waited_ms, first) in [(1_000, 0), (1_001, 1)] {
            let mut sender = sender(1e6);
            sender.film(Instant::ZERO);
            let now = Instant::ZERO + Duration::from_millis(waited_ms);
            sender.film(now);
            assert_eq!(sender.buffer[0].frame, first, "{waited_ms} ms");
            let waiting: u64 = sender.buffer.iter().map(|media| u64::from(media.bytes)).sum();
            assert_eq!(sender.buffered, waiting);
        }
    }

    #[test]
    fn packets_leave_one_after_the_other_at_the_pacers_rate() {
        let mut sender = sender(1e6);
        sender.film(Instant::ZERO);
        let first = sender.send(Instant::ZERO).expect("nothing is in its way");
        assert_eq!(sender.send(Instant::ZERO), None);
        let next = Duration::from_secs_f64(8.0 * f64::from(first.bytes) / 1e6);
        assert_eq!(sender.due(), Instant::ZERO + next);
        let second = sender.send(Instant::ZERO + next).expect("its time has come");
        assert_eq!([first.number, second.number], [0, 1]);
        assert_eq!(sender.done.bytes, u64::from(first.bytes + second.bytes));
    }
}
