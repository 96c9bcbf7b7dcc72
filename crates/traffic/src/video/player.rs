//! One viewer's player.

use std::sync::Arc;

use packet::{Duration, Instant, Rng};

use super::choice::{Known, Rule, Throughput};
use super::playback_buffer::PlaybackBuffer;
use crate::distribution::{Distribution, whole_bytes};
use crate::report::{Report, Shown};
use crate::{Action, App, AppCx, Closes, Input};

/// Number of the only connection of a player.
const CONN: u32 = 0;
/// How long a player waits before it opens a connection after one that failed.
const PATIENCE: Duration = Duration::from_secs(1);

/// Settings that the players of a group share.
#[derive(Debug)]
pub(super) struct Settings {
    pub ladder: &'static [u64],
    pub rule: Rule,
    pub segment: Duration,
    /// Playing time in the buffer before the picture moves, at first and after a stall.
    pub startup: Duration,
    /// Most playing time in the buffer: a segment is requested only if there is room for it.
    pub most: Duration,
    pub request: u64,
    /// Factor on a segment's size.
    pub factor: Arc<dyn Distribution>,
    pub lasts: Option<Duration>,
}

/// A request whose reply has not arrived yet.
#[derive(Clone, Copy, Debug)]
struct Requested {
    at: Instant,
    place: usize,
    bytes: u64,
}

/// Fetches segment after segment on one connection, as long as there is room for them.
#[derive(Debug)]
pub struct Player {
    settings: Arc<Settings>,
    peer: u32,
    starts_after: Duration,
    rng: Rng,
    buffer: Option<PlaybackBuffer>,
    ends: Instant,
    open: bool,
    requested: Option<Requested>,
    /// Index of the rate chosen last.
    place: usize,
    throughput: Throughput,
}

impl Player {
    pub(super) fn new(
        settings: Arc<Settings>,
        peer: u32,
        starts_after: Duration,
        rng: Rng,
    ) -> Self {
        Player {
            settings,
            peer,
            starts_after,
            rng,
            buffer: None,
            ends: Instant::NEVER,
            open: false,
            requested: None,
            place: 0,
            throughput: Throughput::default(),
        }
    }

    fn begin(&mut self, cx: &mut AppCx) {
        let Settings { segment, startup, ladder, lasts, .. } = *self.settings;
        self.buffer = Some(PlaybackBuffer::new(segment, startup, ladder, cx.now));
        if let Some(lasts) = lasts {
            self.ends = cx.now + lasts;
            (cx.act)(Action::WakeAt(self.ends));
        }
    }

    /// Requests the next segment, or schedules a wake-up for when there is room for it.
    fn go_on(&mut self, cx: &mut AppCx) {
        let Some(buffer) = &mut self.buffer else { return };
        if self.requested.is_some() || cx.now >= self.ends {
            return;
        }
        let Settings { segment, most, .. } = *self.settings;
        let buffered = buffer.buffered(cx.now);
        if buffered + segment > most {
            let full = buffered + segment - most;
            (cx.act)(Action::WakeAt(cx.now + full));
        } else {
            self.ask(buffered, cx);
        }
    }

    fn ask(&mut self, buffered: Duration, cx: &mut AppCx) {
        let Settings { ladder, rule, segment, request, ref factor, .. } = *self.settings;
        self.place = rule.choose(&Known {
            ladder,
            before: self.place,
            buffer_s: buffered.secs_f64(),
            buffer_segments: buffered.secs_f64() / segment.secs_f64(),
            throughput: self.throughput.estimate(),
        });
        let mean = ladder[self.place] as f64 * segment.secs_f64() / 8.0;
        let bytes = whole_bytes(factor.sample(&mut self.rng), mean);
        if !std::mem::replace(&mut self.open, true) {
            (cx.act)(Action::Open { conn: CONN, peer: self.peer, closes: Closes::Opener });
        }
        self.requested = Some(Requested { at: cx.now, place: self.place, bytes });
        let service = Duration::ZERO;
        (cx.act)(Action::Send { conn: CONN, bytes: request, reply_bytes: bytes, service });
    }

    fn segment_is_here(&mut self, cx: &mut AppCx) {
        let (Some(requested), Some(buffer)) = (self.requested.take(), &mut self.buffer) else {
            return;
        };
        self.throughput.add(requested.bytes as f64 * 8.0, cx.now.since(requested.at).secs_f64());
        if cx.now < self.ends {
            buffer.arrived(requested.place, cx.now);
        }
        self.go_on(cx);
    }

    /// Stops playback and closes the connection, once: the viewer leaves.
    fn leave(&mut self, cx: &mut AppCx) {
        if let Some(buffer) = &mut self.buffer {
            buffer.off(cx.now);
        }
        if std::mem::take(&mut self.open) {
            (cx.act)(Action::Close { conn: CONN });
        }
    }
}

impl App for Player {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Start => (cx.act)(Action::WakeAt(cx.now + self.starts_after)),
            Input::Woke => {
                if self.buffer.is_none() {
                    self.begin(cx);
                }
                if cx.now >= self.ends {
                    self.leave(cx);
                } else {
                    self.go_on(cx);
                }
            }
            Input::Replied { .. } => self.segment_is_here(cx),
            Input::Failed { .. } => {
                (self.open, self.requested) = (false, None);
                (cx.act)(Action::WakeAt(cx.now + PATIENCE));
            }
            Input::Sent { .. } | Input::Received { .. } | Input::Opened { .. } => {}
        }
    }

    fn measure(&mut self, now: Instant) {
        if let Some(buffer) = &mut self.buffer {
            buffer.measure(now);
        }
    }

    fn report(&mut self, now: Instant) -> Option<Report> {
        let buffer = self.buffer.as_mut()?;
        Some(Report::Viewing(buffer.viewing(now)))
    }

    fn shown(&mut self, now: Instant) -> Option<Shown> {
        let still = self.buffer.as_mut()?.viewing(now).stalled;
        Some(Shown { viewers: 1, still, ..Shown::default() })
    }
}
