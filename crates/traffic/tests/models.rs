//! Every model against its expected moments, and PackMime's dependence against its theory.
//!
//! Expected values come from 10^7 draws of an independent implementation;
//! a tolerance is five standard errors at 10^6 draws, rounded up, so that one of the some 130
//! bounds fails for a right sampler with a chance below 1 in 10^4 after a change of seed. Smaller
//! samples have their tolerances widened by the root of the ratio. Heavy tails are held by the mean
//! of values cut at 1 MB.

mod dependence;

use std::sync::Arc;

use crate::common::sample::{DRAWS, Sample, assert_near};
use aqmlab_traffic::distribution::{Distribution, shipped, whole_bytes};
use aqmlab_traffic::fsd::{Coefficients, SumDifference, gaussian};
use aqmlab_traffic::web::packmime::{Arrivals, Laws, Mode, Sequence};
use aqmlab_traffic::web::{archive, loops, threegpp, unc};
use packet::{Rng, math};

fn bytes(of: &dyn Distribution, rng: &mut Rng) -> f64 {
    whole_bytes(of.sample(rng), 1.0) as f64
}

fn sizes(name: &str, of: &dyn Distribution) -> Sample {
    Sample::of(name, |rng| bytes(of, rng))
}

fn laws(rate: f64) -> Laws {
    Laws::new(rate, Mode::Http11)
}

fn arrivals(rate: f64) -> Arrivals {
    Arrivals::new(Arc::new(laws(rate)), |name| Rng::named(2004, name))
}

#[test]
fn exact_means_agree_with_the_printed_ones() {
    let laws = laws(100.0);
    assert_near("request", laws.request.mean(), (580.3, 0.1));
    assert_near("download", laws.download.mean(), (10_888.0, 0.2));
    assert_near("download, cut", laws.download.capped_mean(1e6), (9_539.0, 0.2));
    assert_near("not modified", laws.not_modified.mean(), (152.8, 0.1));
    assert_near("response", laws.response().mean(), (7_931.0, 0.3));
    assert_near("response, cut", laws.response().capped_mean(1e6), (6_954.0, 0.3));
    assert_near("gap", laws.gap.mean(), (0.01, 1e-9));
    assert_near("server delay", laws.service.mean(), (0.02195, 0.2));
    assert_near("unc response", unc::response().mean(), (7_936.0, 0.2));
    assert_near("unc response, cut", unc::response().capped_mean(1e6), (6_958.0, 0.2));
    assert_near("3gpp main", threegpp::main_object().mean(), (10_734.0, 0.2));
    assert_near("3gpp embedded", threegpp::embedded_object().mean(), (8_221.0, 0.5));
}

#[test]
fn packmime_parameters_follow_the_rate() {
    for (rate, shape, theta) in
        [(1.0, 0.561, 0.557), (10.0, 0.757, 0.766), (100.0, 0.884, 0.894), (500.0, 0.934, 0.943)]
    {
        assert!((laws(rate).gap.shape - shape).abs() < 6e-4, "{rate}");
        assert!((laws(rate).gap_theta - theta).abs() < 6e-4, "{rate}");
        assert_near("mean gap", laws(rate).gap.mean(), (1.0 / rate, 1e-9));
    }
    for (rate, share) in [(1.0, 0.286), (10.0, 0.277), (100.0, 0.275), (1_000.0, 0.275)] {
        assert!((laws(rate).not_modified_share() - share).abs() < 6e-4, "{rate}");
    }
}

#[test]
fn packmime_requests() {
    let sample = sizes("request", laws(100.0).request.as_ref());
    sample.check((580.3, 3.0), (422.0, 0.5), (869.0, 0.5), (3_062.0, 2.0));
}

#[test]
fn packmime_downloads() {
    let sample = sizes("download", laws(100.0).download.as_ref());
    sample.check((10_888.0, 8.0), (2_258.0, 1.0), (20_310.0, 1.5), (93_110.0, 2.0));
    assert_near("cut mean", sample.capped(), (9_539.0, 2.0));
}

