//! Packets as JSON in the vector format, where fields with default values are left out.

use packet::params::unknown;
use packet::{Ack, Ecn, Header, Instant, Packet};
use serde_json::{Value as Json, json};

const ECN: [(&str, Ecn); 4] =
    [("not-ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];
const ACK: [(&str, Ack); 3] = [("no", Ack::No), ("needed", Ack::Needed), ("newer", Ack::Newer)];

fn name<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, v)| v == value).map(|(name, _)| *name).expect("every value has a name")
}

/// The name of an ECN field.
pub(crate) fn ecn_name(ecn: Ecn) -> &'static str {
    name(&ECN, &ecn)
}

/// The keys and values of `packet` that differ from the defaults, in the order of the format. The
/// time of arrival is not among them, as it is the call's.
pub fn packet_json(packet: &Packet) -> Vec<(&'static str, Json)> {
    let Packet { id, flow, bytes, ecn, header, .. } = packet;
    let mut keys = vec![("id", json!(id)), ("flow", json!(flow)), ("bytes", json!(bytes))];
    let mut differs = |key, value: Json, default: Json| {
        if value != default {
            keys.push((key, value));
        }
    };
    differs("ecn", json!(ecn_name(*ecn)), json!("not-ect"));
    differs("dscp", json!(header.dscp), json!(0));
    differs("ack", json!(name(&ACK, &header.ack)), json!("no"));
    differs("source", json!(header.source), json!(0));
    differs("destination", json!(header.destination), json!(0));
    keys
}

fn whole(at: &str, key: &str, json: &Json, max: u64) -> Result<u64, String> {
    json.as_u64()
        .filter(|v| *v <= max)
        .ok_or_else(|| format!("{at}.{key}: {json} is not a whole number from 0 to {max}"))
}

fn word<T: Copy>(at: &str, key: &str, json: &Json, names: &[(&str, T)]) -> Result<T, String> {
    let text = json.as_str().unwrap_or_default();
    let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let given = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
        format!("{at}.{key}: {}", unknown("value", &given, &known))
    })
}

/// Reads the packet that `json` describes, with the arrival time `arrived`. `id` is used if the
/// JSON has none.
///
/// # Errors
/// One sentence that begins with the path `at`, if a key is unknown, a value is out of range, or
/// the length is missing.
pub fn packet(json: &Json, at: &str, id: u32, arrived: Instant) -> Result<Packet, String> {
    const KEYS: [&str; 8] = ["id", "flow", "bytes", "ecn", "dscp", "ack", "source", "destination"];
    let object = json.as_object().ok_or_else(|| format!("{at}: must be a table, not {json}"))?;
    let header = Header::default();
    let mut packet = Packet { id, flow: 0, bytes: 0, ecn: Ecn::NotEct, arrived, header };
    for (key, json) in object {
        let number = |max| whole(at, key, json, max);
        let header = &mut packet.header;
        match key.as_str() {
            "id" => packet.id = number(u32::MAX.into())? as u32,
            "flow" => packet.flow = number(u64::MAX)?,
            "bytes" => packet.bytes = number(u32::MAX.into())? as u32,
            "ecn" => packet.ecn = word(at, key, json, &ECN)?,
            "dscp" => header.dscp = number(63)? as u8,
            "ack" => header.ack = word(at, key, json, &ACK)?,
            "source" => header.source = number(u16::MAX.into())? as u16,
            "destination" => header.destination = number(u16::MAX.into())? as u16,
            _ => return Err(format!("{at}.{key}: {}", unknown("key", key, &KEYS))),
        }
    }
    if packet.bytes == 0 {
        return Err(format!("{at}.bytes: missing or zero; a packet has at least one byte"));
    }
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_reads_back_as_it_was_written() {
        let arrived = Instant::from_nanos(7);
        let header = Header { dscp: 46, ack: Ack::Newer, source: 3, destination: 65_535 };
        let full = Packet { id: 9, flow: u64::MAX, bytes: 40, ecn: Ecn::Ect1, arrived, header };
        let plain = Packet { ecn: Ecn::NotEct, header: Header::default(), ..full.clone() };
        for (packet_in, keys) in [(full, 8), (plain, 3)] {
            let written = packet_json(&packet_in);
            assert_eq!(written.len(), keys);
            let json: Json = written.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
            assert_eq!(packet(&json, "packet", 0, arrived), Ok(packet_in));
        }
    }

    #[test]
    fn a_wrong_packet_is_named_with_the_remedy() {
        let why = |json| packet(&json, "arrivals.3.packet", 0, Instant::ZERO).unwrap_err();
        assert!(why(json!({"flow": 1})).starts_with("arrivals.3.packet.bytes: missing"));
        assert!(why(json!({"byte": 1})).contains("did you mean \"bytes\"?"));
        assert!(why(json!({"bytes": 1, "ecn": "etc0"})).contains("did you mean \"ect0\"?"));
        assert!(why(json!({"bytes": 1, "dscp": 64})).ends_with("whole number from 0 to 63"));
        assert!(why(json!(3)).starts_with("arrivals.3.packet: must be a table"));
    }
}
