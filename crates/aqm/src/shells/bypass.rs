//! Linux's bypass of an empty qdisc (`__dev_xmit_skb`, `TCQ_F_CAN_BYPASS`).
//!
//! A packet that arrives at an empty discipline at the root of a device is handed to the device
//! directly. If the device is busy, the packet waits before it, ahead of all later packets. The
//! discipline never processes it: no algorithm decides on it, and it changes no state. It counts in
//! the queue's length. Below a shaper (tbf, HTB) there is no bypass.

use packet::params::{Field, Kind, Value};
use packet::{Backlog, Event, Packet};

use crate::Cx;

/// Parameter `bypass` of the disciplines for which the kernel has this bypass.
pub(crate) const BYPASS: Field = Field::new("bypass", Kind::Switch, Value::Switch(false))
    .meaning(
        "Whether a packet that finds the queue empty goes past the discipline and is sent next, unjudged: so Linux \
         does at the root of a device, and not below tbf or HTB.",
    )
    .source("read: Linux __dev_xmit_skb, TCQ_F_CAN_BYPASS; off is what a shaper's child has");

/// The slot before the device, which holds at most one packet.
#[derive(Default)]
pub(crate) struct Bypass {
    on: bool,
    waiting: Option<Packet>,
}

impl Bypass {
    /// An empty slot, which takes packets if it is `on`.
    pub fn new(on: bool) -> Self {
        Bypass { on, waiting: None }
    }

    /// Takes `packet` if nothing waits, neither here nor in the discipline (`queued`); otherwise
    /// returns it.
    #[inline]
    pub fn admit(&mut self, packet: Packet, queued: Backlog, cx: &mut Cx) -> Option<Packet> {
        if !self.on || queued.packets > 0 || self.waiting.is_some() {
            return Some(packet);
        }
        (cx.out)(Event::Queued { id: packet.id });
        self.waiting = Some(packet);
        None
    }

    /// Takes the packet that waits here, which is sent before all others.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        self.waiting.take()
    }

    /// Backlog here and in the discipline (`queued`) together.
    #[inline]
    pub fn backlog(&self, queued: Backlog) -> Backlog {
        let bytes = self.waiting.as_ref().map_or(0, |packet| u64::from(packet.bytes));
        Backlog {
            packets: queued.packets + u32::from(self.waiting.is_some()),
            bytes: queued.bytes + bytes,
        }
    }
}
