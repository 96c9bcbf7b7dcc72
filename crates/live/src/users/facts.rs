//! The log that a program of users writes while it runs: one fact a line, as JSON. From the logs of
//! all programs [`collect`](super::collect()) makes the run's measures.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use packet::report::Impairment;
use serde::{Deserialize, Serialize};
use traffic::{ListenerReport, PingReport, Probe, Report, VideoCallReport, ViewerReport};

/// Number of a connection or stream, unique in the run.
pub type ConnectionId = u64;

/// State and counters of one end of a connection, when the connection or the run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Time when this end finished, ns; the end of the run, if it did not finish before.
    pub at: u64,
    /// Whether this end finished before the end of the run.
    pub over: bool,
    /// Whether the connection or request was given up.
    pub failed: bool,
    /// Payload bytes read in the measured interval.
    pub delivered: u64,
    /// Number of retransmissions of this end's SYN or SYN-ACK.
    pub syn_resent: u32,
    /// Number of all segments retransmitted, with those of the handshake (`tcpi_total_retrans`).
    pub resent: u32,
    /// Payload bytes retransmitted (`tcpi_bytes_retrans`).
    pub resent_bytes: u64,
    /// Number of segments with payload sent (`tcpi_data_segs_out`).
    pub data_segments: u32,
}

/// A page load that has ended; times in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFact {
    /// Time when the page load began.
    pub began: u64,
    /// Time when the last reply of the page was complete.
    pub ended: u64,
    /// Number of requests.
    pub objects: u32,
    /// Payload bytes of the replies.
    pub bytes: u64,
    /// Number of the user, counted over all groups.
    pub user: u32,
    /// Index of the user's group.
    pub group: u16,
    /// Whether a request of the page was given up.
    pub failed: bool,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFact {
    /// Number of the connection over which the request was made.
    pub conn: ConnectionId,
    /// Number of exchanges of the connection before this one.
    pub index: u32,
    /// Time from which the response time counts, ns: the call of `connect()` for the first request
    /// of a connection, the write of the request for further ones.
    pub requested: u64,
    /// Time when the reply to the request was complete, ns.
    pub ended: u64,
    /// Payload bytes of the request.
    pub request_bytes: u32,
    /// Payload bytes of the reply.
    pub reply_bytes: u64,
    /// Whether the opener retransmitted a segment between `requested` and `ended`.
    pub resent: bool,
    /// Whether the connection or request was given up.
    pub failed: bool,
}

/// An entry of the log; all times are nanoseconds since the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// A connection is opened.
    Opened { conn: ConnectionId, at: u64, client: u32, source: u32, group: u16 },
    /// A request is made.
    Requested { at: u64, group: u16, reply_bytes: u64 },
    /// A request has its complete reply, or was given up.
    Ended(RequestFact),
    /// A server begins to write a reply; it has retransmitted `resent` segments of the connection
    /// so far.
    Served { conn: ConnectionId, index: u32, resent: u32 },
    /// The opener's end of a connection is over. `requests`: whether replies were expected over it;
    /// `connect`: duration of the handshake, if it was completed.
    OpenerEnd { conn: ConnectionId, requests: bool, connect: Option<u64>, end: End },
    /// The acceptor's end of a connection is over.
    AcceptorEnd { conn: ConnectionId, end: End },
    /// A user begins to load a page.
    PageBegins { at: u64, group: u16 },
    /// A page load has ended.
    PageEnds(PageFact),
    /// A transfer of data without replies has ended.
    Transfer { started: u64, ended: u64, bytes: u64, user: u32, group: u16, failed: bool },
    /// A stream of datagrams begins. `back`: the peer of the source sends it.
    Stream { stream: ConnectionId, at: u64, group: u16, user: u32, back: bool },
    /// A datagram is sent.
    Sent { stream: ConnectionId, number: u64, at: u64 },
    /// A datagram arrives.
    Received { stream: ConnectionId, number: u64, at: u64 },
    /// Payload bytes that reached programs of a group in the second that begins at `at`.
    Arrived { at: u64, group: u16, bytes: u64 },
    /// TCP counters of the side's namespace over the measured interval.
    Kernel { timeouts: u64, fast_retransmits: u64, spurious_timeouts: u64, retransmitted: u64 },
    /// Processor time that the program used during the run, and the
    /// [index](crate::addresses::index) of its side.
    Worked { side: u8, ns: u64 },
    /// Number of requests without a complete reply at the end of the run.
    Unanswered { requests: u64 },
    /// An application's own report.
    Said { group: u16, user: u32, report: ReportFact },
}

