//! PackMime's constants as functions of the rate.

use std::sync::Arc;

use packet::math;

use super::gaps;
use crate::distribution::{Distribution, Mixture, Weibull, shipped};
use crate::web::load::mean_headers;

/// How connections are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each connection carries one request.
    Http10,
    /// Some connections carry several requests, one after the other.
    Http11,
    /// As `Http11`, but the further requests of a page are written at once after the connection's
    /// first reply.
    Pipelined,
}

impl Mode {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "http10" => Mode::Http10,
            "http11" => Mode::Http11,
            "http11-pipelined" => Mode::Pipelined,
            other => unreachable!("the field allows no {other}"),
        }
    }
}

/// `2^y / (1 + 2^y)`, with `y` linear in the binary logarithm of the rate.
fn logistic(constant: f64, slope: f64, rate: f64) -> f64 {
    let power = math::exp2(constant + slope * math::log2(rate));
    power / (1.0 + power)
}

/// Largest first response of a connection, in bytes, that later ones repeat, since it says "not
/// modified"; after a larger one the later responses are drawn anew.
pub(super) const CACHED_UPTO: u64 = 275;
pub(super) const PERSISTENT: f64 = 0.09;
pub(super) const ONE_PAGE: f64 = 0.82;
pub(super) const ONE_OBJECT: f64 = 0.69;
/// Means of the numbers of pages and of objects beyond the first, before rounding up.
pub(super) const MORE_PAGES: f64 = 0.417;
pub(super) const MORE_OBJECTS: f64 = 1.578;

/// A value `2^(L + sqrt(S) e)` whose location L and squared scale S belong to a connection: L is
/// normal, S is gamma with mean 1, e is normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Varied {
    pub location: f64,
    pub location_sd: f64,
    pub shape: f64,
    pub error_sd: f64,
}

impl Varied {
    const fn new(location: f64, location_sd: f64, shape: f64, error_sd: f64) -> Self {
        Varied { location, location_sd, shape, error_sd }
    }

    /// The mean of the values over all connections.
    fn mean(&self) -> f64 {
        let ln2 = std::f64::consts::LN_2;
        let half = |sd: f64| 0.5 * (ln2 * sd) * (ln2 * sd);
        let scale = 1.0 - half(self.error_sd) / self.shape;
        math::exp(ln2 * self.location + half(self.location_sd)) * math::pow(scale, -self.shape)
    }
}

// Standard deviations are the roots of the source's variances: 0.94 and 2.43, 0.73 and 1.21, 3.12
// and 1.57.
pub(super) const LATER_RESPONSE: Varied =
    Varied::new(10.62, 0.969_535_971_483_265_8, 3.22, 1.558_845_726_811_989_5);
pub(super) const PAGE_GAP: Varied = Varied::new(3.22, 0.854_400_374_531_753_1, 1.85, 1.1);
pub(super) const OBJECT_GAP: Varied =
    Varied::new(-4.15, 1.766_352_173_265_569_3, 2.35, 1.252_996_408_614_166_8);

/// The parameters that follow from the rate of connections, and the distributions of sizes.
#[derive(Clone, Debug)]
pub struct Laws {
    /// How connections are used.
    pub mode: Mode,
    /// Gaps between starts of connections, seconds.
    pub gap: Weibull,
    /// Share of white noise in the process of the gaps.
    pub gap_theta: f64,
    /// Share of white noise in the process of the request sizes.
    pub request_theta: f64,
    /// Lengths, before rounding up, of runs of "not modified" responses and of runs with content.
    pub runs: [Weibull; 2],
    /// Size of a request, bytes: drawn once for a connection.
    pub request: Arc<dyn Distribution>,
    /// Size of a response with content, bytes.
    pub download: Arc<dyn Distribution>,
    /// Size of a response that says "not modified", bytes.
    pub not_modified: Arc<dyn Distribution>,
    /// Time that a server works on a response, seconds.
    pub service: Arc<dyn Distribution>,
}

impl Laws {
    /// The model at `rate` connections per second.
    pub fn new(rate: f64, mode: Mode) -> Self {
        let run = |a, b, scale| Weibull { shape: logistic(a, b, rate), scale };
        Laws {
            mode,
            gap: gaps(rate, logistic(0.352, 0.388, rate)),
            gap_theta: logistic(0.333, 0.414, rate),
            request_theta: logistic(0.123, 0.494, rate),
            runs: [run(0.718, 0.357, 0.775), run(1.293, 0.316, 3.11)],
            request: Arc::clone(&shipped::PACKMIME_REQUEST),
            download: Arc::clone(&shipped::PACKMIME_DOWNLOAD),
            not_modified: Arc::clone(&shipped::PACKMIME_NOT_MODIFIED),
            service: Arc::new(ServerDelay),
        }
    }

    /// The share of first responses that say "not modified".
    pub fn not_modified_share(&self) -> f64 {
        // The mean of a value rounded up is the sum over n of P(more than n).
        let mean = |run: &Weibull| -> f64 {
            (0..10_000).map(|n| 1.0 - run.below(f64::from(n))).take_while(|&p| p > 1e-12).sum()
        };
        let [cached, content] = [mean(&self.runs[0]), mean(&self.runs[1])];
        cached / (cached + content)
    }

    /// Size of a first response, bytes, whatever the order of the runs.
    pub fn response(&self) -> Arc<dyn Distribution> {
        let share = self.not_modified_share();
        let parts = vec![
            (Arc::clone(&self.not_modified), share),
            (Arc::clone(&self.download), 1.0 - share),
        ];
        Arc::new(Mixture::new(parts).expect("two shares that sum to 1"))
    }

