//! Captures of the packets that cross ports, as pcap files that Wireshark reads, written while the
//! run goes on.
//!
//! A `Tap` records packets as they reach chosen ports or leave them, and passes bytes to the writer
//! that the caller supplied; nothing here touches a file. `names` gives machines addresses and
//! connections ports, `headers` fills in IPv4, TCP and UDP headers; the crate `capture` writes
//! them.

mod headers;
mod names;

use packet::Instant;

use crate::owners::Owners;
use crate::world::Group;
use crate::world::in_flight::InFlight;

/// Number of bytes passed to the writer at a time.
const CHUNK: usize = 1 << 18;
/// Longest headers, bytes: 20 of IPv4, 60 of TCP.
const MOST_HEADERS: usize = 80;

/// The writer, which takes the bytes of the file in order.
pub type Sink = Box<dyn FnMut(&[u8]) + Send>;

/// Where in a port packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturedAt {
    /// Packets are captured as they reach the port, before its queue may drop or mark them: what
    /// was sent.
    Arrival,
    /// Packets are captured when their last bit has left the port: what crossed the link.
    Departure,
}

/// What to capture, and the writer of the file.
pub struct Capture {
    /// Names of ports, `<link>.forward` and the like; none means both directions of the first link.
    pub ports: Vec<String>,
    /// Where in these ports packets are captured.
    pub at: CapturedAt,
    /// The writer of the file.
    pub sink: Sink,
}

/// Captures the packets that cross chosen ports.
pub(crate) struct Tap {
    tapped: Vec<bool>,
    at: CapturedAt,
    buffer: Vec<u8>,
    sink: Sink,
}

impl Tap {
    /// A tap at the ports whose entries in `tapped` are `true`. It begins with the file's header.
    pub fn new(tapped: Vec<bool>, at: CapturedAt, sink: Sink) -> Self {
        let mut buffer = Vec::with_capacity(CHUNK + 2 * MOST_HEADERS);
        buffer.extend(::capture::write::file());
        Tap { tapped, at, buffer, sink }
    }

    /// A packet arrives at a port or leaves it at `now`: captures the packet if that is wanted.
    #[cold]
    pub fn saw(
        &mut self,
        (port, at): (u32, CapturedAt),
        now: Instant,
        inflight: &InFlight,
        owners: &Owners,
        groups: &[Group],
    ) {
        if at != self.at || !self.tapped[port as usize] {
            return;
        }
        let owner =
            owners.of(inflight.serial_number()).expect("owners of captured packets are kept");
        let group = &groups[usize::from(owner.0)];
        headers::record(&mut self.buffer, now, inflight, group);
        if self.buffer.len() >= CHUNK {
            self.flush();
        }
    }

    /// Passes the remaining bytes to the writer.
    pub fn flush(&mut self) {
        (self.sink)(&self.buffer);
        self.buffer.clear();
    }
}
