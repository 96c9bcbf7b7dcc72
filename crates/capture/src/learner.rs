//! Turns a capture, piece by piece, into the lines of a model.

use serde_json::{Value, json};

use crate::analysis::Analysis;
use crate::container::{CaptureError, Container};
use crate::limits::Limits;
use crate::sides::Prefix;

/// A connection that has ended, with the fields by which its line is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finished {
    /// Start of the connection, microseconds from the begin of the capture.
    pub at_us: u64,
    /// Number of the connection in the order of first packets: decides between equal starts.
    pub serial: u64,
    /// Length of the connection's line in bytes, line feed included.
    pub length: usize,
}

/// Reads a capture, piece by piece.
pub struct Learner {
    container: Container,
    analysis: Analysis,
}

impl Learner {
    /// A reader that keeps to these limits. `inside` are the addresses of one side of the link,
    /// where the user knows them.
    pub fn new(limits: Limits, inside: Vec<Prefix>) -> Self {
        Learner { container: Container::new(), analysis: Analysis::new(limits, inside) }
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// If they are no capture at all; damage further on is a warning of [`Learner::finish`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), CaptureError> {
        let Learner { container, analysis } = self;
        container.feed(bytes, &mut |frame| analysis.frame(&frame))
    }

    /// The lines of the connections that ended since the last call, and an entry for each.
    pub fn take(&mut self) -> (Vec<u8>, Vec<Finished>) {
        let analysis = &mut self.analysis;
        (core::mem::take(&mut analysis.lines), core::mem::take(&mut analysis.finished))
    }

    /// Ends the file and with it all connections ([`Learner::take`] has their lines). Reports what
    /// was seen as JSON with `format`, `duration_us`, `connections`, `concurrent`, `partial`,
    /// `bytes`, `seen`, `warnings` as in the model's first line, `hosts`, `load` (bytes over time:
    /// `step_s`, `tcp`, `other`), and `histograms` by name: `n`, `mean`, and `buckets` as `[lowest
    /// value, highest value, count]`.
    ///
    /// # Errors
    /// If the file was too short to be a capture.
    pub fn finish(&mut self) -> Result<Value, CaptureError> {
        let damage = self.container.end()?;
        self.analysis.end();
        let mut report = self.analysis.report();
        report["container"] = json!(self.container.name());
        if let (Some(damage), Some(warnings)) = (damage, report["warnings"].as_array_mut()) {
            warnings.insert(0, json!(format!("In this capture {damage}.")));
        }
        Ok(report)
    }
}
