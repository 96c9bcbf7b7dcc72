//! Quantities written by people: `"10 Mbit/s"`, `"20 ms"`, `"120 packets"`, `"1/512"`.

use alloc::{format, string::String, vec::Vec};

use crate::{Duration, Rate};

/// What kind of quantity a number with a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    None,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Seconds.
    Time,
    /// Bits per second.
    Rate,
    /// A number of users, flows, machines or the like.
    Count,
}

impl Unit {
    /// The name used in descriptions.
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

    /// What follows a number in base units where it cannot do without (times and rates).
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Time => " s",
            Unit::Rate => " bit/s",
            _ => "",
        }
    }

    /// How to write such a quantity.
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

/// The factor from a written unit to the base unit (s, bit/s, B, packets), and its kind.
fn factor(unit: &str) -> Option<(Unit, f64)> {
    Some(match unit {
        "" => (Unit::None, 1.0),
        "%" => (Unit::None, 0.01),
        "ns" => (Unit::Time, 1e-9),
        "us" | "µs" => (Unit::Time, 1e-6),
        "ms" => (Unit::Time, 1e-3),
        "s" | "sec" | "second" | "seconds" => (Unit::Time, 1.0),
        "min" | "minute" | "minutes" => (Unit::Time, 60.0),
        "h" | "hour" | "hours" => (Unit::Time, 3600.0),
        "bit/s" | "b/s" | "bps" => (Unit::Rate, 1.0),
        "kbit/s" | "kb/s" | "kbps" => (Unit::Rate, 1e3),
        "Mbit/s" | "Mb/s" | "Mbps" => (Unit::Rate, 1e6),
        "Gbit/s" | "Gb/s" | "Gbps" => (Unit::Rate, 1e9),
        "B" | "byte" | "bytes" => (Unit::Bytes, 1.0),
        "kB" => (Unit::Bytes, 1e3),
        "KiB" => (Unit::Bytes, 1024.0),
        "MB" => (Unit::Bytes, 1e6),
        "MiB" => (Unit::Bytes, 1_048_576.0),
        "packet" | "packets" | "p" => (Unit::Packets, 1.0),
        _ => return None,
    })
}

/// Splits `"20 ms"` into its number and its unit's kind and factor. The number may be a
/// fraction (`"1/512"`).
fn split(text: &str) -> Result<(f64, Unit, f64), String> {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E' | '/');
    let mut end = text.find(|c| !digits(c)).unwrap_or(text.len());
    // A unit may not begin inside the number: "5e" is five and a wrong unit, not five times ten.
    while end > 0 && !text[..end].ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        end -= 1;
    }
    let (number, unit) = (&text[..end], text[end..].trim());
    let (kind, scale) = factor(unit).ok_or_else(|| format!("\"{unit}\" is not a unit"))?;
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
/// missing where one is needed (time and rate), or there is no number.
pub fn parse(text: &str, expected: Unit) -> Result<f64, String> {
    let wrong = |why: &str| {
        format!(
            "\"{text}\" is not a {}: {why}; write for example {}",
            noun(expected),
            expected.example()
        )
    };
    let (value, kind, scale) = split(text).map_err(|why| wrong(&why))?;
    let bare_allowed = matches!(expected, Unit::None | Unit::Packets | Unit::Bytes | Unit::Count);
    let fits = kind == expected || (kind == Unit::None && bare_allowed);
    if fits {
        Ok(value * scale)
    } else if kind == Unit::None {
        Err(wrong("it has no unit"))
    } else {
        Err(wrong(&format!("its unit measures {}", kind.name())))
    }
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
    fn a_wrong_unit_is_named_with_the_remedy() {
        let why = rate("10 ms").unwrap_err();
        assert_eq!(
            why,
            "\"10 ms\" is not a rate: its unit measures time; write for example \"10 Mbit/s\""
        );
        assert!(duration("20").unwrap_err().contains("no unit"));
        assert!(duration("fast").unwrap_err().contains("not a unit"));
        assert!(parse("5 parsec", Unit::Packets).unwrap_err().contains("\"parsec\" is not a unit"));
        assert!(rate("-3 Mbit/s").unwrap_err().contains("not positive"));
        assert!(rate("0 bit/s").unwrap_err().contains("not positive"));
        assert!(parse("1/0", Unit::None).is_err());
        assert!(parse("", Unit::None).is_err());
        assert!(parse("nan", Unit::None).is_err());
    }
}
