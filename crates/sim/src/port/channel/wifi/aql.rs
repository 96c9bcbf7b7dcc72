//! Airtime queue limits (AQL, mac80211 since Linux 5.5): a driver takes frames of a station from
//! its discipline until their airtime reaches a limit. Frames in the driver wait where no
//! discipline sees them.

use packet::Duration;

/// Limits of the airtime of frames in the driver (net/mac80211: aql_txq_limit, aql_threshold).
#[derive(Clone, Copy, Debug)]
pub struct AirtimeLimits {
    /// Airtime that the frames of a station may always have.
    pub low: Duration,
    /// Airtime that they may have while the frames of all stations together have less than `total`.
    pub high: Duration,
    /// Airtime of all stations together up to which `high` applies.
    pub total: Duration,
}

/// Airtime of the frames that a driver has taken and that are not acknowledged, by station.
pub(super) struct Airtime {
    limits: AirtimeLimits,
    /// Whether the stations share one driver, the access point's.
    shared: bool,
    pending: Vec<Duration>,
    total: Duration,
}

impl Airtime {
    pub(super) fn new(limits: AirtimeLimits, stations: usize, shared: bool) -> Self {
        let (pending, total) = (vec![Duration::ZERO; stations], Duration::ZERO);
        Airtime { limits, shared, pending, total }
    }

    /// Whether the driver may take another frame of a station (ieee80211_txq_airtime_check).
    pub(super) fn allows(&self, station: usize) -> bool {
        let (own, limits) = (self.pending[station], self.limits);
        let total = if self.shared { self.total } else { own };
        own < limits.low || (total < limits.total && own < limits.high)
    }

    /// A frame of a station is taken.
    pub(super) fn take(&mut self, station: usize, airtime: Duration) {
        self.pending[station] += airtime;
        self.total += airtime;
    }

    /// Frames of a station are acknowledged or given up.
    pub(super) fn complete(&mut self, station: usize, airtime: Duration) {
        self.pending[station] = self.pending[station] - airtime;
        self.total = self.total - airtime;
    }
}
