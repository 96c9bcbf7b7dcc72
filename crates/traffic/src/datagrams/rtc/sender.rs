//! Who sends video: the encoder, the buffer that shapes its frames to a rate, and the control that
//! says the rate.

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
    /// How many were sent before it.
    pub number: u64,
    /// Length of the RTP packet.
    pub bytes: u32,
    /// Which frame it is of, how many packets that has, and when it was made.
    pub frame: u64,
    pub parts: u32,
    pub made: Instant,
}

/// What was done since the measured interval began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sending {
    pub frames: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub(super) struct Sender {
    encoder: Encoder,
    control: Box<dyn Control>,
    /// Length of an RTP packet at most.
    most: u32,
    /// When the next frame is made; never once the video is over.
    next_frame: Instant,
    frames: u64,
    /// Packets that wait for the pacer, their bytes, and when the next may go.
    buffer: VecDeque<Media>,
    buffered: u64,
    next_send: Instant,
    /// Packets of which no report has told, from number `first` on: length and when sent.
    outstanding: VecDeque<(u32, Instant)>,
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

    /// When it has something to do.
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
            // As equal as whole bytes are.
            let bytes = frame.bytes / parts + u32::from(part < frame.bytes % parts) + RTP;
            let media = Media { number: 0, bytes, frame: self.frames, parts, made: now };
            self.buffer.push_back(media);
            self.buffered += u64::from(bytes);
        }
        self.frames += 1;
        self.done.frames += 1;
        self.next_frame = now + frame.until_next;
    }

    /// What has waited for too long is never sent.
    fn give_up(&mut self, now: Instant) {
        let patience = self.control.patience();
        while self.buffer.front().is_some_and(|media| now.since(media.made) > patience) {
            let media = self.buffer.pop_front().expect("there is one");
            self.buffered -= u64::from(media.bytes);
        }
    }

    /// No frame comes any more.
    pub fn end(&mut self) {
        self.next_frame = Instant::NEVER;
    }

    /// The packet that pacer and window let go, if one may.
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

    /// A report has come. What it does not tell of, up to the last packet that arrived, is lost.
    pub fn hear(&mut self, report: &Report, now: Instant) {
        let Some(last) = report.arrivals.last().filter(|last| last.number >= self.first) else {
            return; // an earlier one told it all
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
