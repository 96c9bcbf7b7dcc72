//! The list of end systems, one line for each.

use crate::entry::Entry;
use crate::profiles::{
    freebsd_2_2_8, freebsd_4_5, linux, ns2, ns2_full, ns3, plain, quic, windows_nt4,
};

/// All end systems; the newest of TCP is the last.
pub static PROFILES: &[Entry] = &[
    freebsd_2_2_8::ENTRY,
    freebsd_4_5::ENTRY,
    windows_nt4::ENTRY,
    ns2::ENTRY,
    ns2_full::ENTRY,
    ns3::ENTRY,
    plain::ENTRY,
    quic::ENTRY,
    linux::v6_1::ENTRY,
    linux::v6_12::ENTRY,
    linux::ENTRY,
];

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    PROFILES.iter().find(|entry| entry.about.name == name)
}
