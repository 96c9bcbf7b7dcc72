//! How windows grow in slow start and by additive increase: in bytes, and in whole segments as
//! Linux counts them (`tcp_slow_start` and `tcp_cong_avoid_ai` of its `tcp_cong.c`).

use crate::send_state::Window;

/// Slow start in bytes (RFC 3465, without its limit L): grows the window by the acknowledged bytes
/// up to ssthresh. Returns the acknowledged bytes left for congestion avoidance.
pub(super) fn slow_start(win: &mut Window, acked: u64) -> u64 {
    if win.cwnd >= win.ssthresh {
        return acked;
    }
    let grown = (win.cwnd + acked).min(win.ssthresh);
    let used = grown - win.cwnd;
    win.cwnd = grown;
    acked - used
}

/// The window in whole segments (Linux's `snd_cwnd`).
pub(super) fn segments(win: &Window) -> u32 {
    (win.cwnd / win.mss()) as u32
}

/// Window growth in whole segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Increase {
    /// Acknowledged segments that have not grown the window yet (`snd_cwnd_cnt`).
    count: u32,
}

impl Increase {
    /// Linux's `tcp_slow_start`: grows the window by a segment for each one acknowledged, up to
    /// ssthresh. Returns the acknowledged segments left for congestion avoidance.
    pub fn slow_start(win: &mut Window, acked: u32) -> u32 {
        if win.cwnd >= win.ssthresh {
            return acked;
        }
        let mss = win.mss();
        let room = (win.ssthresh - win.cwnd).div_ceil(mss);
        let used = room.min(u64::from(acked));
        win.cwnd = (win.cwnd + used * mss).min(win.ssthresh);
        acked - used as u32
    }

    /// Linux's `tcp_cong_avoid_ai`: grows the window by a segment for every `w` acknowledged ones.
    pub fn add(&mut self, win: &mut Window, w: u32, acked: u32) {
        if self.count >= w {
            // Segments counted while more were needed grow the window by one only.
            self.count = 0;
            win.cwnd += win.mss();
        }
        self.count += acked;
        if self.count >= w {
            let more = self.count / w;
            self.count -= more * w;
            win.cwnd += u64::from(more) * win.mss();
        }
    }

    /// Congestion: discards the count (`tcp_init_cwnd_reduction`, `tcp_enter_loss`).
    pub fn forget(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window_of(cwnd: u64, ssthresh: u64) -> Window {
        Window { cwnd, ssthresh, mss: 1_000, ..Window::default() }
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
        let mut f = window_of(10_000, 13_000);
        assert_eq!((Increase::slow_start(&mut f, 2), f.cwnd), (0, 12_000));
        assert_eq!((Increase::slow_start(&mut f, 2), f.cwnd), (1, 13_000));
        assert_eq!((Increase::slow_start(&mut f, 2), f.cwnd), (2, 13_000));
        let mut f = window_of(10_000, 11_500);
        assert_eq!((slow_start(&mut f, 2_000), f.cwnd), (500, 11_500));
    }

    #[test]
    fn a_segment_for_every_w_acknowledged() {
        let (mut increase, mut f) = (Increase::default(), window_of(10_000, 0));
        (0..4).for_each(|_| increase.add(&mut f, 10, 2));
        assert_eq!((increase.count, f.cwnd), (8, 10_000));
        increase.add(&mut f, 10, 25);
        // 33 acknowledged segments grow the window by three, and 3 are left.
        assert_eq!((increase.count, f.cwnd), (3, 13_000));
        // Now 2 are needed: the 3 that are left grow the window by one, and the 2 new ones by
        // another.
        increase.add(&mut f, 2, 2);
        assert_eq!((increase.count, f.cwnd), (0, 15_000));
    }
}
