//! What a program of users writes down while it runs, one fact a line, in order of time;
//! [`collect`](super::collect()) makes the run's measures of the logs of all programs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use packet::report::Impairment;
use serde::{Deserialize, Serialize};
use traffic::{ListenerReport, PingReport, Probe, Report, VideoCallReport, ViewerReport};

/// A connection, by a number that no other one of the run has.
pub type ConnectionId = u64;

/// What one end of a connection has done, when it is over or the run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// When it finished; the end of the run, if it has not.
    pub at: u64,
    /// Whether it has finished.
    pub over: bool,
    /// Whether the connection or request was given up.
    pub failed: bool,
    /// Payload bytes read in the measured interval.
    pub delivered: u64,
    /// SYN or SYN-ACK retransmitted.
    pub syn_resent: u32,
    /// All segments retransmitted, these included (`tcpi_total_retrans`).
    pub resent: u32,
    /// Payload bytes retransmitted (`tcpi_bytes_retrans`).
    pub resent_bytes: u64,
    /// Segments with payload sent (`tcpi_data_segs_out`).
    pub data_segments: u32,
}

/// A page, as the recorder of pages has it; times in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFact {
    /// When it began.
    pub began: u64,
    /// When its last reply came.
    pub ended: u64,
    /// Requests.
    pub objects: u32,
    /// Payload bytes of the replies.
    pub bytes: u64,
    /// The user, numbered over all groups.
    pub user: u32,
    /// The group of the user.
    pub group: u16,
    /// A request was given up.
    pub failed: bool,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFact {
    /// Its connection.
    pub conn: ConnectionId,
    /// How many requests of the connection came before it.
    pub index: u32,
    /// When its clock started: `connect()`, or the write on a connection already open.
    pub requested: u64,
    /// When its reply was there.
    pub ended: u64,
    /// Request payload.
    pub request_bytes: u32,
    /// Reply payload.
    pub reply_bytes: u64,
    /// The opener retransmitted something meanwhile.
    pub resent: bool,
    /// Whether the connection or request was given up.
    pub failed: bool,
}

/// A fact; all times are nanoseconds since the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// A connection is opened.
    Opened { conn: ConnectionId, at: u64, client: u32, source: u32, group: u16 },
    /// A request is made.
    Requested { at: u64, group: u16, reply_bytes: u64 },
    /// One has ended.
    Ended(RequestFact),
    /// A server has received a whole request; until now it has retransmitted `resent` segments.
    Served { conn: ConnectionId, index: u32, resent: u32 },
    /// The opener's end of a connection; the flag says whether it requested replies.
    OpenerEnd { conn: ConnectionId, requests: bool, connect: Option<u64>, end: End },
    /// The acceptor's end.
    AcceptorEnd { conn: ConnectionId, end: End },
    /// A page begins.
    PageBegins { at: u64, group: u16 },
    /// A page is over.
    PageEnds(PageFact),
    /// A transfer without replies is over.
    Transfer { started: u64, ended: u64, bytes: u64, user: u32, group: u16, failed: bool },
    /// A stream of datagrams begins; `back` is its peer's.
    Stream { stream: ConnectionId, at: u64, group: u16, user: u32, back: bool },
    /// A datagram is sent.
    Sent { stream: ConnectionId, number: u64, at: u64 },
    /// A datagram arrives.
    Received { stream: ConnectionId, number: u64, at: u64 },
    /// Payload has reached programs of a group in the second that begins then.
    Arrived { at: u64, group: u16, bytes: u64 },
    /// What the kernel of the side counted in the measured interval.
    Kernel { timeouts: u64, fast_retransmits: u64, spurious_timeouts: u64, retransmitted: u64 },
    /// Processor time that the program used from the begin of the run to its end, and its side's
    /// [index](crate::addresses::index).
    Worked { side: u8, ns: u64 },
    /// Requests without an answer at the end.
    Unanswered { requests: u64 },
    /// What an application says of itself.
    Said { group: u16, user: u32, report: ReportFact },
}

/// A report; numbers that are not whole are written by their bits, so that none is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportFact {
    /// What the listener of a call received.
    Call(Vec<ListeningFact>),
    /// What the viewer of a video call received.
    VideoCall(Vec<WatchingFact>),
    /// What the viewer of a video player saw.
    ViewerReport {
        /// Until the picture moved, ns.
        startup: Option<u64>,
        /// Times the picture froze.
        stalls: u64,
        /// How long the picture stood still in all, ns.
        stalled: u64,
        /// Changes of the bit rate.
        switches: u64,
        /// Segments fetched.
        segments: u64,
        /// Bit rates, and for how long each was seen, ns.
        seen: Vec<(u64, u64)>,
    },
    /// A sender of echo requests.
    Ping {
        /// When each request left, ns.
        sent: Vec<u64>,
        /// Round trip of each, ns; none without an answer.
        round_trips: Vec<Option<u64>>,
        /// The first request of the measured interval.
        measured_from: usize,
    },
    /// A test of responsiveness: when each probe began, ns, whether it was a self probe, and its
    /// times, ns.
    Probes(Vec<(u64, bool, [Option<u64>; 3])>),
}

/// What one listener received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListeningFact {
    back: bool,
    counts: [u64; 4],
    bits: [u64; 4],
}

/// What one viewer of a video call saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchingFact {
    back: bool,
    /// Frames, lost ones, freezes, bytes sent and received, packets received, lost and marked.
    counts: [u64; 8],
    delays: Vec<u64>,
    /// Seconds of the call, and frozen ones.
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
    /// The first error, reported at the end: users do not stop in the middle for it.
    broken: Option<io::Error>,
}

impl Log {
    /// A new file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path) -> io::Result<Log> {
        Ok(Log { out: BufWriter::with_capacity(1 << 18, File::create(path)?), broken: None })
    }

    /// Writes a fact.
    pub fn note(&mut self, fact: &Fact) {
        if self.broken.is_none() {
            let written = serde_json::to_writer(&mut self.out, fact).map_err(io::Error::from);
            self.broken = written.and_then(|()| self.out.write_all(b"\n")).err();
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// If anything could not be written, from the first fact on.
    pub fn finish(mut self) -> io::Result<()> {
        let broken = self.broken.take().or_else(|| self.out.flush().err());
        broken.map_or(Ok(()), |error| {
            // On a full disk its room goes to the sentence about it.
            self.out.into_parts().0.set_len(0)?;
            Err(error)
        })
    }
}

/// The facts of a log.
///
/// # Errors
/// If it cannot be read, or a line of it.
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
