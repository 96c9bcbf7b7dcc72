//! The data centre of the Common TCP Evaluation Suite.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "tcpeval-datacentre",
    summary: "The data centre of the Common TCP Evaluation Suite.",
    year: 2014,
    source: "Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01",
    deviations: "The suite's traffic, recorded connections scaled to a load, is not here; network.rtt = \"tcpeval\" has its round-trip times.",
    settings: &[
        setting("rate", "1 Gbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse_rate", "1 Gbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting(
            "delay",
            "0 ms",
            "Each way.",
            "constructed: nothing beside the suite's round-trip times",
        ),
        setting("framing", "none", "The suite counts IP bytes.", "constructed: not said"),
        setting("forward", r#"{"limit_bytes": 1250000}"#, "10 ms.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse", r#"{"limit_bytes": 1250000}"#, "10 ms.", "draft-irtf-iccrg-tcpeval-01"),
    ],
};
