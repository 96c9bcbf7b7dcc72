//! Quantities written by people: `"10 Mbit/s"`, `"20 ms"`, `"120 packets"`, `"1/512"`.

use alloc::{format, string::String, vec::Vec};

use crate::params::near;
use crate::{Duration, Rate};

/// The kinds of quantities that are written with units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number without a unit.
    None,
    /// A number of packets.
    Packets,
    /// A number of bytes.
    Bytes,
    /// A time; the base unit is the second.
    Time,
    /// A rate; the base unit is the bit per second.
    Rate,
    /// A number of users, flows, machines or the like.
    Count,
}

impl Unit {
    /// Name of the unit in descriptions of parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Packets => "packets",
            Unit::Bytes => "bytes",
            Unit::Time => "time",
            Unit::Rate => "rate",
            Unit::Count => "count",
        }
    }

    /// Suffix of a number in base units: only times and rates need one.
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Time => " s",
            Unit::Rate => " bit/s",
            _ => "",
        }
    }

    /// The largest magnitude that a quantity of this kind may have, in base units, however it is
    /// written; the range of a parameter may be narrower. Times: 10^9 s (31.7 years), an eighteenth
    /// of what the 64-bit clock of nanoseconds holds. Rates: 10^15 bit/s, at which a byte takes 8
    /// millionths of a nanosecond. Counts: whole numbers that a 64-bit float holds exactly.
    pub const fn most(self) -> f64 {
        match self {
            Unit::None => f64::MAX,
            Unit::Packets | Unit::Bytes | Unit::Count => (1_u64 << 53) as f64,
            Unit::Time => 1e9,
            Unit::Rate => 1e15,
        }
    }

    /// The smallest magnitude above zero that is accepted. For times it is the clock's resolution,
    /// 1 ns; for the others it is far enough from zero that a share or a product of two values does
    /// not underflow.
    pub const fn least(self) -> f64 {
        match self {
            Unit::Time => 1e-9,
            _ => 1e-100,
        }
    }

    /// Whether a quantity of this kind may be a bare number; times and rates need their unit.
    pub const fn may_be_bare(self) -> bool {
        matches!(self, Unit::None | Unit::Packets | Unit::Bytes | Unit::Count)
    }

    /// The units in which a quantity of this kind may be written; an empty name stands for a bare
    /// number.
    pub fn written(self) -> impl Iterator<Item = &'static str> {
        let fits = move |kind| kind == self || (kind == Unit::None && self.may_be_bare());
        UNITS.iter().filter(move |(_, kind, _)| fits(*kind)).map(|(name, ..)| *name)
    }

    /// The unit of this name, see [`Unit::name`].
    pub fn named(name: &str) -> Option<Unit> {
        use Unit::{Bytes, Count, None, Packets, Rate, Time};
        [None, Packets, Bytes, Time, Rate, Count].into_iter().find(|unit| unit.name() == name)
    }

    /// An example of how a quantity of this kind is written.
    pub const fn example(self) -> &'static str {
        match self {
            Unit::None => "0.1 or \"1/512\"",
            Unit::Packets => "120 or \"120 packets\"",
            Unit::Bytes => "60000 or \"60 kB\"",
            Unit::Time => "\"20 ms\"",
            Unit::Rate => "\"10 Mbit/s\"",
            Unit::Count => "100",
        }
    }
}

/// Written units: the kind of each, and the factor to the base unit (s, bit/s, B, packets).
const UNITS: &[(&str, Unit, f64)] = &[
    ("", Unit::None, 1.0),
    ("%", Unit::None, 0.01),
    ("ns", Unit::Time, 1e-9),
    ("us", Unit::Time, 1e-6),
    ("µs", Unit::Time, 1e-6),
    ("ms", Unit::Time, 1e-3),
    ("s", Unit::Time, 1.0),
    ("sec", Unit::Time, 1.0),
    ("second", Unit::Time, 1.0),
    ("seconds", Unit::Time, 1.0),
    ("min", Unit::Time, 60.0),
    ("minute", Unit::Time, 60.0),
    ("minutes", Unit::Time, 60.0),
    ("h", Unit::Time, 3600.0),
    ("hour", Unit::Time, 3600.0),
    ("hours", Unit::Time, 3600.0),
    ("bit/s", Unit::Rate, 1.0),
    ("b/s", Unit::Rate, 1.0),
    ("bps", Unit::Rate, 1.0),
    ("kbit/s", Unit::Rate, 1e3),
    ("kb/s", Unit::Rate, 1e3),
    ("kbps", Unit::Rate, 1e3),
    ("Mbit/s", Unit::Rate, 1e6),
    ("Mb/s", Unit::Rate, 1e6),
    ("Mbps", Unit::Rate, 1e6),
    ("Gbit/s", Unit::Rate, 1e9),
    ("Gb/s", Unit::Rate, 1e9),
    ("Gbps", Unit::Rate, 1e9),
    ("B", Unit::Bytes, 1.0),
    ("byte", Unit::Bytes, 1.0),
    ("bytes", Unit::Bytes, 1.0),
    ("kB", Unit::Bytes, 1e3),
    ("KiB", Unit::Bytes, 1024.0),
    ("MB", Unit::Bytes, 1e6),
    ("MiB", Unit::Bytes, 1_048_576.0),
    ("packet", Unit::Packets, 1.0),
    ("packets", Unit::Packets, 1.0),
    ("p", Unit::Packets, 1.0),
];

