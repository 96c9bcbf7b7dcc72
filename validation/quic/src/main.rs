//! Transfers of quinn-proto or of aqmlab's QUIC over a line in virtual time.
//!
//! Usage: quic WORD=VALUE...; every word has a default ([`Words`]). Prints what each server sent (`trace=true`), then
//! one line of figures. Words that begin with `queue.` are fields of the queue, with `tcp.` fields of aqmlab's QUIC.

mod control;
mod end;
mod frames;
mod line;
mod null;
mod ours;
mod play;
mod quinn;

use std::collections::HashSet;
use std::time::Instant;

use packet::Rng;
use packet::params::Raw;

use end::End;
use line::Line;
use null::Lengths;
use ours::Ours;
use play::{Counts, Pair, Play, Script};
use quinn::{Quinn, Settings, Which};

/// The arguments of the command: names with their values.
struct Words(Vec<(String, String)>);

impl Words {
    fn text<'a>(&'a self, name: &str, otherwise: &'a str) -> &'a str {
        self.0.iter().find(|(word, _)| word == name).map_or(otherwise, |(_, value)| value)
    }

    fn number(&self, name: &str, otherwise: u64) -> Result<u64, String> {
        let text = self.text(name, "");
        if text.is_empty() {
            return Ok(otherwise);
        }
        text.parse().map_err(|_| format!("{name}={text}: not a whole number"))
    }

    fn numbers(&self, name: &str) -> Result<HashSet<u64>, String> {
        let parts = self.text(name, "").split(',').filter(|part| !part.is_empty());
        parts.map(|part| part.parse().map_err(|_| format!("{name}: {part} is no number"))).collect()
    }

    /// The arguments whose names begin with `before`, as fields without this prefix.
    fn fields(&self, before: &str) -> Vec<(String, Raw)> {
        let named = self.0.iter().filter_map(|(word, value)| {
            let name = word.strip_prefix(before)?;
            Some((name.to_string(), raw(value)))
        });
        named.collect()
    }
}

fn raw(text: &str) -> Raw {
    match text {
        "true" => Raw::Bool(true),
        "false" => Raw::Bool(false),
        _ => text.parse().map_or_else(|_| Raw::Text(text.to_string()), Raw::Number),
    }
}

const MS: u64 = 1_000_000;

/// The two ends of each connection. Connections begin at instants drawn uniformly within `within`
/// ns.
fn pairs(words: &Words, seed: u64) -> Result<Vec<Pair>, String> {
    let reply = words.number("reply", 480_000)?;
    let flight = words.number("server_flight", 3_000)? as usize;
    let shipped = words.text("shipped", "false") == "true";
    let settings = Settings {
        control: match words.text("control", "rfc9002") {
            "rfc9002" => Which::AppendixB,
            "reno" => Which::Reno,
            "cubic" => Which::Cubic,
            other => return Err(format!("control={other}: rfc9002, reno or cubic")),
        },
        lengths: Lengths {
            client_hello: words.number("client_hello", 300)? as usize,
            server_hello: 90,
            server_rest: flight - 90,
            finished: 36,
        },
        ecn: words.text("ecn", "false") == "true",
        shipped,
    };
    let profile = ours::profile(&words.fields("tcp."))?;
    let ours = words.text("stack", "quinn") == "aqmlab";
    let within = words.number("within", 0)?;
    // Round-trip times are spread evenly over the given range, as those of aqmlab's clients in
    // these comparisons.
    let flows = words.number("flows", 1)?;
    let low = words.number("delay", 20 * MS)?;
    let high = words.number("delay_to", low)?;
    let mut rng = Rng::named(seed, "starts");
    let zero = Instant::now();
    let pair = |at: u64| {
        let end = |client: bool| -> Box<dyn End> {
            if ours {
                Box::new(Ours::new(&profile, client, reply))
            } else {
                let seed = (seed * 251 + 2 * at + u64::from(client)) as u8;
                Box::new(Quinn::new(&settings, client, reply, zero, seed))
            }
        };
        let start = (rng.uniform() * within as f64) as u64;
        let delay = low + (high - low) * (2 * at + 1) / (2 * flows);
        let (done, before, counts) = (None, 0, Counts::default());
        Pair { client: end(true), server: end(false), start, delay, done, before, counts }
    };
    Ok((0..flows).map(pair).collect())
}

/// Simulates the connections under one seed, or under the seeds 1 to `seeds`.
fn all(words: &Words) -> Result<(), String> {
    let many = words.number("seeds", 0)?;
    if many == 0 {
        return play(words, words.number("seed", 1)?);
    }
    (1..=many).try_for_each(|seed| play(words, seed))
}

fn play(words: &Words, seed: u64) -> Result<(), String> {
    let queue = words.text("queue", "droptail");
    let mut fields = words.fields("queue.");
    if queue == "droptail" && fields.is_empty() {
        fields.push(("limit".to_string(), Raw::Number(100_000.0)));
    }
    let rate = words.number("rate", 10_000_000)?;
    let forward = Line::new(rate, queue, &fields, seed)?;
    let wide = [("limit".to_string(), Raw::Number(100_000.0))];
    let back = words.number("reverse", 1_000_000_000)?;
    let back = Line::new(back, "droptail", &wide, seed)?;
    let script = Script {
        drop: words.numbers("drop")?,
        lost: words.number("lost", 0)?,
        mark: words.numbers("mark")?,
        drop_ack: words.numbers("drop_ack")?,
        drop_server: words.numbers("drop_server")?,
        drop_client: words.numbers("drop_client")?,
    };
    let mut play =
        Play::new(pairs(words, seed)?, forward, back, script, Rng::named(seed, "losses"));
    play.trace = (words.text("trace", "false") == "true").then(Vec::new);
    let (warmup, until) = (words.number("warmup", 0)?, words.number("until", 100_000 * MS)?);
    if warmup > 0 {
        play.run(0, warmup);
        for pair in &mut play.pairs {
            pair.before = pair.client.seen().arrived;
        }
    }
    let before = play.forward.counts(warmup);
    let end = play.run(warmup, until);
    report(&mut play, before, warmup, end);
    Ok(())
}

fn report(play: &mut Play, before: line::Counts, warmup: u64, end: u64) {
    for sent in play.trace.iter().flatten() {
        let (again, ping) = (u8::from(sent.again), u8::from(sent.ping));
        let play::Sent { at, flow, bytes, data, cwnd, .. } = sent;
        println!("sent {at} {flow} {bytes} {data} {again} {ping} {cwnd}");
    }
    for (flow, pair) in play.pairs.iter().enumerate() {
        let Counts { data, again, again_bytes, pings, .. } = pair.counts;
        let arrived = pair.client.seen().arrived - pair.before;
        let took = pair.done.map_or(0, |done| done - pair.start);
        println!("flow {flow} {took} {arrived} {data} {again} {again_bytes} {pings}");
    }
    let now = play.forward.counts(end);
    let arrived = now.arrived - before.arrived;
    let (dropped, marked) = (now.dropped - before.dropped, now.marked - before.marked);
    let queued = (now.packet_ns - before.packet_ns) as f64 / (end - warmup).max(1) as f64;
    println!("line {end} {arrived} {dropped} {marked} {queued}");
}

fn main() {
    let words = std::env::args().skip(1).map(|word| {
        let (name, value) = word.split_once('=').unwrap_or((&word, ""));
        (name.to_string(), value.to_string())
    });
    if let Err(why) = all(&Words(words.collect())) {
        eprintln!("{why}");
        std::process::exit(2);
    }
}
