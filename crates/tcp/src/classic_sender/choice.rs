//! Which chunk the windows of a classic sender allow next.

use super::ClassicSender;
use crate::profile::IdleRule;
use crate::send_algorithm::{SendAlgorithm, SendContext};
use crate::send_state::{Chunk, SendState, Window};

impl ClassicSender {
    /// The chunk that the windows allow, if any.
    #[inline(always)]
    pub(super) fn allowed(
        &self,
        cx: &SendContext,
        snd: &SendState,
        call_idle: bool,
    ) -> Option<Chunk> {
        let rules = &cx.profile.recovery;
        if cx.profile.output.bsd {
            bsd_next(cx, self.recovery.next_part(rules, snd)?, call_idle)
        } else {
            self.recovery.next(rules, snd)
        }
    }

    #[cold]
    pub(super) fn allowed_anew(&self, cx: &SendContext, call_idle: bool) -> Option<Chunk> {
        self.allowed(cx, cx.snd, call_idle)
    }

    /// The chunk that the windows allow with a control that may pace and may set its window itself.
    #[cold]
    pub(super) fn allowed_tracked(
        &mut self,
        cx: &mut SendContext,
        call_idle: bool,
    ) -> Option<Chunk> {
        let inflated = SendState {
            win: Window { cwnd: cx.snd.win.cwnd + self.control.inflation(), ..cx.snd.win },
            ..*cx.snd
        };
        let chunk = self.allowed(cx, &inflated, call_idle)?;
        self.control.paces_now(cx.moment.at).then_some(chunk)
    }

    /// Applies the idle rule after a pause. Returns whether it has reduced the congestion window,
    /// or notified the control.
    #[inline(always)]
    pub(super) fn restarts_after_pause(&mut self, cx: &mut SendContext) -> bool {
        match cx.profile.idle {
            IdleRule::Off | IdleRule::Decay => return false,
            IdleRule::SinceReceived if !cx.snd.idle() => return false,
            _ => {}
        }
        let since = cx.snd.active_at;
        let restarts = cx.snd.win.cwnd > cx.profile.initial_window(cx.snd)
            && cx.profile.rtt.idle_too_long(cx.rtt, since, cx.host, cx.moment);
        if restarts {
            let idle = cx.moment.at.since(since);
            self.on_restart(cx, idle);
        }
        restarts
    }
}

/// BSD's choice by silly-window avoidance and Nagle's rule, for the output call as a whole.
#[inline(always)]
fn bsd_next(cx: &SendContext, chunk: Chunk, call_idle: bool) -> Option<Chunk> {
    let f = &*cx.snd;
    let to_end = chunk.seq + u64::from(chunk.len) == f.end;
    let sends_data = chunk.len > 0
        && (u64::from(chunk.len) == f.mss()
            || (call_idle && to_end)
            || u64::from(chunk.len) >= f.window() / 2
            || chunk.seq < f.max
            || cx.rx.ack_now);
    // With SACK the recovery chooses a FIN only where it is due.
    let sends_fin = chunk.fin() && (!f.fin_sent || chunk.seq == f.una || cx.sack);
    (sends_data || sends_fin).then_some(chunk)
}
