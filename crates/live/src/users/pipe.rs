//! The socket of one end of a connection: reading, writing, closing, and its state.

use std::os::fd::OwnedFd;

use packet::Instant;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::facts::End;
use super::kernel::{self, tcp_info};
use super::sockets::end_writing;

/// The payload of all writes.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// Most bytes that one connection reads or writes before other connections have their turn. Without
/// a limit a fast connection (loopback) would never let the others run.
const TURN_BYTES: u64 = 1 << 18;

/// The socket of one end of a connection, with its state.
#[derive(Debug)]
pub struct Pipe {
    /// The socket.
    pub socket: OwnedFd,
    /// Whether the handshake is over.
    pub established: bool,
    /// Bytes that the program has written and the kernel has not taken yet; `u64::MAX` for data
    /// without end.
    pub unwritten: u64,
    /// Bytes that the kernel has taken.
    pub taken: u64,
    /// Bytes that have been read.
    pub delivered: u64,
    /// The other end has closed, and all it sent has been read.
    pub peer_closed: bool,
    /// This end has closed.
    pub shut: bool,
    /// The connection has failed and was given up.
    pub failed: bool,
    /// Number of retransmissions of this end's SYN or SYN-ACK.
    syn_resent: u32,
    /// Value of `delivered` when the measured interval began.
    before: u64,
    watched: EventFlags,
}

impl Pipe {
    /// An end over this socket. `established` is false for an opener, whose handshake is not over.
    pub fn new(socket: OwnedFd, established: bool, watched: EventFlags) -> Pipe {
        let mut pipe = Pipe {
            socket,
            established: false,
            unwritten: 0,
            taken: 0,
            delivered: 0,
            peer_closed: false,
            shut: false,
            failed: false,
            syn_resent: 0,
            before: 0,
            watched,
        };
        if established {
            pipe.establish();
        }
        pipe
    }

    fn establish(&mut self) {
        self.established = true;
        self.syn_resent = tcp_info(&self.socket).resent;
    }

    /// Checks whether the handshake has succeeded or failed, after an event of the socket.
    pub fn look_for_handshake(&mut self) {
        match sockopt::socket_error(&self.socket) {
            Ok(Ok(())) => self.establish(),
            Ok(Err(_)) | Err(_) => self.failed = true,
        }
    }

    /// Writes as much as the kernel takes, at most about [`TURN_BYTES`]; more follows at the next
    /// event. If the end `closes` after this data, the last write has `MSG_MORE`, so that the last
    /// segment carries the FIN as in the simulator.
    pub fn write(&mut self, closes: bool) {
        let before = self.taken;
        let mine = |pipe: &Self| pipe.taken - before < TURN_BYTES;
        while self.established && self.unwritten > 0 && !self.failed && mine(self) {
            let chunk = self.unwritten.min(ZEROS.len() as u64) as usize;
            let mut flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            flags.set(SendFlags::MORE, closes && chunk as u64 == self.unwritten);
            match send(&self.socket, &ZEROS[..chunk], flags) {
                Ok(bytes) => {
                    self.taken += bytes as u64;
                    if self.unwritten != u64::MAX {
                        self.unwritten -= bytes as u64;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => self.failed = true,
            }
        }
    }

    /// Reads all that has arrived, at most about [`TURN_BYTES`]. Returns the number of bytes read.
    pub fn read(&mut self, scratch: &mut [u8]) -> u64 {
        let before = self.delivered;
        while !self.peer_closed && !self.failed && self.delivered - before < TURN_BYTES {
            match recv(&self.socket, &mut *scratch, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => self.peer_closed = true,
                Ok((bytes, _)) => self.delivered += bytes as u64,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => self.failed = true,
            }
        }
        self.delivered - before
    }

    /// Closes this end if all data is written.
    pub fn close(&mut self) {
        if self.established && self.unwritten == 0 && !self.shut {
            self.shut = true;
            end_writing(&self.socket);
        }
    }

    /// Whether all data that was written is acknowledged.
    pub fn acknowledged(&self) -> bool {
        self.established
            && self.unwritten == 0
            && kernel::unacknowledged(&self.socket) <= u64::from(self.shut)
    }

    /// Number of segments that this end has retransmitted so far.
    pub fn resent(&self) -> u32 {
        tcp_info(&self.socket).resent
    }

    /// Whether both directions are closed and acknowledged, or the connection has failed.
    pub fn over(&self) -> bool {
        self.failed || (self.shut && self.peer_closed && tcp_info(&self.socket).closed)
    }

    /// The events to watch for, if they have changed. A socket that is closed in both directions
    /// and waits for its last acknowledgement always has an event (EPOLLHUP): it is edge-triggered.
    pub fn new_watch(&mut self) -> Option<EventFlags> {
        let mut flags = EventFlags::empty();
        if self.peer_closed && self.shut {
            flags |= EventFlags::ET;
        }
        if !self.peer_closed {
            flags |= EventFlags::IN;
        }
        if !self.established || self.unwritten > 0 {
            flags |= EventFlags::OUT;
        }
        let changed = flags != self.watched;
        self.watched = flags;
        changed.then_some(flags)
    }

    /// The events that a new opener is watched for.
    pub const FIRST_WATCH: EventFlags = EventFlags::IN.union(EventFlags::OUT);

    /// The measured interval begins.
    pub fn begin_measuring(&mut self) {
        self.before = self.delivered;
    }

    /// State and counters of this end for the log, at time `at`. `over`: whether it has finished.
    pub fn end(&self, at: Instant, over: bool) -> End {
        let info = tcp_info(&self.socket);
        End {
            at: at.nanos(),
            over,
            failed: self.failed,
            delivered: self.delivered - self.before,
            syn_resent: if self.established { self.syn_resent } else { info.resent },
            resent: info.resent,
            resent_bytes: info.resent_bytes,
            data_segments: info.data_segments,
        }
    }
}
