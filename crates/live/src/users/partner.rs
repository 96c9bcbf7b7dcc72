//! Messages between the two programs of a pair, outside the emulated network: the requests and
//! replies of a connection, and the arrivals of datagrams.
//!
//! Requests and replies have the scenario's sizes to the byte. A request may be too short to hold
//! its reply's size, and a reply may have no request at all, so sizes are not sent in band. The
//! other program acts on a message only when the bytes have arrived over the network.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};

use super::facts::ConnectionId;

/// Which end closes a connection: [`traffic::Closes`] in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closing {
    /// The acceptor, after its reply. The opener may recognize the reply's end only by the FIN.
    Acceptor,
    /// The acceptor, after its reply to the last request, which [`PartnerMessage::Last`] marks.
    AcceptorLast,
    /// The opener closes first.
    Opener,
}

impl From<traffic::Closes> for Closing {
    fn from(closes: traffic::Closes) -> Self {
        match closes {
            traffic::Closes::Acceptor | traffic::Closes::AcceptorToEnd => Closing::Acceptor,
            traffic::Closes::AcceptorLast => Closing::AcceptorLast,
            traffic::Closes::Opener => Closing::Opener,
        }
    }
}

/// Time when a reply is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// After this service time, ns, from the arrival of its request.
    Served(u64),
    /// This many ns after the connection is established and the kernel has taken all earlier
    /// replies.
    Unrequested(u64),
    /// This many ns after the last reply was written; after the announcement if it is the first.
    Scripted(u64),
}

/// A message to the partner program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartnerMessage {
    /// A connection from this address is about to be opened.
    Open { conn: ConnectionId, from: SocketAddr, closing: Closing },
    /// Write a reply of `bytes` bytes after the first `request_end` bytes of the opener have
    /// arrived.
    Reply { conn: ConnectionId, request_end: u64, bytes: u64, when: When },
    /// The opener sends no further request.
    Last { conn: ConnectionId },
    /// The connection was given up, perhaps before it arrived.
    Gone { conn: ConnectionId },
    /// Send a datagram as the peer of a stream.
    SendDatagram(DatagramOrder),
    /// Datagram `number` of the stream arrived; `marked` if with CE.
    Received { stream: ConnectionId, number: u64, at: u64, marked: bool },
    /// The first source of a group has opened a connection or sent a datagram.
    GroupActive { group: u16, at: u64 },
}

/// A datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramOrder {
    /// Number of the datagram's stream.
    pub stream: ConnectionId,
    /// Number of datagrams that were sent in the stream before this one.
    pub number: u64,
    /// Payload of the datagram, bytes.
    pub bytes: u32,
    /// The ECN field of the datagram's IP header.
    pub code_point: u8,
    /// Address of the socket that sends the datagram.
    pub from: SocketAddr,
    /// Address that the datagram is sent to.
    pub to: SocketAddr,
}

/// The channel to the partner: a local stream socket, with buffers for both directions.
#[derive(Debug)]
pub struct Partner {
    socket: OwnedFd,
    out: Vec<u8>,
    input: Vec<u8>,
}

impl Partner {
    /// A channel over one end of a pair of local stream sockets. No call blocks.
    pub fn new(socket: OwnedFd) -> Self {
        Partner { socket, out: Vec::new(), input: Vec::new() }
    }

    /// The file descriptor, to wait for messages.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Buffers a message for the next [`Partner::flush`].
    pub fn enqueue(&mut self, word: &PartnerMessage) {
        serde_json::to_writer(&mut self.out, word).expect("memory takes it");
        self.out.push(b'\n');
    }

    /// Sends buffered messages, as far as the socket takes them.
    ///
    /// # Errors
    /// If the partner has ended.
    pub fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.out.len() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.socket, &self.out[sent..], flags) {
                Ok(bytes) => sent += bytes,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.out.drain(..sent);
        Ok(())
    }

    /// Returns all complete messages that have arrived since the last call.
    ///
    /// # Errors
    /// If the partner has ended, or a message is malformed.
    pub fn receive(&mut self) -> io::Result<Vec<PartnerMessage>> {
        let mut chunk = [0; 1 << 16];
        let gone = loop {
            match recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => break true,
                Ok((bytes, _)) => self.input.extend_from_slice(&chunk[..bytes]),
                Err(Errno::AGAIN) => break false,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        let whole = self.input.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if gone && whole == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let lines = self.input[..whole].split(|&byte| byte == b'\n').filter(|l| !l.is_empty());
        let words = lines.map(serde_json::from_slice).collect::<Result<_, _>>();
        self.input.drain(..whole);
        Ok(words?)
    }
}
