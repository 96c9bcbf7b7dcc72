//! One end of a connection, driven by lines of text: `cargo run --release -p aqmlab-tcp --example drill`.
//!
//! Each line of the standard input is a call, `NAME NANOSECONDS [ARGUMENT ...]`; what the end sends because of it,
//! or because of a timer before it, comes as lines that begin with `sends`, and the answer ends with a line `done`.
//! Times never fall. Calls:
//!
//! - `end 0 PROFILE [NAME=TEXT ...]`: a fresh end.
//! - `connect T`, `write T BYTES`, `close T`, `until T` (timers alone, up to the first that sends), `window T BYTES` (the peer offers it).
//! - `segment T SEQ LEN FLAGS ACK ECN STAMP ECHO SACK ACCECN WINDOW`: one arrives and offers WINDOW bytes. FLAGS are of `SFAECW` and `T` (has a
//!   timestamp), ECN is `-`, `0`, `1` or `c`; SACK is `-` or `FROM:TO,...` (`+` alone announces it on a SYN), a duplicate
//!   first with `d`; ACCECN is `-` or `0` or `1` (the order) and counters, `1:1001,0,1`.
//! - `info T`: a line `info` with what `TCP_INFO` shows.

use std::io::{BufRead, Write};
use std::sync::Arc;

use aqmlab_tcp::{AccEcn, Endpoint, Flags, HostClock, Segment};
use packet::params::{Params, Raw};
use packet::{Duration, Ecn, Instant};

const FLAGS: [(char, Flags); 7] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('A', Flags::ACK),
    ('E', Flags::ECE),
    ('C', Flags::CWR),
    ('W', Flags::AE),
    ('T', Flags::STAMPED),
];
const CODEPOINTS: [(char, Ecn); 4] =
    [('-', Ecn::NotEct), ('0', Ecn::Ect0), ('1', Ecn::Ect1), ('c', Ecn::Ce)];

type Refused = String;

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Refused> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

/// The end that was made last.
#[derive(Default)]
struct Drill {
    end: Option<Endpoint>,
    sent: Vec<(Instant, Segment)>,
}

impl Drill {
    fn end(&mut self) -> Result<&mut Endpoint, Refused> {
        self.end.as_mut().ok_or_else(|| "no end yet: send `end 0 PROFILE` first".to_string())
    }

    fn make(&mut self, words: &[&str]) -> Result<(), Refused> {
        let name = words.first().ok_or("end 0 PROFILE")?;
        let entry = aqmlab_tcp::find(name).ok_or_else(|| format!("no profile {name:?}"))?;
        let setting = |word: &&str| {
            let (name, text) = word.split_once('=').unwrap_or((word, ""));
            let raw = match text {
                "true" | "false" => Raw::Bool(text == "true"),
                _ => text.parse().map_or_else(|_| Raw::Text(text.to_string()), Raw::Number),
            };
            (name.to_string(), raw)
        };
        let settings: Vec<_> = words[1..].iter().map(setting).collect();
        let params = Params::check(entry.about.fields, &settings).map_err(|bad| bad.to_string())?;
        let profile = Arc::new(
            (entry.build)(&params, &aqmlab_tcp::Controls::ours()).map_err(|bad| bad.to_string())?,
        );
        let clock =
            HostClock { slow: Duration::from_millis(500), fast: Duration::from_millis(200) };
        (self.end, self.sent) = (Some(Endpoint::new(&profile, clock)), Vec::new());
        Ok(())
    }

    fn poll(&mut self, now: Instant) -> Result<(), Refused> {
        while let Some(segment) = self.end()?.poll_send(now) {
            self.sent.push((now, segment));
        }
        Ok(())
    }

