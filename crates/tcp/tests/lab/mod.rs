//! A tiny world for tests: two endpoints, a path of constant delay without queue or
//! serialisation, an HTTP/1.0 client and server, and a list of what was sent.
#![allow(dead_code)]

pub mod one_end;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use aqmlab_tcp::{Endpoint, Flags, HostClock, Profile, Segment, State};
use packet::params::{Params, Raw};
use packet::{Duration, Ecn, Instant};

/// Client (opens) and server (accepts), as indices.
pub const C: usize = 0;
pub const S: usize = 1;

/// A profile by name with some parameters set.
pub fn profile(name: &str, settings: &[(&str, Raw)]) -> Arc<Profile> {
    let entry = aqmlab_tcp::find(name).expect("a listed profile");
    let raw: Vec<_> = settings.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    let params = Params::check(entry.about.fields, &raw).expect("good parameters");
    Arc::new(
        (entry.build)(&params, &aqmlab_tcp::Controls::ours())
            .expect("parameters that fit together"),
    )
}

pub fn ms(x: u64) -> Duration {
    Duration::from_millis(x)
}
pub fn secs(x: f64) -> Instant {
    Instant::from_secs_f64(x)
}

/// All of these flags.
pub fn all(flags: &[Flags]) -> Flags {
    flags.iter().fold(Flags::NONE, |sum, &flag| sum.with(flag))
}

/// A packet as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Instant,
    pub side: usize,
    /// From 1, per side, every packet.
    pub number: u32,
    /// From 1, per side, packets with payload; 0 for others.
    pub data_number: u32,
    pub lost: bool,
    pub segment: Segment,
}

/// The numbers of a side after something happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub at: Instant,
    pub side: usize,
    pub cwnd: u64,
    pub ssthresh: u64,
    pub rto: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrives(usize, usize),
    Timeout(usize),
}

/// Order within an instant: arrivals, order 0, order 1; then first come, first served.
type Key = (Instant, u8, u64);

/// What the path does to a packet that is not lost: whether a queue marks it, and how much later
/// it arrives.
pub type Fate = Box<dyn FnMut(&Sent) -> (bool, Duration)>;

pub struct World {
    pub ends: [Endpoint; 2],
    pub delay: Duration,
    pub fate: Fate,
    pub request: u64,
    pub reply: u64,
    /// Ask for segments between telling an endpoint of an arrival and the program's reaction.
    pub poll_first: bool,
    pub sent: Vec<Sent>,
    pub probes: Vec<Probe>,
    pub keep_log: bool,
    pub replied: Option<Instant>,
    pub server_closed: Option<Instant>,
    pub failed: [Option<Instant>; 2],
    pub now: Instant,
    wrote: bool,
    hung_up: bool,
    counts: [[u32; 2]; 2],
    armed: [Option<(Instant, u8)>; 2],
    agenda: BinaryHeap<Reverse<(Key, What)>>,
    flying: Vec<Segment>,
    free: Vec<usize>,
    order: u64,
}

impl World {
    pub fn new(profile: &Arc<Profile>, clocks: [HostClock; 2], reply: u64) -> Self {
        World::pair([profile, profile], clocks, reply)
    }

    /// Client and server of different kinds.
    pub fn pair(profiles: [&Arc<Profile>; 2], clocks: [HostClock; 2], reply: u64) -> Self {
        World {
            ends: [C, S].map(|side| Endpoint::new(profiles[side], clocks[side])),
            delay: ms(50),
            fate: Box::new(|_| (false, Duration::ZERO)),
            request: 300,
            reply,
            poll_first: true,
            sent: Vec::new(),
            probes: Vec::new(),
            keep_log: true,
            replied: None,
            server_closed: None,
            failed: [None; 2],
            now: Instant::ZERO,
            wrote: false,
            hung_up: false,
            counts: [[0; 2]; 2],
            armed: [None; 2],
            agenda: BinaryHeap::new(),
            flying: Vec::new(),
            free: Vec::new(),
            order: 0,
        }
    }

    /// Connects and runs until `end` or until nothing is left to do.
    pub fn run(&mut self, end: Instant, lose: &mut dyn FnMut(&Sent) -> bool) {
        let request = self.request;
        self.ends[C].connect(self.now);
        self.ends[C].write(request, self.now);
        self.settle(C, lose);
        self.go_on(end, lose);
    }

    /// Runs on until `end`.
    pub fn go_on(&mut self, end: Instant, lose: &mut dyn FnMut(&Sent) -> bool) {
        while self.agenda.peek().is_some_and(|next| next.0.0.0 <= end) {
            let Reverse(((at, _, _), what)) = self.agenda.pop().expect("there is one");
            assert!(at >= self.now, "time runs backwards");
            self.now = at;
            match what {
                What::Arrives(side, slot) => {
                    self.free.push(slot);
                    self.ends[side].on_segment(&self.flying[slot], at);
                    self.react(side, lose);
                }
                What::Timeout(side) => {
                    let due = self.ends[side].next_timeout();
                    if self.armed[side] != due.map(|d| (d.at, d.order))
                        || due.is_none_or(|d| d.at != at)
                    {
                        continue;
                    }
                    self.armed[side] = None;
                    self.ends[side].on_timeout(at);
                    self.settle(side, lose);
                }
            }
        }
    }

