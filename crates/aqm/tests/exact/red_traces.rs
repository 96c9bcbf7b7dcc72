//! RED and its second transcription agree packet by packet over random traces.

use std::collections::VecDeque;

use aqmlab_aqm::{Admission, Gate};
use packet::{Backlog, Ecn, Instant, Packet, Rng};

use super::gate;
use super::transcribed::{Arrival, Conf, RATE, Reference};

const BASE: Conf = Conf {
    profile: "fj93",
    min: 5.0,
    max: 15.0,
    max_p: 0.1,
    weight: 64,
    gentle: false,
    wait: false,
    queue_in_bytes: false,
    bytes: false,
    mean: 1000,
    ecn: true,
    harddrop: true,
    use_mark_p: false,
    ns1: false,
    limit: 30,
};

impl Conf {
    /// The same as a user would write it.
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![
            ("profile", self.profile.to_string()),
            ("min_th", self.min.to_string()),
            ("max_th", self.max.to_string()),
            ("max_p", self.max_p.to_string()),
            ("w_q", format!("1/{}", self.weight)),
            ("gentle", self.gentle.to_string()),
            ("queue_in_bytes", self.queue_in_bytes.to_string()),
            ("byte_probability", self.bytes.to_string()),
            ("ecn", self.ecn.to_string()),
            ("harddrop", self.harddrop.to_string()),
            ("limit", self.limit.to_string()),
            ("wait", self.wait.to_string()),
            ("use_mark_p", self.use_mark_p.to_string()),
            ("ns1_compat", self.ns1.to_string()),
        ];
        if self.profile != "altq" {
            pairs.push(("mean_packet_bytes", self.mean.to_string()));
        }
        pairs
    }
}

