//! Calls, players and pulses by themselves: what they say and ask for, and when.

mod calls;

use aqmlab_traffic::{Action, App, AppCx, Closes, Input, ListenerReport, Report, ViewerReport};
use aqmlab_traffic::{Group, Population, find};
use packet::params::{BadParams, Params, Raw};
use packet::{Duration, Instant};

fn build(app: &str, raw: &[(&str, Raw)]) -> Result<Population, BadParams> {
    let entry = find(app).unwrap();
    let raw: Vec<_> = raw.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
    let group = Group { seed: 4, name: "g".to_owned(), peers: 2, sources: 4, machines: 2 };
    (entry.build)(&Params::check(entry.about.fields, &raw).unwrap(), &group)
}

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

/// A host with one timer; replies come at a constant rate after a constant delay.
struct Host {
    app: Box<dyn App>,
    now: Instant,
    wakes: Vec<Instant>,
    reply: Option<Instant>,
    bits_per_s: f64,
    said: Vec<(f64, Action)>,
}

impl Host {
    fn new(app: Box<dyn App>, bits_per_s: f64) -> Host {
        let (now, wakes, said) = (Instant::ZERO, Vec::new(), Vec::new());
        let mut host = Host { app, now, wakes, reply: None, bits_per_s, said };
        host.notify(Input::Start);
        host
    }

    fn notify(&mut self, input: Input) {
        let mut actions = Vec::new();
        self.app.on(input, &mut AppCx { now: self.now, act: &mut |action| actions.push(action) });
        for action in actions {
            match action {
                Action::WakeAt(at) => self.wakes.push(at),
                Action::Send { reply_bytes, .. } => {
                    let takes = 0.05 + reply_bytes as f64 * 8.0 / self.bits_per_s;
                    let before = self.reply.replace(self.now + Duration::from_secs_f64(takes));
                    assert_eq!(before, None, "one segment after the other");
                    self.said.push((self.now.secs_f64(), action));
                }
                _ => self.said.push((self.now.secs_f64(), action)),
            }
        }
    }

    fn run_until(&mut self, seconds: f64) {
        let end = Instant::from_secs_f64(seconds);
        loop {
            self.wakes.sort_by_key(|at| std::cmp::Reverse(*at));
            let wake = self.wakes.last().copied().unwrap_or(Instant::NEVER);
            let reply = self.reply.unwrap_or(Instant::NEVER);
            let next = wake.min(reply);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if next == reply {
                self.reply = None;
                self.notify(Input::Replied { conn: 0 });
            } else {
                self.wakes.pop();
                self.notify(Input::Woke);
            }
        }
    }

    /// When segments were requested, and their bytes.
    fn segments(&self) -> Vec<(f64, u64)> {
        let of = |(at, action): &(f64, Action)| match action {
            Action::Send { reply_bytes, .. } => Some((*at, *reply_bytes)),
            _ => None,
        };
        self.said.iter().filter_map(of).collect()
    }

    fn viewing(&mut self) -> ViewerReport {
        match self.app.report(self.now) {
            Some(Report::Viewing(viewing)) => viewing,
            other => panic!("{other:?}"),
        }
    }

    fn listeners(&mut self) -> Vec<ListenerReport> {
        match self.app.report(self.now) {
            Some(Report::Call(listeners)) => listeners,
            other => panic!("{other:?}"),
        }
    }
}

fn player(raw: &[(&str, Raw)], bits_per_s: f64) -> Host {
    let at_once = [("start_within", text("0 s"))];
    Host::new(build("video", &[raw, &at_once].concat()).unwrap().source(0), bits_per_s)
}

#[test]
fn a_player_fills_its_buffer_and_then_asks_once_a_segment() {
    let mut host = player(&[("max_buffer", text("30 s"))], 50e6);
    host.run_until(300.0);
    let segments = host.segments();
    // The lowest rate first: 235 kbit/s for 4 s.
    assert_eq!(segments[0], (0.0, 117_500));
    // One connection, kept open.
    let opened = |(_, action): &&(f64, Action)| matches!(action, Action::Open { .. });
    assert_eq!(host.said.iter().filter(opened).count(), 1);
    // Full after some: then one every 4 s, at the highest rate.
    let late: Vec<_> = segments.iter().filter(|(at, _)| *at > 100.0).collect();
    assert_eq!(late.len(), 50);
    for pair in late.windows(2) {
        assert!((pair[1].0 - pair[0].0 - 4.0).abs() < 1e-6);
        assert_eq!(pair[1].1, 2_900_000);
    }
    let viewing = host.viewing();
    assert_eq!((viewing.stalls, viewing.stalled), (0, Duration::ZERO));
    assert_eq!(viewing.startup, Some(Duration::from_secs_f64(0.05 + 0.94 / 50.0)));
    let seen: f64 = viewing.seen.iter().map(|(_, time)| time.secs_f64()).sum();
    assert!((seen - (300.0 - 0.0688)).abs() < 1e-6, "{seen}");
}

