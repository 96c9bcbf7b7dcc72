//! One end of a connection: bytes in, bytes out, and whether it has finished.

use std::os::fd::OwnedFd;

use packet::Instant;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use super::facts::End;
use super::kernel::{self, tcp_info};
use super::sockets::end_writing;

/// What is written, over and over.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// What one connection may hand over or take before the others have their turn: where nothing slows
/// a connection down (loopback), it would never be done.
const TURN_BYTES: u64 = 1 << 18;

/// The socket of one end.
#[derive(Debug)]
pub struct Pipe {
    /// The socket.
    pub socket: OwnedFd,
    /// Whether the handshake is over.
    pub established: bool,
    /// Bytes that the program has written and the kernel has not taken; `u64::MAX` never ends.
    pub unwritten: u64,
    /// Bytes the kernel has taken.
    pub taken: u64,
    /// Bytes that have arrived in order.
    pub delivered: u64,
    /// The other end has closed, and all it sent has been read.
    pub peer_closed: bool,
    /// This end has closed.
    pub shut: bool,
    /// It was given up.
    pub failed: bool,
    /// SYN or SYN-ACK retransmitted.
    syn_resent: u32,
    /// `delivered` when the measured interval began.
    before: u64,
    watched: EventFlags,
}

impl Pipe {
    /// An end; of one that opens the handshake is still to come.
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

    /// The handshake may be over.
    pub fn look_for_handshake(&mut self) {
        match sockopt::socket_error(&self.socket) {
            Ok(Ok(())) => self.establish(),
            Ok(Err(_)) | Err(_) => self.failed = true,
        }
    }

    /// Hands the kernel as much as it takes, or a turn's share: more at the next event. Where it
    /// `closes` when all is written, the end waits for that (`MSG_MORE`), so that the FIN goes with it
    /// as a simulated one does.
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

    /// Reads all there is, or a turn's share. Returns how many bytes came.
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

    /// Closes this end once all is written.
    pub fn close(&mut self) {
        if self.established && self.unwritten == 0 && !self.shut {
            self.shut = true;
            end_writing(&self.socket);
        }
    }

    /// Whether all that was written is acknowledged.
    pub fn acknowledged(&self) -> bool {
        self.established
            && self.unwritten == 0
            && kernel::unacknowledged(&self.socket) <= u64::from(self.shut)
    }

    /// Segments retransmitted so far.
    pub fn resent(&self) -> u32 {
        tcp_info(&self.socket).resent
    }

    /// Whether both directions are closed and acknowledged, or it has failed.
    pub fn over(&self) -> bool {
        self.failed || (self.shut && self.peer_closed && tcp_info(&self.socket).closed)
    }

    /// What to wait for, if that has changed. An end that waits for its last acknowledgement would
    /// always be ready for something: only changes count then.
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

    /// The events that are watched first.
    pub const FIRST_WATCH: EventFlags = EventFlags::IN.union(EventFlags::OUT);

    /// The measured interval begins.
    pub fn begin_measuring(&mut self) {
        self.before = self.delivered;
    }

    /// What it has done.
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
