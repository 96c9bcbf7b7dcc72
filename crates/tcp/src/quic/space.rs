//! One space of packet numbers: what was sent under each, and what has arrived.

use std::collections::VecDeque;

use packet::{Duration, Instant};

use super::acks::Acks;
use super::data::{Incoming, Outgoing};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It counts nowhere: an acknowledgement alone.
    Ignored,
    /// It is out.
    Out,
    Acked,
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub at: Instant,
    /// Bytes delivered in all when it was sent.
    pub delivered: u64,
    /// The numbers of its data; equal without.
    pub seq: u64,
    pub end: u64,
    /// The highest number that its ACK frame reports.
    pub reports: Option<u64>,
    /// UDP payload, bytes.
    pub bytes: u16,
    /// It was sent ECN-capable.
    pub capable: bool,
    /// HANDSHAKE_DONE is in it.
    pub done: bool,
    pub fate: Fate,
}

/// A space of packet numbers, with the data that its packets carry.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// The next packet number.
    pub next: u64,
    /// The number of the first record.
    pub first: u64,
    sent: VecDeque<Sent>,
    pub largest_acked: Option<u64>,
    /// When the next packet is taken for lost, if it is not acknowledged (`loss_time`).
    pub loss_time: Instant,
    /// When an ack-eliciting packet was sent last.
    pub eliciting_at: Instant,
    /// Ack-eliciting packets out.
    pub eliciting_out: u32,
    /// Probes to send.
    pub probes: u8,
    /// The number after what the last of them repeated.
    pub probed: u64,
    /// Counts of the peer's last ACK frame that counted.
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
    /// As new, keeping the largest of the heap buffers.
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

    /// The record of a number, if it is kept.
    pub fn get(&mut self, number: u64) -> Option<&mut Sent> {
        self.sent.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// The records with their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Sent)> {
        let first = self.first;
        self.sent.iter().enumerate().map(move |(i, sent)| (first + i as u64, sent))
    }

    /// Packets lost in this run of losses, from `number` down to one that was acknowledged or is out: when the first
    /// and the last ack-eliciting one of them, sent after `from`, was sent.
    pub fn run_of_losses(&self, number: u64, from: Instant) -> Option<Duration> {
        let below = self.iter().rev().skip_while(|&(n, _)| n > number);
        let run = below.take_while(|(_, sent)| matches!(sent.fate, Fate::Lost | Fate::Ignored));
        let mut times = run.filter(|(_, sent)| sent.fate == Fate::Lost && sent.at > from);
        let last = times.next()?.1.at;
        times.last().map(|(_, first)| last.since(first.at))
    }

    /// Forgets the records that say nothing any more: the first ones, up to the first that is out, but for losses
    /// behind which nothing is acknowledged yet (they may be the beginning of a longer run).
    pub fn trim(&mut self) {
        let settled = self.sent.iter().take_while(|sent| sent.fate != Fate::Out);
        let known = settled.enumerate().filter(|(_, sent)| sent.fate != Fate::Lost).last();
        let count = known.map_or(0, |(i, _)| i + 1);
        self.sent.drain(..count);
        self.first += count as u64;
    }

    /// Forgets all packets; the bytes that were in flight.
    pub fn discard(&mut self) -> u64 {
        let out = self.sent.iter().filter(|sent| sent.fate == Fate::Out);
        let bytes = out.map(|sent| u64::from(sent.bytes)).sum();
        self.renew();
        bytes
    }
}