#[test]
fn sizes_vary_as_they_are_set_and_keep_their_mean() {
    // Factors uniform over 0.5 to 1.5 have a deviation of 0.289; 700 segments: five standard
    // errors are 0.055.
    let uniform = Raw::Table(vec![
        ("dist".to_owned(), text("uniform")),
        ("min".to_owned(), Raw::Number(0.5)),
        ("max".to_owned(), Raw::Number(1.5)),
    ]);
    let mut host = player(&[("size_factor", uniform), ("abr", text("rate"))], 50e6);
    host.run_until(2_800.0);
    let sizes: Vec<f64> = host.segments().iter().skip(1).map(|(_, b)| *b as f64 / 2.9e6).collect();
    assert!(sizes.len() > 690 && sizes.iter().all(|s| (0.5..=1.5).contains(s)));
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    assert!((mean - 1.0).abs() < 0.055, "{mean}");
}

#[test]
fn a_player_opens_another_connection_after_one_that_failed() {
    let mut host = player(&[], 1e6);
    host.run_until(0.5);
    host.reply = None; // never comes
    host.notify(Input::Failed { conn: 0 });
    host.run_until(1.4);
    assert_eq!(host.segments().len(), 1);
    host.run_until(1.6);
    assert_eq!(host.segments().len(), 2);
    let opening = Action::Open { conn: 0, peer: 0, closes: Closes::Opener };
    assert_eq!(host.said[2], (1.5, opening));
    // It begins again where it was: the lowest rate, the picture still dark.
    assert_eq!(host.segments()[1].1, 117_500);
    assert_eq!(host.viewing().startup, None);
}

#[test]
fn a_viewer_who_leaves_closes_and_asks_for_nothing_more() {
    let mut host = player(&[("lasts", text("20 s"))], 1e6);
    host.run_until(500.0);
    let (last, action) = host.said.last().unwrap();
    assert_eq!((*last, action), (20.0, &Action::Close { conn: 0 }));
    let seen: f64 = host.viewing().seen.iter().map(|(_, time)| time.secs_f64()).sum();
    assert!((seen - (20.0 - 0.99)).abs() < 1e-6, "{seen}");
}

#[test]
fn a_buffer_that_cannot_start_the_picture_is_refused() {
    let bad = [("segment", text("4 s")), ("max_buffer", text("11 s")), ("startup", text("9 s"))];
    assert_eq!(build("video", &bad).unwrap_err().field, "max_buffer");
    assert!(build("video", &[&bad[..2], &[("startup", text("8 s"))]].concat()).is_ok());
    let bad = [("upper", Raw::Number(0.3))];
    assert_eq!(build("video", &bad).unwrap_err().field, "upper");
}

#[test]
fn ladders_are_those_published() {
    // The lowest rate first, for 4 s.
    for (ladder, lowest) in [("netflix", 235_000), ("apple", 145_000), ("pensieve", 300_000)] {
        let mut host = player(&[("ladder", text(ladder))], 50e6);
        host.run_until(1.0);
        assert_eq!(host.segments()[0].1, lowest / 2, "{ladder}");
    }
}

#[test]
fn bola_goes_to_the_highest_rate_where_its_buffer_says() {
    // K. Spiteri, R. Urgaonkar and R. Sitaraman, BOLA, INFOCOM 2016: with utilities u of rates S the
    // choice turns at Q = V (gp + (S2 u1 - S1 u2) / (S2 - S1)) segments, V = (60 - 1) / (u + gp).
    let raw = [("abr", text("bola")), ("max_buffer", text("240 s")), ("gamma_p", Raw::Number(5.0))];
    let mut host = player(&raw, 1e15);
    host.run_until(8.0);
    let utility = |rate: f64| f64::ln(rate / 235e3);
    let weight = 59.0 / (utility(5.8e6) + 5.0);
    let turns = (5.8 * utility(4.3e6) - 4.3 * utility(5.8e6)) / 1.5;
    let segments = weight * (5.0 + turns);
    // A segment comes each 50 ms, while the picture moves on.
    let highest = host.segments().iter().position(|(_, bytes)| *bytes == 2_900_000).unwrap();
    let buffered = highest as f64 * (1.0 - 0.05 / 4.0);
    assert!((buffered - segments).abs() < 1.5, "{buffered} of {segments}");
}

