//! The filter that drops acknowledgements which later ones in the same queue make unnecessary:
//! `cake_ack_filter`, `cake_tcph_may_drop` and `cake_tcph_sack_compare` of Linux `sch_cake`.
//!
//! A driver that has the TCP headers provides them ([`crate::Discipline::enqueue_tcp`]), and the
//! rules are the kernel's. Of a packet that came without its header only [`packet::Ack`] is known;
//! the second, shorter rule decides for those.

use alloc::vec::Vec;

use packet::{Ack, TcpHeader};

use crate::shells::pool::{Pool, Queue};

/// How many acknowledgements the filter drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    No,
    /// The filter drops the oldest acknowledgement for each new one that supersedes at least two.
    Filter,
    /// The filter also drops a single superseded acknowledgement, if it is the last packet before
    /// the new one.
    Aggressive,
}

/// The ACK filter, with the TCP headers of the waiting packets.
pub(super) struct AckFilter {
    mode: Mode,
    /// The TCP header of each waiting packet, by the packet's index in the pool; `None` for a
    /// packet without one.
    headers: Vec<Option<TcpHeader>>,
}

impl AckFilter {
    /// The filter in the mode called `name`.
    pub fn named(name: &str) -> Self {
        let mode = match name {
            "filter" => Mode::Filter,
            "aggressive" => Mode::Aggressive,
            _ => Mode::No,
        };
        AckFilter { mode, headers: Vec::new() }
    }

    /// Whether the filter drops anything.
    pub fn is_on(&self) -> bool {
        self.mode != Mode::No
    }

    /// Keeps the header of the packet just put at the tail of `queue`.
    pub fn keep(&mut self, pool: &Pool, queue: &Queue, header: Option<&TcpHeader>) {
        let Some(place) = pool.tail_place(queue) else { return };
        let place = place as usize;
        if self.headers.len() <= place {
            self.headers.resize(place + 1, None);
        }
        self.headers[place] = header.copied();
    }

    /// Index in the pool of the acknowledgement to drop from `queue`: the oldest one that the
    /// packet just put at its tail supersedes, of the flow of that packet.
    pub fn victim(&self, pool: &Pool, queue: &Queue) -> Option<u32> {
        if self.mode == Mode::No || queue.backlog().packets < 2 {
            return None;
        }
        match self.header(pool.tail_place(queue)?) {
            Some(newest) => self.by_headers(pool, queue, newest),
            None => self.by_summary(pool, queue),
        }
    }

    fn header(&self, place: u32) -> Option<&TcpHeader> {
        self.headers.get(place as usize)?.as_ref()
    }

    /// The rule of `cake_ack_filter`. Any segment with ACK and without SYN can supersede
    /// acknowledgements, also one with data. Where ECE or CWR change, the acknowledgement before
    /// the change is the last that shows the old flags, and it stays.
    fn by_headers(&self, pool: &Pool, queue: &Queue, newest: &TcpHeader) -> Option<u32> {
        if !newest.acks || newest.opens {
            return None;
        }
        let flow = pool.tail(queue)?.flow;
        let mut oldest: Option<(u32, (bool, bool))> = None;
        let mut found = 0;
        let mut last = None;
        for (place, packet) in pool.iter(queue).take(queue.backlog().packets as usize - 1) {
            last = Some(place);
            let Some(header) = self.header(place).filter(|_| packet.flow == flow) else { continue };
            if oldest.is_some_and(|(_, echoes)| echoes != (header.ece, header.cwr)) {
                (oldest, found) = (None, found - 1);
            }
            if !may_drop(header, newest) || !covers(newest, header) {
                continue;
            }
            let (first, _) = *oldest.get_or_insert((place, (header.ece, header.cwr)));
            found += 1;
            if found > 1 {
                return Some(first);
            }
        }
        let (place, echoes) = oldest?;
        let adjacent = last == Some(place) && echoes == (newest.ece, newest.cwr);
        (self.mode == Mode::Aggressive && adjacent).then_some(place)
    }

    /// The rule where only [`Ack`] is known. An acknowledgement that must arrive, such as one with
    /// other ECN flags, also protects those before it.
    fn by_summary(&self, pool: &Pool, queue: &Queue) -> Option<u32> {
        let tail = pool.tail(queue)?;
        if tail.header.ack != Ack::Newer {
            return None;
        }
        let mut oldest = None;
        let mut found = 0;
        let mut adjacent = false;
        for (place, packet) in pool.iter(queue).take(queue.backlog().packets as usize - 1) {
            adjacent = false;
            match packet.header.ack {
                _ if packet.flow != tail.flow => {}
                Ack::No => {}
                Ack::Needed => (oldest, found) = (None, 0),
                Ack::Newer if found == 1 => return oldest,
                Ack::Newer => {
                    (oldest, found) = (Some(place), 1);
                    adjacent = true;
                }
            }
        }
        oldest.filter(|_| self.mode == Mode::Aggressive && adjacent)
    }
}

/// Whether a segment may be dropped for `newest` (`cake_tcph_may_drop`). It must also carry no data
/// and acknowledge no more than `newest`.
fn may_drop(header: &TcpHeader, newest: &TcpHeader) -> bool {
    let later = |(value, echo): (u32, u32)| {
        let (new_value, new_echo) = newest.stamps.unwrap_or_default();
        TcpHeader::is_after(value, new_value) || TcpHeader::is_after(echo, new_echo)
    };
    header.acks
        && !header.other_flags
        && !header.other_options
        && !header.stamps.is_some_and(later)
        && header.payload == 0
        && !TcpHeader::is_after(header.ack, newest.ack)
}

/// Whether `newest` reports all that `older` does, and acknowledges or reports more
/// (`cake_tcph_sack_compare`). A block below the acknowledgement number reports a duplicate (RFC
/// 2883) and is never covered. Only SACK blocks cover a block, not the acknowledgement number.
fn covers(newest: &TcpHeader, older: &TcpHeader) -> bool {
    let (new, old) = (newest.sack.as_slice(), older.sack.as_slice());
    let within = |&(start, end): &(u32, u32)| {
        let is_part = |&(new_start, new_end): &(u32, u32)| {
            !TcpHeader::is_after(new_start, start) && !TcpHeader::is_after(end, new_end)
        };
        !TcpHeader::is_after(older.ack, start) && new.iter().any(is_part)
    };
    let bytes = |blocks: &[(u32, u32)]| -> u32 {
        blocks.iter().fold(0, |sum: u32, &(start, end)| sum.wrapping_add(end.wrapping_sub(start)))
    };
    old.iter().all(within) && (newest.ack != older.ack || bytes(new) > bytes(old))
}

#[cfg(test)]
mod tests;
