//! Recorded line conditions in CSV files: a column of times, and columns of the rate, the delay and
//! the loss at these times, in the units that the header names.

use crate::effect::timed::Timed;

/// The error for a table that names a file whose content was not read.
pub(super) const NO_TEXT: &str = "has no text, the content of the file; start the run with the aqmlab command \
     or aqmlab.run, which read it";

/// A path in a scenario with the file that it names, for error messages.
pub(super) fn place(at: &str, file: Option<&str>) -> String {
    file.map_or_else(|| at.to_owned(), |file| format!("{at} ({file})"))
}

/// Largest number of rows.
const MOST_ROWS: usize = 1_000_000;

/// The known kinds of columns, with the words by which headers call them.
const COLUMNS: [(&str, &[&str]); 5] = [
    ("time", &["time", "timestamp", "t", "ts", "elapsed", "date"]),
    (
        "rate",
        &[
            "rate",
            "throughput",
            "bandwidth",
            "bw",
            "capacity",
            "download",
            "downlink",
            "upload",
            "uplink",
            "goodput",
        ],
    ),
    ("delay", &["delay", "latency", "owd"]),
    ("rtt", &["rtt", "ping"]),
    ("loss", &["loss", "plr", "lost"]),
];

/// Units of times, rates and shares: the word of a header, in lower case except for the B of bytes,
/// and its factor to s, bit/s or 1.
const TIMES: &[(&str, f64)] = &[
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
    ("min", 60.0),
];
const RATES: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("bit/s", 1.0),
    ("bits/s", 1.0),
    ("b/s", 1.0),
    ("kbps", 1e3),
    ("kbit/s", 1e3),
    ("kb/s", 1e3),
    ("mbps", 1e6),
    ("mbit/s", 1e6),
    ("mb/s", 1e6),
    ("mbits", 1e6),
    ("gbps", 1e9),
    ("gbit/s", 1e9),
    ("gb/s", 1e9),
    ("Bps", 8.0),
    ("B/s", 8.0),
    ("bytes/s", 8.0),
    ("kBps", 8e3),
    ("kB/s", 8e3),
    ("MBps", 8e6),
    ("MB/s", 8e6),
];
const SHARES: &[(&str, f64)] = &[
    ("%", 0.01),
    ("pct", 0.01),
    ("percent", 0.01),
    ("share", 1.0),
    ("rate", 1.0),
    ("ratio", 1.0),
    ("frac", 1.0),
];

/// A recording of a line's rate, delay and loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Time from which each row is valid, ns after the first row.
    pub times: Vec<u64>,
    /// Rate in each row, bit/s, if there is such a column.
    pub rate: Option<Vec<f64>>,
    /// One-way delay in each row, s, if there is such a column.
    pub delay: Option<Vec<f64>>,
    /// Share of packets that is lost in each row, if there is such a column.
    pub loss: Option<Vec<f64>>,
    /// Time after which the recording repeats, ns: the last row lasts as long as the one before it.
    pub period: u64,
}

/// Whether a file is a table of times and values, and not a list of milliseconds.
pub(super) fn is_recording(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.next().is_some_and(|line| line.contains([',', ';', '\t', ' ']))
}

/// A column that is used: its index, what it holds, and the factor to our unit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    place: usize,
    what: &'static str,
    factor: f64,
}

impl Recording {
    /// Reads a recording. Without a header the first column is the time in s and the second the
    /// rate in Mbit/s, as in Pensieve's traces. A row is valid from its time to that of the next.
    ///
    /// # Errors
    /// A sentence: what is wrong and where.
    pub fn parse(text: &str) -> Result<Recording, String> {
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let mut lines =
            lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
        let Some(&(_, first)) = lines.peek() else {
            return Err("the file has no rows; give a time and a value in each".into());
        };
        let separator =
            [',', ';', '\t', ' '].into_iter().find(|c| first.contains(*c)).unwrap_or(',');
        let cells = |line: &str| -> Vec<String> {
            let parts = line.split(separator).map(|cell| cell.trim().trim_matches('"').to_owned());
            parts.filter(|cell| separator != ' ' || !cell.is_empty()).collect()
        };
        let heads = cells(first);
        let columns = if heads[0].parse::<f64>().is_ok() {
            let of = |place, what, factor| Column { place, what, factor };
            vec![of(0, "time", 1.0), of(1, "rate", 1e6)]
        } else {
            lines.next();
            read_header(&heads)?
        };
        let mut rows = Vec::new();
        for (number, line) in lines {
            if rows.len() == MOST_ROWS {
                return Err(format!("the file has more than {MOST_ROWS} rows; shorten it"));
            }
            rows.push(read_row(number, &cells(line), &columns)?);
        }
        Recording::of_rows(&columns, &rows)
    }

