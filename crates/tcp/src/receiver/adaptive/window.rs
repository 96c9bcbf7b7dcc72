//! The receive window that Linux offers (`__tcp_select_window`, `tcp_select_window`): what of the buffer is
//! free, as far as the window has grown, and never an end below the one that was offered before.
//!
//! The program reads at once: what waits in the buffer lies beyond a hole. It takes less room there than
//! when it came, for segments that join are kept as one.

use super::{Adaptive, Tempo};
use crate::receiver::{AckPolicy, AtOnce, Beyond, Receiver};

/// What of the room that a segment took alone it takes once it has joined others, in 1/256: its data, and
/// no buffer head of its own (`skb_try_coalesce`). Kernels were seen to count 70 to 72 %.
const JOINED: u64 = 184;

/// A receive window in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub bytes: u64,
    /// How far it is shifted.
    pub scale: u8,
}

impl Adaptive {
    /// A window that a header can hold, no smaller than this (`ALIGN(window, 1 << rcv_wscale)`).
    fn round_up(&self, bytes: u64) -> u64 {
        let below_unit = (1 << self.scale) - 1;
        (bytes + below_unit) & !below_unit
    }
}

impl Tempo {
    /// `__tcp_select_window`, with so much held beyond a hole.
    fn select(&mut self, rules: &Adaptive, held: u64) -> u64 {
        let space = self.buffer.space;
        let full = self.bound.min(space);
        let mut free = space.saturating_sub(held);
        if free < full / 2 {
            self.quick = 0;
            free = free >> rules.scale << rules.scale;
            if free < space / 16 || free < u64::from(self.full) {
                return 0;
            }
        }
        rules.round_up(free.min(self.window))
    }

    /// Whether there is no less room than was offered (`rcv_wnd`), when all below `acked` had come.
    pub(super) fn keeps_offer(&mut self, rules: &Adaptive, held: u64, acked: u64) -> bool {
        self.select(rules, held) >= self.edge.saturating_sub(acked)
    }

    /// `tcp_select_window`: what an acknowledgement of all below `next` offers.
    fn offer(&mut self, rules: &Adaptive, held: u64, next: u64) -> Offer {
        let open = rules.round_up(self.edge.saturating_sub(next));
        let bytes = self.select(rules, held).max(open);
        (self.edge, self.offered) = (next + bytes, true);
        Offer { bytes, scale: rules.scale }
    }
}

impl Beyond {
    /// An acknowledgement of all below `next` goes out.
    #[inline]
    pub(in crate::receiver) fn offer(
        &mut self,
        policy: &AckPolicy,
        next: u64,
        syn: bool,
    ) -> Option<Offer> {
        let held = self.room();
        let tempo = self.tempo.as_mut()?;
        // Without data since the last acknowledgement the window is that one's.
        let again = tempo.offered && !tempo.owed;
        tempo.on_ack_sent();
        let AtOnce::Adaptive(rules) = &policy.at_once else { return None };
        if syn {
            // Not shifted (RFC 7323 section 2.2).
            return Some(Offer { bytes: tempo.edge - 1, scale: 0 });
        }
        if again {
            let last = Offer { bytes: tempo.edge - next, scale: rules.scale };
            debug_assert_eq!({ *tempo }.offer(rules, held, next), last);
            return Some(last);
        }
        Some(tempo.offer(rules, held, next))
    }

    /// What is held beyond a hole takes of the buffer, counted as payload that comes.
    fn room(&self) -> u64 {
        (self.bytes * JOINED) >> 8
    }
}

impl Receiver {
    /// What is held beyond a hole takes of the buffer, counted as payload that comes.
    pub(super) fn held_room(&self) -> u64 {
        self.beyond.as_ref().map_or(0, |beyond| beyond.room())
    }
}
