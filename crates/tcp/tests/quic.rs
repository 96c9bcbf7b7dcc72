//! QUIC: what RFC 9002's arithmetic says, packet by packet.

use packet::params::Raw;
use packet::{Ecn, Instant};

use crate::lab::one_end::drain_at;
use crate::lab::{C, S, Sent, World, ms, profile, secs};
use aqmlab_tcp::{Endpoint, Flags, HostCache, HostClock, HostPair, State};

/// A reply of `bytes` over a round trip of 100 ms from a server that sends at once, whose `lose` says which packets
/// are lost.
fn run(settings: &[(&str, Raw)], bytes: u64, mut lose: impl FnMut(&Sent) -> bool) -> World {
    let usual = [("pacing", Raw::Bool(false))];
    let settings = [&usual[..], settings].concat();
    let mut world = World::new(&profile("quic", &settings), [HostClock::default(); 2], bytes);
    world.run(secs(60.0), &mut lose);
    assert_eq!(world.failed, [None, None]);
    assert_eq!(world.ends[C].delivered(), bytes);
    assert_ne!(world.ends[S].state(), State::Established);
    world
}

/// The server's packets with data of the reply.
fn data(world: &World) -> Vec<&Sent> {
    let of_reply = |sent: &&Sent| {
        sent.side == S && sent.segment.len > 0 && !sent.segment.flags.has(Flags::SYN)
    };
    world.sent.iter().filter(of_reply).collect()
}

/// When a server's packets with data were sent again, µs.
fn again(world: &World) -> Vec<u64> {
    let again = |sent: &&&Sent| sent.segment.flags.has(Flags::RETRANSMISSION);
    data(world).iter().filter(again).map(|sent| sent.at.nanos() / 1_000).collect()
}

/// Loses the data packets of the server with these numbers of packets.
fn numbers(lost: &[u32]) -> impl Fn(&Sent) -> bool {
    let lost = lost.to_vec();
    move |sent| {
        let reply = sent.segment.len > 0 && !sent.segment.flags.has(Flags::SYN);
        sent.side == S && reply && lost.contains(&sent.segment.stamp)
    }
}

#[test]
fn a_packet_is_lost_when_the_third_after_it_is_acknowledged() {
    // The first flight leaves at 150 ms with numbers 1 to 10; that of number 4 and later ones come out of order and
    // are acknowledged one by one, 250 ms later; number 5's shows a distance of 3.
    let world = run(&[], 100_000, numbers(&[2]));
    assert_eq!(again(&world), [250_000]);
    let (cwnd, server) = (12_000, world.ends[S].counters());
    assert_eq!((server.resent_data, server.fast_retransmits, server.timeouts), (1, 1, 0));
    let probe = world.probes.iter().find(|p| p.side == S && p.ssthresh < u64::MAX).unwrap();
    assert_eq!(probe.at, secs(0.25));
    // Half of what three packets acknowledged before had made of it: number 0 (27 B), 1 and 3. Numbers 4 and 5 share
    // an acknowledgement, and by appendix A.7 the loss that it shows comes first.
    assert_eq!(probe.ssthresh, (cwnd + 27 + 2 * 1_200) / 2);
    assert_eq!(probe.cwnd, probe.ssthresh, "which therefore grows nothing");
    // No number is used twice.
    let numbers: Vec<_> = world.sent.iter().filter(|s| s.side == S).collect();
    let of = |syn| numbers.iter().filter(move |s| s.segment.flags.has(Flags::SYN) == syn);
    for syn in [false, true] {
        assert!(of(syn).map(|s| s.segment.stamp).eq(0..of(syn).count() as u32));
    }
}

#[test]
fn a_packet_is_lost_nine_eighths_of_a_round_trip_after_it_was_sent() {
    // Only two follow it: number 8 of 10 is known to be missing at 250 ms, and lost 112.5 ms after it was sent.
    let world = run(&[], 11_000, numbers(&[8]));
    assert_eq!(again(&world), [262_500]);
    let world = run(&[("time_eighths", Raw::Number(10.0))], 11_000, numbers(&[8]));
    assert_eq!(again(&world), [275_000]);
}

