//! Replays every timed dialogue in `tests/scripts` (see its README for the language).

use crate::lab;
use std::fs;
use std::path::{Path, PathBuf};

use crate::lab::{C, S, World, describe, profile, secs};
use aqmlab_tcp::{HostClock, State};
use packet::params::Raw;
use packet::{Duration, Instant};

/// A script: what to run and what must be seen.
struct Script {
    name: String,
    profile: String,
    /// Of the client and of the server.
    params: [Vec<(String, Raw)>; 2],
    clocks: [HostClock; 2],
    reply: u64,
    request: u64,
    lost: Vec<String>,
    lost_all: Option<usize>,
    marked: Vec<String>,
    late: Vec<(String, Duration)>,
    count_server_data: bool,
    partial: bool,
    packets: Vec<(Instant, String, String)>,
    wants: Vec<Vec<String>>,
}

fn side(word: &str) -> usize {
    match word {
        "client" => C,
        "server" => S,
        other => panic!("{other} is neither client nor server"),
    }
}

fn time(word: &str) -> Instant {
    secs(word.parse().unwrap_or_else(|_| panic!("{word} is not a time")))
}

fn clock(slow: &str, fast: &str) -> HostClock {
    let span = |w: &str| Duration::from_nanos(time(w).nanos());
    HostClock { slow: span(slow), fast: span(fast) }
}

fn raw(word: &str) -> Raw {
    match word {
        "on" => Raw::Bool(true),
        "off" => Raw::Bool(false),
        number if number.parse::<f64>().is_ok() => Raw::Number(number.parse().unwrap()),
        text => Raw::Text(text.into()),
    }
}

