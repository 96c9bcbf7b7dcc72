//! A radio channel: its arithmetic, and the anomaly of a slow station with its remedies.

use crate::outcome::{group, simulate};
use aqmlab_sim::{Outcome, Scenario};
use serde_json::{Value, json};

/// Two fast stations and a slow one, as in *Ending the Anomaly* (Høiland-Jørgensen et al. 2017), section 4.
fn channel(forward: Value, wifi: Value, traffic: Value) -> Value {
    let mut channel = json!({"rates": ["144.4 Mbit/s", "144.4 Mbit/s", "7.2 Mbit/s"]});
    let more = wifi.as_object().unwrap().clone();
    channel.as_object_mut().unwrap().extend(more);
    json!({
        "duration": "6 s", "warmup": "1 s", "seed": 5,
        "network": {"rtt": "2 ms", "clients": 3, "servers": 3},
        "link": [{"name": "air", "rate": "100 Mbit/s", "wifi": channel, "forward": forward}],
        "traffic": traffic, "record": {"samples": false, "datagrams": false},
    })
}

/// More datagrams of 1,500 bytes for each station than the channel carries.
fn saturated() -> Value {
    json!([{"app": "cbr", "flows": 60, "side": "servers", "rate": "6 Mbit/s", "packet": 1472, "start_within": "0.1 s"}])
}

fn station(outcome: &Outcome, number: usize) -> &record::Summary {
    group(group(group(&outcome.summary, "wifi"), "air"), &number.to_string())
}

fn shares(outcome: &Outcome) -> [f64; 3] {
    [0, 1, 2].map(|number| station(outcome, number).number("airtime_share"))
}

fn fifo() -> Value {
    json!({"aqm": "droptail", "limit": 1000})
}

/// Aggregates, turns and overheads against the model of the paper's section 3.1: an aggregate of n frames
/// takes its preamble and its bits, then SIFS and the block acknowledgement; before it come DIFS and a mean of 7.5 slots.
#[test]
fn a_saturated_channel_is_what_arithmetic_says() {
    let frames = |rate: f64| ((65_535 / 1_544) as f64).min((4e-3 * rate / (8.0 * 1_544.0)).floor());
    let lasts = |rate: f64| 32e-6 + frames(rate) * 1_544.0 * 8.0 / rate + 16e-6 + 32e-6;
    let before = 34e-6 + 7.5 * 9e-6;
    let rates = [144.4e6, 144.4e6, 7.2e6];
    for (turns, weights) in [("round-robin", [1.0; 3]), ("airtime", rates.map(|r| 1.0 / lasts(r)))]
    {
        let wifi = json!({"stack": "stations", "turns": turns});
        let outcome = simulate(&channel(fifo(), wifi, saturated()));
        let cycle: f64 = (0..3).map(|i| weights[i] * (lasts(rates[i]) + before)).sum();
        for i in 0..3 {
            let of = station(&outcome, i);
            assert!(
                (of.number("frames_mean") / frames(rates[i]) - 1.0).abs() < 0.01,
                "{turns} {i}"
            );
            let expected = weights[i] * lasts(rates[i]) / cycle;
            let share = of.number("airtime_share");
            assert!((share / expected - 1.0).abs() < 0.03, "{turns} {i}: {share}, not {expected}");
        }
        let port = group(group(&outcome.summary, "ports"), "air.forward");
        let bits: f64 = (0..3).map(|i| weights[i] * frames(rates[i]) * 1_500.0 * 8.0 / cycle).sum();
        let said = 8.0 * port.number("throughput_bytes_per_s");
        assert!((said / bits - 1.0).abs() < 0.03, "{turns}: {said} bit/s, not {bits}");
    }
}

