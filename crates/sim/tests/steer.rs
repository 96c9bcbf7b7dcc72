//! A run that is looked at and changed between slices of its time.

use aqmlab_sim::{PortSnapshot, Run, Scenario};
use packet::{Duration, Instant, Rng};
use record::Figure;
use serde_json::{Value, json};

fn scenario(engine: &str, forward: Value) -> Scenario {
    let text = json!({
        "duration": "20 s", "warmup": "2 s", "engine": engine, "network": {"rtt": "40 ms"},
        "link": [{"name": "line", "rate": "4 Mbit/s", "forward": forward}],
        "traffic": [{"app": "bulk", "flows": 4}, {"app": "web", "users": 30}],
    });
    let registry = aqm::Registry::with(&[&aqm::AGENT]).unwrap();
    Scenario::read(&text.to_string(), &registry).unwrap()
}

const PORT: &str = "line.forward";

/// Fingerprint, and the sum of all looks.
fn steer(
    scenario: Scenario,
    step: impl Fn() -> Duration,
    act: impl Fn(&mut Run),
) -> (String, PortSnapshot) {
    let mut run = Run::new(scenario).unwrap();
    let mut all = PortSnapshot::default();
    while run.now() < run.end() {
        run.advance(run.now() + step());
        let PortSnapshot {
            packets,
            bytes,
            arrivals,
            departures,
            departure_bytes,
            waited_s,
            drops,
            marks,
        } = run.port_snapshot(PORT).unwrap();
        (all.packets, all.bytes) = (packets, bytes);
        all.arrivals += arrivals;
        all.departures += departures;
        all.departure_bytes += departure_bytes;
        all.waited_s += waited_s;
        all.drops += drops;
        all.marks += marks;
        act(&mut run);
    }
    let Some(Figure::Text(fingerprint)) = run.outcome().summary.get("fingerprint").cloned() else {
        panic!()
    };
    (fingerprint, all)
}

fn tenth() -> Duration {
    Duration::from_millis(100)
}

#[test]
fn a_run_that_is_only_looked_at_is_that_run() {
    for forward in
        [json!("red"), json!("pie"), json!("fq_codel"), json!({"aqm": "agent", "p": 0.02})]
    {
        let whole = steer(scenario("folded", forward.clone()), || Duration::from_secs(20), |_| {});
        let rng = std::cell::RefCell::new(Rng::named(3, "slices"));
        let any = || Duration::from_micros(1 + rng.borrow_mut().below(900_000));
        let sliced = steer(scenario("folded", forward), any, |_| {});
        assert_eq!(whole.0, sliced.0);
        let (all, waited) = (sliced.1, sliced.1.waited_s - whole.1.waited_s);
        assert!(waited.abs() < 1e-6, "{waited}");
        assert_eq!(
            PortSnapshot { waited_s: 0.0, ..all },
            PortSnapshot { waited_s: 0.0, ..whole.1 }
        );
        // One that leaves in a later second is counted there.
        let under_way = all.arrivals - all.departures - all.drops - all.packets;
        assert!(under_way <= 1, "{under_way}");
    }
}

#[test]
fn what_is_set_acts_in_both_engines_alike() {
    let run = |engine: &str, forward: &Value, name: &str, values: [f64; 2]| {
        let act = |run: &mut Run| {
            let late = run.now() >= Instant::from_secs_f64(10.0);
            run.set(PORT, name, values[usize::from(late)]).unwrap();
        };
        steer(scenario(engine, forward.clone()), tenth, act)
    };
    let red = json!({"aqm": "red", "min_th": 5, "max_th": 15, "limit": 100});
    for (forward, name, values) in [
        (json!("agent"), "p", [0.0, 0.1]),
        (red, "max_p", [0.01, 0.9]),
        (json!("pie"), "target", [0.2, 0.002]),
    ] {
        let folded = run("folded", &forward, name, values);
        assert_eq!(folded.0, run("explicit", &forward, name, values).0);
        assert_ne!(folded.0, run("folded", &forward, name, [values[0]; 2]).0, "{name}");
        assert_ne!(folded.0, run("folded", &forward, name, [values[1]; 2]).0, "{name}");
    }
}

