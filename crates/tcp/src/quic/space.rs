//! A packet number space: the packets sent in it, and the packets and data received.

use std::collections::VecDeque;

use packet::{Duration, Instant};

use super::acks::Acks;
use super::data::{Incoming, Outgoing};

/// State of a packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The packet is not ack-eliciting, so it counts neither as in flight nor as lost.
    Ignored,
    /// The packet is in flight.
    Out,
    Acked,
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub at: Instant,
    /// Total bytes delivered when the packet was sent.
    pub delivered: u64,
    /// Numbers of the packet's first data byte and of the byte after its last; equal without data.
    pub seq: u64,
    pub end: u64,
    /// The highest packet number that the packet's ACK frame reports, if it has one.
    pub reports: Option<u64>,
    /// UDP payload, bytes.
    pub bytes: u16,
    /// The packet was sent ECN-capable.
    pub capable: bool,
    /// The packet has a HANDSHAKE_DONE frame.
    pub done: bool,
    pub fate: Fate,
}

/// A space of packet numbers, with the data that its packets carry.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// The next packet number.
    pub next: u64,
    /// Packet number of the first record.
    pub first: u64,
    sent: VecDeque<Sent>,
    pub largest_acked: Option<u64>,
    /// When the next packet becomes lost, if it is not acknowledged before (`loss_time`).
    pub loss_time: Instant,
    /// When an ack-eliciting packet was sent last.
    pub eliciting_at: Instant,
    /// Number of ack-eliciting packets in flight.
    pub eliciting_out: u32,
    /// Number of probes that are to be sent.
    pub probes: u8,
    /// The number after the data that the last probe repeated.
    pub probed: u64,
    /// ECN counts of the peer's last ACK frame that was evaluated.
    pub counted: super::acks::EcnCounts,
    pub acks: Acks,
    pub out: Outgoing,
    pub incoming: Incoming,
}

impl Default for Space {
    fn default() -> Self {
        Space {
            next: 0,
            first: 0,
            sent: VecDeque::new(),
            largest_acked: None,
            loss_time: Instant::NEVER,
            eliciting_at: Instant::ZERO,
            eliciting_out: 0,
            probes: 0,
            probed: 0,
            counted: Default::default(),
            acks: Acks::default(),
            out: Outgoing::default(),
            incoming: Incoming::default(),
        }
    }
}

impl Space {
    /// Resets the space, keeping the largest of its heap buffers.
    pub fn renew(&mut self) {
        let mut sent = std::mem::take(&mut self.sent);
        sent.clear();
        *self = Space { sent, ..Space::default() };
    }

    /// A packet goes out under the next number.
    pub fn push(&mut self, sent: Sent) {
        self.next += 1;
        if sent.fate == Fate::Out {
            (self.eliciting_at, self.eliciting_out) = (sent.at, self.eliciting_out + 1);
        } else if self.sent.is_empty() {
            self.first = self.next;
            return;
        }
        self.sent.push_back(sent);
    }

    /// The record of packet `number`, if it is kept.
    pub fn get(&mut self, number: u64) -> Option<&mut Sent> {
        self.sent.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// The records with their packet numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Sent)> {
        let first = self.first;
        self.sent.iter().enumerate().map(move |(i, sent)| (first + i as u64, sent))
    }

    /// Duration of the run of losses that ends with packet `number` and begins after the last
    /// packet that is acknowledged or in flight: the time between the sending of its first and its
    /// last ack-eliciting packet sent after `from`.
    pub fn run_of_losses(&self, number: u64, from: Instant) -> Option<Duration> {
        let below = self.iter().rev().skip_while(|&(n, _)| n > number);
        let run = below.take_while(|(_, sent)| matches!(sent.fate, Fate::Lost | Fate::Ignored));
        let mut times = run.filter(|(_, sent)| sent.fate == Fate::Lost && sent.at > from);
        let last = times.next()?.1.at;
        times.last().map(|(_, first)| last.since(first.at))
    }

    /// Removes the records that are no longer needed: those before the first packet in flight,
    /// except for losses behind which nothing is acknowledged yet (they may begin a longer run).
    pub fn trim(&mut self) {
        let settled = self.sent.iter().take_while(|sent| sent.fate != Fate::Out);
        let known = settled.enumerate().filter(|(_, sent)| sent.fate != Fate::Lost).last();
        let count = known.map_or(0, |(i, _)| i + 1);
        self.sent.drain(..count);
        self.first += count as u64;
    }

    /// Discards all packets; returns the bytes that were in flight.
    pub fn discard(&mut self) -> u64 {
        let out = self.sent.iter().filter(|sent| sent.fate == Fate::Out);
        let bytes = out.map(|sent| u64::from(sent.bytes)).sum();
        self.renew();
        bytes
    }
}