impl Script {
    fn read(path: &Path) -> Script {
        let mut script = Script {
            name: path.file_name().unwrap().to_string_lossy().into(),
            profile: String::new(),
            params: [Vec::new(), Vec::new()],
            clocks: [HostClock::default(); 2],
            reply: 0,
            request: 300,
            lost: Vec::new(),
            lost_all: None,
            marked: Vec::new(),
            late: Vec::new(),
            count_server_data: false,
            partial: false,
            packets: Vec::new(),
            wants: Vec::new(),
        };
        let text = fs::read_to_string(path).unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if !words.is_empty() && !line.starts_with('#') {
                script.line(&words);
            }
        }
        script
    }

    fn line(&mut self, words: &[&str]) {
        match words {
            ["profile", name] => self.profile = name.to_string(),
            ["set", name, value] => {
                self.params.iter_mut().for_each(|p| p.push((name.to_string(), raw(value))));
            }
            ["set", who, name, value] => {
                self.params[side(who)].push((name.to_string(), raw(value)));
            }
            ["clock", who, "slow", slow, "fast", fast] => {
                self.clocks[side(who)] = clock(slow, fast);
            }
            ["reply", bytes] => self.reply = bytes.parse().unwrap(),
            ["request", bytes] => self.request = bytes.parse().unwrap(),
            ["lose", "all", who] => self.lost_all = Some(side(who)),
            ["lose", packets @ ..] => self.lost.extend(packets.iter().map(|p| p.to_string())),
            ["mark", packets @ ..] => self.marked.extend(packets.iter().map(|p| p.to_string())),
            ["late", span, packets @ ..] => {
                let span = time(span).since(Instant::ZERO);
                self.late.extend(packets.iter().map(|p| (p.to_string(), span)));
            }
            ["number", "server", "data"] => self.count_server_data = true,
            ["partial"] => self.partial = true,
            ["expect", rest @ ..] => {
                self.wants.push(rest.iter().map(|w| w.to_string()).collect());
            }
            [at, who, what @ ..] => {
                let packet = (time(at), who.to_string(), what.join(" "));
                self.packets.push(packet);
            }
            other => panic!("{}: cannot read {other:?}", self.name),
        }
    }

    /// How the script calls a packet: C#3, or plain S for one that has no number.
    fn call(&self, sent: &lab::Sent) -> String {
        Self::name(sent, self.count_server_data)
    }

    fn name(sent: &lab::Sent, count_server_data: bool) -> String {
        let letter = ["C", "S"][sent.side];
        let data = count_server_data && sent.side == S;
        match if data { sent.data_number } else { sent.number } {
            0 => letter.into(),
            n => format!("{letter}#{n}"),
        }
    }

    fn play(&self) {
        let [client, server] = [C, S].map(|side| {
            let given = self.params[side].iter();
            let params: Vec<_> = given.map(|(n, v)| (n.as_str(), v.clone())).collect();
            profile(&self.profile, &params)
        });
        let mut world = World::pair([&client, &server], self.clocks, self.reply);
        world.request = self.request;
        world.fate = self.fate();
        world.run(secs(2_000.0), &mut |sent| {
            self.lost_all == Some(sent.side) || self.lost.contains(&self.call(sent))
        });
        let log: Vec<_> = (world.sent.iter())
            .map(|sent| (sent.at, self.call(sent), describe(&sent.segment)))
            .collect();
        self.compare(&log);
        for want in &self.wants {
            self.check(want, &world);
        }
    }

    fn fate(&self) -> lab::Fate {
        let (marked, late) = (self.marked.clone(), self.late.clone());
        let count_server_data = self.count_server_data;
        Box::new(move |sent| {
            let name = Self::name(sent, count_server_data);
            let late = late.iter().find(|(packet, _)| *packet == name);
            (marked.contains(&name), late.map_or(Duration::ZERO, |(_, span)| *span))
        })
    }

    fn compare(&self, log: &[(Instant, String, String)]) {
        if self.partial {
            for packet in &self.packets {
                assert!(log.contains(packet), "{}: missing {packet:?}\n{}", self.name, show(log));
            }
            return;
        }
        // The script orders by time; within an instant, by who.
        let mut seen = log.to_vec();
        let mut wanted = self.packets.clone();
        let key = |p: &(Instant, String, String)| (p.0, p.1[..1].to_string());
        seen.sort_by_key(key);
        wanted.sort_by_key(key);
        if seen != wanted {
            panic!("{}: wanted\n{}\nseen\n{}", self.name, show(&wanted), show(&seen));
        }
    }

    fn check(&self, want: &[String], world: &World) {
        let words: Vec<&str> = want.iter().map(String::as_str).collect();
        let told = |what: &dyn std::fmt::Debug| format!("{}: {words:?}, seen {what:?}", self.name);
        match words[..] {
            ["response", at] => {
                assert_eq!(world.replied, Some(time(at)), "{}", told(&world.replied))
            }
            ["time-wait", "ends", at] => {
                assert_eq!(world.server_closed, Some(time(at)), "{}", told(&world.server_closed));
            }
            ["failed", who, at] => {
                let seen = world.failed[side(who)];
                assert_eq!(seen, Some(time(at)), "{}", told(&seen));
            }
            ["bytes", "to", who, bytes] => {
                let from = 1 - side(who);
                let sent = world.sent.iter().filter(|s| s.side == from);
                let sum: u32 = sent.map(|s| s.segment.ip_bytes()).sum();
                assert_eq!(sum, bytes.parse::<u32>().unwrap(), "{}", told(&sum));
            }
            ["finished"] => {
                let states = [C, S].map(|e| world.ends[e].state());
                assert_eq!(states, [State::Closed; 2], "{}", told(&states));
            }
            ["resent", who, ref kinds @ ..] => self.check_resent(side(who), kinds, world),
            ["counted", who, ref kinds @ ..] => self.check_counted(side(who), kinds, world),
            [who, quantity, "at", at, "is", ref values @ ..] => {
                let all = world.probes.iter().filter(|p| p.side == side(who) && p.at == time(at));
                let seen: Vec<f64> = all.map(|p| number(quantity, p)).collect();
                let mut changes = seen.clone();
                changes.dedup();
                let wanted: Vec<f64> = values.iter().map(|v| v.parse().unwrap()).collect();
                let found = changes.windows(wanted.len()).any(|run| run == wanted);
                assert!(found, "{}", told(&seen));
            }
            _ => panic!("{}: cannot read {words:?}", self.name),
        }
    }

    fn check_resent(&self, who: usize, kinds: &[&str], world: &World) {
        let counters = world.ends[who].counters();
        for pair in kinds.chunks(2) {
            let seen = match pair[0] {
                "syn" => u32::from(counters.resent_syn),
                "fin" => u32::from(counters.resent_fin),
                "data" => counters.resent_data,
                other => panic!("{}: no class {other}", self.name),
            };
            assert_eq!(seen, pair[1].parse::<u32>().unwrap(), "{}: {kinds:?}", self.name);
        }
    }
}

impl Script {
    fn check_counted(&self, who: usize, kinds: &[&str], world: &World) {
        let counters = world.ends[who].counters();
        for pair in kinds.chunks(2) {
            let seen = match pair[0] {
                "timeouts" => counters.timeouts,
                "needless" => counters.spurious_timeouts,
                "fast" => counters.fast_retransmits,
                "ecn" => counters.ecn_reductions,
                other => panic!("{}: nothing called {other} is counted", self.name),
            };
            assert_eq!(seen, pair[1].parse::<u32>().unwrap(), "{}: {kinds:?}", self.name);
        }
    }
}

fn number(quantity: &str, probe: &lab::Probe) -> f64 {
    match quantity {
        "cwnd" => probe.cwnd as f64,
        "ssthresh" => probe.ssthresh as f64,
        "rto" => probe.rto.secs_f64(),
        other => panic!("no quantity {other}"),
    }
}

fn show(log: &[(Instant, String, String)]) -> String {
    let line = |(at, who, what): &(Instant, String, String)| {
        format!("{:.3} {who} {what}\n", at.secs_f64())
    };
    log.iter().map(line).collect()
}

#[test]
fn every_script_plays_as_written() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "tcp"));
    paths.sort();
    assert!(paths.len() >= 65, "only {} scripts", paths.len());
    let mut wrong = Vec::new();
    for path in &paths {
        if let Err(why) = std::panic::catch_unwind(|| Script::read(path).play()) {
            let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
            wrong.push(format!("{}\n{why}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} scripts fail:\n{}", wrong.len(), wrong.join("\n"));
}
