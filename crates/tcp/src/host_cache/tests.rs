//! Tests with numbers worked out by hand from FreeBSD's `tcp_close`, `tcp_mss` (2.1.7.1, 3.2,
//! systems derived from 4.x) and Linux 6.12's `tcp_metrics.c`.

use std::sync::Arc;

use packet::params::{Params, Raw};

use super::*;
use crate::clock::HostClock;
use crate::congestion::Controls;
use crate::profile::Profile;
use crate::segment::{Flags, Segment};

const PAIR: HostPair = HostPair { own: 1, peer: 2 };

fn profile(name: &str, settings: &[(&str, Raw)]) -> Arc<Profile> {
    let entry = crate::find(name).unwrap();
    let raw: Vec<_> = settings.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    Arc::new(
        (entry.build)(&Params::check(entry.about.fields, &raw).unwrap(), &Controls::ours())
            .unwrap(),
    )
}

fn ms(x: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(x)
}
fn after(span_ms: u64) -> Duration {
    Duration::from_millis(span_ms)
}

/// An end on a host whose slow clock ticks at 0.43 + 0.5 k s.
fn end(profile: &Arc<Profile>) -> TcpEndpoint {
    TcpEndpoint::new(profile, HostClock { slow: after(430), fast: after(170) })
}

/// An end that has measured these round trips, in ticks, and is closed.
fn closed(profile: &Arc<Profile>, samples: &[u64]) -> TcpEndpoint {
    let mut end = end(profile);
    let crate::rtt::RttRules::Bsd(bsd) = profile.rtt else { panic!("not BSD's") };
    samples.iter().for_each(|&m| bsd.sample(&mut end.tx.rtt, m));
    end.conn.state = State::Closed;
    end
}

/// Round trip, deviation and threshold in the cache at `now`.
fn known(cache: &mut HostCache, profile: &Arc<Profile>, pair: HostPair, now: Instant) -> [u32; 3] {
    let HostMetrics { rtt, rttvar, ssthresh } = cache.lookup(pair, profile.remembers, now);
    [rtt, rttvar, ssthresh]
}

