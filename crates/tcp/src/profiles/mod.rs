//! The end systems, one file each; [`crate::PROFILES`] lists them.

pub(crate) mod freebsd_2_2_8;
pub(crate) mod plain;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

/// The segment size on Ethernet.
const MSS: Field = Field {
    name: "mss",
    meaning: "Largest payload of a segment.",
    kind: Kind::Whole { unit: Unit::Bytes, min: 64, max: 9_000 },
    default: Value::Whole(1_460),
    source: "1,500 B Ethernet less 40 B of headers",
};

/// A window must hold a segment, or nothing would ever be sent.
fn check_window(params: &Params) -> Result<(), BadParams> {
    let (window, mss) = (params.whole("window_bytes"), params.whole("mss"));
    if window < mss {
        let why = format!("{window} B do not hold one segment; it must be at least mss = {mss} B");
        return Err(BadParams::new("window_bytes", why));
    }
    Ok(())
}
