//! A home behind a geostationary satellite.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "satellite",
    summary: "A home behind a geostationary satellite.",
    year: 2017,
    source: "Geometry: 35,786 km of altitude; numbers constructed where not said",
    deviations: "Requests for capacity and their delay, rain, and accelerators of TCP are not modelled.",
    settings: &[
        setting("rate", "25 Mbit/s", "A common contract.", "constructed"),
        setting("reverse_rate", "3 Mbit/s", "A common contract.", "constructed"),
        setting(
            "delay",
            "300 ms",
            "Each way: 239 to 278 ms up and down again at the speed of light, the rest in the stations.",
            "derived from the geometry; the rest constructed",
        ),
        setting("framing", "none", "Nothing is known of it.", "constructed"),
        setting(
            "forward",
            r#"{"limit_bytes": 1875000}"#,
            "0.6 s, a base round trip.",
            "constructed",
        ),
        setting("reverse", r#"{"limit_bytes": 225000}"#, "0.6 s.", "constructed"),
    ],
};