/// Every combination of the switches that a profile offers, with two sets of numbers.
fn configurations() -> Vec<Conf> {
    let both = |free: bool, fixed: bool| if free { vec![false, true] } else { vec![fixed] };
    let mut all = Vec::new();
    for profile in ["fj93", "ns2", "ns2-fixed", "ns3", "altq", "linux"] {
        let ns = profile.starts_with("ns");
        let mut push = |conf: Conf| {
            all.push(conf);
            let harsh =
                Conf { min: 3.0, max: 40.0, max_p: 0.5, weight: 8, limit: 45, mean: 500, ..conf };
            all.push(harsh);
        };
        for gentle in both(!matches!(profile, "altq" | "linux"), false) {
            for wait in both(ns, false) {
                for queue_in_bytes in both(!matches!(profile, "altq" | "linux"), profile == "linux")
                {
                    for bytes in both(!matches!(profile, "altq" | "linux"), false) {
                        if profile == "ns3" && bytes != queue_in_bytes {
                            continue;
                        }
                        for ecn in [false, true] {
                            let free = matches!(profile, "fj93" | "ns3" | "linux");
                            for harddrop in both(free, true) {
                                for use_mark_p in both(profile == "ns2", false) {
                                    let ns1 = ns && (gentle != wait);
                                    push(Conf {
                                        profile,
                                        gentle,
                                        wait,
                                        queue_in_bytes,
                                        bytes,
                                        ecn,
                                        harddrop,
                                        use_mark_p,
                                        ns1,
                                        ..BASE
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

/// Random arrivals in phases of overload, moderate load, and sparse load with idle gaps from
/// microseconds to more than a minute.
struct Traffic {
    rng: Rng,
    now: u64,
    mean_gap_ns: f64,
}

impl Traffic {
    fn next(&mut self) -> (u64, u64, Ecn) {
        let rng = &mut self.rng;
        if rng.below(300) == 0 {
            self.mean_gap_ns = [1e5, 4e5, 6e5, 8e5, 2e6, 4e6][rng.below(6) as usize];
        }
        let mut gap = rng.exponential(self.mean_gap_ns) as u64;
        if rng.below(500) == 0 {
            gap += [3_000_000, 80_000_000, 2_000_000_000, 61_000_000_000][rng.below(4) as usize];
        }
        self.now += gap;
        let size = [40, 552, 1000, 1500, 1500][rng.below(5) as usize];
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize];
        (self.now, size, ecn)
    }
}

/// A line with a queue before it.
#[derive(Default)]
struct Line {
    waiting: VecDeque<u64>,
    bytes: u64,
    busy_until: Option<u64>,
}

impl Line {
    fn done(size: u64) -> u64 {
        (size * 8_000_000_000).div_ceil(RATE)
    }

    /// Sends until `now`; the instant at which the line went idle, if it did.
    fn advance(&mut self, now: u64) -> Option<u64> {
        while let Some(end) = self.busy_until.filter(|end| *end <= now) {
            self.busy_until = self.waiting.pop_front().map(|size| {
                self.bytes -= size;
                end + Self::done(size)
            });
            if self.busy_until.is_none() {
                return Some(end);
            }
        }
        None
    }

    fn accept(&mut self, size: u64, now: u64) {
        if self.busy_until.is_none() {
            self.busy_until = Some(now + Self::done(size));
        } else {
            self.waiting.push_back(size);
            self.bytes += size;
        }
    }
}

/// Drives both over one trace; returns how many packets were queued, marked and dropped.
fn compare(conf: Conf, seed: u64, packets: u32) -> [u32; 3] {
    let pairs = conf.pairs();
    let pairs: Vec<_> = pairs.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let mut product: Box<dyn Gate> = gate("red", &pairs);
    let mut reference = Reference::new(conf);
    let mut draws = (Rng::named(seed, "draws"), Rng::named(seed, "draws"));
    let mut traffic = Traffic { rng: Rng::named(seed, "trace"), now: 0, mean_gap_ns: 6e5 };
    let mut line = Line::default();
    let mut seen = [0; 3];
    for n in 0..packets {
        let (now, size, ecn) = traffic.next();
        if let Some(idle) = line.advance(now) {
            product.on_idle(Instant::from_nanos(idle));
            reference.dequeue_empty(idle);
        }
        let backlog = Backlog { packets: line.waiting.len() as u32, bytes: line.bytes };
        let arrival = Arrival {
            size,
            ect: ecn != Ecn::NotEct,
            packets: line.waiting.len() as u64,
            bytes: line.bytes,
            now,
        };
        let at = Instant::from_nanos(now);
        let mut packet = Packet {
            id: n,
            flow: 0,
            bytes: size as u32,
            ecn,
            arrived: at,
            header: Default::default(),
        };
        let said = product.admit(&mut packet, backlog, at, &mut draws.0);
        let expected = reference.enqueue(arrival, &mut draws.1);
        assert_eq!(said, expected, "{conf:?}, seed {seed}, packet {n}");
        let marked = matches!(said, Admission::Marked(_));
        assert_eq!(packet.ecn, if marked { Ecn::Ce } else { ecn });
        match said {
            Admission::Dropped(_) => {
                seen[2] += 1;
                // A real holder looks into the empty queue after a drop at an idle line; the
                // product is told only now and then, and must not need it.
                if line.busy_until.is_none() {
                    reference.dequeue_empty(now);
                    if n % 2 == 0 {
                        product.on_idle(at);
                    }
                }
            }
            _ => {
                seen[usize::from(marked)] += 1;
                line.accept(size, now);
            }
        }
    }
    assert_eq!(draws.0, draws.1, "{conf:?}: a different number of draws");
    seen
}

#[test]
fn both_transcriptions_agree() {
    for (index, conf) in configurations().into_iter().enumerate() {
        let [queued, marked, dropped] = compare(conf, index as u64, 20_000);
        assert!(queued > 1000 && dropped > 50, "{conf:?}: {queued} queued, {dropped} dropped");
        // With use_mark_p only hits below a p_b of 0.1 mark, which are rare.
        let enough = if conf.use_mark_p { 5 } else { 20 };
        assert_eq!(marked > enough, conf.ecn, "{conf:?}: {marked} marked");
    }
}
