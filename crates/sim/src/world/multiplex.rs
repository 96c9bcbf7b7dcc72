//! Replies that share a connection frame by frame, as HTTP/2's do (RFC 9113).

use std::collections::VecDeque;
use std::num::NonZero;

use packet::{Duration, Instant};

use super::connection::{ACCEPTOR, Connection};
use super::{Event, World, event_order};

/// Bytes of a frame's header (RFC 9113 section 4.1).
const FRAME_HEADER: u64 = 9;

/// An answer of which something is not written yet.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// Where its request ends in the opener's stream, which no other one does.
    request_end: u64,
    /// Payload still to write.
    left: u64,
}

/// What the server program of a multiplexed connection is at.
///
/// It works on all requests at once and writes what is ready in frames, one of each answer in
/// turn, as RFC 9218 section 10 has it for incremental responses of equal urgency. It writes only
/// while less than a frame waits to be sent (as with the socket option TCP_NOTSENT_LOWAT), so that
/// an answer that is ready later shares the connection from then on (constructed).
#[derive(Debug)]
pub struct Mux {
    /// Payload of a frame at most.
    frame: u64,
    /// Position in the acceptor's stream after the last frame.
    position: u64,
    /// Answers being worked on, and when they are ready.
    working: Vec<(Instant, Answer)>,
    /// Answers that are ready, next turn first.
    turns: VecDeque<Answer>,
}

impl Mux {
    /// A server program without requests.
    pub fn new(frame: u32) -> Self {
        let frame = u64::from(frame);
        Mux { frame, position: 0, working: Vec::new(), turns: VecDeque::new() }
    }

    /// What a reply takes of the acceptor's stream, bytes.
    pub fn framed(&self, reply_bytes: u64) -> u64 {
        reply_bytes + reply_bytes.div_ceil(self.frame) * FRAME_HEADER
    }

    /// Answers that are ready by now take turns.
    fn finish_work(&mut self, now: Instant) {
        let turns = &mut self.turns;
        self.working.retain(|&(ready, answer)| {
            let over = ready <= now;
            if over {
                turns.push_back(answer);
            }
            !over
        });
    }

    /// The next frame's bytes, and the request it completes the answer of.
    fn next_frame(&mut self) -> Option<(u64, Option<u64>)> {
        let mut answer = self.turns.pop_front()?;
        let payload = answer.left.min(self.frame);
        answer.left -= payload;
        self.position += payload + FRAME_HEADER;
        let complete = answer.left == 0;
        if !complete {
            self.turns.push_back(answer);
        }
        Some((payload + FRAME_HEADER, complete.then_some(answer.request_end)))
    }
}

impl Connection {
    /// The server program, where replies share the connection.
    pub fn mux(&mut self) -> Option<&mut Mux> {
        self.mux.as_deref_mut()
    }

    /// What a reply takes of the acceptor's stream where replies share it, bytes.
    pub fn framed(&mut self, reply_bytes: u64) -> u64 {
        self.mux().map_or(reply_bytes, |mux| mux.framed(reply_bytes))
    }

    /// Bytes written by the acceptor and not sent yet. (Its byte n has the number n.)
    fn unsent(&mut self) -> u64 {
        let sent = self.ends[ACCEPTOR].snd_max().saturating_sub(1);
        self.mux().map_or(0, |mux| mux.position.saturating_sub(sent))
    }

    /// The reply to the request that ends at `request_end` ends here: it comes after those whose
    /// end is known, before those whose is not.
    fn reply_ends(&mut self, request_end: u64, at: u64) {
        let place = self.exchanges.iter().position(|e| e.request_end == request_end);
        let exchange = place.and_then(|place| self.exchanges.remove(place));
        let mut exchange = exchange.expect("every answer has a request");
        exchange.reply_end = NonZero::new(at);
        let behind = self.exchanges.iter().position(|e| e.reply_end.is_none());
        self.exchanges.insert(behind.unwrap_or(self.exchanges.len()), exchange);
    }

    /// Writes frames until one waits to be sent. Returns whether there were any.
    fn write_frames(&mut self, now: Instant) -> bool {
        let mut wrote = false;
        while let Some(mux) = self.mux() {
            let frame = mux.frame;
            if self.unsent() >= frame {
                break;
            }
            let Some((bytes, complete)) = self.mux().and_then(Mux::next_frame) else { break };
            self.ends[ACCEPTOR].write(bytes, now);
            wrote = true;
            if let Some(request_end) = complete {
                let at = self.mux().map_or(0, |mux| mux.position);
                self.reply_ends(request_end, at);
            }
        }
        wrote
    }
}

impl World {
    /// The server program of a multiplexed connection: begins to work on what has arrived, writes
    /// what is ready and has room.
    pub(super) fn multiplex(&mut self, index: u32) {
        self.begin_work(index);
        while self.connections[index].write_frames(self.now) {
            self.drain(index, ACCEPTOR);
        }
    }

    fn begin_work(&mut self, index: u32) {
        let now = self.now;
        let connection = &mut self.connections[index];
        while connection.unserved > 0 {
            let exchange = connection.exchanges[connection.oldest_unserved()];
            if connection.ends[ACCEPTOR].delivered() < exchange.request_end {
                break;
            }
            connection.unserved -= 1;
            let answer = Answer { request_end: exchange.request_end, left: exchange.reply_bytes };
            let ready = now + exchange.service;
            let (serial, Some(mux)) = (connection.serial, connection.mux()) else { return };
            mux.working.push((ready, answer));
            if let Some(serial) = serial
                && exchange.service > Duration::ZERO
            {
                let event = Event::Serve { connection: index, serial };
                self.events.schedule(ready, event_order::server(serial), event);
            }
        }
        if let Some(mux) = connection.mux() {
            mux.finish_work(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of answers of these sizes: bytes, and the request completed.
    fn frames(sizes: &[u64]) -> Vec<(u64, Option<u64>)> {
        let mut mux = Mux::new(1_000);
        let answers =
            sizes.iter().zip(1..).map(|(&left, request_end)| Answer { request_end, left });
        mux.turns.extend(answers);
        let frames: Vec<_> = std::iter::from_fn(|| mux.next_frame()).collect();
        let all: u64 = sizes.iter().map(|&bytes| mux.framed(bytes)).sum();
        assert_eq!(frames.iter().map(|(bytes, _)| bytes).sum::<u64>(), all);
        assert_eq!(mux.position, all);
        frames
    }

    #[test]
    fn answers_take_turns_frame_by_frame() {
        let sequence = frames(&[2_500, 400, 1_000, 1_001]);
        let expected = [
            (1_009, None),
            (409, Some(2)),
            (1_009, Some(3)),
            (1_009, None),
            (1_009, None),
            (10, Some(4)),
            (509, Some(1)),
        ];
        assert_eq!(sequence, expected);
    }

    #[test]
    fn answers_begin_to_take_turns_when_they_are_ready() {
        let mut mux = Mux::new(1_000);
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        for (request_end, ready) in [(1, 30), (2, 10), (3, 20)] {
            mux.working.push((at(ready), Answer { request_end, left: 2_000 }));
        }
        mux.finish_work(at(9));
        assert_eq!(mux.next_frame(), None);
        mux.finish_work(at(10));
        assert_eq!(mux.next_frame(), Some((1_009, None)));
        mux.finish_work(at(20));
        assert_eq!(mux.turns.iter().map(|a| a.request_end).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(mux.working.len(), 1);
    }
}
