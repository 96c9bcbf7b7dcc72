//! Datagrams: numbered by who sends them, and noted by who gets them.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use packet::Instant;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, sendto};
use traffic::Input;

use super::driver::{Driver, Place, Slot};
use super::facts::{ConnectionId, Fact};
use super::partner::Word;
use super::sockets;
use crate::control::{Announcement, Protocol};

/// Bytes of a datagram that name it; the shortest there are.
pub const LEAST: usize = 12;

/// Says of a datagram that its stream's application hears of it.
const HEARD: u32 = 1 << 31;

/// The longest payload there is.
const LONGEST: usize = 1 << 16;

/// The name of a datagram, at its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    stream: ConnectionId,
    number: u64,
    heard: bool,
}

impl Name {
    fn encode(self) -> [u8; LEAST] {
        let mut out = [0; LEAST];
        out[..8].copy_from_slice(&self.stream.to_le_bytes());
        // 2^31 datagrams at a thousand a second are a month.
        let number = self.number as u32 | if self.heard { HEARD } else { 0 };
        out[8..].copy_from_slice(&number.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Option<Name> {
        let stream = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let number = u32::from_le_bytes(bytes.get(8..LEAST)?.try_into().ok()?);
        Some(Name { stream, number: u64::from(number & !HEARD), heard: number & HEARD != 0 })
    }
}

/// The stream of a member of this program.
#[derive(Debug)]
struct Stream {
    id: ConnectionId,
    socket: OwnedFd,
    from: SocketAddr,
    to: SocketAddr,
    /// Datagrams said, there and back.
    said: [u64; 2],
}

/// All streams, and the sockets of those that are served here.
#[derive(Debug, Default)]
pub(super) struct Streams {
    mine: Vec<Stream>,
    /// Whose stream it is, by its number and by that of its answers.
    member_of: HashMap<ConnectionId, u32>,
    served: HashMap<SocketAddr, OwnedFd>,
}

impl Streams {
    /// Datagrams of a group come here, and are answered from here.
    pub fn serve(&mut self, at: SocketAddr, socket: OwnedFd) {
        self.served.insert(at, socket);
    }
}

/// Sends a datagram of so many bytes. One that the kernel does not take counts as sent and lost.
fn send(socket: &OwnedFd, name: Name, bytes: u32, to: SocketAddr) {
    let mut payload = vec![0; LEAST.max(bytes as usize)];
    payload[..LEAST].copy_from_slice(&name.encode());
    let _ = sendto(socket, &payload, SendFlags::DONTWAIT, &to);
}

impl Driver {
    /// A member sends a datagram.
    pub(super) fn datagram(&mut self, member: u32, peer: u32, bytes: u32) -> io::Result<()> {
        let stream = self.stream_of(member, peer, false)?;
        self.send_forward(stream, bytes, false);
        Ok(())
    }

    /// A member, or his peer, says something in their conversation.
    pub(super) fn say(&mut self, member: u32, peer: u32, bytes: u32, back: bool) -> io::Result<()> {
        let stream = self.stream_of(member, peer, true)?;
        if !back {
            self.send_forward(stream, bytes, true);
            return Ok(());
        }
        let of = &mut self.streams.mine[stream];
        let (stream, number, from, to) = (of.id + 1, of.said[1], of.to, of.from);
        of.said[1] += 1;
        self.partner.say(&Word::Say { stream, number, bytes, from, to });
        Ok(())
    }

    fn send_forward(&mut self, stream: usize, bytes: u32, heard: bool) {
        let at = self.clock.now().nanos();
        let of = &mut self.streams.mine[stream];
        let name = Name { stream: of.id, number: of.said[0], heard };
        of.said[0] += 1;
        send(&of.socket, name, bytes, of.to);
        self.log.note(&Fact::Sent { stream: name.stream, number: name.number, at });
    }

    /// The other program has its application's peer say something here.
    pub(super) fn say_back(
        &mut self,
        stream: ConnectionId,
        number: u64,
        bytes: u32,
        from: SocketAddr,
        to: SocketAddr,
    ) {
        let at = self.clock.now().nanos();
        if let Some(socket) = self.streams.served.get(&from) {
            send(socket, Name { stream, number, heard: true }, bytes, to);
        }
        self.log.note(&Fact::Sent { stream, number, at });
    }

    /// A member's stream: its first datagram draws its distance and announces it.
    fn stream_of(&mut self, member: u32, peer: u32, conversation: bool) -> io::Result<usize> {
        let of = &mut self.members[member as usize];
        if let Some(stream) = of.stream {
            return Ok(stream);
        }
        let (group, user, machine) = (of.group, of.user, of.machine);
        let live = self.groups.at(group);
        let round_trip = live.group.draw_round_trip(machine, peer, of.index, &mut of.rng);
        let at = self.places.machine(self.side, machine, self.pair);
        let to = self.places.served(self.side.other(), peer, self.pair, group);
        let (socket, from) = sockets::sender(&mut self.ports, at, live.group.dscp)?;
        self.acts(group);
        self.announce(Announcement {
            protocol: Protocol::Udp,
            opener: from,
            acceptor: to,
            group,
            member: user,
            round_trip,
        })?;
        self.watch(Slot::Datagrams(socket.try_clone()?, group), EventFlags::IN)?;
        let (id, answers) = (self.next_id(), self.next_id());
        let at = self.clock.now().nanos();
        self.log.note(&Fact::Stream { stream: id, at, group, user, back: false });
        self.streams.member_of.insert(id, member);
        if conversation {
            self.log.note(&Fact::Stream { stream: answers, at, group, user, back: true });
            self.streams.member_of.insert(answers, member);
        }
        self.streams.mine.push(Stream { id, socket, from, to, said: [0; 2] });
        let stream = self.streams.mine.len() - 1;
        self.members[member as usize].stream = Some(stream);
        Ok(stream)
    }

    /// Reads all datagrams that have come to a socket.
    pub(super) fn read_datagrams(&mut self, place: Place, on: bool) -> io::Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        while let Some(Slot::Datagrams(socket, group)) = self.at(place) {
            let group = *group;
            match recv(&*socket, &mut scratch[..LONGEST], RecvFlags::DONTWAIT) {
                Ok((_, bytes)) => self.datagram_came(group, &scratch[..bytes], on)?,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR | Errno::CONNREFUSED) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.scratch = scratch;
        Ok(())
    }

    fn datagram_came(&mut self, group: u16, bytes: &[u8], on: bool) -> io::Result<()> {
        let Some(Name { stream, number, heard }) = Name::decode(bytes) else { return Ok(()) };
        let at = self.clock.now();
        self.log.note(&Fact::Received { stream, number, at: at.nanos() });
        if !on {
            return Ok(());
        }
        self.arrived(group, bytes.len() as u64);
        match self.streams.member_of.get(&stream) {
            Some(&member) => {
                self.tell(member, Input::Heard { back: true, number, marked: false }, at)
            }
            None => {
                if heard {
                    self.partner.say(&Word::Heard { stream, number, at: at.nanos() });
                }
                Ok(())
            }
        }
    }

    /// A datagram of this side's arrived on the other.
    pub(super) fn heard(&mut self, stream: ConnectionId, number: u64, at: u64) -> io::Result<()> {
        match self.streams.member_of.get(&stream) {
            Some(&member) => {
                let input = Input::Heard { back: false, number, marked: false };
                self.tell(member, input, Instant::from_nanos(at))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_carry_their_names() {
        for (number, heard) in [(0, false), (70_000, true)] {
            let name = Name { stream: 1 << 62 | 9, number, heard };
            assert_eq!(Name::decode(&name.encode()), Some(name));
        }
        assert_eq!(Name::decode(&[0; LEAST - 1]), None);
    }
}
