//! A recording: connections of a capture, read from a text of whole numbers.
//!
//! The text is what the command makes of the file described in `docs/learned-models.md`, without
//! what a replay does not need: a line for the recording, then one for each connection.
//!
//! ```text
//! recording <duration_us> <connections>
//! <at_us> <rtt_us or -> <side or -> <opener> <acceptor> <end> epochs <think>,<a>,<delay>,<b> …
//! <at_us> <rtt_us or -> <side or -> <opener> <acceptor> <end> units <gap>,<bytes>,<after> … / …
//! ```
//!
//! With ECN, the end of a connection is followed by the kind of ECN that was negotiated:
//! `fin+classic`, `open+accurate`.

use packet::Duration;

/// A request and its response: `think` passes before `request` bytes, `delay` before `response`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Time for which the opener waits before it writes.
    pub think: Duration,
    /// Payload bytes that the opener writes; 0 if the acceptor writes without a request.
    pub request: u64,
    /// Time for which the acceptor waits before it writes.
    pub delay: Duration,
    /// Payload bytes that the acceptor writes; 0 if the opener goes on without a response.
    pub response: u64,
}

/// A write: data that one side of a connection, whose sides send concurrently, writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Time since this side's previous write (since the handshake for the first).
    pub gap: Duration,
    /// Payload bytes.
    pub bytes: u64,
    /// Number of bytes of the other side that must have arrived before this data is written.
    pub after: u64,
}

/// What both ends of a connection send, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vector {
    /// The ends take turns: a request, then its reply.
    Sequential(Vec<Epoch>),
    /// Both ends send at the same time: the writes of the opener, and those of the acceptor.
    Concurrent([Vec<Unit>; 2]),
}

/// The kind of ECN that the hosts of a connection negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// No ECN, or the handshake was not seen.
    #[default]
    None,
    /// Classic ECN (RFC 3168).
    Classic,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

/// One recorded connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Start of the connection, from the begin of the recording.
    pub at: Duration,
    /// Least round-trip time, if it is known.
    pub round_trip: Option<Duration>,
    /// Side of the link on which the opener was (0 or 1), if it is known.
    pub side: Option<u8>,
    /// Host numbers of opener and acceptor.
    pub hosts: [u32; 2],
    /// Whether the end of the connection was seen.
    pub ends: bool,
    /// The kind of ECN that the hosts negotiated.
    pub ecn: Ecn,
    /// The data that both ends send.
    pub vector: Vector,
}

/// A recording: its connections are in the order of their starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Time from the begin of the recording to its end.
    pub duration: Duration,
    /// The connections.
    pub connections: Vec<Recorded>,
}

impl Recorded {
    /// Payload of each side, bytes: opener, acceptor.
    pub fn bytes(&self) -> [u64; 2] {
        match &self.vector {
            Vector::Sequential(epochs) => {
                [epochs.iter().map(|e| e.request).sum(), epochs.iter().map(|e| e.response).sum()]
            }
            Vector::Concurrent(sides) => {
                [0, 1].map(|side| sides[side].iter().map(|unit| unit.bytes).sum())
            }
        }
    }
}

impl Recording {
    /// Reads a recording from its text.
    ///
    /// # Errors
    /// A sentence that says what is wrong and in which line.
    pub fn parse(text: &str) -> Result<Recording, String> {
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or("it is empty")?;
        let [duration, count] = match first.split(' ').collect::<Vec<_>>()[..] {
            ["recording", duration, count] => [number(duration), number(count)],
            _ => [None, None],
        };
        let (Some(duration), Some(count)) = (duration, count) else {
            return Err("line 1 is not that of a recording".into());
        };
        let mut recording = Recording { duration: micros(duration), connections: Vec::new() };
        for (i, line) in lines {
            let read = connection(line).ok_or_else(|| format!("line {} is damaged", i + 1))?;
            let later = recording.connections.last().is_some_and(|last| last.at > read.at);
            if later || read.at > recording.duration {
                return Err(format!("line {} is out of order", i + 1));
            }
            recording.connections.push(read);
        }
        match recording.connections.len() as u64 {
            0 => Err("it holds no connection".into()),
            there if there != count => Err(format!("{there} of {count} connections are there")),
            _ => Ok(recording),
        }
    }
}

fn number(text: &str) -> Option<u64> {
    // A sign is not part of a number; a thousand years of microseconds are enough.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&value: &u64| plain && value < 1 << 55)
}

fn micros(us: u64) -> Duration {
    Duration::from_nanos(us.saturating_mul(1_000))
}

/// A number, or "-" for none.
fn perhaps(text: &str) -> Option<Option<u64>> {
    if text == "-" { Some(None) } else { number(text).map(Some) }
}

fn row<const N: usize>(text: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = text.split(',').map(number).collect();
    numbers?.try_into().ok()
}

