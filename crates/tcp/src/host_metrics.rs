//! What a host remembers of another (the metrics of a route in FreeBSD, `tcp_metrics` in Linux), what a
//! connection that ends adds to it, and how the next one begins with it.

use crate::profile::Profile;
use crate::rtt::Rtt;
use crate::send_state::SendState;

/// What a profile's hosts remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remembers {
    Nothing,
    /// Route metrics of 4.4BSD.
    Route {
        /// A threshold below half of this, bytes, is remembered; 0 for none.
        sendpipe: u64,
    },
    /// Linux's `tcp_metrics`.
    Linux {
        /// Whether the slow-start threshold is kept as well.
        ssthresh: bool,
    },
}

/// What is remembered of a host; a number that is 0 is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostMetrics {
    /// Smoothed round trip, us (BSD's `RTM_RTTUNIT`); in Linux times 8.
    pub rtt: u32,
    /// Mean deviation, us; Linux makes nothing of its own.
    pub rttvar: u32,
    /// Slow-start threshold: bytes with headers (BSD), segments (Linux).
    pub ssthresh: u32,
}

/// What an ended connection adds to its host's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsUpdate {
    /// In a route's units; `bad_news`: the threshold is below half the send pipe.
    Route { rtt: u32, rttvar: u32, ssthresh: u32, bad_news: bool },
    /// Linux's, in its units. No round trip: no segment came back in time.
    Linux { rtt: Option<u32>, ssthresh: Option<Threshold> },
}

/// What Linux makes of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// It replaces the old one.
    Is(u32),
    /// It replaces a smaller old one, and none that is not there.
    AtLeast(u32),
}

impl HostMetrics {
    /// Nothing is remembered.
    pub const NONE: HostMetrics = HostMetrics { rtt: 0, rttvar: 0, ssthresh: 0 };

    /// The handshake is over and its round trip, if there was one, is taken: Linux's
    /// `tcp_init_metrics`.
    #[cold]
    pub fn start_linux(&self, profile: &Profile, rtt: &mut Rtt, snd: &mut SendState) {
        let Remembers::Linux { ssthresh } = profile.remembers else { return };
        profile.rtt.start_by_linux(rtt, self.rtt);
        if ssthresh && self.ssthresh != 0 {
            snd.win.ssthresh = u64::from(self.ssthresh) * snd.mss();
        }
    }

    pub fn apply(&mut self, update: &MetricsUpdate) {
        match *update {
            MetricsUpdate::Route { rtt, rttvar, ssthresh, bad_news } => {
                average(&mut self.rtt, rtt);
                average(&mut self.rttvar, rttvar);
                if self.ssthresh != 0 || bad_news {
                    average(&mut self.ssthresh, ssthresh);
                }
            }
            MetricsUpdate::Linux { rtt: None, .. } => self.rtt = 0,
            MetricsUpdate::Linux { rtt: Some(rtt), ssthresh } => {
                // Too long is better than too short.
                let shorter = self.rtt.saturating_sub(rtt);
                self.rtt = if shorter == 0 { rtt } else { self.rtt - (shorter >> 3) };
                match ssthresh {
                    Some(Threshold::Is(new)) => self.ssthresh = new,
                    Some(Threshold::AtLeast(new)) if self.ssthresh != 0 => {
                        self.ssthresh = self.ssthresh.max(new);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// `tcp_close`: half the old and half the new value, if there are both.
fn average(old: &mut u32, new: u32) {
    *old =
        if *old != 0 && new != 0 { ((u64::from(*old) + u64::from(new)) / 2) as u32 } else { new };
}
