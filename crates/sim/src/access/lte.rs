//! A mobile phone in an LTE cell, with a rate that wanders.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "lte",
    summary: "A mobile phone in an LTE cell, with a rate that wanders.",
    year: 2013,
    source: "Model of the rate: Winstein, Sivaraman and Balakrishnan, Sprout, NSDI 2013; numbers constructed where not said",
    deviations: "The delay does not vary beyond the wait for an opportunity. Damaged blocks, handovers and the phone's sleep are not modelled.",
    settings: &[
        setting("rate", "12 Mbit/s", "Middle of the walk between 0 and 24 Mbit/s.", "constructed"),
        setting(
            "reverse_rate",
            "6 Mbit/s",
            "Middle of the walk between 0 and 12 Mbit/s.",
            "constructed",
        ),
        setting(
            "rate_trace",
            r#"{"model": "sprout", "volatility": "2.4 Mbit/s", "outage": "0.1 s"}"#,
            "A wandering rate with short outages, another one under every seed.",
            "volatility: Sprout, 200 packets/s after one second (recalled); outage constructed: Sprout's 1 s serves cautious forecasts",
        ),
        setting(
            "reverse_rate_trace",
            r#"{"model": "sprout", "volatility": "2.4 Mbit/s", "outage": "0.1 s"}"#,
            "Likewise, independent of the other direction.",
            "as rate_trace",
        ),
        setting("delay", "20 ms", "Each way, a round trip of 40 ms.", "constructed"),
        setting("framing", "none", "Opportunities are counted in IP bytes.", "Sprout, Mahimahi"),
        setting(
            "forward",
            r#"{"limit_bytes": 1500000}"#,
            "1.5 MB at the base station: a second.",
            "constructed: Sprout tells of queues of several seconds",
        ),
        setting(
            "reverse",
            r#"{"limit_bytes": 750000}"#,
            "0.75 MB in the phone: a second.",
            "constructed",
        ),
    ],
};
