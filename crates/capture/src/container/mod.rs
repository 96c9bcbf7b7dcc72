//! Readers of the formats pcap and pcapng, which take a file in pieces of any size.

mod pcap;
mod pcapng;

use core::fmt;

pub use pcap::NANOSECONDS;

/// Longest record that is accepted, bytes; a longer one means that the file is damaged. The largest
/// snap length of the common tools is 256 KiB.
const LONGEST: usize = 16 << 20;

/// The link type of packets that begin with their IP header (the registry of tcpdump.org).
pub const LINKTYPE_RAW: u32 = 101;

/// The error of a capture that cannot be read: one sentence that includes the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureError(pub String);

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for CaptureError {}

/// A packet as it is recorded in the file.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of capture by the file's clock, nanoseconds.
    pub at_ns: i64,
    /// The link type, a number of tcpdump.org's registry.
    pub link: u32,
    /// The captured bytes of the packet, which may be cut at the snap length.
    pub data: &'a [u8],
    /// Length of the packet on the link, bytes.
    pub length: u32,
    /// Whether the capturing machine sent the packet, where the file says so.
    pub outbound: Option<bool>,
}

/// The element at the front of the available bytes.
enum Next<'a> {
    /// A packet, and the number of bytes of its record.
    Packet(Frame<'a>, usize),
    /// Skip this many bytes, which may not have been read yet.
    Skip(u64),
    /// An element that is not complete: more bytes are needed.
    More,
    /// The file is damaged from here on; the text is the reason.
    Damaged(String),
}

enum Format {
    Unknown,
    Pcap(pcap::Pcap),
    PcapNg(pcapng::PcapNg),
}

/// A reader that takes the bytes of a file and yields its packets.
pub struct Container {
    format: Format,
    /// Bytes of a record that is not complete yet.
    rest: Vec<u8>,
    /// Number of bytes of the file still to be skipped.
    skip: u64,
    /// Bytes of the file that have been decoded or skipped.
    done: u64,
    damage: Option<String>,
}

impl Container {
    pub fn new() -> Self {
        Container { format: Format::Unknown, rest: Vec::new(), skip: 0, done: 0, damage: None }
    }

    /// Hands every packet that is now complete to `each`.
    ///
    /// # Errors
    /// If the bytes are no capture at all. Damage further on ends the reading; [`Container::end`]
    /// reports it.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(Frame<'_>),
    ) -> Result<(), CaptureError> {
        if self.damage.is_some() {
            return Ok(());
        }
        let mut bytes = bytes;
        // Complete the record that was begun, then read the others in place, without a copy.
        while !self.rest.is_empty() && !bytes.is_empty() {
            let take = bytes.len().min(self.rest.len().clamp(4096, LONGEST));
            let mut rest = core::mem::take(&mut self.rest);
            let before = rest.len();
            rest.extend_from_slice(&bytes[..take]);
            let used = self.read(&rest, each)?;
            if used >= before {
                bytes = &bytes[used - before..];
                rest.clear();
                self.rest = rest;
            } else {
                rest.drain(..used);
                self.rest = rest;
                bytes = &bytes[take..];
            }
            if self.damage.is_some() {
                return Ok(());
            }
        }
        let used = self.read(bytes, each)?;
        self.rest.extend_from_slice(&bytes[used..]);
        Ok(())
    }

    /// Hands the complete packets at the front of `bytes` to `each`. Returns the number of bytes
    /// that they took.
    fn read(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(Frame<'_>),
    ) -> Result<usize, CaptureError> {
        let mut at = 0;
        loop {
            let skipped = self.skip.min((bytes.len() - at) as u64) as usize;
            self.skip -= skipped as u64;
            at += skipped;
            let front = &bytes[at..];
            let next = match &mut self.format {
                Format::Unknown if front.len() < 4 => Next::More,
                Format::Unknown => {
                    self.format = format(front)?;
                    continue;
                }
                Format::Pcap(file) => file.next(front),
                Format::PcapNg(file) => file.next(front),
            };
            match next {
                Next::Packet(frame, length) => {
                    each(frame);
                    at += length;
                }
                Next::Skip(length) => self.skip = length,
                Next::More => break,
                Next::Damaged(why) => {
                    let place = self.done + at as u64;
                    self.damage = Some(format!("{why} at byte {place}: the rest is not read"));
                    at = bytes.len();
                    break;
                }
            }
        }
        self.done += at as u64;
        Ok(at)
    }

    /// The name of the file's format; none before the first bytes.
    pub fn name(&self) -> Option<&'static str> {
        match self.format {
            Format::Unknown => None,
            Format::Pcap(_) => Some("pcap"),
            Format::PcapNg(_) => Some("pcapng"),
        }
    }

    /// Ends the file. Returns a sentence that says what was wrong with it, if anything was.
    ///
    /// # Errors
    /// If it was too short to be a capture.
    pub fn end(&mut self) -> Result<Option<String>, CaptureError> {
        let headless = match &self.format {
            Format::Unknown => true,
            Format::Pcap(file) => !file.begun(),
            Format::PcapNg(file) => !file.begun(),
        };
        if headless && self.damage.is_none() {
            return Err(CaptureError(
                "the file ends within its first header: give a complete capture".to_owned(),
            ));
        }
        if self.damage.is_none() && (!self.rest.is_empty() || self.skip > 0) {
            return Ok(Some(
                "the file ends within a record: the last packet is missing".to_owned(),
            ));
        }
        Ok(self.damage.clone())
    }
}

fn format(front: &[u8]) -> Result<Format, CaptureError> {
    if let Some(file) = pcap::Pcap::of(front) {
        return Ok(Format::Pcap(file));
    }
    if front.starts_with(&pcapng::SECTION) {
        return Ok(Format::PcapNg(pcapng::PcapNg::new()));
    }
    Err(CaptureError(
        "not a capture: give a file that tcpdump, Wireshark or dumpcap wrote as pcap or pcapng"
            .to_owned(),
    ))
}