    fn of_rows(columns: &[Column], rows: &[(usize, Vec<f64>)]) -> Result<Recording, String> {
        let Some(first) = rows.first() else {
            return Err("the file has a header and no rows; give a time and a value in each".into());
        };
        let mut times: Vec<u64> = Vec::with_capacity(rows.len());
        for (number, values) in rows {
            let at = ((values[0] - first.1[0]) * 1e9 + 0.5) as u64;
            if times.last().is_some_and(|before| at <= *before) || values[0] < first.1[0] {
                return Err(format!(
                    "line {number}: its time does not come after the one before; sort the rows by time"
                ));
            }
            if values[0] - first.1[0] > 1e6 {
                return Err(format!(
                    "line {number}: more than 10^6 s after the first row; shorten it"
                ));
            }
            times.push(at);
        }
        let series = |what: &str| -> Option<Vec<f64>> {
            let place = columns.iter().position(|column| column.what == what)?;
            Some(rows.iter().map(|(_, values)| values[place]).collect())
        };
        let last = times.len() - 1;
        let lasts = if last > 0 { times[last] - times[last - 1] } else { 1_000_000_000 };
        let delay = series("delay");
        let half = |rtt: Vec<f64>| rtt.into_iter().map(|rtt| rtt / 2.0).collect();
        Ok(Recording {
            period: times[last] + lasts,
            rate: series("rate"),
            delay: delay.or_else(|| series("rtt").map(half)),
            loss: series("loss"),
            times,
        })
    }

    /// A column of the recording as steps, which repeat at its end.
    ///
    /// # Errors
    /// A sentence, if the recording has no such column.
    pub fn column(&self, name: &str) -> Result<Timed, String> {
        let of = match name {
            "rate" => &self.rate,
            "delay" => &self.delay,
            _ => &self.loss,
        };
        let values = of.as_ref().ok_or_else(|| {
            format!(
                "the file has no column {name}; give one whose header is for example {}",
                example(name)
            )
        })?;
        let rows: Vec<(u64, f64)> =
            self.times.iter().copied().zip(values.iter().copied()).collect();
        Timed::new(&rows, Some(self.period))
    }
}

fn example(name: &str) -> &'static str {
    match name {
        "rate" => "rate_mbps",
        "loss" => "loss_percent",
        _ => "delay_ms",
    }
}

/// The columns of a header that are known, the time first.
fn read_header(heads: &[String]) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for (place, head) in heads.iter().enumerate() {
        let Some(column) = read_head(place, head)? else { continue };
        match columns.iter().find(|known| known.what == column.what) {
            // Two columns may be rates, such as of a download and of an upload: it is not known
            // which of them is meant.
            Some(known) if column.what == "rate" => {
                let other = &heads[known.place];
                return Err(format!("two columns are rates, {other:?} and {head:?}; keep one"));
            }
            Some(_) => {}
            None => columns.push(column),
        }
    }
    let Some(time) = columns.iter().position(|column| column.what == "time") else {
        return Err(format!(
            "no column of the header is a time ({}); call one time_s",
            heads.join(", ")
        ));
    };
    columns.swap(0, time);
    if columns.len() == 1 {
        return Err(format!(
            "no column of the header is a rate, a delay or a loss ({}); call them for example rate_mbps, delay_ms, loss_percent",
            heads.join(", ")
        ));
    }
    Ok(columns)
}