/// An application's report in the log's form. Floating-point numbers are written as their bits, so
/// that they are read back exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportFact {
    /// Reports of the listeners of a voice call, one for each direction.
    Call(Vec<ListeningFact>),
    /// Reports of the viewers of a video call, one for each direction.
    VideoCall(Vec<WatchingFact>),
    /// Report of a video player.
    ViewerReport {
        /// Time until playback started, ns; `None` if it never did.
        startup: Option<u64>,
        /// Number of stalls of playback.
        stalls: u64,
        /// Total duration of the stalls, ns.
        stalled: u64,
        /// Number of changes of the bit rate.
        switches: u64,
        /// Number of video segments fetched.
        segments: u64,
        /// Bit rates, each with the time that it was played for, ns.
        seen: Vec<(u64, u64)>,
    },
    /// Report of a sender of echo requests.
    Ping {
        /// Send time of each request, ns.
        sent: Vec<u64>,
        /// Round-trip time of each request, ns; `None` without a reply.
        round_trips: Vec<Option<u64>>,
        /// Index of the first request of the measured interval.
        measured_from: usize,
    },
    /// Report of a responsiveness test. For each probe: its start time, whether it was a self
    /// probe, and its durations for TCP, TLS and HTTP; times in ns.
    Probes(Vec<(u64, bool, [Option<u64>; 3])>),
}

/// Report of one listener of a voice call, in the log's form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListeningFact {
    back: bool,
    counts: [u64; 4],
    bits: [u64; 4],
}

/// Report of one viewer of a video call, in the log's form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchingFact {
    back: bool,
    /// Numbers of frames, frames lost, freezes, bytes sent, bytes received, and packets received,
    /// lost and marked.
    counts: [u64; 8],
    delays: Vec<u64>,
    /// Duration of the call and total duration of freezes in seconds, as bits of `f64`.
    bits: [u64; 2],
}

impl From<&Report> for ReportFact {
    fn from(report: &Report) -> Self {
        match report {
            Report::Call(listened) => {
                ReportFact::Call(listened.iter().map(ListeningFact::of).collect())
            }
            Report::VideoCall(seen) => {
                ReportFact::VideoCall(seen.iter().map(WatchingFact::of).collect())
            }
            Report::Viewing(v) => ReportFact::ViewerReport {
                startup: v.startup.map(|span| span.nanos()),
                stalls: v.stalls,
                stalled: v.stalled.nanos(),
                switches: v.switches,
                segments: v.segments,
                seen: v.seen.iter().map(|&(rate, span)| (rate, span.nanos())).collect(),
            },
            Report::Ping(ping) => ReportFact::Ping {
                sent: ping.sent.iter().map(|at| at.nanos()).collect(),
                round_trips: ping.round_trips.iter().map(|trip| trip.map(|t| t.nanos())).collect(),
                measured_from: ping.measured_from,
            },
            Report::Probes(probes) => {
                let times = |p: &Probe| [p.tcp, p.tls, p.http].map(|time| time.map(|t| t.nanos()));
                let fact = |p: &Probe| (p.begun.nanos(), p.is_self, times(p));
                ReportFact::Probes(probes.iter().map(fact).collect())
            }
        }
    }
}

impl From<ReportFact> for Report {
    fn from(fact: ReportFact) -> Self {
        let span = packet::Duration::from_nanos;
        match fact {
            ReportFact::Call(listened) => {
                Report::Call(listened.iter().map(ListeningFact::listening).collect())
            }
            ReportFact::VideoCall(seen) => {
                Report::VideoCall(seen.into_iter().map(WatchingFact::watching).collect())
            }
            ReportFact::ViewerReport { startup, stalls, stalled, switches, segments, seen } => {
                Report::Viewing(ViewerReport {
                    startup: startup.map(span),
                    stalls,
                    stalled: span(stalled),
                    switches,
                    segments,
                    seen: seen.into_iter().map(|(rate, ns)| (rate, span(ns))).collect(),
                })
            }
            ReportFact::Ping { sent, round_trips, measured_from } => Report::Ping(PingReport {
                sent: sent.into_iter().map(packet::Instant::from_nanos).collect(),
                round_trips: round_trips.into_iter().map(|trip| trip.map(span)).collect(),
                measured_from,
            }),
            ReportFact::Probes(probes) => {
                let probe = |(begun, is_self, times): (u64, bool, [Option<u64>; 3])| {
                    let [tcp, tls, http] = times.map(|time| time.map(span));
                    Probe { begun: packet::Instant::from_nanos(begun), is_self, tcp, tls, http }
                };
                Report::Probes(probes.into_iter().map(probe).collect())
            }
        }
    }
}