#[test]
fn a_tail_is_probed_after_a_probe_timeout_and_twice_as_long_again() {
    let lost = |mut left: u32| {
        move |sent: &Sent| {
            let last = sent.side == S && sent.segment.end() > 11_000 && sent.at >= secs(0.15);
            let hit = last && sent.segment.len > 0 && left > 0;
            left -= u32::from(hit);
            hit
        }
    };
    let world = run(&[], 11_000, lost(0));
    assert_eq!((again(&world), world.ends[S].counters().timeouts), (vec![], 0));
    let world = run(&[], 11_000, lost(5));
    let server = world.ends[S].counters();
    assert_eq!(
        (server.timeouts, server.fast_retransmits),
        (3, 1),
        "what is acknowledged shows a loss"
    );
    let probes = again(&world);
    assert_eq!(probes.len(), 6, "{probes:?}");
    let gaps: Vec<_> = probes.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!([gaps[0], gaps[2], gaps[4]], [0; 3], "two at a time");
    // After one PTO, then two, then four: backoff doubles.
    assert!(gaps[3].abs_diff(2 * gaps[1]) <= 1, "{gaps:?}");
}

#[test]
fn persistent_congestion_leaves_two_datagrams() {
    // All is lost from 0.4 s to 2.2 s: more than three times srtt + 4 rttvar + 25 ms, with probes in between.
    let outage = |until: f64| {
        move |sent: &Sent| sent.side == S && (secs(0.4)..secs(until)).contains(&sent.at)
    };
    let least = |world: &World| {
        let of = world.probes.iter().filter(|p| p.side == S);
        of.map(|p| p.cwnd).min().unwrap()
    };
    // What shows it is acknowledged, and makes it three in slow start.
    assert_eq!(least(&run(&[], 400_000, outage(2.2))), 2_400 + 1_200);
    assert!(least(&run(&[], 400_000, outage(0.5))) >= 12_000, "one reduction");
}

#[test]
fn a_mark_is_answered_as_a_loss_once_a_round_trip() {
    let mut world = World::new(
        &profile("quic", &[("ecn", Raw::Bool(true))]),
        [HostClock::default(); 2],
        200_000,
    );
    world.fate = Box::new(|sent| (sent.side == S && (20..24).contains(&sent.number), ms(0)));
    world.run(secs(20.0), &mut |_| false);
    let server = world.ends[S].counters();
    assert_eq!((server.ecn_reductions, server.resent_data, server.fast_retransmits), (1, 0, 0));
    assert!(world.sent.iter().all(|sent| sent.segment.ecn == Ecn::Ect0), "validated");
}

#[test]
fn acknowledgements_follow_the_thresholds_that_were_requested() {
    let acks = |settings: &[(&str, Raw)]| {
        let world = run(settings, 200_000, |_| false);
        world.sent.iter().filter(|sent| sent.side == C && sent.segment.len == 0).count()
    };
    let (usual, ten) = (acks(&[]), acks(&[("ack_eliciting_threshold", Raw::Number(9.0))]));
    assert!(4 * ten < usual, "{ten} {usual}");
}

#[test]
fn a_handshake_takes_a_round_trip_and_a_long_certificate_another() {
    let replied = |settings: &[(&str, Raw)]| {
        let world = run(settings, 1_000, |_| false);
        // A client's Initial packets, and a server's, fill 1,200 B.
        assert_eq!(world.sent[0].segment.ip_bytes(), 1_228);
        world.replied.unwrap()
    };
    assert_eq!(replied(&[]), secs(0.2));
    // Three times 1,200 B do not hold 4,000 B: the rest waits for the client (RFC 9000 section 8.1).
    assert_eq!(replied(&[("server_flight", Raw::Number(4_000.0))]), secs(0.3));
    assert_eq!(replied(&[("zero_rtt", Raw::Bool(true))]), secs(0.1));
}

