//! An end of aqmlab's QUIC.

use std::sync::Arc;

use packet::Instant;
use packet::params::{Params, Raw};
use tcp::{Controls, Endpoint, HostClock, Profile, Segment, State};

use crate::end::{Body, Datagram, End, Reply, Seen};

/// The end-system profile `quic` with these fields.
pub fn profile(fields: &[(String, Raw)]) -> Result<Arc<Profile>, String> {
    let entry = tcp::find("quic").ok_or("no end system quic")?;
    let controls = Controls::ours();
    let params = Params::check(entry.about.fields, fields).map_err(|bad| bad.to_string())?;
    (entry.build)(&params, &controls).map(Arc::new).map_err(|bad| bad.to_string())
}

pub struct Ours {
    end: Endpoint,
    client: bool,
    reply: Reply,
    answered: bool,
    /// The highest sequence number of data that was sent.
    sent: u64,
}

impl Ours {
    pub fn new(profile: &Arc<Profile>, client: bool, reply: Reply) -> Self {
        let end = Endpoint::new(profile, HostClock::default());
        Ours { end, client, reply, answered: false, sent: 0 }
    }

    fn serve(&mut self, now: Instant) {
        if !self.client && !self.answered && self.end.state() == State::Established {
            self.answered = true;
            self.end.write(self.reply, now);
            self.end.close(now);
        }
    }

    fn datagram(&mut self, segment: Segment) -> Datagram {
        let handshake = segment.flags.has(tcp::Flags::SYN);
        let data = if handshake || self.client { 0 } else { segment.len };
        let end = segment.seq + u64::from(segment.len);
        let again = if end <= self.sent { data } else { 0 };
        if data > 0 {
            self.sent = self.sent.max(end);
        }
        let ack = segment.flags.has(tcp::Flags::ACK) && segment.len == 0;
        Datagram {
            bytes: segment.ip_bytes(),
            ecn: segment.ecn,
            data,
            again,
            ping: !handshake && segment.len == 0 && !ack,
            only_ack: !handshake && ack && !segment.flags.has(tcp::Flags::FIN),
            body: Body::Ours(segment),
        }
    }
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

impl End for Ours {
    fn begin(&mut self, now: u64) {
        self.end.connect(at(now));
    }

    fn receive(&mut self, datagram: Datagram, now: u64) {
        let Body::Ours(mut segment) = datagram.body else { return };
        segment.ecn = datagram.ecn;
        self.end.on_segment(&segment, at(now));
        self.serve(at(now));
    }

    fn due(&mut self) -> Option<(u64, u8)> {
        self.end.next_timeout().map(|due| (due.at.nanos(), due.order))
    }

    fn wake(&mut self, now: u64) {
        self.end.on_timeout(at(now));
    }

    fn poll(&mut self, now: u64) -> Option<Datagram> {
        let segment = self.end.poll_send(at(now))?;
        Some(self.datagram(segment))
    }

    fn seen(&self) -> Seen {
        let arrived = self.end.arrived();
        Seen { cwnd: self.end.cwnd(), arrived, done: self.client && self.end.peer_closed() }
    }
}