    /// What the programs do after an arrival.
    fn react(&mut self, side: usize, lose: &mut dyn FnMut(&Sent) -> bool) {
        if self.poll_first {
            self.settle(side, lose);
        }
        let now = self.now;
        let end = &mut self.ends[side];
        if side == S && !self.wrote && end.delivered() == self.request {
            self.wrote = true;
            end.write(self.reply, now);
            end.close(now);
        }
        if side == C && !self.hung_up && end.peer_closed() {
            self.hung_up = true;
            end.close(now);
        }
        if side == C && self.replied.is_none() && end.delivered() == self.reply {
            self.replied = Some(now);
        }
        self.settle(side, lose);
        let other = 1 - side;
        if self.ends[side].ended_without_fin() && !self.ends[other].peer_closed() {
            self.ends[other].on_peer_closed(now);
            self.react(other, lose);
        }
    }

    /// Sends what is to be sent, sets the alarm.
    fn settle(&mut self, side: usize, lose: &mut dyn FnMut(&Sent) -> bool) {
        while let Some(segment) = self.ends[side].poll_send(self.now) {
            self.send(side, segment, lose);
        }
        let end = &self.ends[side];
        if self.keep_log {
            assert!(end.poll_send_is_settled(self.now), "asked again, it sends again");
            let probe = Probe {
                at: self.now,
                side,
                cwnd: end.cwnd(),
                ssthresh: end.ssthresh(),
                rto: end.rto(),
            };
            self.probes.push(probe);
        }
        if end.state() == State::Closed && side == S && self.server_closed.is_none() {
            self.server_closed = Some(self.now);
        }
        if end.state() == State::Failed && self.failed[side].is_none() {
            self.failed[side] = Some(self.now);
        }
        let due = end.next_timeout().map(|d| (d.at, d.order));
        if due != self.armed[side] {
            self.armed[side] = due;
            if let Some((at, order)) = due {
                self.schedule(at.max(self.now), 1 + order, What::Timeout(side));
            }
        }
    }

    fn send(&mut self, side: usize, segment: Segment, lose: &mut dyn FnMut(&Sent) -> bool) {
        let [all, data] = &mut self.counts[side];
        *all += 1;
        *data += u32::from(segment.len > 0);
        let data_number = if segment.len > 0 { *data } else { 0 };
        let number = *all;
        let at = self.now;
        let mut sent = Sent { at, side, number, data_number, lost: false, segment };
        sent.lost = lose(&sent);
        if self.keep_log {
            self.sent.push(sent);
        }
        if !sent.lost {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.flying.push(segment);
                self.flying.len() - 1
            });
            self.flying[slot] = segment;
            let (marked, late) = (self.fate)(&sent);
            if marked {
                assert_ne!(segment.ecn, Ecn::NotEct, "marks what is not ECN-capable: {sent:?}");
                self.flying[slot].ecn = Ecn::Ce;
            }
            self.schedule(at + self.delay + late, 0, What::Arrives(1 - side, slot));
        }
    }

    fn schedule(&mut self, at: Instant, class: u8, what: What) {
        self.order += 1;
        self.agenda.push(Reverse(((at, class, self.order), what)));
    }
}

/// Asking again changes nothing.
trait Settled {
    fn poll_send_is_settled(&self, now: Instant) -> bool;
}
impl Settled for Endpoint {
    fn poll_send_is_settled(&self, now: Instant) -> bool {
        !cfg!(debug_assertions) || self.clone().poll_send(now).is_none()
    }
}

/// "SYN", "SYN-ACK", "ack 2002", "1:1460", "1:540+FIN", "FIN 2001", with "ack n" for client data;
/// then ECT or ECT1, AE, CWR and ECE where they are set.
pub fn describe(segment: &Segment) -> String {
    let mut text = kind(segment);
    let flag = |f| segment.flags.has(f);
    match segment.ecn {
        Ecn::NotEct => {}
        Ecn::Ect1 => text += " ECT1",
        Ecn::Ect0 | Ecn::Ce => text += " ECT",
    }
    for (set, word) in [(Flags::AE, " AE"), (Flags::CWR, " CWR"), (Flags::ECE, " ECE")] {
        if flag(set) {
            text += word;
        }
    }
    text
}

fn kind(segment: &Segment) -> String {
    let flag = |f| segment.flags.has(f);
    if flag(Flags::SYN) {
        return if flag(Flags::ACK) { "SYN-ACK".into() } else { "SYN".into() };
    }
    let ack = segment.ack;
    let fin = flag(Flags::FIN);
    if segment.len == 0 {
        return if fin { format!("FIN {} ack {ack}", segment.seq) } else { format!("ack {ack}") };
    }
    let last = segment.seq + u64::from(segment.len) - 1;
    format!("{}:{last}{} ack {ack}", segment.seq, if fin { "+FIN" } else { "" })
}
