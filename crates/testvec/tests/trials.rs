//! Trials of small disciplines against answers worked out by hand, and the form of requests.

use aqm::Registry;
use aqmlab_testvec::{answer, document};
use serde_json::{Value as Json, json};

fn ask(request: Json) -> Json {
    document::read(&answer(&request.to_string(), &Registry::ours()).unwrap()).unwrap()
}

fn lines(request: Json) -> Vec<String> {
    let text = answer(&request.to_string(), &Registry::ours()).unwrap();
    let call = |line: &&str| line.starts_with("{\"at_ns\"");
    text.lines().filter(call).map(|line| line.trim_end_matches(',').to_owned()).collect()
}

#[test]
fn a_full_queue_by_hand() {
    let packet = |at_ns: u64, bytes: u32| json!({"at_ns": at_ns, "packet": {"bytes": bytes}});
    let lines = lines(json!({
        "discipline": "droptail", "parameters": {"limit": 1}, "line_bits_per_s": 8_000_000,
        "arrivals": [packet(5, 1000), packet(5, 10), packet(6, 10), packet(1_000_005, 20)],
    }));
    // 1000 bytes take a millisecond; at its end the line asks before the last packet arrives.
    assert_eq!(
        lines,
        [
            r#"{"at_ns": 5, "call": "enqueue", "packet": {"id": 0, "flow": 0, "bytes": 1000}, "events": [["queued", 0]]}"#,
            r#"{"at_ns": 5, "call": "dequeue", "sent": {"id": 0}}"#,
            r#"{"at_ns": 5, "call": "enqueue", "packet": {"id": 1, "flow": 0, "bytes": 10}, "events": [["queued", 1]]}"#,
            r#"{"at_ns": 6, "call": "enqueue", "packet": {"id": 2, "flow": 0, "bytes": 10}, "events": [["dropped", 2, "overflow"]]}"#,
            r#"{"at_ns": 1000005, "call": "dequeue", "sent": {"id": 1}}"#,
            r#"{"at_ns": 1000005, "call": "enqueue", "packet": {"id": 3, "flow": 0, "bytes": 20}, "events": [["queued", 3]]}"#,
            r#"{"at_ns": 1010005, "call": "dequeue", "sent": {"id": 3}}"#,
            r#"{"at_ns": 1030005, "call": "dequeue", "sent": null}"#,
        ]
    );
}

#[test]
fn the_same_request_gives_the_same_text() {
    let request = |seed| json!({"discipline": "red", "seed": seed, "packets": 300, "load": 2});
    let text = |seed| answer(&request(seed).to_string(), &Registry::ours()).unwrap();
    assert_eq!(text(4), text(4));
    assert_ne!(text(4), text(5));
}

#[test]
fn ticks_come_before_departures_and_departures_before_arrivals() {
    for entry in aqm::ALGORITHMS {
        let name = entry.about.name;
        let request = json!({"discipline": name, "packets": 2000, "seed": 3, "headers": true});
        let case = &ask(request)["cases"][0];
        let mut busy_until: Option<u64> = None;
        let (mut arrived, mut left, mut met, mut bytes, mut last) = (0, 0, 0, Vec::new(), 0);
        for call in case["calls"].as_array().unwrap() {
            let at = call["at_ns"].as_u64().unwrap();
            assert!(at >= last, "{name}: {call} goes back in time");
            last = at;
            match call["call"].as_str().unwrap() {
                "tick" => {
                    assert!(busy_until.is_none_or(|end| end >= at), "{name}: late {call}");
                    assert!(arrived < at, "{name}: {call} after an arrival");
                    assert!(left < at, "{name}: {call} after the end of a transmission");
                }
                "dequeue" => {
                    if busy_until == Some(at) {
                        (left, met) = (at, met + 1);
                    }
                    assert!(busy_until.is_none_or(|end| end == at), "{name}: {call}");
                    let id = call["sent"]["id"].as_u64();
                    busy_until = id.map(|id| at + 800 * bytes[id as usize]);
                }
                _ => {
                    assert!(busy_until.is_none_or(|end| end > at), "{name}: early {call}");
                    arrived = at;
                    bytes.push(call["packet"]["bytes"].as_u64().unwrap());
                }
            }
        }
        assert_eq!(busy_until, None, "{name}: the line rests in the end");
        assert!(met > 100, "{name}");
    }
}

