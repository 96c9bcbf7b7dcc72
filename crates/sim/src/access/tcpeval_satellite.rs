//! The geostationary satellite of the Common TCP Evaluation Suite.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "tcpeval-satellite",
    summary: "The geostationary satellite of the Common TCP Evaluation Suite.",
    year: 2014,
    source: "Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01",
    deviations: "The suite's traffic, recorded connections scaled to a load, is not here; network.rtt = \"tcpeval\" has its round-trip times.",
    settings: &[
        setting("rate", "40 Mbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse_rate", "4 Mbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("delay", "300 ms", "Each way.", "draft-irtf-iccrg-tcpeval-01"),
        setting("framing", "none", "The suite counts IP bytes.", "constructed: not said"),
        setting(
            "forward",
            r#"{"limit_bytes": 500000}"#,
            "100 ms.",
            "constructed: as the suite's other links",
        ),
        setting(
            "reverse",
            r#"{"limit_bytes": 50000}"#,
            "100 ms.",
            "constructed: as the suite's other links",
        ),
    ],
};
