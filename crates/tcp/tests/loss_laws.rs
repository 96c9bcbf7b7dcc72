//! Every congestion control against the law of its response to loss, with today's sender (`linux`) and
//! the RFCs' (`plain`): one new data segment in n is lost, on a path without a queue, from a window of
//! slow start that is far above what the law leaves.

use crate::lab;
use crate::lab::{C, S, World, ms, profile, secs};
use aqmlab_tcp::HostClock;
use packet::math;
use packet::params::Raw;

/// Round trip, ms.
const TRIP: u64 = 40;
/// Segments sent before the mean is taken, and as many while it is, but 30 losses at least: near its fixed
/// point a cycle moves CUBIC's plateau little.
const SEGMENTS: u64 = 20_000;
/// Losses at least.
const LOSSES: u64 = 30;
/// Of how many segments one is lost.
const ONE_IN: [u64; 5] = [20, 50, 100, 500, 2_000];

/// A window that grows by `alpha` segments per round trip, of which a loss leaves `beta`.
#[derive(Clone, Copy)]
struct Aimd {
    alpha: f64,
    beta: f64,
}

/// RFC 5681.
const RENO: Aimd = Aimd { alpha: 1.0, beta: 0.5 };
/// As well, where each of the acknowledgements of two segments grows the window like one of one (RFC 5681
/// section 3.1, equation 3, with delayed acknowledgements).
const RENO_PER_ACK: Aimd = Aimd { alpha: 0.5, ..RENO };
/// RFC 9438 section 4.3, 3 (1 - beta)/(1 + beta). (At 40 ms its cubic is slower up to n = 2,000: equation 7
/// gives 1.054 (0.04 n)^0.75 = 28 segments.)
const CUBIC: Aimd = Aimd { alpha: 0.9 / 1.7, beta: 0.7 };
/// draft-irtf-iccrg-ledbat-plus-plus, section 4.2: a gain of 1 over 2 x 60 ms/40 ms in whole numbers.
const LEDBAT: Aimd = Aimd { alpha: 1.0 / 3.0, beta: 0.5 };

impl Aimd {
    /// Mean window, segments, where every `n`-th is lost: Mathis, Semke, Mahdavi, Ott, *The Macroscopic
    /// Behavior of the TCP Congestion Avoidance Algorithm*, CCR 27(3), 1997 (for Reno sqrt(1.5 n)), with the
    /// round trip of recovery (derived): a cycle takes W to `beta` W and back in (1 - beta) W/alpha round trips
    /// and one more, then one at `beta` W, and carries n segments.
    fn mean(self, n: u64) -> f64 {
        let Aimd { alpha, beta } = self;
        let trips = (1.0 - beta) / alpha;
        let middle = (1.0 + beta) / 2.0;
        let (a, b) = (trips * middle, middle + beta);
        let top = (math::sqrt(b * b + 4.0 * a * n as f64) - b) / (2.0 * a);
        n as f64 / (trips * top + 2.0)
    }
}

/// What of a law is seen, for each n, where that is not all.
type Share = [f64; ONE_IN.len()];
const ALL: Share = [1.0; ONE_IN.len()];
/// At one loss in 20 a window is of four to six segments: where whole segments are counted, of five Reno
/// leaves two, of four CUBIC; and RFC 5681's growth by a segment squared over the window at each of three
/// acknowledgements is less than a segment.
const WHOLE: Share = [0.75, 1.0, 1.0, 1.0, 1.0];
/// As well, where two segments are acknowledged at a time and CUBIC's slope of 8/15 segment per round trip is
/// counted in whole ones (`tcp_cubic.c`).
const SLOPE: Share = [0.75, 0.8, 0.9, 1.0, 1.0];
/// As well, where growth is counted before the acknowledgement at hand is (`htcp_cong_avoid`): H-TCP's increase of
/// 2 (1 - beta) keeps it near Reno, whatever share beta it leaves.
const COUNTED: Share = [0.75, 0.9, 0.9, 1.0, 1.0];
/// TCP-NV does not grow after a loss before it has measured twenty round trips anew (`nv_inc_eval_min_calls`), one at
/// each acknowledgement: of twenty segments a loss, and where two are acknowledged at a time of fifty, all are
/// spent on that, and the window stays at two.
const PAUSES: Share = [0.28, 0.63, 0.7, 0.9, 0.95];
const LONGER_PAUSES: Share = [0.28, 0.28, 0.6, 0.85, 0.95];
/// ns-2's window has fractions of a segment, which are not sent.
const SENT: Share = [0.9, 0.9, 0.9, 1.0, 1.0];
/// LEDBAT++ spends a tenth of its time in slowdowns (section 4.4 of its draft), and half of a small window
/// is not whole either.
const SLOWDOWNS: Share = [0.75, 0.8, 0.85, 0.9, 0.9];

