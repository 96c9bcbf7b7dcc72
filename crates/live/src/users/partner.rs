//! Messages between the programs of both sides, outside the network: what is to come over a
//! connection, and what has been received.
//!
//! The sizes of requests and replies are the scenario's to the byte, also where a request is
//! shorter than anything that could be written into it, or where a reply has no request at all; so
//! they are not said in band. The other program acts on such a message only when the bytes have
//! arrived over the network.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};

use super::facts::ConnectionId;

/// Who closes a connection; [`traffic::Closes`] as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closing {
    /// The acceptor with its reply; the opener may know the reply's end only by it.
    Acceptor,
    /// The acceptor with its reply to the request after which the opener said so.
    AcceptorLast,
    /// The opener.
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

/// When a reply is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// This many ns after its request has arrived.
    Served(u64),
    /// This many ns after the connection is established and all earlier replies have been handed
    /// on.
    Unrequested(u64),
    /// This many ns after the last write, or since it was announced.
    Scripted(u64),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartnerMessage {
    /// A connection is about to come from this address.
    Open { conn: ConnectionId, from: SocketAddr, closing: Closing },
    /// A reply of `bytes` bytes follows `request_end` bytes of the opener's.
    Reply { conn: ConnectionId, request_end: u64, bytes: u64, when: When },
    /// There is no further request.
    Last { conn: ConnectionId },
    /// The connection never came, or is given up.
    Gone { conn: ConnectionId },
    /// Send a datagram as the peer of a stream.
    SendDatagram(DatagramOrder),
    /// Datagram `number` of the stream arrived, with a mark of congestion or without.
    Received { stream: ConnectionId, number: u64, at: u64, marked: bool },
    /// The first source of a group has opened a connection or sent a datagram.
    GroupActive { group: u16, at: u64 },
}

/// A datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramOrder {
    /// Stream of the datagram.
    pub stream: ConnectionId,
    /// How many of the stream came before it.
    pub number: u64,
    /// Payload of the datagram, bytes.
    pub bytes: u32,
    /// The ECN field of its header.
    pub code_point: u8,
    /// Who sends it.
    pub from: SocketAddr,
    /// Address that the datagram is sent to.
    pub to: SocketAddr,
}

/// The channel: a stream socket of the two programs alone.
#[derive(Debug)]
pub struct Partner {
    socket: OwnedFd,
    out: Vec<u8>,
    input: Vec<u8>,
}

impl Partner {
    /// One end of a pair of local stream sockets, which does not block.
    pub fn new(socket: OwnedFd) -> Self {
        Partner { socket, out: Vec::new(), input: Vec::new() }
    }

    /// To wait for it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Says something with the next [`Partner::flush`].
    pub fn enqueue(&mut self, word: &PartnerMessage) {
        serde_json::to_writer(&mut self.out, word).expect("memory takes it");
        self.out.push(b'\n');
    }

    /// Sends what waits, as far as the socket takes it.
    ///
    /// # Errors
    /// If the other program is gone.
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

    /// Everything that has been said since.
    ///
    /// # Errors
    /// If the other program is gone, or says what is no word.
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
