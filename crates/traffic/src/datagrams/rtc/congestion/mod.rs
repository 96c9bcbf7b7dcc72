//! Congestion control of a video call: how fast a sender may send. One file each, one line each in
//! [`CONTROLS`].
//!
//! All controls run at the sender and use one kind of feedback: the receiver reports of every
//! packet when it arrived and whether it was marked (RFC 8888).

mod gcc;
mod nada;
mod scream;

use std::fmt::Debug;

use packet::params::{Kind, Params};
use packet::{About, Duration, Instant};

/// What a receiver has reported about one packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed {
    /// Length of the RTP packet.
    pub bytes: u32,
    pub sent: Instant,
    /// When it arrived; of those that are lost nothing.
    pub arrived: Option<Instant>,
    pub marked: bool,
}

/// One report, as its reader sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback<'a> {
    /// When it is read.
    pub now: Instant,
    /// When it was made.
    pub made: Instant,
    /// There and back, without the time that the receiver kept it.
    pub round_trip: Duration,
    /// Packets reported for the first time, in the order in which they were sent; the last one has
    /// arrived.
    pub packets: &'a [Observed],
}

/// What a control allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    /// To the encoder, bit/s.
    pub encoder: f64,
    /// To the pacer, bit/s.
    pub pacer: f64,
}

/// What every control must know of the video.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video {
    /// The rates that the encoder can make, bit/s.
    pub least: f64,
    pub most: f64,
    /// The rate to begin with, bit/s.
    pub start: f64,
    /// Frames in a second.
    pub frame_rate: f64,
    /// Between two reports.
    pub feedback: Duration,
    /// Length of an RTP packet at most, bytes.
    pub packet: u32,
}

/// One sender's congestion control.
pub(super) trait Control: Debug + Send + Sync {
    /// One like it, for another sender.
    fn copy(&self) -> Box<dyn Control>;

    /// A frame is about to be made, while `buffered` bytes wait at the sender: an instant that comes
    /// whether there are reports or not.
    fn on_frame(&mut self, _buffered: u64, _now: Instant) {}

    /// A packet of `bytes` bytes leaves.
    fn on_sent(&mut self, _bytes: u32, _now: Instant) {}

    /// A report has come.
    fn on_feedback(&mut self, feedback: &Feedback);

    /// What it allows while `buffered` bytes wait at the sender.
    fn rates(&self, buffered: u64) -> Rates;

    /// The earliest time at which the window admits a packet of `bytes` bytes, if no report comes
    /// before; a control without a window admits it at once.
    fn opens(&self, _bytes: u32) -> Instant {
        Instant::ZERO
    }

    /// How long a packet may wait at the sender before it is given up; without a window for ever.
    fn patience(&self) -> Duration {
        Duration::from_nanos(u64::MAX)
    }
}

impl Clone for Box<dyn Control> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

/// What the list says of a control.
#[derive(Debug)]
struct Entry {
    about: About,
    /// The default initial rate, bit/s; without it the least rate.
    start: Option<f64>,
    /// The default time between two reports, s.
    feedback: f64,
    make: fn(&Params, &Video) -> Box<dyn Control>,
}

/// Every control, in the order of the documentation.
const CONTROLS: &[Entry] = &[nada::ENTRY, gcc::ENTRY, scream::ENTRY];

/// What they say of themselves.
const ABOUT: [&About; CONTROLS.len()] = {
    let mut about = [&CONTROLS[0].about; CONTROLS.len()];
    let mut i = 0;
    while i < about.len() {
        about[i] = &CONTROLS[i].about;
        i += 1;
    }
    about
};

/// The parameter that chooses one.
pub(super) const KIND: Kind = Kind::Variant(&ABOUT);

/// A control with its parameters, as the parameter `congestion` chooses it.
pub(super) struct Chosen {
    entry: &'static Entry,
    own: Params,
}

impl Chosen {
    pub fn of(params: &Params) -> Chosen {
        let (chosen, own) = params.variant("congestion").expect("it has a default");
        let found = CONTROLS.iter().find(|entry| entry.about.name == chosen.name);
        Chosen { entry: found.expect("the kind lists the controls"), own }
    }

    /// The default initial rate, bit/s; without it the least rate.
    pub fn start(&self) -> Option<f64> {
        self.entry.start
    }

    /// The default time between two reports, s.
    pub fn feedback(&self) -> f64 {
        self.entry.feedback
    }

    /// Constructs the control of one sender.
    pub fn make(&self, video: &Video) -> Box<dyn Control> {
        (self.entry.make)(&self.own, video)
    }
}

#[cfg(test)]
mod tests {
    use packet::params::{Field, Raw, Value};

    use super::*;

    #[test]
    fn every_control_has_its_own_first_rate_and_reports() {
        // RFC 8698: RMIN, 100 ms; libwebrtc: 300 kbit/s; RFC 8298 with 20 ms at all rates.
        static FIELDS: [Field; 1] =
            [Field::new("congestion", KIND, Value::Choice("nada")).meaning("A.").source("here")];
        let said = ["nada", "gcc", "scream"].map(|name| {
            let raw = [("congestion".to_owned(), Raw::Text(name.to_owned()))];
            let chosen = Chosen::of(&Params::check(&FIELDS, &raw).expect("is known"));
            (chosen.start(), chosen.feedback())
        });
        assert_eq!(said, [(None, 0.1), (Some(300e3), 0.1), (None, 0.02)]);
    }
}
