//! The mean load that web users request, computed before anything is simulated.
//!
//! Only a first estimate: users wait for the network, so the load they really offer must be
//! measured on an uncongested link.

use super::UserModel;
use crate::distribution::Distribution;

/// Payload bytes of a full segment on Ethernet without TCP options.
const SEGMENT: u64 = 1_460;
/// Bytes of IP and TCP headers without options.
const HEADERS: u64 = 40;
/// Bytes of a SYN-ACK with its maximum-segment-size option (44 B), and of the last ACK (40 B).
const HANDSHAKE_AND_LAST_ACK: u64 = 84;
/// A reply of at most this many bytes leaves at once (two segments), and its FIN follows alone.
const FIRST_FLIGHT: u64 = 2 * SEGMENT;
/// Number of segments up to which probabilities are summed one by one; beyond it by an integral.
const FEW_SEGMENTS: u64 = 256;
/// How long an average page takes to fetch on an unloaded network, seconds (constructed: 0.4 to
/// 0.5 s with round-trip times around 79 ms; small against any think time).
pub(super) const PAGE_TIME: f64 = 0.45;

/// IP bytes, without framing, that a server sends for a reply of `bytes` on a connection of its
/// own if nothing is lost: 1,460 B segments without options, a server that closes first.
pub fn ip_bytes_of_reply(bytes: u64) -> u64 {
    let bare_fin = if bytes <= FIRST_FLIGHT { HEADERS } else { 0 };
    bytes + HEADERS * bytes.div_ceil(SEGMENT) + HANDSHAKE_AND_LAST_ACK + bare_fin
}

/// Mean header bytes in [`ip_bytes_of_reply`], over replies drawn from `reply` times `scale`: those
/// of the segments, and those of the connection.
pub(super) fn mean_headers(reply: &dyn Distribution, scale: f64) -> (f64, f64) {
    // The probability that a rounded, scaled reply has more than `bytes`.
    let above = |bytes: u64| 1.0 - reply.below((bytes as f64 + 0.5) / scale);
    // The mean number of segments is the sum over n of P(more than n segments); its far part is
    // the integral and half the first term (Euler and Maclaurin).
    let far = FEW_SEGMENTS * SEGMENT;
    let beyond = (reply.mean() - reply.capped_mean(far as f64 / scale)) * scale / SEGMENT as f64;
    let few: f64 = (1..FEW_SEGMENTS).map(|n| above(n * SEGMENT)).sum();
    let segments = 1.0 + few + beyond + 0.5 * above(far);
    let bare_fins = 1.0 - above(FIRST_FLIGHT);
    (HEADERS as f64 * segments, HEADERS as f64 * bare_fins + HANDSHAKE_AND_LAST_ACK as f64)
}

impl UserModel {
    /// Mean payload of the first reply of a page, bytes. (The rounding to whole bytes is left out.)
    pub fn mean_reply_bytes(&self) -> f64 {
        self.reply.mean() * self.reply_scale
    }

    /// Mean of [`ip_bytes_of_reply`] over the first replies of pages.
    pub fn mean_ip_bytes_of_reply(&self) -> f64 {
        let (segments, connection) = mean_headers(self.reply.as_ref(), self.reply_scale);
        self.mean_reply_bytes() + segments + connection
    }

    /// Mean number of files of a page after the first.
    fn others(&self) -> f64 {
        (self.files.mean() - 1.0).max(0.0)
    }

    /// Mean payload of the replies of a page, bytes.
    pub fn mean_page_bytes(&self) -> f64 {
        let embedded = self.embedded.as_ref().unwrap_or(&self.reply);
        self.mean_reply_bytes() + self.others() * embedded.mean() * self.reply_scale
    }

    /// Mean IP bytes, without framing, that servers send for a page.
    pub fn mean_ip_bytes_of_page(&self) -> f64 {
        let embedded = self.embedded.as_ref().unwrap_or(&self.reply);
        let first = mean_headers(self.reply.as_ref(), self.reply_scale);
        let other = mean_headers(embedded.as_ref(), self.reply_scale);
        let sum = |one: f64, another: f64| one + self.others() * another;
        let connections = sum(first.1, other.1) * self.connections_per_file();
        self.mean_page_bytes() + sum(first.0, other.0) + connections
    }