#[test]
fn a_probability_of_one_lets_nothing_through_from_its_instant_on() {
    let mut run = Run::new(scenario("folded", json!("agent"))).unwrap();
    run.advance(Instant::from_secs_f64(10.0));
    assert!(run.port_snapshot(PORT).unwrap().departures > 1_000);
    run.set(PORT, "p", 1.0).unwrap();
    run.advance(Instant::from_secs_f64(12.0));
    let sight = run.port_snapshot(PORT).unwrap();
    assert_eq!((sight.packets, sight.arrivals), (0, sight.drops));
    assert!(sight.drops > 0);
}

#[test]
fn what_cannot_be_changed_is_refused_with_a_sentence() {
    let mut run = Run::new(scenario("folded", json!("agent"))).unwrap();
    let why = |of: Result<(), aqmlab_sim::ScenarioError>| of.unwrap_err().0;
    assert!(why(run.set(PORT, "p", 1.5)).contains("cannot change p to 1.5"));
    assert!(why(run.set(PORT, "max_p", 0.5)).contains("max_p of red"));
    assert!(why(run.set("line.forwrd", "p", 0.5)).contains("line.forward"));
    assert!(
        Run::new(scenario("folded", json!("droptail"))).unwrap().set(PORT, "limit", 9.0).is_err()
    );
}

#[test]
fn what_was_seen_is_listed_in_the_order_of_its_fields() {
    let seen = PortSnapshot {
        packets: 1,
        bytes: 2,
        arrivals: 3,
        departures: 4,
        departure_bytes: 5,
        waited_s: 6.5,
        drops: 7,
        marks: 8,
    };
    assert_eq!(seen.numbers(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 7.0, 8.0]);
}

#[test]
fn events_are_counted_as_the_run_goes_on() {
    let mut run = Run::new(scenario("folded", json!("droptail"))).unwrap();
    run.advance(Instant::from_secs_f64(5.0));
    let early = run.events();
    run.advance(run.end());
    let all = run.events();
    assert!(1_000 < early && 2 * early < all, "{early} {all}");
    assert_eq!(run.outcome().summary.number("events"), all as f64);
}

#[test]
fn marks_and_what_waits_are_seen_alike_in_both_engines() {
    let looks = |engine: &str| {
        let text = json!({
            "duration": "4 s", "engine": engine, "network": {"rtt": "40 ms"},
            "link": [{"name": "line", "rate": "4 Mbit/s",
                      "forward": {"aqm": "red", "min_th": 3, "max_th": 9, "limit": 30, "ecn": true}}],
            "traffic": [{"app": "bulk", "flows": 4, "tcp": {"profile": "linux", "ecn": true}}],
        });
        let mut run = Run::new(Scenario::from_json(&text.to_string()).unwrap()).unwrap();
        let mut looks = Vec::new();
        while run.now() < run.end() {
            run.advance(run.now() + tenth());
            looks.push(run.port_snapshot(PORT).unwrap());
        }
        let Some(Figure::Group(ports)) = run.outcome().summary.get("ports").cloned() else {
            panic!()
        };
        let Some(Figure::Group(port)) = ports.get(PORT).cloned() else { panic!() };
        (looks, port.number("marks"))
    };
    let (folded, marks) = looks("folded");
    assert_eq!(folded.iter().map(|look| look.marks).sum::<u64>() as f64, marks);
    assert!(marks > 10.0 && folded.iter().any(|look| look.packets > 0));
    let (explicit, _) = looks("explicit");
    for (one, other) in folded.iter().zip(&explicit) {
        assert!((one.waited_s - other.waited_s).abs() < 1e-9, "{one:?} {other:?}");
        assert_eq!(
            PortSnapshot { waited_s: 0.0, ..*one },
            PortSnapshot { waited_s: 0.0, ..*other }
        );
    }
}

#[test]
fn progress_is_shown_at_every_two_hundredth_of_a_run() {
    let mut seen = Vec::new();
    let run = Run::new(scenario("folded", json!("droptail"))).unwrap();
    let outcome = run.complete(&mut |run| {
        seen.push(run.now().nanos());
        seen.len() < 20
    });
    assert!(outcome.is_none(), "somebody stopped it");
    assert!(seen.iter().copied().eq((1..=20).map(|step| step * 100_000_000)), "{seen:?}");
}