/// The paper's four schemes under datagrams that saturate the channel (its table 1: with a FIFO the slow station has 79 % of
/// the airtime, aggregates are 4.5, 5.1 and 1.9 frames long, and all get 18.7 Mbit/s together, with fair airtime 76.4).
#[test]
fn a_slow_station_takes_most_of_the_channel_until_airtime_is_shared() {
    let schemes = [
        (fifo(), json!({"stack": "driver"})),
        (json!("fq_codel"), json!({"stack": "driver"})),
        (json!("fq_codel"), json!({"stack": "stations"})),
        (json!("fq_codel"), json!({"stack": "stations", "turns": "airtime"})),
    ];
    let runs = schemes.map(|(forward, wifi)| simulate(&channel(forward, wifi, saturated())));
    let slow = [0, 1, 2, 3].map(|i| {
        let of = shares(&runs[i]);
        of[2] / of.iter().sum::<f64>()
    });
    let port = |run: &Outcome| group(group(&run.summary, "ports"), "air.forward").clone();
    let total = [0, 1, 2, 3].map(|i| port(&runs[i]).number("throughput_bytes_per_s"));
    assert!(
        slow[0] > 0.7 && slow[1] > 0.7,
        "the driver's FIFOs fill with the slow one's: {slow:?}"
    );
    assert!(slow[2] < 0.55 && (slow[3] - 1.0 / 3.0).abs() < 0.02, "{slow:?}");
    assert!(total[2] > 3.0 * total[0] && total[3] > 3.0 * total[1], "{total:?}");
    assert!(station(&runs[0], 0).number("frames_mean") < 8.0, "aggregates stay short");
}

/// Frames are lost and sent again; all arrive, in order, and both sides contend.
#[test]
fn errors_and_collisions_cost_airtime_and_no_packet() {
    let both = json!([
        {"app": "bulk", "flows": 3, "start_within": "0 s"},
        {"name": "up", "app": "bulk", "flows": 3, "side": "clients", "start_within": "0 s"}
    ]);
    let run = |error: f64| {
        let wifi = json!({"stack": "stations", "error": error});
        simulate(&channel(json!({"aqm": "droptail", "limit": 60}), wifi, both.clone()))
    };
    let [clean, noisy] = [run(0.0), run(0.3)];
    let repeated = |outcome: &Outcome| station(outcome, 0).number("repeated_share");
    assert!(repeated(&clean) > 0.0, "collisions of seven senders");
    assert!(
        repeated(&noisy) > repeated(&clean) + 0.15,
        "{} {}",
        repeated(&noisy),
        repeated(&clean)
    );
    let used = |outcome: &Outcome| shares(outcome).iter().sum::<f64>();
    assert!(used(&clean) > 0.5 && used(&noisy) < 1.3, "{} {}", used(&clean), used(&noisy));
    assert_eq!(
        noisy.summary.number("spurious_timeouts"),
        clean.summary.number("spurious_timeouts")
    );
}

