//! A player of recorded connections by itself: what it asks for, and when.

use aqmlab_traffic::{Action, App, AppCx, Closes, Input};
use aqmlab_traffic::{Group, Population, find};
use packet::params::{BadParams, Params, Raw};
use packet::{Duration, Instant};

fn build(recording: &str, raw: &[(&str, Raw)]) -> Result<Population, BadParams> {
    let entry = find("replay").unwrap();
    let text = |text: &str| Raw::Text(text.to_owned());
    let file = vec![("file".into(), text("small")), ("text".into(), text(recording))];
    let mut all = vec![("model".to_owned(), Raw::Table(file))];
    all.extend(raw.iter().map(|(name, raw)| ((*name).to_owned(), raw.clone())));
    let group = Group { seed: 2, name: "g".to_owned(), peers: 3, sources: 1, machines: 2 };
    (entry.build)(&Params::check(entry.about.fields, &all).unwrap(), &group)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A player, and what it answers.
struct Played(Box<dyn App>);

impl Played {
    /// Started at `ms`, ms.
    fn new(connections: &[&str], ms: u64) -> Played {
        let lines: String = connections.iter().map(|line| format!("\n{line}")).collect();
        let recording = format!("recording 90000000 {}{lines}", connections.len());
        let mut played = Played(build(&recording, &[]).unwrap().source(0));
        played.react(ms, Input::Start);
        played
    }

    /// All that it answers to this.
    fn react(&mut self, ms: u64, input: Input) -> Vec<Action> {
        let mut wishes = Vec::new();
        self.0.on(input, &mut AppCx { now: at(ms), act: &mut |wish| wishes.push(wish) });
        wishes
    }

    /// The numbers of the connections that it opens when it is woken.
    fn opens(&mut self, ms: u64) -> Vec<u32> {
        let opened = |wish: &Action| match wish {
            Action::Open { conn, .. } => Some(*conn),
            _ => None,
        };
        self.react(ms, Input::Woke).iter().filter_map(opened).collect()
    }
}

fn send(conn: u32, bytes: u64, reply_bytes: u64) -> Action {
    Action::Send { conn, bytes, reply_bytes, service: Duration::ZERO }
}

const OPENED: Input = Input::Opened { conn: 0 };
const REPLIED: Input = Input::Replied { conn: 0 };
const SENT: Input = Input::Sent { conn: 0 };
const CLOSE: Action = Action::Close { conn: 0 };

#[test]
fn starts_count_from_when_the_player_begins_and_hosts_are_taken_modulo_the_machines() {
    let line = "- - 5 7 fin epochs 0,1,0,1";
    let mut played = Played::new(&[&format!("2000000 {line}"), &format!("2000000 {line}")], 5_000);
    assert_eq!(played.react(6_999, Input::Woke), []);
    let of = |conn| {
        [
            Action::Move { machine: 1 },
            Action::Open { conn, peer: 1, closes: Closes::Opener },
            Action::Await { conn },
        ]
    };
    // Both at once: nothing is left to be woken for.
    assert_eq!(played.react(7_000, Input::Woke), [of(0), of(1)].concat());
}

#[test]
fn what_takes_no_time_happens_at_once() {
    let mut played = Played::new(&["0 - - 0 0 fin epochs 0,10,0,20 3000,30,0,40"], 0);
    played.opens(0);
    assert_eq!(played.react(100, OPENED), [send(0, 10, 20)]);
    assert_eq!(played.react(200, REPLIED), [Action::WakeAt(at(203))]);
    assert_eq!(played.react(203, Input::Woke), [send(0, 30, 40)]);
    assert_eq!(played.react(300, REPLIED), [CLOSE]);
}

#[test]
fn an_opener_that_goes_on_by_itself_waits_for_its_acknowledgement() {
    // The last epoch's end comes right behind it; a number is used again once all is acknowledged.
    let more = "5000000 - - 0 0 fin epochs 0,1,0,1";
    let first = "0 - - 0 0 fin epochs 0,10,0,0 1000,30,0,0";
    for acknowledged in [false, true] {
        let mut played = Played::new(&[first, more], 0);
        played.opens(0);
        assert_eq!(played.react(100, OPENED), [send(0, 10, 0)]);
        assert_eq!(played.react(200, SENT), [Action::WakeAt(at(201))]);
        assert_eq!(played.react(201, Input::Woke), [send(0, 30, 0), CLOSE]);
        if acknowledged {
            assert_eq!(played.react(300, SENT), []);
        }
        assert_eq!(played.opens(5_000), [u32::from(!acknowledged)]);
    }
}

#[test]
fn a_connection_whose_end_was_not_recorded_stays_open() {
    for (epochs, input) in [("0,10,0,20", REPLIED), ("0,10,0,0", SENT)] {
        let mut played = Played::new(&[&format!("0 - - 0 0 open epochs {epochs}")], 0);
        played.opens(0);
        assert!(!played.react(100, OPENED).contains(&CLOSE));
        assert_eq!(played.react(200, input), [], "{epochs}");
    }
}

#[test]
fn a_concurrent_connection_ends_when_all_has_arrived() {
    // The opener's second unit has heard the first of the acceptor's two.
    let line = "0 - - 0 0 fin units 0,50,0 0,60,100 / 5000,100,0 7000,100,0";
    let mut played = Played::new(&[line, "5000000 - - 0 0 fin epochs 0,1,0,1"], 0);
    played.opens(0);
    let script = |gap, after| {
        let (gap, bytes) = (Duration::from_millis(gap), 100);
        Action::Script { conn: 0, after, gap, bytes }
    };
    assert_eq!(played.react(100, OPENED), [script(5, 0), script(7, 0), send(0, 50, 0)]);
    assert_eq!(played.react(200, SENT), []);
    assert_eq!(played.react(210, REPLIED), [send(0, 60, 0)]);
    assert_eq!(played.react(220, SENT), []);
    assert_eq!(played.react(230, REPLIED), [CLOSE]);
    assert_eq!(played.opens(5_000), [0]);
}

#[test]
fn a_timer_of_a_connection_that_failed_is_not_its_successors() {
    // Each waits 10 s after its handshake; the first fails, and the second has its number.
    let line = "- - 0 0 fin epochs 10000000,10,0,20";
    let mut played = Played::new(&[&format!("0 {line}"), &format!("2000000 {line}")], 0);
    assert_eq!(played.opens(0), [0]);
    assert_eq!(played.react(0, OPENED), [Action::WakeAt(at(10_000))]);
    assert_eq!(played.react(1_000, Input::Failed { conn: 0 }), []);
    assert_eq!(played.opens(2_000), [0]);
    assert_eq!(played.react(2_000, OPENED), [Action::WakeAt(at(12_000))]);
    assert_eq!(played.react(10_000, Input::Woke), []);
    assert_eq!(played.react(12_000, Input::Woke), [send(0, 10, 20)]);
}

#[test]
fn bytes_of_a_connection_are_those_of_its_acceptor_with_headers() {
    // Handshake and end: 124 B. Replies of three segments and of one, and a unit of two.
    let recording = "recording 90000000 2\n\
        0 - - 0 0 fin epochs 0,9,0,3000 0,9,0,1000\n\
        0 - - 0 0 fin units 0,9,0 / 0,2000,0";
    let estimate = build(recording, &[]).unwrap().ip_bytes_per_source_s().unwrap();
    let first = 124 + (3_000 + 3 * 40) + (1_000 + 40);
    assert_eq!(estimate, f64::from(first + 124 + 2_000 + 2 * 40) / 2.0);
}

#[test]
fn a_recording_of_no_time_has_no_rate() {
    let none = "recording 0 1\n0 - - 0 0 fin epochs 0,1,0,1";
    let built = |raw: &[(&str, Raw)]| build(none, raw).map(|_| ()).map_err(|why| why.field);
    assert_eq!(built(&[]), Ok(()));
    let model = Err("model".to_owned());
    assert_eq!(built(&[("mode", Raw::Text("resample".to_owned()))]), model);
    assert_eq!(built(&[("connections_per_s", Raw::Number(2.0))]), model);
}

#[test]
fn a_side_plays_what_began_there() {
    let line = "0 0 fin epochs 0,1,0,1";
    let recording = format!("recording 9000000 3\n0 - 1 {line}\n5000 - 0 {line}\n9000 - - {line}");
    for (side, starts) in [("all", 0), ("0", 5), ("1", 0)] {
        let built = build(&recording, &[("openers", Raw::Text(side.to_owned()))]).unwrap();
        let mut played = Played(built.source(0));
        assert_eq!(played.react(0, Input::Start), [Action::WakeAt(at(starts))], "{side}");
    }
}