#[test]
fn packmime_not_modified() {
    let sample = sizes("not modified", laws(100.0).not_modified.as_ref());
    sample.check((152.8, 0.3), (141.0, 0.8), (249.0, 0.8), (272.0, 0.5));
}

#[test]
fn packmime_responses_in_runs() {
    let mut arrivals = arrivals(100.0);
    let sample = Sample::of("unused", |_| arrivals.response() as f64);
    sample.check((7_931.0, 10.0), (886.0, 2.0), (14_680.0, 2.0), (72_500.0, 6.0));
    assert_near("cut mean", sample.capped(), (6_954.0, 2.5));
}

#[test]
fn packmime_responses_begin_with_a_run_of_content() {
    for seed in 0..200 {
        let stream = |name: &str| Rng::named(seed, name);
        let mut arrivals = Arrivals::new(Arc::new(laws(100.0)), stream);
        // Content is at least 274.8 B, "not modified" at most 272.2 B.
        assert!(arrivals.response() >= 275, "seed {seed}");
    }
}

#[test]
fn packmime_runs_have_their_lengths() {
    // P(a run of content has one response) is P(W <= 1), a Weibull value; some 10^5 runs: five
    // standard errors are below 0.009.
    let laws = laws(100.0);
    let mut arrivals = arrivals(100.0);
    let content: Vec<bool> = (0..DRAWS).map(|_| arrivals.response() >= 275).collect();
    for (state, law) in [(false, laws.runs[0]), (true, laws.runs[1])] {
        let runs = content.chunk_by(|a, b| a == b).filter(|run| run[0] == state);
        let lengths: Vec<usize> = runs.map(<[bool]>::len).collect();
        for length in 1..4 {
            let upto = lengths.iter().filter(|&&n| n <= length).count() as f64;
            let share = upto / lengths.len() as f64;
            assert!((share - law.below(length as f64)).abs() < 0.009, "{state} {length}: {share}");
        }
    }
}

#[test]
fn packmime_gaps() {
    let gap = laws(100.0).gap;
    let sample = Sample::of("gap", |rng| 1e3 * gap.sample(rng));
    sample.check((10.0, 0.8), (6.216, 1.3), (24.17, 1.0), (52.95, 1.3));
}

#[test]
fn packmime_server_delays() {
    let law = laws(100.0).service;
    let sample = Sample::of("delay", |rng| 1e3 * law.sample(rng));
    sample.check((21.95, 1.0), (5.866, 1.3), (100.0, 1e-9), (100.0, 1e-9));
    let at_limit = sample.0.iter().filter(|&&ms| ms >= 100.0 * (1.0 - 1e-12)).count() as f64;
    assert_near("share at the limit", at_limit / DRAWS as f64, (0.11, 3.0));
    assert!((law.below(0.1) + at_limit / DRAWS as f64 - 1.0).abs() < 0.002);
}

/// What a persistent connection did.
#[derive(Default)]
struct Life {
    pages: u32,
    requests: u32,
    /// The first of each, because those of one connection depend on each other.
    page_gap: Option<f64>,
    object_gap: Option<f64>,
    later: Option<u64>,
    bytes: u64,
}

fn life(index: u64, first_response: u64) -> Life {
    let mut sequence = Sequence::new(Rng::indexed(2004, "sequence", index), first_response);
    let mut life = Life { pages: 1, requests: 1, bytes: first_response, ..Life::default() };
    while !sequence.is_over() {
        let new_page = sequence.objects_left() == 0;
        let gap = sequence.gap();
        let seen = if new_page { &mut life.page_gap } else { &mut life.object_gap };
        seen.get_or_insert(gap);
        let response = sequence.advance();
        life.later.get_or_insert(response);
        life.bytes += response;
        life.pages += u32::from(new_page);
        life.requests += 1;
    }
    life
}