#[test]
fn what_is_no_channel_is_refused_in_a_sentence() {
    let why = |link: Value| {
        let scenario =
            json!({"duration": "1 s", "link": [link], "traffic": [{"app": "bulk", "flows": 1}]});
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    let none = why(json!({"rate": "1 Mbit/s", "wifi": {}}));
    assert!(none.starts_with("link.0.wifi.rates: missing"), "{none}");
    let limits = why(json!({"rate": "1 Mbit/s", "wifi": {"rates": ["9 Mbit/s"], "aql": true}}));
    assert!(limits.starts_with("link.0.wifi.aql: the stack \"driver\" has a limit"), "{limits}");
    let steps = json!([["0 s", "1 Mbit/s"]]);
    let both =
        why(json!({"rate": "1 Mbit/s", "rate_steps": steps, "wifi": {"rates": ["9 Mbit/s"]}}));
    assert!(both.starts_with("link.0.wifi: the channel has rates of its own"), "{both}");
    let text = channel(fifo(), json!({"error": 0.1}), saturated()).to_string();
    let read = Scenario::from_json(&text).unwrap().to_json();
    assert_eq!(Scenario::from_json(&read.to_string()).unwrap().to_json(), read, "as it is written");
}

/// Datagrams of stations to the access point, each with this rate, spacing and burst.
fn upstream(wifi: Value, stations: u32, rate: &str, more: Value) -> Outcome {
    let mut stream = json!({"name": "up", "app": "cbr", "flows": stations, "side": "clients", "rate": rate,
                            "packet": 1472, "start_within": "0.1 s"});
    stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut wifi = wifi;
    wifi["rates"] = json!(vec!["65 Mbit/s"; stations as usize]);
    wifi["stack"] = json!("stations");
    let mut scenario = channel(fifo(), wifi, json!([stream]));
    scenario["link"][0]["reverse"] = json!({"aqm": "droptail", "limit": 200});
    scenario["network"] = json!({"rtt": "0 s", "clients": stations, "servers": 1});
    simulate(&scenario)
}

fn delay(outcome: &Outcome, measure: &str) -> f64 {
    group(group(&outcome.summary, "datagrams"), "up").number(measure)
}

/// IEEE 802.11-2020, 10.23.2.4: who has waited out the backoff after its last transmission sends at the next slot when the
/// channel is idle.
#[test]
fn an_idle_channel_is_used_at_the_next_slot() {
    let outcome = upstream(json!({"preamble": "36 us"}), 1, "1 Mbit/s", json!({}));
    let air = 36e-6 + 1_544.0 * 8.0 / 65e6;
    for measure in ["delay_p50_s", "delay_p99_s"] {
        let waits = delay(&outcome, measure) - air;
        assert!((0.0..=9e-6 + 1e-9).contains(&waits), "{measure}: {waits} s before the frame");
    }
}

/// Ten datagrams that leave at one instant arrive one after the other, not when the last one has.
#[test]
fn frames_of_an_aggregate_arrive_one_after_the_other() {
    let outcome = upstream(json!({}), 1, "1 Mbit/s", json!({"burst": 10}));
    let apart = delay(&outcome, "delay_p95_s") - delay(&outcome, "delay_p50_s");
    let frames = apart / (1_544.0 * 8.0 / 65e6);
    assert!((3.9..=5.1).contains(&frames), "{frames} frames between the fifth and the last");
}

/// A frame that is sent twice at most is lost with the square of the error's probability (five standard deviations).
#[test]
fn a_frame_is_given_up_after_its_last_try() {
    let outcome = upstream(json!({"error": 0.3, "tries": 2}), 1, "47 Mbit/s", json!({}));
    let given_up = station(&outcome, 0).number("frames_given_up");
    let port = group(group(&outcome.summary, "ports"), "air.reverse");
    let sent = 5.0 * port.number("throughput_bytes_per_s") / 1_500.0;
    let share = given_up / sent;
    let deviation = (0.09 * 0.91 / sent).sqrt();
    assert!((share - 0.09).abs() < 5.0 * deviation, "{share} of {sent}");
}

/// Five saturated stations against ns-3.44 (validation/ns3/wifi.csv: 49.7 Mbit/s, eight runs of ten seconds): with its request for an
/// acknowledgement within 2 %; without it a collision costs less.
#[test]
fn contention_costs_what_it_costs_in_ns3() {
    let ns3 = json!({"idle": "43 us", "preamble": "36 us", "longest": "5.44 ms", "tries": 7, "missed": "request"});
    let mut ath9k = ns3.clone();
    ath9k["missed"] = json!("retransmit");
    let [requests, retransmits] = [ns3, ath9k].map(|wifi| {
        let outcome = upstream(wifi, 5, "16.6 Mbit/s", json!({}));
        group(group(&outcome.summary, "ports"), "air.reverse").number("throughput_bytes_per_s")
            * 8e-6
    });
    assert!((requests / 49.7 - 1.0).abs() < 0.02, "{requests} Mbit/s");
    assert!(retransmits > requests, "{retransmits} and {requests} Mbit/s");
}

/// A frame that was sent alone is acknowledged by itself: nothing is requested after a collision.
#[test]
fn a_frame_alone_is_sent_again_at_once() {
    let runs = ["request", "retransmit"].map(|missed| {
        let outcome = upstream(json!({"frames": 1, "missed": missed}), 5, "5 Mbit/s", json!({}));
        (delay(&outcome, "delay_p99_s"), station(&outcome, 0).number("repeated_share"))
    });
    assert!(runs[0].1 > 0.0, "collisions of five senders");
    assert_eq!(runs[0], runs[1]);
}

/// Served in turn, a packet for a station that gets little waits for an aggregate of each other; served by age, for all that came before it:
/// 400 packets for two stations are 19 aggregates of 4.2 ms, 80 ms. Of three streams one goes to the third station.
#[test]
fn the_oldest_packet_goes_first_whosever_it_is() {
    let of = |turns: &str| {
        let wifi = json!({"rates": vec!["65 Mbit/s"; 3], "stack": "stations", "turns": turns});
        let stream = |name: &str, flows: u32, rate: &str| {
            json!({"name": name, "app": "cbr", "flows": flows, "side": "servers", "rate": rate, "packet": 1472,
                   "start_within": "0.01 s"})
        };
        let streams = json!([stream("much", 2, "60 Mbit/s"), stream("up", 3, "0.1 Mbit/s")]);
        let mut scenario = channel(json!({"aqm": "droptail", "limit": 200}), wifi, streams);
        scenario["network"] = json!({"rtt": "2 ms", "clients": 3, "servers": 1});
        let outcome = simulate(&scenario);
        delay(&outcome, "delay_p25_s")
    };
    let (turns, oldest) = (of("round-robin"), of("oldest"));
    assert!((0.001..0.02).contains(&turns), "{turns} s in turn");
    assert!((0.075..0.09).contains(&oldest), "{oldest} s by age");
}

/// Airtime queue limits: behind full queues the driver holds another 12 ms of airtime of a lone station, of which an aggregate of at
/// most 4 ms is under way, and 5 ms of each of ten that send in turn.
#[test]
fn a_driver_holds_as_much_airtime_as_its_limits_say() {
    let waits = |stations: usize, aql: bool| {
        let wifi = json!({"rates": vec!["65 Mbit/s"; stations], "stack": "stations", "aql": aql});
        let mut scenario = channel(json!({"aqm": "droptail", "limit": 100}), wifi, saturated());
        scenario["network"] = json!({"rtt": "2 ms", "clients": stations, "servers": 1});
        let outcome = simulate(&scenario);
        group(group(&outcome.summary, "ports"), "air.forward").number("queue_delay_p50_s")
    };
    let more = |stations: usize| waits(stations, true) - waits(stations, false);
    let (alone, ten) = (more(1), more(10));
    assert!((0.006..=0.013).contains(&alone), "{alone} s more for one");
    assert!((0.035..=0.055).contains(&ten), "{ten} s more for ten");
}

/// What the limits leave in the discipline follows without another arrival: 200 datagrams that come at once, three in an aggregate, are over
/// within 50 ms.
#[test]
fn what_the_limits_hold_back_follows() {
    let wifi = json!({"aql": true, "aql_low": "500 us", "aql_high": "500 us"});
    let outcome = upstream(wifi, 1, "1 Mbit/s", json!({"burst": 200}));
    assert!(delay(&outcome, "delay_p99_s") < 0.05, "{}", delay(&outcome, "delay_p99_s"));
}

/// A discipline that shapes below the channel's rate has packets and gives none: then nothing is sent, and another station has the
/// channel. CAKE at 10 Mbit/s sends 833 packets a second alone, each for 270 us (32 us, 1,544 B at 65 Mbit/s, 16 and 32 us).
#[test]
fn a_shaper_takes_no_airtime_while_it_waits() {
    for stack in ["stations", "driver"] {
        let wifi = json!({"rates": ["65 Mbit/s"], "stack": stack});
        let cake = json!({"aqm": "cake", "rate": "10 Mbit/s"});
        let outcome = simulate(&channel(cake, wifi, saturated()));
        let port = group(group(&outcome.summary, "ports"), "air.forward");
        let rate = port.number("throughput_bytes_per_s") * 8e-6;
        assert!((rate / 10.0 - 1.0).abs() < 0.01, "{stack}: {rate} Mbit/s");
        let share = station(&outcome, 0).number("airtime_share");
        assert!((share / (833.3 * 270e-6) - 1.0).abs() < 0.02, "{stack}: {share} of the time");
    }
}

/// A station's own discipline has no driver's FIFO below it, also where there is a single station.
#[test]
fn a_discipline_of_each_station_has_no_driver_below() {
    let waits = |driver: u32| {
        let wifi = json!({"rates": ["7.2 Mbit/s"], "stack": "stations", "driver": driver});
        let outcome = simulate(&channel(json!("fq_codel"), wifi, saturated()));
        group(group(&outcome.summary, "ports"), "air.forward").number("queue_delay_mean_s")
    };
    assert_eq!(waits(1), waits(100_000));
}

/// A mark counts once, and of a packet that came in the measured interval: without arrivals there is none.
#[test]
fn marks_are_shares_of_the_arrivals() {
    let traffic = json!([{"app": "bulk", "flows": 20, "side": "servers", "bytes": 200000,
                          "tcp": {"profile": "plain", "ecn": true}}]);
    let wifi = json!({"rates": ["2 Mbit/s"], "stack": "stations"});
    let mut scenario = channel(json!({"aqm": "codel", "ecn": true}), wifi, traffic);
    (scenario["warmup"], scenario["duration"]) = (json!("1500 ms"), json!("1600 ms"));
    let outcome = simulate(&scenario);
    let port = group(group(&outcome.summary, "ports"), "air.forward");
    let (marks, rate) = (port.number("marks"), port.number("mark_rate"));
    assert!(marks > 0.0 && rate * port.number("arrivals") < marks, "{marks} {rate}");
}

/// A packet comes to a shaper of 1 Mbit/s above a channel that is idle, 2 ms after another: it leaves 10 ms later, and nothing but
/// the shaper wakes the channel for it.
#[test]
fn a_shaper_wakes_an_idle_channel() {
    for stack in ["stations", "driver"] {
        let one = |name: &str, start: &str| {
            json!({"name": name, "app": "cbr", "flows": 1, "side": "servers", "rate": "12 kbit/s", "packet": 1472, "start": start,
                   "start_within": "0 s"})
        };
        let traffic = json!([one("first", "1 s"), one("second", "1.002 s")]);
        let shaper = json!({"aqm": "cake", "rate": "1 Mbit/s"});
        let wifi = json!({"rates": ["65 Mbit/s"], "stack": stack});
        let mut scenario = channel(shaper, wifi, traffic);
        scenario["duration"] = json!("1.5 s");
        scenario["warmup"] = json!("0 s");
        let outcome = simulate(&scenario);
        let port = group(group(&outcome.summary, "ports"), "air.forward").clone();
        let longest = port.number("queue_delay_max_s");
        assert!((0.009..0.012).contains(&longest), "{stack}: {longest} s");
    }
}

/// A device with room for 100 packets counts those on the air until their acknowledgement: behind an aggregate of 42 wait 58 others and
/// one or two that come before the next one begins. A discipline of 100 is full whatever is on the air, and one more has been taken that
/// the aggregate had no room for.
#[test]
fn the_room_of_a_device_is_taken_until_the_acknowledgement() {
    let waits = |wifi: Value, limit: u32| {
        let mut wifi = wifi;
        (wifi["rates"], wifi["stack"]) = (json!(["65 Mbit/s"]), json!("stations"));
        (wifi["longest"], wifi["bytes"]) = (json!("10 ms"), json!(65_535));
        let stream = json!([{"name": "up", "app": "cbr", "flows": 1, "side": "clients", "rate": "90 Mbit/s", "packet": 1472}]);
        let mut scenario = channel(fifo(), wifi, stream);
        scenario["link"][0]["reverse"] = json!({"aqm": "droptail", "limit": limit});
        scenario["network"] = json!({"rtt": "0 s", "clients": 1, "servers": 1});
        let outcome = simulate(&scenario);
        group(group(&outcome.summary, "ports"), "air.reverse").number("queue_max_packets")
    };
    let (room, discipline) = (waits(json!({"station_room": 100}), 1000), waits(json!({}), 100));
    assert!((58.0..=62.0).contains(&room), "{room} packets");
    assert!((100.0..=101.0).contains(&discipline), "{discipline} packets");
}

/// An access point has one buffer for all its stations: a flow that fills it displaces packets of a
/// flow whose own queue would be empty.
#[test]
fn the_room_of_an_access_point_is_one_for_all_stations() {
    let lost = |wifi: Value| {
        let mut wifi = wifi;
        (wifi["rates"], wifi["stack"]) = (json!(vec!["65 Mbit/s"; 2]), json!("stations"));
        let stream = |name: &str, flows: u32, rate: &str| {
            json!({"name": name, "app": "cbr", "flows": flows, "side": "servers", "rate": rate, "packet": 1472,
                   "spacing": "poisson", "start_within": "0.01 s"})
        };
        // The third flow goes to the first station as well.
        let streams = json!([stream("much", 1, "90 Mbit/s"), stream("little", 2, "1 Mbit/s")]);
        let mut scenario = channel(fifo(), wifi, streams);
        scenario["network"] = json!({"rtt": "2 ms", "clients": 2, "servers": 1});
        let outcome = simulate(&scenario);
        group(group(&outcome.summary, "datagrams"), "little").number("loss_share")
    };
    let (shared, own) = (lost(json!({"point_room": 200})), lost(json!({})));
    assert!(
        shared > 1.4 * own && own > 0.0,
        "{shared} of both stations', {own} of the first one's"
    );
}