    /// IP bytes, without framing, that servers send per connection on average if nothing is lost.
    pub fn ip_bytes_per_connection(&self) -> f64 {
        let response = self.response();
        let (segments, connection) = mean_headers(response.as_ref(), 1.0);
        let first = response.mean() + segments + connection;
        if self.mode == Mode::Http10 {
            return first;
        }
        let cut = CACHED_UPTO as f64 + 0.5;
        let small = response.below(cut);
        // A later response: like a small first one, or drawn anew, with the headers of a size
        // spread over segments (half a segment is lost in the last).
        let anew = LATER_RESPONSE.mean();
        let headers = 40.0 * (small + (1.0 - small) * (anew / 1_460.0 + 0.5));
        let later = response.mean_below(cut) + (1.0 - small) * anew + headers;
        first + PERSISTENT * (mean_requests() - 1.0) * later
    }
}

/// Mean number of requests on a persistent connection.
fn mean_requests() -> f64 {
    // An exponential value with mean m, rounded up, has the mean 1 / (1 - exp(-1 / m)).
    let two_or_more = |mean: f64| 1.0 + 1.0 / (1.0 - math::exp(-1.0 / mean));
    let (pages, objects) = (two_or_more(MORE_PAGES), two_or_more(MORE_OBJECTS));
    let of_many = ONE_OBJECT + (1.0 - ONE_OBJECT) * objects;
    ONE_PAGE * objects + (1.0 - ONE_PAGE) * pages * of_many
}

/// The time that a server works on a response: the reciprocal of a Weibull value, at most 100 ms.
#[derive(Clone, Copy, Debug)]
pub struct ServerDelay;

const WORK: Weibull = Weibull { shape: 0.63, scale: 305.0 };
const SLOWEST: f64 = 10.0;

impl Distribution for ServerDelay {
    fn quantile(&self, u: f64) -> f64 {
        // The reciprocal of the Weibull quantile at 1 - u, written out to keep its digits. Delays
        // at the limit of 1 / SLOWEST are the top of the distribution.
        let share = (-math::ln(u.max(f64::MIN_POSITIVE))).max(0.0);
        let rate = WORK.scale * math::pow(share, 1.0 / WORK.shape);
        1.0 / rate.max(SLOWEST)
    }
    fn below(&self, x: f64) -> f64 {
        if x > 1.0 / SLOWEST {
            1.0
        } else if x > 0.0 {
            1.0 - WORK.below(1.0 / x)
        } else {
            0.0
        }
    }
    fn mean(&self) -> f64 {
        self.mean_below(f64::INFINITY)
    }
    fn mean_below(&self, x: f64) -> f64 {
        // An integral over quantiles: the integrand is smooth up to the atom at the limit.
        const STEPS: u32 = 20_000;
        let upto = self.below(x.min(1.0 / SLOWEST));
        let body =
            (0..STEPS).map(|i| self.quantile(upto * (f64::from(i) + 0.5) / f64::from(STEPS)));
        let atom = if x > 1.0 / SLOWEST { WORK.below(SLOWEST) / SLOWEST } else { 0.0 };
        upto * body.sum::<f64>() / f64::from(STEPS) + atom
    }
    fn variance(&self) -> f64 {
        crate::distribution::numeric_variance(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Constant;

    #[test]
    fn server_delays_are_reciprocals_of_weibull_values_up_to_100_ms() {
        let law = ServerDelay;
        for u in [0.0, 0.01, 0.3, 0.5, 0.8, 0.89] {
            let x = law.quantile(u);
            assert!((law.below(x) - u).abs() < 1e-9, "{u}: {x}");
        }
        // Weibull values below 10 give the delays at the limit.
        let atom = 0.109_627_835_996;
        let below = [-1.0, 0.1, 0.100_001, 0.5, 7.0].map(|x| law.below(x));
        for (found, expected) in below.into_iter().zip([0.0, 1.0 - atom, 1.0, 1.0, 1.0]) {
            assert!((found - expected).abs() < 1e-9, "{below:?}");
        }
        // The expected values are integrals over the logarithm of the Weibull value, in 2,000,000
        // steps.
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 2e-5, "{found}, not {expected}");
        };
        near(law.mean(), 0.021_952_881_036);
        near(law.mean_below(0.2), 0.021_952_881_036);
        near(law.mean_below(0.1), 0.010_990_097_437);
        near(law.variance(), 0.001_051_317_942);
    }

    #[test]
    fn a_connections_bytes_are_those_of_its_first_response_and_of_the_later_ones() {
        // A "not modified" response has 275 B, few enough to be repeated; others have 10,000 B in 7
        // segments.
        let laws = |mode| Laws {
            download: Arc::new(Constant(10_000.0)),
            not_modified: Arc::new(Constant(CACHED_UPTO as f64)),
            ..Laws::new(100.0, mode)
        };
        let small = laws(Mode::Http10).not_modified_share();
        // SYN-ACK and last ACK have 84 B, the bare FIN behind a reply of up to 2,920 B 40.
        let first = small * (275.0 + 40.0 + 124.0) + (1.0 - small) * (10_000.0 + 280.0 + 84.0);
        assert!((laws(Mode::Http10).ip_bytes_per_connection() - first).abs() < 1e-6);
        // Later ones are repeated or drawn anew, with a header for each 1,460 B and for half a
        // segment more.
        let anew = LATER_RESPONSE.mean();
        let later = small * (275.0 + 40.0) + (1.0 - small) * (anew + 40.0 * anew / 1_460.0 + 20.0);
        let persistent = laws(Mode::Http11).ip_bytes_per_connection();
        let requests = 1.0 + (persistent - first) / (0.09 * later);
        assert!((requests - mean_requests()).abs() < 1e-9, "{requests}");
    }
}