/// The kind of a written unit and its factor to the base unit.
fn factor(unit: &str, expected: Unit) -> Result<(Unit, f64), String> {
    if let Some((_, kind, scale)) = UNITS.iter().find(|(name, ..)| *name == unit) {
        return Ok((*kind, *scale));
    }
    let fitting = UNITS.iter().filter(|(name, kind, _)| *kind == expected && !name.is_empty());
    let hint = near(unit, &fitting.map(|(name, ..)| *name).collect::<Vec<&str>>());
    Err(format!("\"{unit}\" is not a unit{hint}"))
}

/// Splits `"20 ms"` into its number and its unit's kind and factor. The number may be a
/// fraction (`"1/512"`).
fn split(text: &str, expected: Unit) -> Result<(f64, Unit, f64), String> {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E' | '/');
    let mut end = text.find(|c| !digits(c)).unwrap_or(text.len());
    // A unit may not begin inside the number: "5e" is five and a wrong unit, not five times ten.
    while end > 0 && !text[..end].ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        end -= 1;
    }
    let (number, unit) = (&text[..end], text[end..].trim());
    let (kind, scale) = factor(unit, expected)?;
    let parse = |s: &str| s.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    let parts: Vec<&str> = number.split('/').collect();
    let value = match parts[..] {
        [one] => parse(one),
        [above, below] => {
            parse(above).zip(parse(below)).filter(|(_, b)| *b != 0.0).map(|(a, b)| a / b)
        }
        _ => None,
    };
    value
        .map(|v| (v, kind, scale))
        .ok_or_else(|| format!("\"{text}\" does not start with a number"))
}

/// The value of `text` in base units (seconds, bit/s, bytes, packets, or plain).
///
/// # Errors
/// A sentence that names the text and what was expected, if the unit is of another kind, is
/// missing where one is needed (time and rate), there is no number, or it is beyond
/// [`Unit::most`].
pub fn parse(text: &str, expected: Unit) -> Result<f64, String> {
    bounded(unbounded(text, expected)?, expected, &format!("\"{text}\""))
}

/// As [`parse`], without its bound: the caller checks one, at [`Unit::most`] or below.
pub(crate) fn unbounded(text: &str, expected: Unit) -> Result<f64, String> {
    let wrong = |why: &str| {
        format!(
            "\"{text}\" is not a {}: {why}; write for example {}",
            noun(expected),
            expected.example()
        )
    };
    let (value, kind, scale) = split(text, expected).map_err(|why| wrong(&why))?;
    let fits = kind == expected || (kind == Unit::None && expected.may_be_bare());
    if fits {
        Ok(value * scale)
    } else if kind == Unit::None {
        Err(wrong("it has no unit"))
    } else {
        Err(wrong(&format!("its unit measures {}", kind.name())))
    }
}

/// Returns `value` if its magnitude is within the bounds of the unit; an error quotes it as
/// `written`.
///
/// # Errors
/// A sentence that quotes the value and gives the largest or smallest allowed one.
pub fn bounded(value: f64, unit: Unit, written: &str) -> Result<f64, String> {
    let most = unit.most();
    if value.abs() <= most {
        return not_lost(value, unit, written);
    }
    let (noun, suffix, sign) = (noun(unit), unit.suffix(), if value < 0.0 { "-" } else { "" });
    let side = if value < 0.0 { "at least" } else { "at most" };
    Err(format!("{written} is out of range: a {noun} is {side} {sign}{most}{suffix}"))
}

/// Returns `value` unless it is smaller than [`Unit::least`] without being zero.
pub(crate) fn not_lost(value: f64, unit: Unit, written: &str) -> Result<f64, String> {
    // 1 ns written in another unit may come out smaller in its last bit.
    if value == 0.0 || value.abs() >= unit.least() * (1.0 - 1e-12) {
        return Ok(value);
    }
    let (noun, suffix) = (noun(unit), unit.suffix());
    Err(format!("{written} is too small: a {noun} is 0 or at least {:e}{suffix}", unit.least()))
}

const fn noun(unit: Unit) -> &'static str {
    match unit {
        Unit::None => "plain number",
        Unit::Packets => "number of packets",
        Unit::Bytes => "number of bytes",
        Unit::Time => "time",
        Unit::Rate => "rate",
        Unit::Count => "count",
    }
}

