//! Congestion controls of video calls, which decide how fast a sender may send. Each has a file and
//! a line in [`CONTROLS`].
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
    /// Length of the RTP packet, bytes.
    pub bytes: u32,
    pub sent: Instant,
    /// Time of arrival; none if the packet was lost.
    pub arrived: Option<Instant>,
    pub marked: bool,
}

/// One feedback report, as the sender reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback<'a> {
    /// Time at which the sender reads the report.
    pub now: Instant,
    /// Time at which the receiver made the report.
    pub made: Instant,
    /// Round-trip time, without the time for which the receiver held the report.
    pub round_trip: Duration,
    /// Packets reported for the first time, in the order in which they were sent; the last one has
    /// arrived.
    pub packets: &'a [Observed],
}

/// The rates that a control allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    /// Rate of the encoder, bit/s.
    pub encoder: f64,
    /// Rate of the pacer, bit/s.
    pub pacer: f64,
}

/// What every control must know of the video.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video {
    /// Least and largest rate of the encoder, bit/s.
    pub least: f64,
    pub most: f64,
    /// Initial rate, bit/s.
    pub start: f64,
    /// Frames per second.
    pub frame_rate: f64,
    /// Time between two reports.
    pub feedback: Duration,
    /// Largest length of an RTP packet, bytes.
    pub packet: u32,
}

/// One sender's congestion control.
pub(super) trait Control: Debug + Send + Sync {
    /// A copy of this control, for another sender.
    fn copy(&self) -> Box<dyn Control>;

    /// Called before each frame is made, while `buffered` bytes wait at the sender; this happens
    /// whether or not there are reports.
    fn on_frame(&mut self, _buffered: u64, _now: Instant) {}

    /// Called when a packet of `bytes` bytes leaves.
    fn on_sent(&mut self, _bytes: u32, _now: Instant) {}

    /// Called when a report has arrived.
    fn on_feedback(&mut self, feedback: &Feedback);

    /// The rates that the control allows while `buffered` bytes wait at the sender.
    fn rates(&self, buffered: u64) -> Rates;

    /// The earliest time at which the window admits a packet of `bytes` bytes, if no report comes
    /// before; a control without a window admits it at once.
    fn opens(&self, _bytes: u32) -> Instant {
        Instant::ZERO
    }

    /// Longest time that a packet may wait at the sender before it is given up; unlimited without a
    /// window.
    fn patience(&self) -> Duration {
        Duration::from_nanos(u64::MAX)
    }
}

impl Clone for Box<dyn Control> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

/// The entry for a control in the list of controls.
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

/// The descriptions of all controls.
const ABOUT: [&About; CONTROLS.len()] = {
    let mut about = [&CONTROLS[0].about; CONTROLS.len()];
    let mut i = 0;
    while i < about.len() {
        about[i] = &CONTROLS[i].about;
        i += 1;
    }
    about
};

/// The kind of the parameter that chooses a control.
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