/// `tcp_nv.c`: nv_loss_dec_factor, a segment per round trip.
const NV: Aimd = Aimd { alpha: 1.0, beta: 819.0 / 1_024.0 };

/// draft-johansson-ccwg-rfc8298bis-screamv2: BETA_LOSS, and a quarter of a segment per round trip near the window of
/// the last loss, a little more farther away.
const SCREAM: Aimd = Aimd { alpha: 0.27, beta: 0.7 };

/// What a control's response to loss is.
enum Law {
    /// This share of a law.
    Is(Aimd, Share),
    /// None to single losses: the window as a multiple of Reno's, at least, for each n.
    NoResponse([f64; ONE_IN.len()]),
}

/// Segments lost so far.
struct Every {
    n: u64,
    highest: u64,
    sent: u64,
}

impl Every {
    /// None before eight times `n` have gone, when slow start has a window of about 4 n or all that
    /// the receiver takes: a window above n has a loss in each of its round trips.
    fn loses(&mut self, sent: &lab::Sent) -> bool {
        let segment = &sent.segment;
        if sent.side != S || segment.len == 0 || segment.seq <= self.highest {
            return false;
        }
        self.highest = segment.seq;
        self.sent += 1;
        self.sent > 8 * self.n && self.sent.is_multiple_of(self.n)
    }
}

/// Mean window in segments, as what is delivered in a round trip.
fn mean_window(name: &str, control: &str, n: u64) -> f64 {
    // Prague's window follows its target by one segment an acknowledgement (`prague_update_cwnd`), and SACKs
    // of many segments at once are few: from 2,760 segments it takes more round trips to fall than the warm-up
    // has. 690 segments are still a dozen times what the law leaves of one loss in 2,000.
    let window: f64 = if control == "prague" { 1e6 } else { 4e6 };
    // Linux's receiver delays by its own rules, and offers 164/256 of its buffer.
    let (own, mss, buffer) = match name {
        "plain" => (("ack_every", Raw::Number(1.0)), 1_460.0, window),
        "quic" => (("ack_eliciting_threshold", Raw::Number(0.0)), 1_167.0, window),
        _ => (("autotuning", Raw::Bool(false)), 1_448.0, (window * 256.0 / 164.0).round()),
    };
    let settings =
        &[("congestion", Raw::Text(control.into())), ("window_bytes", Raw::Number(buffer)), own];
    let mut world = World::new(&profile(name, settings), [HostClock::default(); 2], 1 << 44);
    world.keep_log = false;
    world.delay = ms(TRIP / 2);
    let mut every = Every { n, highest: 0, sent: 0 };
    let (mut at, mut from) = (0.04, None);
    world.run(secs(at), &mut |sent| every.loses(sent));
    let (warm_up, losses) = (8 * n, (SEGMENTS / n).max(LOSSES));
    while every.sent < warm_up + 2 * losses * n {
        at += 0.04;
        assert!(at < 2e3, "{name} {control} 1/{n}: it hardly sends");
        world.go_on(secs(at), &mut |sent| every.loses(sent));
        if from.is_none() && every.sent >= warm_up + losses * n {
            from = Some((at, world.ends[C].delivered()));
        }
    }
    let (since, before) = from.expect("half of it");
    let delivered = (world.ends[C].delivered() - before) as f64;
    delivered / mss * (TRIP as f64 / 1e3) / (at - since).max(0.04)
}

