//! The data of one direction at its sender and at its receiver, numbered as in TCP: the first byte
//! is 1, and the FIN follows the last.

use super::ranges::Ranges;

/// Upper bound of the numbers of an endless write.
const ENDLESS: u64 = 1 << 62;

/// A piece of the data, as a packet carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub seq: u64,
    pub len: u32,
    pub fin: bool,
}

impl Piece {
    /// The number after the piece, a FIN counted.
    pub fn end(self) -> u64 {
        self.seq + u64::from(self.len) + u64::from(self.fin)
    }
}

/// The data to send, and what of it is sent, lost and acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    /// Number of the first stream byte that is not acknowledged.
    pub una: u64,
    /// Number of the first stream byte that was never sent.
    pub next: u64,
    /// One past the last byte written, which is the FIN's number.
    pub end: u64,
    /// A FIN follows the data.
    pub fin: bool,
    /// Ranges that are lost and not sent again since.
    lost: Ranges,
    /// Ranges that are acknowledged beyond `una`.
    acked: Ranges,
}

impl Default for Outgoing {
    fn default() -> Self {
        let (lost, acked) = (Ranges::default(), Ranges::default());
        Outgoing { una: 1, next: 1, end: 1, fin: false, lost, acked }
    }
}

impl Outgoing {
    pub fn write(&mut self, bytes: u64) {
        self.end = self.end.saturating_add(bytes).min(ENDLESS);
    }

    /// Discards the data that was never sent.
    pub fn stop(&mut self) {
        self.end = self.next.clamp(1, self.end);
    }

    /// The number after the written data, a FIN counted.
    fn limit(&self) -> u64 {
        self.end + u64::from(self.fin)
    }

    /// Whether lost data is still to be sent again.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Whether all data and its FIN are acknowledged.
    pub fn is_finished(&self) -> bool {
        self.fin && self.una > self.end
    }

    /// The number at which the next piece begins.
    pub fn next_seq(&self) -> u64 {
        self.lost.first().map_or(self.next, |(start, _)| start)
    }

    /// The piece that begins at `start` and ends at `end` or after `room` bytes.
    fn piece(&self, start: u64, end: u64, room: u32) -> Piece {
        let stop = end.min(self.end).min(start + u64::from(room)).max(start);
        Piece {
            seq: start,
            len: (stop - start) as u32,
            fin: self.fin && stop == self.end && end > self.end,
        }
    }

    /// The next piece to send, of at most `room` bytes: lost data first, then new data, as long as
    /// no more than `window` bytes are unacknowledged.
    pub fn choose(&self, room: u32, window: u64) -> Option<Piece> {
        if let Some((start, end)) = self.lost.first() {
            return Some(self.piece(start, end, room));
        }
        self.new_piece(room, window)
    }

    /// The next piece of new data ([`Outgoing::choose`]).
    pub fn new_piece(&self, room: u32, window: u64) -> Option<Piece> {
        let limit = self.limit().min(self.una.saturating_add(window).max(self.next));
        let limit = if limit >= self.end { self.limit() } else { limit };
        (self.next < limit).then(|| self.piece(self.next, limit, room))
    }

    /// The oldest piece at or after `from` that is sent and not acknowledged, of at most `room`
    /// bytes.
    pub fn oldest(&self, room: u32, from: u64) -> Option<Piece> {
        let (start, end) = self.acked.gap(self.una.max(from), self.next)?;
        Some(self.piece(start, end, room))
    }

    /// A piece is sent.
    pub fn on_sent(&mut self, piece: Piece) {
        self.lost.remove(piece.seq, piece.end());
        self.next = self.next.max(piece.end());
    }

    /// A piece is acknowledged.
    pub fn on_acked(&mut self, seq: u64, end: u64) {
        self.lost.remove(seq, end);
        if seq > self.una {
            self.acked.insert(seq, end);
            return;
        }
        self.una = self.una.max(end);
        while let Some((start, end)) = self.acked.first().filter(|&(start, _)| start <= self.una) {
            self.acked.remove(start, end);
            self.una = self.una.max(end);
        }
    }

    /// A packet with this piece is lost: the part of the piece that is not acknowledged is to be
    /// sent again.
    pub fn on_lost(&mut self, seq: u64, end: u64) {
        let mut at = seq.max(self.una);
        if at >= end {
            return;
        }
        let mut holes = Vec::new();
        for (start, stop) in self.acked.highest_first().collect::<Vec<_>>().into_iter().rev() {
            if stop <= at || start >= end {
                continue;
            }
            holes.push((at, start));
            at = stop;
        }
        holes.push((at, end));
        for (start, stop) in holes {
            if start < stop {
                self.lost.insert(start, stop);
            }
        }
    }
}

