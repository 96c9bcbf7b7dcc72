//! The list of applications. One line here makes an application known everywhere.
//!
//! ```
//! use packet::params::Params;
//! use aqmlab_traffic::{Group, find};
//!
//! let web = find("web").expect("is listed");
//! let group = Group { seed: 1, name: "browsers".into(), peers: 7, sources: 3_000, machines: 7 };
//! let users = (web.build)(&Params::defaults(web.about.fields), &group)?;
//! let _first = users.source(0);
//! assert!((users.ip_bytes_per_source_s().unwrap() - 411.0).abs() < 1.0);
//! # Ok::<(), packet::params::BadParams>(())
//! ```

use crate::datagrams::{cbr, on_off, ping, pulse, rtc, voip};
use crate::entry::Entry;
use crate::{bulk, burst, replay, requests, responsiveness, video, web};

/// Every application, in the order of the documentation. A new one adds its line here.
pub static APPS: &[Entry] = &[
    web::mah::ENTRY,
    web::unc::ENTRY,
    web::packmime::ENTRY,
    web::threegpp::ENTRY,
    web::webtraf::ENTRY,
    web::archive::ENTRY,
    web::http::ENTRY,
    web::loops::ENTRY,
    video::ENTRY,
    replay::ENTRY,
    requests::ENTRY,
    responsiveness::ENTRY,
    bulk::ENTRY,
    burst::ENTRY,
    voip::ENTRY,
    rtc::ENTRY,
    cbr::ENTRY,
    on_off::ENTRY,
    pulse::ENTRY,
    ping::ENTRY,
];

/// The application called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    APPS.iter().find(|entry| entry.about.name == name)
}