#[test]
fn packmime_persistent_connections() {
    let lives: Vec<Life> = (0..DRAWS as u64).map(|i| life(i, 1_000)).collect();
    let count = |of: fn(&Life) -> u32| Sample::sorted(lives.iter().map(|l| of(l).into()).collect());
    let pages = count(|l| l.pages);
    pages.check((1.198, 0.3), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0));
    let requests = count(|l| l.requests);
    requests.check((3.195, 0.4), (3.0, 0.0), (5.0, 0.0), (9.0, 0.0));
    let share = |n| requests.0.iter().filter(|&&r| r == n).count() as f64 / DRAWS as f64;
    assert!((share(2.0) - 0.46).abs() < 0.006 && (share(3.0) - 0.24).abs() < 0.006);
    let later = Sample::sorted(lives.iter().map(|l| l.later.unwrap() as f64).collect());
    later.check((3_756.0, 4.0), (1_574.0, 0.8), (7_720.0, 1.3), (34_450.0, 3.5));
    let gaps = |of: fn(&Life) -> Option<f64>| Sample::sorted(lives.iter().filter_map(of).collect());
    let within = gaps(|l| l.object_gap);
    assert!(within.0.len() > 850_000, "{}", within.0.len());
    within.check((0.1798, 2.7), (0.0563, 1.1), (0.380, 1.6), (1.933, 5.4));
    let between = gaps(|l| l.page_gap);
    assert!(between.0.len() > 175_000, "{}", between.0.len());
    between.check((15.23, 2.9), (9.318, 2.0), (30.9, 2.4), (98.8, 7.2));
}

#[test]
fn a_small_first_response_is_repeated() {
    for index in 0..1_000 {
        let life = life(index, 275);
        assert_eq!(life.bytes, 275 * u64::from(life.requests), "275 B: cached");
    }
    let anew = (0..1_000).filter(|&i| life(i, 276).later != Some(276)).count();
    assert!(anew > 990, "276 B: drawn anew");
}

#[test]
fn packmime_bytes_per_connection() {
    let mut arrivals = arrivals(100.0);
    let mut persistent = 0;
    let sample = Sample::of("unused", |rng| {
        let first = arrivals.response();
        if arrivals.persistent() {
            persistent += 1;
            life(rng.next_u64(), first).bytes as f64
        } else {
            first as f64
        }
    });
    sample.check((8_477.0, 10.0), (1_025.0, 2.0), (16_490.0, 2.0), (78_000.0, 4.5));
    assert_near("cut mean", sample.capped(), (7_500.0, 2.5));
    assert_near("persistent", f64::from(persistent) / DRAWS as f64, (0.09, 1.6));
}

#[test]
fn packmime_ip_bytes_per_connection() {
    assert_near("HTTP/1.1", laws(100.0).ip_bytes_per_connection(), (8_860.0, 0.5));
    let http10 = Laws { mode: Mode::Http10, ..laws(100.0) };
    assert_near("HTTP/1.0", http10.ip_bytes_per_connection(), (8_300.0, 0.5));
}

#[test]
fn unc_responses() {
    let response = unc::response();
    let sample = sizes("unc", response.as_ref());
    sample.check((7_936.0, 9.5), (888.0, 2.0), (14_680.0, 1.5), (72_300.0, 5.0));
    assert_near("cut mean", sample.capped(), (6_958.0, 2.5));
    // The two published facts, as the description prints them.
    assert_near("share up to 13 kB", response.below(13_000.0), (0.88, 0.5));
    assert_near("share up to 14.7 kB", response.below(14_700.0), (0.9, 0.2));
    let tenth = 1.0 - response.mean_below(14_700.0) / response.mean();
    assert!((tenth - 0.72).abs() < 0.01, "the largest tenth carries {tenth}");
}