/// The data received in one direction: in order, and in ranges beyond a hole.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    /// All below this has arrived.
    pub next: u64,
    /// Ranges that have arrived beyond `next`.
    beyond: Ranges,
    /// Number of the FIN; `u64::MAX` before it has arrived.
    fin: u64,
    /// Bytes that have arrived, in whatever order.
    pub bytes: u64,
}

impl Default for Incoming {
    fn default() -> Self {
        Incoming { next: 1, beyond: Ranges::default(), fin: u64::MAX, bytes: 0 }
    }
}

impl Incoming {
    /// Whether the FIN and all data before it have arrived.
    pub fn closed(&self) -> bool {
        self.next > self.fin
    }

    /// Bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.next - 1 - u64::from(self.closed())
    }

    /// Whether the bytes `from..to`, counted from 0, have arrived.
    pub fn has(&self, from: u64, to: u64) -> bool {
        to < self.next || self.beyond.contains((from + 1).max(self.next), to + 1)
    }

    /// Takes a piece that has arrived.
    pub fn take(&mut self, piece: Piece) {
        if piece.fin {
            self.fin = piece.end() - 1;
        }
        let (start, end) = (piece.seq.max(self.next), piece.end());
        if start >= end {
            return;
        }
        let fin_is_new = piece.fin && !self.beyond.contains(self.fin, self.fin + 1);
        if start == self.next && self.beyond.is_empty() {
            self.next = end;
            self.bytes += end - start;
        } else {
            self.bytes += self.beyond.insert(start, end);
            while let Some((from, to)) = self.beyond.first().filter(|&(from, _)| from <= self.next)
            {
                self.next = to;
                self.beyond.remove(from, to);
            }
        }
        self.bytes -= u64::from(fin_is_new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(seq: u64, len: u32, fin: bool) -> Piece {
        Piece { seq, len, fin }
    }

    #[test]
    fn what_is_lost_goes_first_and_only_what_has_not_arrived() {
        let mut out = Outgoing::default();
        out.write(250);
        out.fin = true;
        let send = |out: &mut Outgoing| {
            let piece = out.choose(100, 1_000)?;
            out.on_sent(piece);
            Some(piece)
        };
        let all: Vec<_> = std::iter::from_fn(|| send(&mut out)).collect();
        assert_eq!(all, [piece(1, 100, false), piece(101, 100, false), piece(201, 50, true)]);
        out.on_acked(101, 201);
        assert_eq!((out.una, out.oldest(100, 0)), (1, Some(piece(1, 100, false))));
        assert_eq!(out.oldest(100, 101), Some(piece(201, 50, true)));
        assert_eq!(out.oldest(100, 252), None);
        out.on_lost(1, 252);
        let again: Vec<_> = std::iter::from_fn(|| send(&mut out)).collect();
        assert_eq!(again, [piece(1, 100, false), piece(201, 50, true)]);
        out.on_acked(201, 252);
        out.on_acked(1, 101);
        assert!(out.is_finished() && out.choose(100, 1_000).is_none());
    }

    #[test]
    fn nothing_new_goes_beyond_the_peers_credit() {
        let mut out = Outgoing::default();
        out.write(1_000);
        assert_eq!(out.choose(400, 300), Some(piece(1, 300, false)));
        out.on_sent(piece(1, 300, false));
        assert_eq!(out.choose(400, 300), None);
        out.on_acked(1, 101);
        assert_eq!(out.choose(400, 300), Some(piece(301, 100, false)));
    }

    #[test]
    fn a_range_arrives_whatever_is_missing_before_it() {
        let mut data = Incoming::default();
        data.take(piece(101, 100, true));
        assert_eq!((data.delivered(), data.bytes, data.closed()), (0, 100, false));
        assert!(data.has(100, 200) && !data.has(99, 200) && !data.has(0, 1));
        data.take(piece(101, 100, true));
        assert_eq!(data.bytes, 100, "twice is once");
        data.take(piece(1, 100, false));
        assert_eq!((data.delivered(), data.bytes, data.closed()), (200, 200, true));
        assert!(data.has(0, 200));
    }
}