fn syn(ack: bool) -> Segment {
    let flags = if ack { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
    Segment { flags, ack: u64::from(ack), ..Segment::default() }
}

#[test]
fn a_host_keeps_the_estimate_of_sixteen_samples() {
    let old = profile("freebsd-2.2.8", &[]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut closed(&old, &[1; 15]), ms(0));
    assert_eq!(known(&mut cache, &old, PAIR, ms(0)), [0; 3]);
    // Forty samples of 1 tick make srtt 7 and rttvar 3; in us, these times 1,000,000 / (2 * 32) and
    // / (2 * 16).
    cache.update_from(PAIR, &mut closed(&old, &[1; 40]), ms(0));
    assert_eq!(known(&mut cache, &old, PAIR, ms(0)), [109_375, 93_750, 0]);
    // Samples of 2, 1, 1 and thirteen more of 1: srtt 12, rttvar 9; the mean of old and new is
    // kept.
    let samples: Vec<u64> = [2, 1, 1].into_iter().chain([1; 13]).collect();
    cache.update_from(PAIR, &mut closed(&old, &samples), ms(0));
    let means = [(109_375 + 187_500) / 2, (93_750 + 281_250) / 2, 0];
    assert_eq!(known(&mut cache, &old, PAIR, ms(0)), means);
    // 10 ms ticks, sixteen samples of 10: srtt 295, rttvar 6. 1,000,000 / (100 * 32) is 312 in whole
    // numbers, 1,000,000 / (100 * 16) is 625.
    let fine = profile("freebsd-4.5", &[]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut closed(&fine, &[10; 16]), ms(0));
    assert_eq!(known(&mut cache, &fine, PAIR, ms(0)), [295 * 312, 6 * 625, 0]);
}

#[test]
fn the_syn_ack_goes_again_by_the_route() {
    let old = profile("freebsd-2.2.8", &[]);
    // Without metrics the SYN-ACK is repeated six ticks after 0.05 s. Forty samples of 1 (srtt 7,
    // rttvar 3): ((7 >> 2) + 3) >> 1 = 2, then twice the floor of V = ((7 >> 3) + 3) >> 2 = 0.
    // Sixteen of 2 (39, 6): ((39 >> 2) + 6) >> 1 = 7, then twice V = ((39 >> 3) + 6) >> 2 = 2:
    // sooner.
    let cases: [(&[u64], u64, u64); 3] =
        [(&[], 2_930, 8_930), (&[1; 40], 930, 2_930), (&[2; 16], 3_430, 5_430)];
    for (samples, first, second) in cases {
        let mut cache = HostCache::default();
        cache.update_from(PAIR, &mut closed(&old, samples), ms(0));
        let mut server = end(&old);
        assert!(server.may_look_up());
        cache.deliver_to(PAIR, &mut server, &syn(false), ms(50));
        assert!(server.poll_send(ms(50)).is_some() && server.poll_send(ms(50)).is_none());
        for again in [first, second] {
            assert_eq!(server.next_timeout().unwrap().at, ms(again));
            server.on_timeout(ms(again));
            assert!(server.poll_send(ms(again)).is_some());
        }
    }
}

#[test]
fn an_opener_asks_the_route_when_the_syn_ack_comes() {
    let old = profile("freebsd-2.2.8", &[]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut closed(&old, &[1; 40]), ms(0));
    for lost in [false, true] {
        let mut client = end(&old);
        client.connect(ms(0));
        client.poll_send(ms(0));
        assert_eq!(client.next_timeout().unwrap().at, ms(2_930), "the SYN knows nothing yet");
        let mut now = ms(100);
        if lost {
            client.on_timeout(ms(2_930));
            client.poll_send(ms(2_930));
            now = ms(3_030);
        }
        cache.deliver_to(PAIR, &mut client, &syn(true), now);
        // A sample m of 1 tick leaves srtt 7 and rttvar 3 and makes the timeout max(V, m + 2) = 3
        // ticks; a retransmitted SYN gives no sample, and its timeout is 2 ticks rather than
        // twelve.
        assert_eq!(client.rto(), after(if lost { 1_000 } else { 1_500 }));
    }
}

#[test]
fn a_socket_out_of_the_syn_cache_begins_with_the_route() {
    let fine = profile("freebsd-4.5", &[("timestamps", Raw::Bool(false))]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut closed(&fine, &[60; 16]), ms(0));
    let mut server = end(&fine);
    cache.deliver_to(PAIR, &mut server, &syn(false), ms(50));
    server.poll_send(ms(50));
    assert_eq!(server.next_timeout().unwrap().at, ms(3_050), "the cache has its own schedule");
    let ack = Segment { flags: Flags::ACK, seq: 1, ack: 1, ..Segment::default() };
    cache.deliver_to(PAIR, &mut server, &ack, ms(150));
    // The route's srtt of 1,895 and rttvar of 12 make a timeout of (473 + 12) >> 1 ticks.
    assert_eq!(server.rto(), after(2_420));
}

#[test]
fn a_threshold_is_kept_from_the_first_bad_news_on() {
    let kept = |sendpipe: u64, thresholds: &[u64]| {
        let old = profile("freebsd-2.2.8", &[("sendpipe", Raw::Number(sendpipe as f64))]);
        let mut cache = HostCache::default();
        for &ssthresh in thresholds {
            let mut end = closed(&old, &[1; 16]);
            end.tx.snd.win.ssthresh = ssthresh;
            cache.update_from(PAIR, &mut end, ms(0));
        }
        let mut server = end(&old);
        cache.deliver_to(PAIR, &mut server, &syn(false), ms(50));
        (known(&mut cache, &old, PAIR, ms(50))[2], server.ssthresh())
    };
    let unbounded = 65_535 << 14;
    assert_eq!(kept(0, &[2_920]), (0, unbounded), "no send pipe is configured");
    assert_eq!(kept(17_520, &[8_760]), (0, unbounded), "not below half of it");
    // A threshold of four segments is kept with their headers, 1,500 B each.
    assert_eq!(kept(17_520, &[5_840]), (6_000, 6_000));
    assert_eq!(kept(17_520, &[1_000]), (3_000, 3_000), "two at least");
    assert_eq!(kept(17_520, &[3_649]), (3_000, 3_000), "to the nearest whole number");
    assert_eq!(kept(17_520, &[3_650]), (4_500, 4_500));
    // Then larger thresholds count, too: 735,428 segments of 1,500 B plus 6,000 B, halved.
    assert_eq!(kept(17_520, &[5_840, unbounded]).0, (1_103_142_000 + 6_000) / 2);
    let fine = profile("freebsd-4.5", &[]);
    assert_eq!(
        fine.remembers,
        Remembers::Route { sendpipe: fine.window },
        "4.5: the socket buffer"
    );
}

#[test]
fn what_time_wait_holds_back_comes_when_it_ends() {
    let old = profile("freebsd-2.2.8", &[]);
    let mut cache = HostCache::default();
    let mut end = closed(&old, &[1; 16]);
    (end.conn.state, end.conn.conn_timer) = (State::TimeWait, ms(60_000));
    assert!(!end.may_update_cache(false), "tcp_close is called when the connection is over");
    assert!(end.may_update_cache(true));
    cache.update_from(PAIR, &mut end, ms(100));
    assert!(!end.may_update_cache(true), "once is enough");
    assert_eq!(known(&mut cache, &old, PAIR, ms(59_999)), [0; 3]);
    assert_ne!(known(&mut cache, &old, PAIR, ms(60_000)), [0; 3]);
}

#[test]
fn of_two_in_time_wait_the_one_that_ends_first_teaches_first() {
    let old = profile("freebsd-2.2.8", &[]);
    let mut cache = HostCache::default();
    let learn = |cache: &mut HostCache, samples: &[u64], ends| {
        let mut end = closed(&old, samples);
        (end.conn.state, end.conn.conn_timer) = (State::TimeWait, ms(ends));
        cache.update_from(PAIR, &mut end, ms(100));
    };
    learn(&mut cache, &[2; 16], 60_000);
    let alone = known(&mut cache.clone(), &old, PAIR, ms(60_000));
    learn(&mut cache, &[1; 40], 50_000);
    assert_eq!(known(&mut cache, &old, PAIR, ms(50_000)), [109_375, 93_750, 0]);
    let both = known(&mut cache, &old, PAIR, ms(60_000));
    assert_eq!(both[0], (109_375 + alone[0]) / 2, "half the old, half the new");
}

#[test]
fn an_hour_without_use_and_all_is_forgotten() {
    let hour = 3_600_000;
    let old = profile("freebsd-2.2.8", &[]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut closed(&old, &[1; 16]), ms(0));
    // Every use counts, also by a connection that updates nothing.
    assert_ne!(known(&mut cache, &old, PAIR, ms(hour - 1)), [0; 3]);
    cache.update_from(PAIR, &mut closed(&old, &[1]), ms(hour + 1_000));
    assert_ne!(known(&mut cache, &old, PAIR, ms(2 * hour)), [0; 3]);
    assert_eq!(known(&mut cache, &old, PAIR, ms(3 * hour)), [0; 3]);
    // Linux's hour begins with the last update.
    let linux = profile("linux", &[]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut measured(&linux, &[100]), ms(0));
    assert_ne!(known(&mut cache, &linux, PAIR, ms(hour - 1)), [0; 3]);
    assert_eq!(known(&mut cache, &linux, PAIR, ms(hour)), [0; 3]);
}

#[test]
fn hosts_keep_to_themselves() {
    let old = profile("freebsd-2.2.8", &[]);
    let mut cache = HostCache::default();
    cache.update_from(PAIR, &mut closed(&old, &[1; 16]), ms(0));
    for (own, peer) in [(2, 1), (1, 3), (3, 2), (1, 1)] {
        assert_eq!(known(&mut cache, &old, HostPair { own, peer }, ms(0)), [0; 3]);
    }
    assert_eq!(known(&mut cache, &profile("linux", &[]), PAIR, ms(0)), [0; 3]);
    assert_ne!(known(&mut cache, &old, PAIR, ms(0)), [0; 3]);
}

#[test]
fn who_remembers_nothing_asks_and_says_nothing() {
    let off = [("host_cache", Raw::Bool(false))];
    let others = ["plain", "ns2", "ns2-full", "windows-nt4"].map(|name| profile(name, &[]));
    for forgetful in others.iter().chain(&[profile("freebsd-2.2.8", &off), profile("linux", &off)])
    {
        let mut cache = HostCache::default();
        let mut end = end(forgetful);
        assert!(!forgetful.remembers() && !end.may_look_up());
        end.conn.state = State::Closed;
        assert!(!end.may_update_cache(true));
        cache.update_from(PAIR, &mut end, ms(0));
        assert!(cache.memories.iter().all(BTreeMap::is_empty));
    }
}

/// A Linux end that has measured these round trips, ms, and whose FIN is acknowledged.
fn measured(linux: &Arc<Profile>, samples_ms: &[u64]) -> TcpEndpoint {
    let mut end = end(linux);
    samples_ms.iter().for_each(|&span| linux.rtt.sample_span(&mut end.tx.rtt, after(span)));
    end.conn.state = State::FinWait2;
    end
}

#[test]
fn linux_believes_a_longer_round_trip_at_once_and_a_shorter_one_slowly() {
    let linux = profile("linux", &[]);
    let mut cache = HostCache::default();
    // In units of 1/8 us; a shorter round trip takes an eighth of the difference off.
    for (span, kept) in [(100, 800_000), (180, 1_440_000), (100, 1_360_000)] {
        cache.update_from(PAIR, &mut measured(&linux, &[span]), ms(0));
        assert_eq!(known(&mut cache, &linux, PAIR, ms(0)), [kept, 0, 0]);
    }
    // The first timeout is three times the cached 170 ms if 100 ms were measured; if 200 ms were
    // measured, it follows from these: 200 + 4 * 100.
    for (span, timeout) in [(100, 510), (200, 600)] {
        let mut fresh = measured(&linux, &[span]);
        let cached = cache.lookup(PAIR, linux.remembers, ms(0));
        cached.start_linux(&linux, &mut fresh.tx.rtt, &mut fresh.tx.snd);
        assert_eq!(fresh.rto(), after(timeout));
        assert_eq!(linux.rtt.srtt(&fresh.tx.rtt), after(span), "the estimate is left alone");
    }
    // A failed connection updates nothing; one with a timeout and no sample since makes the round
    // trip unknown.
    let mut given_up = measured(&linux, &[50]);
    given_up.conn.state = State::Failed;
    assert!(!given_up.may_update_cache(true) && measured(&linux, &[50]).may_update_cache(false));
    let mut unsure = measured(&linux, &[50]);
    linux.rtt.back_off(&mut unsure.tx.rtt, None);
    cache.update_from(PAIR, &mut unsure, ms(0));
    assert_eq!(known(&mut cache, &linux, PAIR, ms(0))[0], 0);
}

#[test]
fn linux_keeps_thresholds_only_if_set() {
    let learnt = |on: bool, ends: &[(u64, u64)]| {
        let linux = profile("linux", &[("cache_ssthresh", Raw::Bool(on))]);
        let mut cache = HostCache::default();
        for &(cwnd, ssthresh) in ends {
            let mut end = measured(&linux, &[100]);
            let mss = end.tx.snd.mss();
            (end.tx.snd.win.cwnd, end.tx.snd.win.ssthresh) =
                (cwnd * mss, ssthresh.saturating_mul(mss));
            cache.update_from(PAIR, &mut end, ms(0));
        }
        let mut fresh = measured(&linux, &[100]);
        let cached = cache.lookup(PAIR, linux.remembers, ms(0));
        cached.start_linux(&linux, &mut fresh.tx.rtt, &mut fresh.tx.snd);
        fresh.ssthresh() / fresh.tx.snd.mss()
    };
    let unbounded = u64::MAX / 1_460;
    assert_eq!(learnt(false, &[(30, 20)]), unbounded);
    assert_eq!(learnt(true, &[(30, 20)]), 20, "past slow start: the threshold");
    assert_eq!(learnt(true, &[(50, 20)]), 25, "or half the window");
    assert_eq!(learnt(true, &[(60, u64::MAX)]), unbounded, "the first slow start says nothing new");
    assert_eq!(learnt(true, &[(30, 20), (60, u64::MAX)]), 30, "but raises what is there");
    assert_eq!(learnt(true, &[(30, 20), (10, 40)]), 40, "as slow start after a loss does");
    assert_eq!(learnt(true, &[(30, 20), (5, 10)]), 20, "and never lowers it");
}

#[test]
fn a_route_leaves_a_threshold_of_two_segments() {
    // `tcp_mss`: max(2 * mss, rt->rt_rmx.rmx_ssthresh).
    let old = profile("freebsd-2.2.8", &[]);
    for (recalled, threshold) in [(100, 2_920), (5_000, 5_000)] {
        let mut end = end(&old);
        let metrics = HostMetrics { rtt: 109_375, rttvar: 93_750, ssthresh: recalled };
        end.start_from_route(&metrics, None);
        assert_eq!(end.ssthresh(), threshold);
    }
}

#[test]
fn an_hour_of_linux_begins_with_each_lesson_and_not_with_a_failure() {
    // tcp_update_metrics: tcpm->tcpm_stamp = jiffies stands after the path that forgets the round trip.
    let (linux, minute) = (profile("linux", &[("cache_ssthresh", Raw::Bool(true))]), 60_000);
    for (fails, known_then) in [(false, true), (true, false)] {
        let mut cache = HostCache::default();
        let mut first = measured(&linux, &[100]);
        (first.tx.snd.win.cwnd, first.tx.snd.win.ssthresh) =
            (30 * first.tx.snd.mss(), 20 * first.tx.snd.mss());
        cache.update_from(PAIR, &mut first, ms(0));
        let mut second = measured(&linux, &[100]);
        if fails {
            linux.rtt.back_off(&mut second.tx.rtt, None);
        }
        cache.update_from(PAIR, &mut second, ms(40 * minute));
        let kept = known(&mut cache, &linux, PAIR, ms(70 * minute));
        assert_eq!(kept[2] != 0, known_then, "{kept:?}");
    }
}
