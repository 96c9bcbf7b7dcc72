//! The capture of a run: a file of the packets that leave the links, for Wireshark.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use packet::Instant;

use crate::bridge::Tap;
use crate::fault::Fault;

/// A capture file that is being written.
#[derive(Clone)]
pub struct Capture(Arc<Mutex<State>>);

struct State {
    out: BufWriter<File>,
    record: Vec<u8>,
    /// The first error in writing.
    broken: Option<io::Error>,
}

impl Capture {
    /// Creates a capture file and writes its header.
    ///
    /// # Errors
    /// A sentence, if the file cannot be created.
    pub fn create(path: &Path) -> Result<Capture, Fault> {
        let file = File::create(path).map_err(|error| sentence(&error))?;
        let out = BufWriter::with_capacity(1 << 20, file);
        let capture =
            Capture(Arc::new(Mutex::new(State { out, record: Vec::new(), broken: None })));
        capture.with(|state| state.broken = state.out.write_all(&capture::write::file()).err());
        capture.check().map(|()| capture)
    }

    /// A callback that writes packets into the file.
    pub fn tap(&self) -> Tap {
        let capture = self.clone();
        Box::new(move |at, packet| capture.with(|state| state.take(at, packet)))
    }

    /// Whether everything could be written so far.
    ///
    /// # Errors
    /// A sentence, if not: nobody would notice that a packet is missing in the capture.
    pub fn check(&self) -> Result<(), Fault> {
        self.with(|state| state.broken.as_ref().map_or(Ok(()), |error| Err(sentence(error))))
    }

    /// Writes buffered packets.
    ///
    /// # Errors
    /// A sentence, if any packet could not be written.
    pub fn finish(&self) -> Result<(), Fault> {
        self.with(|state| {
            let broken = state.broken.take().or_else(|| state.out.flush().err());
            broken.map_or(Ok(()), |error| Err(sentence(&error)))
        })
    }

    fn with<T>(&self, of: impl FnOnce(&mut State) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn take(&mut self, at: Instant, packet: &[u8]) {
        if self.broken.is_none() {
            self.record.clear();
            capture::write::whole(&mut self.record, at.nanos(), packet);
            self.broken = self.out.write_all(&self.record).err();
        }
    }
}

fn sentence(error: &io::Error) -> Fault {
    Fault(format!("the capture cannot be written ({error}): give another file for --pcap"))
}