fn connection(line: &str) -> Option<Recorded> {
    let mut words = line.split(' ');
    let at = micros(number(words.next()?)?);
    let round_trip = perhaps(words.next()?)?.map(micros);
    let side = match perhaps(words.next()?)? {
        Some(side) if side > 1 => return None,
        side => side.map(|side| side as u8),
    };
    let mut host = || number(words.next()?).map(|host| host as u32);
    let hosts = [host()?, host()?];
    let end = words.next()?;
    let (end, ecn) = end.split_once('+').map_or((end, None), |(end, ecn)| (end, Some(ecn)));
    let ends = match end {
        "open" => false,
        "fin" | "rst" => true,
        _ => return None,
    };
    let ecn = match ecn {
        None => Ecn::None,
        Some("classic") => Ecn::Classic,
        Some("accurate") => Ecn::Accurate,
        Some(_) => return None,
    };
    let vector = match words.next()? {
        "epochs" => Vector::Sequential(words.map(epoch).collect::<Option<_>>()?),
        "units" => {
            let rest: Vec<&str> = words.collect();
            let slash = rest.iter().position(|word| *word == "/")?;
            let side = |of: &[&str]| of.iter().map(|word| unit(word)).collect::<Option<Vec<_>>>();
            Vector::Concurrent([side(&rest[..slash])?, side(&rest[slash + 1..])?])
        }
        _ => return None,
    };
    let read = Recorded { at, round_trip, side, hosts, ends, ecn, vector };
    (read.bytes() != [0, 0]).then_some(read)
}

fn epoch(text: &str) -> Option<Epoch> {
    let [think, request, delay, response] = row(text)?;
    let epoch = Epoch { think: micros(think), request, delay: micros(delay), response };
    (request > 0 || response > 0).then_some(epoch)
}

fn unit(text: &str) -> Option<Unit> {
    let [gap, bytes, after] = row(text)?;
    (bytes > 0).then_some(Unit { gap: micros(gap), bytes, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "recording 61000000 3\n\
        0 40010 0 1 2 fin epochs 150,412,1300,9250 820000,380,900,1200\n\
        48211 - - 1 3 open units 300,517,0 41000,93,2900 / 42000,2900,517 900,48211,610\n\
        50000 7 1 4 0 rst epochs 0,0,20,90 5,1,0,0";

    #[test]
    fn a_recording_is_read() {
        let read = Recording::parse(TEXT).unwrap();
        assert_eq!(read.duration, micros(61_000_000));
        let [first, second, third] = &read.connections[..] else { panic!("three") };
        assert_eq!((first.at, first.round_trip), (Duration::ZERO, Some(micros(40_010))));
        assert_eq!((first.side, first.hosts, first.ends), (Some(0), [1, 2], true));
        assert_eq!(first.bytes(), [792, 10_450]);
        assert_eq!((second.round_trip, second.side, second.ends), (None, None, false));
        assert_eq!(second.bytes(), [610, 51_111]);
        let Vector::Concurrent([_, acceptor]) = &second.vector else { panic!("units") };
        assert_eq!(acceptor[1], Unit { gap: micros(900), bytes: 48_211, after: 610 });
        assert_eq!((third.side, third.ends, third.bytes()), (Some(1), true, [1, 90]));
    }

    #[test]
    fn what_was_agreed_on_ecn_stands_behind_the_end() {
        let ecn = |end: &str| {
            let text = TEXT.replacen("fin", end, 1);
            Recording::parse(&text).map(|read| (read.connections[0].ends, read.connections[0].ecn))
        };
        assert_eq!(ecn("fin"), Ok((true, Ecn::None)));
        assert_eq!(ecn("fin+classic"), Ok((true, Ecn::Classic)));
        assert_eq!(ecn("open+accurate"), Ok((false, Ecn::Accurate)));
        assert_eq!(ecn("fin+other"), Err("line 2 is damaged".into()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (from, to, why) in [
            (TEXT, "", "it is empty"),
            ("recording 6", "model 6", "line 1 is not that of a recording"),
            ("61000000 3", "61000000 4", "3 of 4 connections are there"),
            ("61000000 3", "40000 3", "line 3 is out of order"),
            ("50000 7", "48210 7", "line 4 is out of order"),
            ("0 40010 0", "0 40010 2", "line 2 is damaged"),
            ("0 40010 0", "+0 40010 0", "line 2 is damaged"),
            ("fin", "end", "line 2 is damaged"),
            (" / ", " ", "line 3 is damaged"),
            ("300,517,0", "300,0,0", "line 3 is damaged"),
            ("0,0,20,90", "0,0,20,0", "line 4 is damaged"),
            ("0,0,20,90 5,1,0,0", "", "line 4 is damaged"),
            ("0,0,20,90", "0,0,20,36028797018963968", "line 4 is damaged"),
        ] {
            assert_eq!(Recording::parse(&TEXT.replacen(from, to, 1)), Err(why.into()), "{to}");
        }
        assert_eq!(Recording::parse("recording 5 0"), Err("it holds no connection".into()));
    }
}