#[test]
fn unc_options() {
    let requests = Sample::of("requests", |rng| shipped::UNC_REQUESTS.sample(rng));
    requests.check((5.671, 0.5), (4.0, 0.0), (11.0, 0.0), (21.0, 0.0));
    let servers = Sample::of("servers", |rng| shipped::UNC_SERVERS.sample(rng));
    servers.check((1.660, 0.4), (1.0, 0.0), (3.0, 0.0), (6.0, 0.0));
}

#[test]
fn threegpp_objects() {
    let main = sizes("main", threegpp::main_object().as_ref());
    main.check((10_734.0, 1.3), (4_235.0, 1.0), (24_320.0, 1.3), (101_200.0, 2.5));
    let embedded = sizes("embedded", threegpp::embedded_object().as_ref());
    embedded.check((8_221.0, 4.0), (790.0, 1.6), (12_540.0, 2.2), (134_000.0, 5.0));
    // The standard: 5.64 on average, 53 at most, which are there with probability (2/55)^1.1.
    let files = threegpp::files();
    assert_near("standard", files.mean() - 1.0, (5.641_9, 0.001));
    let count = Sample::of("count", |rng| threegpp::embedded_count(files.sample(rng)));
    assert_eq!((count.0[0], count.0[DRAWS - 1]), (0.0, 53.0));
    let largest = count.0.iter().filter(|n| **n == 53.0).count() as f64 / DRAWS as f64;
    assert!((largest - 0.0265).abs() < 0.002, "{largest}");
    let files = threegpp::files_of_ns3();
    let count = Sample::of("count", |rng| threegpp::embedded_count(files.sample(rng)));
    count.check((3.918, 1.0), (1.0, 0.0), (11.0, 0.0), (39.0, 0.0));
    assert!(main.0[0] >= 100.0 && embedded.0[0] >= 50.0 && count.0[0] == 0.0);
    assert!(main.0[DRAWS - 1] <= 2e6 && embedded.0[DRAWS - 1] <= 2e6 && count.0[DRAWS - 1] <= 52.0);
}

#[test]
fn threegpp_reading_and_tuning_red_round_trips() {
    use aqmlab_traffic::distribution::{Exponential, Uniform};
    let reading = Exponential { mean: 30.0 };
    let reading = Sample::of("reading", |rng| reading.sample(rng));
    reading.check((30.0, 0.5), (20.79, 0.8), (69.08, 0.7), (138.2, 1.2));
    let rtt = Uniform { low: 14.0, high: 144.0 };
    let rtt = Sample::of("rtt", |rng| rtt.sample(rng));
    rtt.check((79.0, 0.3), (79.0, 0.4), (131.0, 0.3), (142.7, 0.2));
}

#[test]
fn pages_of_the_http_archive_have_the_printed_quantiles() {
    let files = archive::files();
    for (share, printed) in [(0.1, 24.0), (0.25, 42.0), (0.5, 71.0), (0.75, 115.0), (0.9, 176.0)] {
        assert_near("files", files.quantile(share), (printed, 13.5));
    }
    assert_near("html", archive::html().quantile(0.5), (18.0 * 1_024.0, 1e-9));
    let page = archive::html().quantile(0.5) + 70.0 * archive::object().mean();
    assert_near("median page", page, (2_652.0 * 1_024.0, 1e-9));
}

#[test]
fn chariot_sizes() {
    let ftp = sizes("ftp", loops::size("ftp").as_ref());
    ftp.check((100_000.0, 0.2), (100_000.0, 0.3), (140_000.0, 0.2), (149_000.0, 0.1));
    let text = sizes("text", loops::size("text").as_ref());
    text.check((1_000.0, 0.6), (693.0, 0.9), (2_303.0, 0.5), (4_605.0, 1.4));
    let picture = sizes("picture", loops::size("picture").as_ref());
    picture.check((10_000.0, 0.6), (6_931.0, 0.9), (23_026.0, 0.5), (46_052.0, 1.4));
}

// ---- long-range dependence --------------------------------------------------------------------