impl ListeningFact {
    fn of(listened: &ListenerReport) -> Self {
        let ListenerReport { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec } =
            *listened;
        let bits = [network_s, mouth_to_ear_s, codec.equipment, codec.robustness].map(f64::to_bits);
        ListeningFact { back, counts: [said, late, lost, gaps], bits }
    }

    fn listening(&self) -> ListenerReport {
        let ListeningFact { back, counts: [said, late, lost, gaps], bits } = *self;
        let [network_s, mouth_to_ear_s, equipment, robustness] = bits.map(f64::from_bits);
        let codec = Impairment { equipment, robustness };
        ListenerReport { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec }
    }
}

impl WatchingFact {
    fn of(seen: &VideoCallReport) -> Self {
        let VideoCallReport { frames, frames_lost, freezes, sent_bytes, received_bytes, .. } =
            *seen;
        let VideoCallReport { received, lost, marked, .. } = *seen;
        WatchingFact {
            back: seen.back,
            counts: [
                frames,
                frames_lost,
                freezes,
                sent_bytes,
                received_bytes,
                received,
                lost,
                marked,
            ],
            delays: seen.delays.iter().map(|delay| delay.nanos()).collect(),
            bits: [seen.seconds, seen.frozen_s].map(f64::to_bits),
        }
    }

    fn watching(self) -> VideoCallReport {
        let [frames, frames_lost, freezes, sent_bytes, received_bytes, received, lost, marked] =
            self.counts;
        let [seconds, frozen_s] = self.bits.map(f64::from_bits);
        let delays = self.delays.into_iter().map(packet::Duration::from_nanos).collect();
        let back = self.back;
        VideoCallReport {
            back,
            seconds,
            frames,
            frames_lost,
            delays,
            freezes,
            frozen_s,
            sent_bytes,
            received_bytes,
            received,
            lost,
            marked,
        }
    }
}

/// A log that is being written.
#[derive(Debug)]
pub struct Log {
    out: BufWriter<File>,
    /// The first error in writing. It is reported at the end; the users' traffic goes on.
    broken: Option<io::Error>,
}

impl Log {
    /// Creates the file of a log.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path) -> io::Result<Log> {
        Ok(Log { out: BufWriter::with_capacity(1 << 18, File::create(path)?), broken: None })
    }

    /// Writes a fact as a line.
    pub fn note(&mut self, fact: &Fact) {
        if self.broken.is_none() {
            let written = serde_json::to_writer(&mut self.out, fact).map_err(io::Error::from);
            self.broken = written.and_then(|()| self.out.write_all(b"\n")).err();
        }
    }

    /// Writes buffered facts.
    ///
    /// # Errors
    /// The first error in writing any fact.
    pub fn finish(mut self) -> io::Result<()> {
        let broken = self.broken.take().or_else(|| self.out.flush().err());
        broken.map_or(Ok(()), |error| {
            // Empties the file: on a full disk this makes room for the error message.
            self.out.into_parts().0.set_len(0)?;
            Err(error)
        })
    }
}

/// Reads the facts of a log.
///
/// # Errors
/// If the file cannot be read, or a line is malformed.
pub fn read(path: &Path) -> io::Result<Vec<Fact>> {
    let lines = BufReader::new(File::open(path)?).lines();
    lines.map(|line| serde_json::from_str(&line?).map_err(io::Error::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Duration;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let listened = ListenerReport {
            back: true,
            said: 7,
            late: 1,
            lost: 2,
            gaps: 3,
            network_s: 0.1 + 0.2,
            mouth_to_ear_s: f64::NAN,
            codec: Impairment { equipment: 11.0, robustness: 19.0 },
        };
        let viewing = ViewerReport {
            startup: None,
            stalls: 1,
            stalled: Duration::from_millis(3),
            switches: 2,
            segments: 9,
            seen: vec![(300_000, Duration::from_millis(10))],
        };
        let ping = PingReport {
            sent: vec![packet::Instant::from_nanos(7)],
            round_trips: vec![None],
            measured_from: 1,
        };
        for report in [Report::Call(vec![listened]), Report::Viewing(viewing), Report::Ping(ping)] {
            let text = serde_json::to_string(&ReportFact::from(&report)).expect("is plain");
            let back: ReportFact = serde_json::from_str(&text).expect("was written here");
            // NaN is not equal to itself; its bits are.
            assert_eq!(ReportFact::from(&Report::from(back.clone())), back);
            if let Report::Viewing(_) | Report::Ping(_) = report {
                assert_eq!(Report::from(back), report);
            }
        }
    }
}