#[test]
fn a_segment_that_comes_as_the_viewer_leaves_is_not_seen() {
    // 940 kbit at 1 Mbit/s, 50 ms after they were requested.
    for (lasts, segments) in [("990 ms", 0), ("991 ms", 1)] {
        let mut host = player(&[("lasts", text(lasts))], 1e6);
        host.run_until(5.0);
        assert_eq!(host.viewing().segments, segments, "{lasts}");
    }
}

#[test]
fn a_buffer_of_one_segment_leaves_nothing_to_choose_by() {
    let refused = |most: &str| {
        let raw = [("startup", text("1 s")), ("max_buffer", text(most)), ("segment", text("4 s"))];
        build("video", &raw).map(|_| ()).unwrap_err().field
    };
    assert_eq!([refused("3 s"), refused("4 s")], ["max_buffer", "upper"]);
}

/// What each listener of a call of this length received, if every packet takes 30 ms.
fn listened(raw: &[(&str, Raw)], seconds: f64) -> Vec<ListenerReport> {
    let at_once = [("start_within", text("0 s"))];
    let mut app = build("voip", &[raw, &at_once].concat()).unwrap().source(0);
    let end = Instant::from_secs_f64(seconds);
    let mut events = vec![(Instant::ZERO, Input::Start)];
    let mut said = [0, 0];
    let mut now = Instant::ZERO;
    while let Some(first) = (0..events.len()).min_by_key(|&i| events[i].0) {
        let (at, input) = events.remove(first);
        if at > end {
            break;
        }
        now = at;
        let mut act = |action| match action {
            Action::WakeAt(at) => events.push((at, Input::Woke)),
            Action::SendDatagram { back, .. } => {
                let number = std::mem::replace(&mut said[usize::from(back)], 0);
                said[usize::from(back)] = number + 1;
                let received = Input::Received { back, number, marked: false };
                events.push((now + Duration::from_millis(30), received));
            }
            other => panic!("{other:?}"),
        };
        app.on(input, &mut AppCx { now, act: &mut act });
    }
    match app.report(now) {
        Some(Report::Call(listeners)) => listeners,
        other => panic!("{other:?}"),
    }
}

#[test]
fn speech_is_played_after_its_packet_its_codec_the_network_and_the_buffer() {
    // 20 ms of speech in a packet, for g729a 5 ms of look-ahead, 30 ms of network, 60 ms of
    // buffer: four times the variation that the adaptive one begins with, of which a packet
    // forgets 0.2 %.
    for (codec, playout, mouth_to_ear) in [
        ("g711", "fixed", 0.110),
        ("g729a", "fixed", 0.115),
        ("g711", "adaptive", 0.050 + 0.998_002 * 0.06),
    ] {
        let raw = [("codec", text(codec)), ("playout", text(playout)), ("talk", text("1000 s"))];
        for listener in listened(&raw, 1.0) {
            let found = listener.mouth_to_ear_s;
            assert!((found - mouth_to_ear).abs() < 1e-9, "{codec}, {playout}: {found}");
        }
    }
}

#[test]
fn the_videos_of_a_call_are_less_than_a_frame_apart() {
    for source in 0..4 {
        let raw = [("start_within", text("0 s"))];
        let mut host = Host::new(build("rtc-video", &raw).unwrap().source(source), 1.0);
        host.run_until(1.5);
        let first = |there| {
            let of = |(_, action): &&(f64, Action)| matches!(action, Action::SendDatagram { back, bytes: 100.., .. } if *back == there);
            host.said.iter().find(of).expect("both send").0
        };
        let apart = first(true) - first(false);
        assert!(apart > 0.0 && apart < 1.0 / 30.0, "{apart}");
    }
}

#[test]
fn the_rates_of_a_video_are_in_order() {
    let built = |least: &str, most: &str| {
        let raw = [("min_rate", text(least)), ("max_rate", text(most))];
        build("rtc-video", &raw).map(|_| ()).map_err(|why| why.field)
    };
    assert_eq!(built("2 Mbit/s", "1 Mbit/s"), Err("min_rate".to_owned()));
    assert_eq!(built("1 Mbit/s", "1 Mbit/s"), Ok(()));
}
