//! A home behind a VDSL2 line with PPPoE.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "dsl",
    summary: "A home behind a VDSL2 line with PPPoE.",
    year: 2006,
    source: "ITU-T G.993.2 with PTM (IEEE 802.3, clause 61), PPPoE (RFC 2516); numbers constructed where not said",
    deviations: "Retransmission of damaged symbols (G.998.4) and its delay are not modelled.",
    settings: &[
        setting("rate", "50 Mbit/s", "A common contract.", "constructed"),
        setting("reverse_rate", "10 Mbit/s", "A common contract.", "constructed"),
        setting(
            "delay",
            "5 ms",
            "Each way, a round trip of 10 ms to the first router.",
            "constructed",
        ),
        setting(
            "framing",
            "pppoe-ptm",
            "PPPoE in Ethernet frames in the 64/65 code.",
            "tc-cake(8): pppoe-ptm",
        ),
        setting(
            "forward",
            r#"{"limit_bytes": 625000}"#,
            "0.1 s at the multiplexer.",
            "constructed",
        ),
        setting(
            "reverse",
            r#"{"limit_bytes": 128000}"#,
            "128 kB in the modem: 0.1 s.",
            "constructed",
        ),
    ],
};
