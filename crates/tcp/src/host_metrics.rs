//! Metrics that a host keeps of a peer (those of a route in FreeBSD, `tcp_metrics` in Linux): how
//! an ended connection updates them, and how the next connection starts from them.

use crate::profile::Profile;
use crate::rtt::Rtt;
use crate::send_state::SendState;

/// Which metrics the hosts of a profile keep of their peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remembers {
    Nothing,
    /// Route metrics of 4.4BSD.
    Route {
        /// Size of the route's send pipe, bytes; thresholds are kept from the first one below half
        /// of it. 0 if no size is configured.
        sendpipe: u64,
    },
    /// Linux's `tcp_metrics`.
    Linux {
        /// Whether the slow-start threshold is kept as well.
        ssthresh: bool,
    },
}

/// Cached metrics of one peer; 0 stands for an unknown value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostMetrics {
    /// Smoothed round-trip time, us (BSD's `RTM_RTTUNIT`); in Linux in units of 1/8 us.
    pub rtt: u32,
    /// Mean deviation of the round-trip time, us; Linux does not use its own value.
    pub rttvar: u32,
    /// Slow-start threshold: bytes with headers (BSD), segments (Linux).
    pub ssthresh: u32,
}

/// What an ended connection adds to its host's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsUpdate {
    /// Metrics of a BSD route, in the route's units; `bad_news`: the threshold is below half the
    /// send pipe.
    Route { rtt: u32, rttvar: u32, ssthresh: u32, bad_news: bool },
    /// Metrics of Linux, in the kernel's units. `rtt` is `None` if there was no sample after the
    /// last timeout.
    Linux { rtt: Option<u32>, ssthresh: Option<Threshold> },
}

/// How Linux stores a slow-start threshold (`tcp_update_metrics`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// The threshold replaces the cached one.
    Is(u32),
    /// The threshold replaces a smaller cached one; it is not stored if none is cached.
    AtLeast(u32),
}

impl HostMetrics {
    /// Metrics of a peer of which nothing is known.
    pub const NONE: HostMetrics = HostMetrics { rtt: 0, rttvar: 0, ssthresh: 0 };

    /// Starts a connection from the metrics, after its handshake was measured: Linux's
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
                // An estimate that is too long is better than one too short: a longer one replaces
                // the old one, a shorter one moves it by an eighth.
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

/// Stores the mean of the old and the new value (FreeBSD's `tcp_close`), or the new one if either
/// is 0.
fn average(old: &mut u32, new: u32) {
    *old =
        if *old != 0 && new != 0 { ((u64::from(*old) + u64::from(new)) / 2) as u32 } else { new };
}
