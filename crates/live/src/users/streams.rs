//! Streams of datagrams: the sender numbers them, and the receiver logs arrivals.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use packet::{Ecn, Instant};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use traffic::Input;

use super::datagram::{Name, Sender};
use super::driver::{Driver, Place, Slot};
use super::facts::{ConnectionId, Fact};
use super::partner::{DatagramOrder, PartnerMessage};
use super::seen::Seen;
use super::{kernel, sockets};
use crate::control::{Announcement, Protocol};

/// Size of the receive buffer in bytes, above the longest UDP payload.
const LONGEST: usize = 1 << 16;

/// The stream of a source of this program, and the stream of its peer's datagrams.
#[derive(Debug)]
struct Stream {
    id: ConnectionId,
    sender: Sender,
    from: SocketAddr,
    to: SocketAddr,
    /// Number of datagrams sent in each direction: by the source, and by its peer.
    said: [u64; 2],
}

/// All streams of this program's sources, and the sockets that serve the other side's streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    mine: Vec<Stream>,
    /// Index of the source, by the number of its stream and by that of its peer's stream.
    member_of: HashMap<ConnectionId, u32>,
    served: HashMap<SocketAddr, Sender>,
    /// Numbers of datagrams that have arrived, by stream.
    seen: HashMap<ConnectionId, Seen>,
}

impl Streams {
    /// Registers the server socket at `at`, from which the peers of the other side's streams send.
    pub fn serve(&mut self, at: SocketAddr, socket: OwnedFd, dscp: u8) {
        self.served.insert(at, Sender::new(socket, at, dscp));
    }
}

impl Driver {
    /// A source sends a datagram that the peer's application does not need to be notified of.
    pub(super) fn datagram(&mut self, source: u32, peer: u32, bytes: u32) -> io::Result<()> {
        let stream = self.stream_of(source, peer, false)?;
        self.send_forward(stream, bytes, Ecn::NotEct, false)
    }

    /// Sends a datagram of a two-way stream: from the source, or, if `back`, from its peer.
    pub(super) fn say(
        &mut self,
        source: u32,
        peer: u32,
        bytes: u32,
        back: bool,
        ecn: Ecn,
    ) -> io::Result<()> {
        let stream = self.stream_of(source, peer, true)?;
        if !back {
            return self.send_forward(stream, bytes, ecn, true);
        }
        let of = &mut self.streams.mine[stream];
        let (stream, number, from, to) = (of.id + 1, of.said[1], of.to, of.from);
        of.said[1] += 1;
        let code_point = ecn.code_point();
        self.partner.enqueue(&PartnerMessage::SendDatagram(DatagramOrder {
            stream,
            number,
            bytes,
            code_point,
            from,
            to,
        }));
        Ok(())
    }

    fn send_forward(
        &mut self,
        stream: usize,
        bytes: u32,
        ecn: Ecn,
        notifies: bool,
    ) -> io::Result<()> {
        let at = self.clock.now().nanos();
        let of = &mut self.streams.mine[stream];
        let name = Name { stream: of.id, number: of.said[0], notifies };
        of.said[0] += 1;
        of.sender.send(name, bytes, ecn, of.to)?;
        self.log.note(&Fact::Sent { stream: name.stream, number: name.number, at });
        Ok(())
    }

    /// Sends a datagram as the peer of a stream of the other side, as the partner orders.
    pub(super) fn say_back(&mut self, of: &DatagramOrder) -> io::Result<()> {
        let DatagramOrder { stream, number, bytes, code_point, from, to } = *of;
        let at = self.clock.now().nanos();
        if let Some(sender) = self.streams.served.get_mut(&from) {
            let (name, ecn) =
                (Name { stream, number, notifies: true }, Ecn::of_traffic_class(code_point));
            sender.send(name, bytes, ecn, to)?;
        }
        self.log.note(&Fact::Sent { stream, number, at });
        Ok(())
    }

    /// Index of a source's stream. At its first datagram, the round-trip time is drawn and the
    /// stream announced to the router.
    fn stream_of(&mut self, source: u32, peer: u32, conversation: bool) -> io::Result<usize> {
        let of = &mut self.sources[source as usize];
        if let Some(stream) = of.stream {
            return Ok(stream);
        }
        let (group, user, machine) = (of.group, of.user, of.machine);
        let live = self.groups.at(group);
        let round_trip = live.group.draw_round_trip(machine, peer, of.index, &mut of.rng);
        let at = self.places.machine(self.side, machine, self.pair);
        let to = self.places.served(self.side.other(), peer, self.pair, group);
        let dscp = live.group.dscp;
        let (socket, from) = sockets::sender(&mut self.ports, at, dscp)?;
        self.on_group_active(group);
        self.announce(Announcement {
            protocol: Protocol::Udp,
            opener: from,
            acceptor: to,
            group,
            source: user,
            round_trip,
        })?;
        self.watch(Slot::Datagrams(socket.try_clone()?, group), EventFlags::IN)?;
        let (id, answers) = (self.next_id(), self.next_id());
        let at = self.clock.now().nanos();
        self.log.note(&Fact::Stream { stream: id, at, group, user, back: false });
        self.streams.member_of.insert(id, source);
        if conversation {
            self.log.note(&Fact::Stream { stream: answers, at, group, user, back: true });
            self.streams.member_of.insert(answers, source);
        }
        let sender = Sender::new(socket, from, dscp);
        self.streams.mine.push(Stream { id, sender, from, to, said: [0; 2] });
        let stream = self.streams.mine.len() - 1;
        self.sources[source as usize].stream = Some(stream);
        Ok(stream)
    }

    /// Reads all datagrams that have arrived at a socket.
    pub(super) fn read_datagrams(&mut self, place: Place, on: bool) -> io::Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        while let Some(Slot::Datagrams(socket, group)) = self.at(place) {
            let group = *group;
            match kernel::receive(socket, &mut scratch[..LONGEST]) {
                Ok((bytes, ecn)) => self.datagram_came(group, &scratch[..bytes], ecn, on)?,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR | Errno::CONNREFUSED) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.scratch = scratch;
        Ok(())
    }

    fn datagram_came(&mut self, group: u16, bytes: &[u8], ecn: Ecn, on: bool) -> io::Result<()> {
        let Some(Name { stream, number, notifies }) = Name::decode(bytes) else { return Ok(()) };
        let (at, marked) = (self.clock.now(), ecn == Ecn::Ce);
        if !self.streams.seen.entry(stream).or_default().is_first(number) {
            return Ok(());
        }
        self.log.note(&Fact::Received { stream, number, at: at.nanos() });
        if !on {
            return Ok(());
        }
        self.arrived(group, bytes.len() as u64);
        match self.streams.member_of.get(&stream) {
            Some(&source) => {
                self.notify(source, Input::Received { back: true, number, marked }, at)
            }
            None => {
                if notifies {
                    self.partner.enqueue(&PartnerMessage::Received {
                        stream,
                        number,
                        at: at.nanos(),
                        marked,
                    });
                }
                Ok(())
            }
        }
    }

    /// Notifies a source of this side that its datagram has arrived at the other side.
    pub(super) fn on_forwarded(
        &mut self,
        stream: ConnectionId,
        number: u64,
        at: u64,
        marked: bool,
    ) -> io::Result<()> {
        match self.streams.member_of.get(&stream) {
            Some(&source) => {
                let input = Input::Received { back: false, number, marked };
                self.notify(source, input, Instant::from_nanos(at))
            }
            None => Ok(()),
        }
    }
}