/// A duration such as `"20 ms"`.
///
/// # Errors
/// As [`parse`]; also if the time is negative.
pub fn duration(text: &str) -> Result<Duration, String> {
    let s = parse(text, Unit::Time)?;
    if s < 0.0 {
        return Err(format!("\"{text}\" is negative: a time must be at least zero"));
    }
    Ok(Duration::from_secs_f64(s))
}

/// A rate such as `"10 Mbit/s"`.
///
/// # Errors
/// As [`parse`]; also if the rate is below 1 bit/s.
pub fn rate(text: &str) -> Result<Rate, String> {
    let bits = parse(text, Unit::Rate)?;
    if bits < 1.0 {
        return Err(format!("\"{text}\" is not positive: a line needs a rate of at least 1 bit/s"));
    }
    Ok(Rate::from_bits_per_s((bits + 0.5) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_quantities_in_many_ways() {
        assert_eq!(duration("20 ms").unwrap(), Duration::from_millis(20));
        assert_eq!(duration("90min").unwrap(), Duration::from_secs(5_400));
        assert_eq!(rate("10 Mbit/s").unwrap().bits_per_s(), 10_000_000);
        assert_eq!(rate("1.5Mbps").unwrap().bits_per_s(), 1_500_000);
        assert_eq!(parse("1/512", Unit::None).unwrap(), 1.0 / 512.0);
        assert_eq!(parse("98%", Unit::None).unwrap(), 0.98);
        assert_eq!(parse("120 packets", Unit::Packets).unwrap(), 120.0);
        assert_eq!(parse("120", Unit::Packets).unwrap(), 120.0);
        assert_eq!(parse("1e3 B", Unit::Bytes).unwrap(), 1000.0);
    }

    #[test]
    fn no_quantity_is_beyond_what_its_kind_may_be() {
        for (text, unit) in [
            ("1e300 s", Unit::Time),
            ("18446744073 s", Unit::Time),
            ("1000000001 s", Unit::Time),
            ("-1e10 s", Unit::Time),
            ("1e308/1e-308 s", Unit::Time),
            ("1e308 h", Unit::Time),
            ("1e16 bit/s", Unit::Rate),
            ("1e300 packets", Unit::Packets),
            ("1e16", Unit::Packets),
            ("1e300 MiB", Unit::Bytes),
            ("1e19", Unit::Count),
            ("1e308/1e-308", Unit::None),
        ] {
            let why = parse(text, unit).unwrap_err();
            assert!(why.contains("is out of range") && why.contains(text), "{why}");
        }
        let why = duration("1e300 s").unwrap_err();
        assert_eq!(why, "\"1e300 s\" is out of range: a time is at most 1000000000 s");
        assert!(duration("-1e300 s").unwrap_err().contains("at least -1000000000 s"));
        assert_eq!(
            duration("0.1 ns").unwrap_err(),
            "\"0.1 ns\" is too small: a time is 0 or at least 1e-9 s"
        );
        assert!(parse("5e-324", Unit::None).unwrap_err().contains("0 or at least 1e-100"));
        assert_eq!(["1 ns", "0.001 us", "0 s"].map(|t| duration(t).unwrap().nanos()), [1, 1, 0]);
        assert_eq!(duration("1e9 s").unwrap().nanos(), 1_000_000_000_000_000_000);
        assert_eq!(parse("9007199254740992 B", Unit::Bytes), Ok(Unit::Bytes.most()));
        assert_eq!(parse("1e308", Unit::None), Ok(1e308));
        let all = UNITS.iter().map(|(_, kind, _)| *kind).chain([Unit::Count]);
        assert!(all.clone().all(|unit| Unit::named(unit.name()) == Some(unit)));
        assert_eq!(Unit::named("furlong"), None);
    }

    #[test]
    fn a_wrong_unit_is_named_with_the_remedy() {
        let why = rate("10 ms").unwrap_err();
        assert_eq!(
            why,
            "\"10 ms\" is not a rate: its unit measures time; write for example \"10 Mbit/s\""
        );
        assert!(duration("20").unwrap_err().contains("no unit"));
        assert!(duration("fast").unwrap_err().contains("not a unit"));
        assert!(rate("10 Mbits/s").unwrap_err().contains("; did you mean \"Mbit/s\"?"));
        assert!(parse("5 parsec", Unit::Packets).unwrap_err().contains("\"parsec\" is not a unit"));
        assert!(rate("-3 Mbit/s").unwrap_err().contains("not positive"));
        assert!(rate("0 bit/s").unwrap_err().contains("not positive"));
        assert!(parse("1/0", Unit::None).is_err());
        assert!(parse("", Unit::None).is_err());
        assert!(parse("nan", Unit::None).is_err());
    }
}
