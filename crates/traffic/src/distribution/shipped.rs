//! The tables that ship with this crate. Their headers say where each comes from.

use std::sync::{Arc, LazyLock};

use packet::units::Unit;

use super::{Discrete, Distribution, Table};

type Parsed = LazyLock<Arc<dyn Distribution>>;

/// One table that ships with the crate.
pub struct Shipped {
    /// Name by which a scenario refers to the table.
    pub name: &'static str,
    /// A shorter name, or `name` again.
    pub short: &'static str,
    /// Unit of the table's values.
    pub unit: Unit,
    /// Content of the file, comments included.
    pub text: &'static str,
    parsed: &'static Parsed,
}

impl Shipped {
    /// The table, parsed at first use and then shared.
    pub fn distribution(&self) -> Arc<dyn Distribution> {
        Arc::clone(self.parsed)
    }
}

/// Declares the tables: one static each, and the list of all.
macro_rules! tables {
    ($($(#[$doc:meta])* $id:ident: $kind:ident of $unit:ident, $name:literal, $short:literal;)*) => {
        $(
            $(#[$doc])*
            pub static $id: Parsed = LazyLock::new(|| {
                let text = include_str!(concat!("../../data/", $name, ".csv"));
                Arc::new($kind::parse(text).expect(concat!("the shipped table ", $name)))
            });
        )*
        /// Every shipped table.
        pub static TABLES: &[Shipped] = &[$(Shipped {
            name: $name,
            short: $short,
            unit: Unit::$unit,
            text: include_str!(concat!("../../data/", $name, ".csv")),
            parsed: &$id,
        }),*];
    };
}

tables! {
    /// Mah: size of a request, bytes.
    MAH_REQUEST: Table of Bytes, "mah_request_bytes", "mah_request_bytes";
    /// Mah: size of a reply, bytes.
    MAH_REPLY: Table of Bytes, "mah_reply_bytes", "mah_reply_bytes";
    /// Mah: files of a page, the page itself included.
    MAH_FILES: Discrete of Count, "mah_files_per_page", "mah_files_per_page";
    /// Mah: consecutive pages from one server.
    MAH_PAGES: Discrete of Count, "mah_pages_per_server", "mah_pages_per_server";
    /// Mah: think times of at most 1,000 s.
    MAH_THINK_LE1000: Table of Time, "mah_think_time_le1000_s", "le1000";
    /// Mah: think times of at most 1,800 s.
    MAH_THINK_LE1800: Table of Time, "mah_think_time_le1800_s", "le1800";
    /// Mah: all think times, overnight ones included.
    MAH_THINK_FULL: Table of Time, "mah_think_time_full_s", "full";
    /// PackMime: size of a request, bytes.
    PACKMIME_REQUEST: Table of Bytes, "packmime_request_bytes", "packmime_request_bytes";
    /// PackMime: size of a response that carries content, bytes.
    PACKMIME_DOWNLOAD: Table of Bytes, "packmime_rsp_download_bytes", "packmime_rsp_download_bytes";
    /// PackMime: size of a response that says "not modified", bytes.
    PACKMIME_NOT_MODIFIED: Table of Bytes,
        "packmime_rsp_notmodified_bytes", "packmime_rsp_notmodified_bytes";
    /// UNC: largest number of requests on a persistent connection; our own choice, without a
    /// source.
    UNC_REQUESTS: Discrete of Count, "unc_persistent_requests", "unc_persistent_requests";
    /// UNC: number of servers that supply the objects of a page; our own choice, without a source.
    UNC_SERVERS: Discrete of Count, "unc_servers_per_page", "unc_servers_per_page";
}

/// The table with this long or short name.
pub fn find(name: &str) -> Option<&'static Shipped> {
    TABLES.iter().find(|table| table.name == name || table.short == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_parses_says_its_source_and_is_found() {
        for table in TABLES {
            assert!(table.text.contains("# source:") && table.text.contains("# unit:"));
            assert!(table.distribution().mean() > 0.0, "{}", table.name);
            assert!(find(table.name).is_some() && find(table.short).is_some());
        }
        assert!(find("mah").is_none());
    }
}