#[test]
fn a_connection_that_resumes_is_one_of_zero_rtt_packet_by_packet() {
    let packets = |world: &World| -> Vec<_> {
        world
            .sent
            .iter()
            .map(|of| (of.at, of.side, of.segment.ip_bytes(), of.segment.len))
            .collect()
    };
    let world = |settings: &[(&str, Raw)]| {
        World::new(&profile("quic", settings), [HostClock::default(); 2], 1_000)
    };
    let mut resumed = world(&[("tickets", Raw::Bool(true))]);
    resumed.ends.iter_mut().for_each(Endpoint::resume);
    let mut zero_rtt = world(&[("zero_rtt", Raw::Bool(true))]);
    for world in [&mut resumed, &mut zero_rtt] {
        world.run(secs(9.0), &mut |_| false);
    }
    assert_eq!(packets(&resumed), packets(&zero_rtt));
    let [plain, forgetful] = [true, false].map(|on| {
        let mut world = world(&[("tickets", Raw::Bool(on))]);
        world.run(secs(9.0), &mut |_| false);
        world
    });
    assert_eq!(packets(&plain), packets(&forgetful), "a first visit");
    assert_eq!(plain.replied.unwrap().since(resumed.replied.unwrap()), ms(100));
}

#[test]
fn a_ticket_comes_as_the_handshake_is_confirmed_and_not_before() {
    let tickets = profile("quic", &[("tickets", Raw::Bool(true))]);
    let [mut client, mut server] = [0; 2].map(|_| Endpoint::new(&tickets, HostClock::default()));
    let (mut cache, pair) = (HostCache::default(), HostPair { own: 3, peer: 4 });
    client.connect(Instant::ZERO);
    client.write(300, Instant::ZERO);
    // The server's flight, and then HANDSHAKE_DONE, which answers the client's (RFC 9001 section 4.1.2).
    let has_ticket = [100, 200].map(|at| {
        let (there, back) = (secs(0.001 * f64::from(at - 50)), secs(0.001 * f64::from(at)));
        for segment in drain_at(&mut client, there) {
            server.on_segment(&segment, there);
        }
        for segment in drain_at(&mut server, there) {
            cache.deliver(pair, &mut client, &segment, back);
        }
        cache.has_ticket(pair)
    });
    assert_eq!(has_ticket, [false, true]);
    assert!(!cache.has_ticket(HostPair { own: 5, ..pair }), "another user's");
}

#[test]
fn a_token_lets_a_server_answer_who_resumes_by_more_than_three_times_what_came() {
    let replied = |tokens: bool| {
        let settings = [("zero_rtt", Raw::Bool(true)), ("tokens", Raw::Bool(tokens))];
        let mut world = World::new(&profile("quic", &settings), [HostClock::default(); 2], 9_000);
        world.run(secs(9.0), &mut |_| false);
        let first = |of: &&Sent| {
            of.side == S && of.at == world.sent.iter().find(|of| of.side == S).unwrap().at
        };
        let bytes: u32 = world.sent.iter().filter(first).map(|of| of.segment.ip_bytes()).sum();
        (world.replied.unwrap().since(Instant::ZERO), bytes > 9_000)
    };
    assert_eq!(replied(true), (ms(100), true));
    assert_eq!(replied(false), (ms(200), false));
}

#[test]
fn a_lost_initial_goes_again_after_999_ms() {
    // RFC 9002 section 6.2.2: 333 ms and four times half of it.
    let world = run(&[], 1_000, |sent| sent.at == Instant::ZERO);
    assert_eq!(world.sent[1].at, secs(0.999));
    assert_eq!(world.replied.unwrap(), secs(1.199));
}

/// UDP payload of the packets of the handshake that one side sent.
fn of_handshake(world: &World, side: usize) -> Vec<u32> {
    let own = |sent: &&Sent| sent.side == side && sent.segment.flags.has(Flags::SYN);
    world.sent.iter().filter(own).map(|sent| sent.segment.ip_bytes() - 28).collect()
}