/// Parses the header of a column, such as `rate_mbps`, `Throughput (Mbit/s)` or `delay [ms]`;
/// `None` if it is of no known kind.
fn read_head(place: usize, head: &str) -> Result<Option<Column>, String> {
    let parts =
        head.split(['_', ' ', '(', ')', '[', ']', '-', '.']).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.collect();
    let names = |word: &str| {
        let word = word.to_lowercase();
        COLUMNS.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(what, _)| *what)
    };
    let Some(what) = parts.iter().find_map(|part| names(part)) else { return Ok(None) };
    let units = match what {
        "rate" => RATES,
        "loss" => SHARES,
        _ => TIMES,
    };
    let bytes = |part: &str| part.contains('B') && !part.contains("bit") && !part.contains("Byte");
    let found = parts.iter().skip(1).rev().find_map(|part| {
        let lower = part.to_lowercase();
        let exact = units.iter().find(|(unit, _)| unit == part);
        let any = || units.iter().find(|(unit, _)| *unit == lower && !bytes(part));
        exact.or_else(any).map(|(_, factor)| *factor)
    });
    let factor = match (found, what) {
        (Some(factor), _) => factor,
        (None, "time" | "loss") => 1.0,
        (None, _) => {
            let say = example(what);
            if let Some(unit) = parts.iter().find(|part| what == "rate" && bytes(part)) {
                return Err(format!(
                    "column \"{head}\": {unit} may be bits or bytes; call it for example rate_kbps or rate_kBps"
                ));
            }
            return Err(format!("column \"{head}\" names no unit; call it for example {say}"));
        }
    };
    Ok(Some(Column { place, what, factor }))
}

fn read_row(
    number: usize,
    cells: &[String],
    columns: &[Column],
) -> Result<(usize, Vec<f64>), String> {
    let value = |column: &Column| -> Result<f64, String> {
        let cell = cells.get(column.place).map_or("", String::as_str);
        let bad = || {
            let shown: String = cell.chars().take(20).collect();
            format!(
                "line {number}: {shown:?} in the column of the {} is not a number from 0 on",
                column.what
            )
        };
        let value = cell.trim_end_matches('%').parse::<f64>().map_err(|_| bad())? * column.factor;
        let most = match column.what {
            "loss" => 1.0,
            "rate" => 1e15,
            "time" => 1e12,
            _ => 1e6,
        };
        if !(0.0..=most).contains(&value) {
            return Err(format!(
                "line {number}: {cell} in the column of the {} is not between 0 and {most}",
                column.what
            ));
        }
        Ok(value)
    };
    Ok((number, columns.iter().map(value).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_names_and_units() {
        let text = "# a comment\nid,Time (ms),Throughput [kbps],rtt_ms,loss_pct\nx,1000,8000,60,1\ny,1500,4000,80,0\n";
        let read = Recording::parse(text).unwrap();
        assert_eq!(read.times, [0, 500_000_000]);
        assert_eq!(read.rate, Some(vec![8e6, 4e6]));
        assert_eq!(read.delay, Some(vec![0.03, 0.04]));
        assert_eq!(read.loss, Some(vec![0.01, 0.0]));
        assert_eq!(read.period, 1_000_000_000);
    }

    #[test]
    fn bytes_and_bits_differ() {
        let rate = |head: &str| Recording::parse(&format!("time_s,{head}\n0,1\n")).unwrap().rate;
        assert_eq!(rate("rate_MBps"), Some(vec![8e6]));
        assert_eq!(rate("rate_Mbps"), Some(vec![1e6]));
        assert_eq!(rate("bandwidth (Mbit/s)"), Some(vec![1e6]));
        assert_eq!(rate("rate (kB/s)"), Some(vec![8e3]));
    }

    #[test]
    fn without_a_header_it_is_pensieves() {
        let read = Recording::parse("0.5 1.25\n1.5\t2\n".replace('\t', " ").as_str()).unwrap();
        assert_eq!((read.times, read.rate), (vec![0, 1_000_000_000], Some(vec![1.25e6, 2e6])));
    }

    #[test]
    fn what_is_wrong_is_one_sentence() {
        for (text, why) in [
            ("", "no rows"),
            ("time_s,rate_mbps\n", "no rows"),
            ("time_s,rate\n0,1\n", "names no unit"),
            ("TIME_S,DL_RATE_KBPS\n0,1\n", "KBPS may be bits or bytes"),
            ("time_s,download_mbps,upload_mbps\n0,1,1\n", "two columns are rates"),
            ("time_s,foo\n0,1\n", "no column of the header is a rate"),
            ("rate_mbps,foo\n0,1\n", "is a time"),
            ("time_s,rate_mbps\n0,1\n0,2\n", "line 3"),
            ("time_s,rate_mbps\n0,x\n", "line 2"),
            ("time_s,loss_pct\n0,101\n", "not between 0 and 1"),
        ] {
            let sentence = Recording::parse(text).unwrap_err();
            assert!(sentence.contains(why), "{text:?}: {sentence}");
        }
    }
}
