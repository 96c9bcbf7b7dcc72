//! The shipped tables against the statistics of Mah's trace.
//!
//! Expected values come from 10^7 draws of an independent implementation (means exact); a
//! tolerance is five standard errors at 10^6 draws, rounded up. With about 40 bounds and fixed
//! seeds, the chance that a right sampler fails after a change of seed is below 1 in 10^4.

use crate::common::sample::{DRAWS, Sample, assert_near};
use aqmlab_traffic::distribution::{Distribution, whole_bytes};
use aqmlab_traffic::web::load::ip_bytes_of_reply;
use aqmlab_traffic::web::mah;
use packet::Rng;

fn bytes(of: &dyn Distribution, scale: f64, rng: &mut Rng) -> f64 {
    whole_bytes(of.sample(rng), scale) as f64
}

#[test]
fn table_means_are_those_of_the_trace() {
    let near = |d: &dyn Distribution, mean| assert_near("exact mean", d.mean(), (mean, 0.2));
    near(&**mah::REQUEST, 337.3);
    near(&**mah::REPLY, 7_231.0);
    near(&**mah::FILES, 2.838);
    near(&**mah::PAGES, 4.010);
    near(&**mah::THINK_FULL, 1_804.0);
    near(&**mah::THINK_LE1000, 52.94);
    near(&**mah::THINK_LE1800, 72.39);
}

#[test]
fn requests() {
    let sample = Sample::of("request", |rng| bytes(&**mah::REQUEST, 1.0, rng));
    sample.check((337.3, 0.5), (231.0, 0.5), (1_057.0, 0.5), (1_134.0, 0.5));
}

#[test]
fn replies_as_in_the_trace() {
    let sample = Sample::of("reply", |rng| bytes(&**mah::REPLY, 1.0, rng));
    sample.check((7_231.0, 3.5), (2_110.0, 1.0), (12_600.0, 3.0), (67_400.0, 4.0));
    let capped = sample.0.iter().map(|b| b.min(1e6)).sum::<f64>() / DRAWS as f64;
    assert_near("mean with replies cut at 1 MB", capped, (6_925.0, 2.5));
}

#[test]
fn replies_scaled() {
    let sample = Sample::of("reply 1.4", |rng| bytes(&**mah::REPLY, 1.4, rng));
    sample.check((10_123.0, 3.5), (2_954.0, 1.0), (17_640.0, 3.0), (94_360.0, 4.0));
}

#[test]
fn ip_bytes_per_reply() {
    let ip = |scale: f64| {
        Sample::of("ip", |rng| ip_bytes_of_reply(whole_bytes(mah::REPLY.sample(rng), scale)) as f64)
    };
    ip(1.0).check((7_560.0, 3.5), (2_315.0, 1.0), (13_050.0, 3.0), (69_300.0, 5.0));
    ip(1.4).check((10_526.0, 3.5), (3_161.0, 1.0), (18_260.0, 3.0), (97_000.0, 5.0));
}

#[test]
fn files_per_page() {
    let sample = Sample::of("files", |rng| mah::FILES.sample(rng));
    sample.check((2.842, 1.0), (1.0, 0.0), (6.0, 0.0), (19.0, 0.0));
    let one = mah::FILES.below(2.0);
    let up_to_four = mah::FILES.below(5.0);
    assert_near("pages of one file", one, (0.512, 0.2));
    assert_near("pages of at most four", up_to_four, (0.832, 0.2));
}

#[test]
fn bytes_per_page() {
    let mut replies = Rng::named(1995, "replies of pages");
    let sample = Sample::of("page bytes", |rng| {
        let files = mah::FILES.sample(rng) as u32;
        (0..files).map(|_| bytes(&**mah::REPLY, 1.0, &mut replies)).sum()
    });
    sample.check((20_553.0, 3.0), (4_760.0, 2.0), (44_400.0, 1.5), (226_000.0, 7.0));
}

#[test]
fn pages_per_server_stay() {
    let sample = Sample::of("pages", |rng| mah::PAGES.sample(rng));
    // The running sum is 0.99 at 19 pages, so a sample's q99 is 19 or 21.
    let q99 = sample.quantile(0.99);
    assert!(q99 == 19.0 || q99 == 21.0, "{q99}");
    sample.check((4.005, 0.8), (2.0, 0.0), (9.0, 0.0), (q99, 0.0));
}

#[test]
fn think_times() {
    let full = Sample::of("think full", |rng| mah::THINK_FULL.sample(rng));
    full.check((1_804.0, 3.0), (16.2, 1.0), (794.0, 6.0), (61_600.0, 2.0));
    let short = Sample::of("think 1000", |rng| mah::THINK_LE1000.sample(rng));
    short.check((52.94, 1.5), (13.1, 1.5), (125.0, 2.0), (718.0, 3.0));
    let long = Sample::of("think 1800", |rng| mah::THINK_LE1800.sample(rng));
    long.check((72.39, 1.5), (13.5, 1.5), (140.0, 1.5), (1_170.0, 10.0));
    assert!(short.0[DRAWS - 1] <= 1_000.0 && long.0[DRAWS - 1] <= 1_800.0);
}

#[test]
fn first_draws_of_many_users_are_as_good_as_many_draws_of_one() {
    let mut index = 0;
    let sample = Sample::of("unused", |_| {
        index += 1;
        mah::THINK_LE1800.sample(&mut Rng::indexed(3, "web.think", index))
    });
    sample.check((72.39, 1.5), (13.5, 1.5), (140.0, 1.5), (1_170.0, 10.0));
}