    /// Serves the timers up to `until`, and at it; ends with the first that sends something if it `waits`.
    fn advance(&mut self, until: Instant, waits: bool) -> Result<(), Refused> {
        while let Some(deadline) = self.end()?.next_timeout().filter(|due| due.at <= until) {
            self.end()?.on_timeout(deadline.at);
            self.poll(deadline.at)?;
            if waits && !self.sent.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn call(&mut self, words: &[&str], out: &mut impl Write) -> Result<(), Refused> {
        let [name, at, rest @ ..] = words else { return Err("NAME NANOSECONDS".into()) };
        let now = Instant::from_nanos(number(at)?);
        if *name == "end" {
            return self.make(rest);
        }
        // What arrives comes before the timers of its instant.
        let before = Instant::from_nanos(now.nanos().saturating_sub(1));
        if *name == "until" {
            return self.advance(now, true);
        }
        self.advance(before, false)?;
        let first = rest.first().copied().unwrap_or("");
        match *name {
            "connect" => self.end()?.connect(now),
            "write" => self.end()?.write(number(first)?, now),
            "close" => self.end()?.close(now),
            "window" => self.end()?.on_window(number(first)?, now),
            "segment" => {
                let segment = read_segment(rest)?;
                let window = rest.last().ok_or("WINDOW")?;
                self.end()?.on_window(number(window)?, now);
                self.end()?.on_segment(&segment, now);
            }
            "info" => {
                let info = self.end()?.tcp_info().ok_or("of QUIC there is none")?;
                let state = self.end()?.state();
                writeln!(out, "info {info:?} state {state:?}")
                    .map_err(|error| error.to_string())?;
            }
            other => return Err(format!("no call {other:?}")),
        }
        self.poll(now)
    }
}

fn read_segment(words: &[&str]) -> Result<Segment, Refused> {
    let [seq, len, flags, ack, ecn, stamp, echo, sack, accecn, _window] = words else {
        return Err("SEQ LEN FLAGS ACK ECN STAMP ECHO SACK ACCECN WINDOW".into());
    };
    let mut segment = Segment {
        seq: number(seq)?,
        ack: number(ack)?,
        len: number(len)?,
        stamp: number(stamp)?,
        echo: number(echo)?,
        ..Segment::default()
    };
    for (letter, flag) in FLAGS {
        if flags.contains(letter) {
            segment.flags = segment.flags.with(flag);
        }
    }
    segment.ecn = CODEPOINTS
        .iter()
        .find(|(letter, _)| ecn.starts_with(*letter))
        .map_or(Ecn::NotEct, |found| found.1);
    match *sack {
        "-" => {}
        "+" => segment.sack.push(0, 0),
        blocks => read_blocks(&mut segment, blocks)?,
    }
    if let Some((order, counters)) = accecn.split_once(':') {
        let counters: Vec<u32> = counters.split(',').map(number).collect::<Result<_, _>>()?;
        let mut all = [0; 3];
        all[..counters.len()].copy_from_slice(&counters);
        let fields = counters.len() as u8;
        segment.report_bytes(AccEcn { ect1_first: order == "1", fields, counters: all });
    }
    Ok(segment)
}

fn read_blocks(segment: &mut Segment, blocks: &str) -> Result<(), Refused> {
    for block in blocks.split(',') {
        let twice = block.strip_prefix('d');
        let (from, to) = twice.unwrap_or(block).split_once(':').ok_or("FROM:TO")?;
        let (from, to): (u64, u64) = (number(from)?, number(to)?);
        if twice.is_some() {
            segment.report_duplicate(from, to);
        } else {
            segment.sack.push((from - segment.ack) as u32, (to - segment.ack) as u32);
        }
    }
    Ok(())
}

fn write_segment(out: &mut impl Write, at: Instant, segment: &Segment) -> std::io::Result<()> {
    let flags: String = FLAGS
        .iter()
        .filter(|(_, flag)| segment.flags.has(*flag))
        .map(|(letter, _)| *letter)
        .collect();
    let ecn = CODEPOINTS.iter().find(|(_, ecn)| *ecn == segment.ecn).map_or('-', |found| found.0);
    let blocks: Vec<String> =
        segment.sack_numbers().map(|(from, to)| format!("{from}:{to}")).collect();
    let accecn = segment.accecn().map_or("-".to_string(), |option| {
        let counters: Vec<_> =
            option.counters[..usize::from(option.fields)].iter().map(u32::to_string).collect();
        format!("{}:{}", u8::from(option.ect1_first), counters.join(","))
    });
    let push = if segment.pushes() { "P" } else { "" };
    let blocks = if blocks.is_empty() { "-".to_string() } else { blocks.join(",") };
    writeln!(
        out,
        "sends {} {} {} {flags}{push}. {} {ecn} {} {} {blocks} {accecn}",
        at.nanos(),
        segment.seq,
        segment.len,
        segment.ack,
        segment.stamp,
        segment.echo,
    )
}

fn main() -> std::io::Result<()> {
    let mut drill = Drill::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let refused = drill.call(&words, &mut out).err();
        for (at, segment) in std::mem::take(&mut drill.sent) {
            write_segment(&mut out, at, &segment)?;
        }
        match refused {
            None => writeln!(out, "done")?,
            Some(why) => writeln!(out, "refused {why}\ndone")?,
        }
        out.flush()?;
    }
    Ok(())
}