/// The response of `control` to loss, for each profile.
fn law(name: &str, control: &str) -> Law {
    match (control, name) {
        // draft-ietf-ccwg-bbr: a model of the path, no answer to a loss; version 3 answers rounds with more
        // than 2 % of losses, by what was in flight, which is above Reno's window nevertheless.
        ("bbr", _) => Law::NoResponse([20.0; ONE_IN.len()]),
        ("bbr3", _) => Law::NoResponse([1.5, 20.0, 20.0, 20.0, 20.0]),
        // NSDI 2018, section 2.2: the default mode, which the paths here leave it in, answers delay alone.
        ("copa", _) => Law::NoResponse([20.0; ONE_IN.len()]),
        // tcp_westwood.c: the measured rate times the smallest round trip, which is the window where nothing is
        // queued; what is less is the rate's filter, and the half while a loss is repaired.
        ("westwood", _) => Law::NoResponse([0.9, 1.1, 1.4, 3.0, 4.5]),
        ("htcp", _) => Law::Is(RENO, COUNTED),
        ("nv", "linux") => Law::Is(NV, LONGER_PAUSES),
        ("nv", _) => Law::Is(NV, PAUSES),
        ("scream", "linux") => Law::Is(SCREAM, WHOLE),
        ("scream", _) => Law::Is(SCREAM, ALL),
        ("cubic" | "cubic-search" | "careful-resume", "linux") => Law::Is(CUBIC, SLOPE),
        ("cubic" | "cubic-search" | "careful-resume", _) => Law::Is(CUBIC, WHOLE),
        ("rfc9438", _) => Law::Is(CUBIC, ALL),
        ("ledbat++", _) => Law::Is(LEDBAT, SLOWDOWNS),
        // These count acknowledgements, which come for two segments.
        ("reno-bsd" | "rfc5681", "linux") => Law::Is(RENO_PER_ACK, ALL),
        ("reno-ns2", "linux") => Law::Is(RENO_PER_ACK, SENT),
        // RFC 8257 section 3.4: DCTCP answers a loss as Reno does. Vegas is Reno where no queue builds up
        // (tcp_vegas.c: tcp_reno_ssthresh).
        ("reno" | "vegas" | "vegas-linux", "linux") | ("rfc5681" | "reno-ns2", _) => {
            Law::Is(RENO, WHOLE)
        }
        // With ECN a loss is reported by CWR, which Linux acknowledges at once: no small window waits for a
        // delayed acknowledgement.
        ("dctcp", "linux") => Law::Is(RENO, ALL),
        // Prague too: RFC 9331 section 4.3, tcp_prague.c (prague_enter_loss).
        _ => Law::Is(RENO, ALL),
    }
}

#[test]
fn every_control_answers_losses_by_its_law() {
    let mut broken = Vec::new();
    for about in aqmlab_tcp::controls() {
        for name in ["plain", "linux"] {
            for (i, n) in ONE_IN.into_iter().enumerate() {
                let seen = mean_window(name, about.name, n);
                let (ratio, range) = match law(name, about.name) {
                    Law::Is(law, share) => (seen / law.mean(n) / share[i], 0.85..1.15),
                    Law::NoResponse(times) => (seen / RENO.mean(n), times[i]..f64::INFINITY),
                };
                if !range.contains(&ratio) {
                    let control = about.name;
                    broken.push(format!("{name} {control} 1/{n}: {seen:.1} segments, {ratio:.2}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn quic_answers_losses_by_the_law_of_its_newreno() {
    for n in [50, 100, 500] {
        let (seen, law) = (mean_window("quic", "reno", n), RENO.mean(n));
        assert!(
            (0.85..1.15).contains(&(seen / law)),
            "1/{n}: {seen:.1} packets, {law:.1} by the law"
        );
    }
}