#[test]
fn a_wrong_request_is_one_sentence_with_the_remedy() {
    let why = |request: Json| answer(&request.to_string(), &Registry::ours()).unwrap_err();
    assert!(answer("{", &Registry::ours()).unwrap_err().starts_with("the request is not JSON"));
    assert_eq!(why(json!(3)), "the request must be a table");
    assert_eq!(why(json!({})), "discipline: missing; name one as text");
    assert!(why(json!({"discipline": "rde"})).contains("did you mean \"red\"?"));
    assert!(why(json!({"discipline": "red", "packet": 3})).contains("did you mean \"packets\"?"));
    let red = |key: &str, value: Json| why(json!({"discipline": "red", key: value}));
    assert!(red("parameters", json!({"min_th": -1})).starts_with("parameters.min_th: "));
    assert!(red("parameters", json!(1)).starts_with("parameters: must be a table"));
    assert!(red("line_bits_per_s", json!("1 Mbit/s")).contains("is not a whole number from"));
    assert!(red("packets", json!(0)).starts_with("packets: 0 is not"));
    assert!(red("load", json!(0)).starts_with("load: 0 is not"));
    assert!(red("headers", json!(1)).starts_with("headers: 1 is neither"));
    let packet = |at_ns: u64, id: u32| json!({"at_ns": at_ns, "packet": {"bytes": 1, "id": id}});
    let sentence = red("arrivals", json!([packet(5, 1), packet(4, 2)]));
    assert!(sentence.starts_with("arrivals.1.at_ns: must be"), "{sentence}");
    assert!(red("arrivals", json!([packet(5, 1), packet(6, 1)])).contains("comes twice"));
    assert!(red("arrivals", json!([{"at_ns": 1, "bytes": 3}])).starts_with("arrivals.0.bytes"));
    let both = json!({"discipline": "red", "arrivals": [], "packets": 3});
    assert!(why(both).starts_with("packets: says how packets are drawn"));
}

#[test]
fn a_trial_without_end_is_refused() {
    let late = json!({"at_ns": u64::MAX / 2, "packet": {"bytes": 1}});
    let ticking = aqm::ALGORITHMS.iter().find(|e| {
        aqmlab_testvec::build(e.about.name, &Json::Null, packet::Rate::from_bits_per_s(1_000_000))
            .is_ok_and(|d| d.next_tick().is_some())
    });
    let name = ticking.expect("some discipline has a periodic update").about.name;
    let request = json!({"discipline": name, "arrivals": [late]});
    assert!(
        answer(&request.to_string(), &Registry::ours())
            .unwrap_err()
            .contains("more than 2000000 calls")
    );
}

/// Lets a packet go every ten milliseconds at most, and counts on being asked then.
#[derive(Default)]
struct Shaper {
    packets: std::collections::VecDeque<packet::Packet>,
    next: packet::Instant,
}

impl aqm::Discipline for Shaper {
    fn enqueue(&mut self, packet: packet::Packet, cx: &mut aqm::Cx) {
        (cx.out)(packet::Event::Queued { id: packet.id });
        self.packets.push_back(packet);
    }
    fn dequeue(&mut self, cx: &mut aqm::Cx) -> Option<packet::Packet> {
        if cx.now < self.next {
            return None;
        }
        let packet = self.packets.pop_front()?;
        self.next = cx.now + packet::Duration::from_millis(10);
        Some(packet)
    }
    fn backlog(&self) -> packet::Backlog {
        let bytes = self.packets.iter().map(|p| u64::from(p.bytes)).sum();
        packet::Backlog { packets: self.packets.len() as u32, bytes }
    }
    fn next_tick(&self) -> Option<packet::Instant> {
        (!self.packets.is_empty()).then_some(self.next)
    }
    fn on_tick(&mut self, cx: &mut aqm::Cx) {
        self.next = self.next.max(cx.now);
    }
}

#[test]
fn a_shaper_is_called_again_when_it_says() {
    let rate = packet::Rate::from_bits_per_s(8_000_000);
    let stream = packet::Rng::named(1, "draws");
    let mut trial = aqmlab_testvec::Trial::new(Box::<Shaper>::default(), rate, stream);
    for (id, at_ms) in [(0, 1), (1, 2)] {
        let at = packet::Instant::from_nanos(at_ms * 1_000_000);
        let packet = aqmlab_testvec::packet(&json!({"bytes": 1000}), "packet", id, at).unwrap();
        trial.arrive(packet).unwrap();
    }
    trial.finish().unwrap();
    let told: Vec<_> = trial
        .calls()
        .iter()
        .map(|call| {
            let sent = match &call.what {
                aqmlab_testvec::What::Dequeue(Some(packet)) => Some(packet.id),
                _ => None,
            };
            (call.at.nanos() / 1_000_000, call.what.word(), sent, call.waits)
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, "enqueue", None, true),
            (1, "dequeue", Some(0), false),
            (2, "dequeue", None, false),
            (2, "enqueue", None, true),
            (2, "dequeue", None, true), // held back
            (11, "tick", None, true),
            (11, "dequeue", Some(1), false),
            (12, "dequeue", None, false),
        ]
    );
    assert!(aqmlab_testvec::coverage::shown(&trial).contains("dequeue: held back"));
}