#[test]
fn datagrams_with_initial_packets_are_filled_and_no_others() {
    // RFC 9000 section 14.1: a client's hello and its answer to the server's, which acknowledges an Initial packet; a
    // server's hello. What follows is in Handshake packets.
    let world = run(&[], 1_000, |_| false);
    let (client, server) = (of_handshake(&world, C), of_handshake(&world, S));
    assert_eq!(
        client.iter().map(|&bytes| bytes == 1_200).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    assert_eq!((server[0], server.len()), (1_200, 3));
    assert!(server[2] < 1_000, "{server:?}");
}

#[test]
fn a_client_without_the_servers_hello_reads_nothing_and_its_server_probes_when_it_may() {
    // The first datagram of the server is lost, and what follows cannot be read. The client probes after 999 ms; the
    // server's own probe, due at 1.049 s, had to wait for that (three times 1,200 B were out; RFC 9002 appendix A.6).
    let world = run(&[], 1_000, |sent| sent.side == S && sent.number == 1);
    let server: Vec<_> = world.sent.iter().filter(|sent| sent.side == S).map(|s| s.at).collect();
    assert_eq!(server[..3], [secs(0.05); 3]);
    assert_eq!(server[3], secs(1.049));
    assert_eq!(of_handshake(&world, C)[..3], [1_200; 3], "its hello, and two probes");
}

#[test]
fn a_handshake_packet_of_the_client_validates_its_address() {
    // Of 30,000 B three datagrams go at once, and all others when the client has answered in a Handshake packet (RFC
    // 9000 section 8.1), whatever that datagram held: two round trips and one of the reply.
    let flight = [("server_flight", 30_000.0), ("initial_window", 50.0)];
    let world = run(&flight.map(|(name, value)| (name, Raw::Number(value))), 1_000, |_| false);
    assert_eq!(world.replied.unwrap(), secs(0.3));
    // All answers but probes are lost: their CRYPTO data is of Handshake packets, too.
    let lost = |sent: &Sent| sent.side == C && (2..=4).contains(&sent.number);
    let server = run(&[], 20_000, lost);
    let first = data(&server)[0].at;
    assert_eq!(data(&server).iter().filter(|sent| sent.at == first).count(), 10);
}

#[test]
fn two_probes_repeat_two_packets() {
    // The last two of ten are lost, and their first probes bring them both.
    let world = run(&[], 11_000, numbers(&[9, 10]));
    let again = |sent: &&&Sent| sent.segment.flags.has(Flags::RETRANSMISSION);
    let sent = data(&world);
    let probes: Vec<_> = sent.iter().filter(again).map(|sent| sent.segment.seq).collect();
    let first = sent.len() - probes.len();
    let last: Vec<_> = sent[first - 2..first].iter().map(|sent| sent.segment.seq).collect();
    assert_eq!(probes[..2], last);
    // As PING they bring nothing, and show a round trip later what was lost.
    let pings = run(&[("probe_data", Raw::Bool(false))], 11_000, numbers(&[9, 10]));
    assert!(pings.replied.unwrap() >= world.replied.unwrap() + ms(100));
}

/// When the packets left that one side sent in these microseconds.
fn times(world: &World, side: usize, within: std::ops::Range<u64>) -> Vec<u64> {
    let own = world.sent.iter().filter(|sent| sent.side == side);
    own.map(|sent| sent.at.nanos() / 1_000).filter(|at| within.contains(at)).collect()
}

#[test]
fn a_servers_hello_is_two_packets_and_two_samples() {
    // What follows the hello is lost. One sample of 100 ms is a probe timeout of 100 ms + 4 * 50 ms, a second one makes
    // it 100 ms + 4 * 37.5 ms, after which the server repeats both packets.
    let world = run(&[], 1_000, |sent| sent.side == S && (2..=3).contains(&sent.number));
    assert_eq!(times(&world, S, 51_000..400_000), [300_000, 300_000]);
}

#[test]
fn a_client_with_nothing_out_probes_with_one_packet() {
    // Its hello is acknowledged and the rest of the server's flight lost, twice: against a deadlock it probes 100 ms +
    // 4 * 50 ms after its last packet (RFC 9002 section 6.2.2.1).
    let world = run(&[], 1_000, |sent| sent.side == S && (2..=5).contains(&sent.number));
    assert_eq!(times(&world, C, 101_000..500_000), [400_000]);
}