    /// Connections opened per file: 1 in HTTP/1.0, fewer where stays share them.
    fn connections_per_file(&self) -> f64 {
        let Some(persistence) = &self.persistence else { return 1.0 };
        let files_of_stay = self.files.mean() * self.pages.mean();
        let shared = (f64::from(persistence.parallel) / files_of_stay).min(1.0);
        1.0 - persistence.share + persistence.share * shared
    }

    /// Mean time from one page to the next, seconds, on an unloaded network.
    pub fn page_cycle_s(&self) -> f64 {
        let parse = self.parse.as_ref().map_or(0.0, |parse| parse.mean());
        self.think.mean() + parse + PAGE_TIME
    }

    /// Reply payload that one user receives per second on an unloaded network, bytes.
    pub fn expected_bytes_per_user_s(&self) -> f64 {
        self.mean_page_bytes() / self.page_cycle_s()
    }

    /// IP bytes, without framing, that servers send to one user per second on an unloaded
    /// network.
    pub fn expected_ip_bytes_per_user_s(&self) -> f64 {
        self.mean_ip_bytes_of_page() / self.page_cycle_s()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::distribution::{Constant, Uniform};
    use crate::web::mah::{Preset, ThinkCut};

    #[test]
    fn replies_are_wrapped_in_headers() {
        // One segment: 1 + 40, SYN-ACK 44, last ACK 40, bare FIN 40.
        assert_eq!(ip_bytes_of_reply(1), 165);
        assert_eq!(ip_bytes_of_reply(1_460), 1_624);
        assert_eq!(ip_bytes_of_reply(1_461), 1_665);
        assert_eq!(ip_bytes_of_reply(2_920), 3_124);
        // The FIN rides on the last of three segments.
        assert_eq!(ip_bytes_of_reply(2_921), 2_921 + 3 * 40 + 84);
    }

    #[test]
    fn the_mean_over_replies_is_the_sum_over_sizes() {
        let mut model = Preset::MahRaw.model(4, 1);
        model.reply = Arc::new(Constant(2_921.0));
        assert_eq!(model.mean_ip_bytes_of_reply(), 3_125.0);
        model.reply = Arc::new(Constant(2_920.0));
        assert_eq!(model.mean_ip_bytes_of_reply(), 3_124.0);
        // Sizes are rounded to 1 to 10,000 bytes, each equally likely.
        model.reply = Arc::new(Uniform { low: 0.5, high: 10_000.5 });
        let sum: u64 = (1..=10_000).map(ip_bytes_of_reply).sum();
        assert!((model.mean_ip_bytes_of_reply() - sum as f64 / 1e4).abs() < 1e-6);
        // Beyond 256 segments the mean is an integral, exact within a thousandth of a segment's
        // header.
        model.reply = Arc::new(Uniform { low: 0.5, high: 1_000_000.5 });
        let large: u64 = (1..=1_000_000).map(ip_bytes_of_reply).sum();
        assert!((model.mean_ip_bytes_of_reply() - large as f64 / 1e6).abs() < 0.04);
        model.reply_scale = 2.0;
        model.reply = Arc::new(Uniform { low: 0.25, high: 5_000.25 });
        assert!((model.mean_ip_bytes_of_reply() - sum as f64 / 1e4).abs() < 1e-6);
    }

    #[test]
    fn the_presets_request_what_their_description_says() {
        let near = |value: f64, printed: f64, tolerance: f64| {
            assert!((value - printed).abs() <= tolerance, "{value} against {printed}");
        };
        let raw = Preset::MahRaw.model(4, 1);
        near(raw.mean_ip_bytes_of_reply(), 7_560.0, 15.0);
        near(raw.page_cycle_s(), 53.4, 0.05);
        near(raw.expected_bytes_per_user_s(), 385.0, 0.6);
        near(raw.expected_ip_bytes_per_user_s(), 402.0, 0.6);
        let fit = Preset::MahFit.model(4, 1);
        near(fit.mean_ip_bytes_of_reply(), 10_526.0, 20.0);
        near(fit.page_cycle_s(), 72.8, 0.05);
        near(fit.expected_bytes_per_user_s(), 395.0, 0.6);
        near(fit.expected_ip_bytes_per_user_s(), 411.0, 0.6);
        let mut uncut = raw;
        uncut.think = ThinkCut::Full.table();
        near(uncut.think.mean(), 1_804.0, 4.0);
        near(uncut.expected_ip_bytes_per_user_s(), 11.9, 0.05);
    }
}
