//! The receive window that Linux offers (`__tcp_select_window`, `tcp_select_window`): the free part
//! of the buffer, at most the size to which the window has grown; its right edge never moves back.
//!
//! The program reads at once, so that only data beyond a hole stays in the buffer. It takes less
//! room than when it arrived, since adjacent segments are merged.

use super::{Adaptive, Tempo};
use crate::receiver::{AckPolicy, AtOnce, Beyond, Receiver};

/// Room that a segment takes once it is merged with others, in 1/256 of its room alone: its data,
/// without a buffer head of its own (`skb_try_coalesce`). Measured in kernels: 70 to 72 %.
const JOINED: u64 = 184;

/// A receive window in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub bytes: u64,
    /// Window scale: the number of bits by which the window is shifted.
    pub scale: u8,
}

impl Adaptive {
    /// `bytes` rounded up to a window that a header can express (`ALIGN(window, 1 << rcv_wscale)`).
    fn round_up(&self, bytes: u64) -> u64 {
        let below_unit = (1 << self.scale) - 1;
        (bytes + below_unit) & !below_unit
    }
}

impl Tempo {
    /// The window to offer (`__tcp_select_window`) while data beyond a hole takes `held` bytes of
    /// room.
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

    /// Whether the window to offer is no smaller than the one offered last (`rcv_wnd`), with the
    /// acknowledgement number `acked`.
    pub(super) fn keeps_offer(&mut self, rules: &Adaptive, held: u64, acked: u64) -> bool {
        self.select(rules, held) >= self.edge.saturating_sub(acked)
    }

    /// `tcp_select_window`: the window that an acknowledgement of all below `next` offers.
    fn offer(&mut self, rules: &Adaptive, held: u64, next: u64) -> Offer {
        let open = rules.round_up(self.edge.saturating_sub(next));
        let bytes = self.select(rules, held).max(open);
        (self.edge, self.offered) = (next + bytes, true);
        Offer { bytes, scale: rules.scale }
    }
}

impl Beyond {
    /// An acknowledgement of all below `next` is sent; returns the window that it offers.
    #[inline]
    pub(in crate::receiver) fn offer(
        &mut self,
        policy: &AckPolicy,
        next: u64,
        syn: bool,
    ) -> Option<Offer> {
        let held = self.room();
        let tempo = self.tempo.as_mut()?;
        // Without data since the last acknowledgement the right edge stays where it is.
        let again = tempo.offered && !tempo.owed;
        tempo.on_ack_sent();
        let AtOnce::Adaptive(rules) = &policy.at_once else { return None };
        if syn {
            // The window of a SYN is not shifted (RFC 7323 section 2.2).
            return Some(Offer { bytes: tempo.edge - 1, scale: 0 });
        }
        if again {
            let last = Offer { bytes: tempo.edge - next, scale: rules.scale };
            debug_assert_eq!({ *tempo }.offer(rules, held, next), last);
            return Some(last);
        }
        Some(tempo.offer(rules, held, next))
    }

    /// Room in the buffer that data beyond a hole takes, in bytes of payload as it arrives.
    fn room(&self) -> u64 {
        (self.bytes * JOINED) >> 8
    }
}

impl Receiver {
    /// Room in the buffer that data beyond a hole takes, in bytes of payload as it arrives.
    pub(super) fn held_room(&self) -> u64 {
        self.beyond.as_ref().map_or(0, |beyond| beyond.room())
    }
}
