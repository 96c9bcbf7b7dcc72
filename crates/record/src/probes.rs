//! Probes of responsiveness tests, from which `rpm` (round trips per minute) is computed.

use packet::Duration;
use packet::report::Probe;

use crate::reported::Reported;
use crate::{Column, Table};

/// The recorder of the probes of all tests.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    tests: Vec<Reported<Vec<Probe>>>,
}

impl Probes {
    /// Adds the probes of a test, `user` of `group`.
    pub fn add(&mut self, group: u16, user: u32, report: Vec<Probe>) {
        self.tests.push(Reported { group, user, report });
    }

    /// A table with a row for each probe of the whole run, NaN for parts that a probe does not
    /// have; none without a test.
    pub fn table(&self) -> Option<Table> {
        let rows =
            || self.tests.iter().flat_map(|of| of.report.iter().map(move |probe| (of, probe)));
        let seconds = |part: fn(&Probe) -> Option<Duration>| {
            let of = |(_, probe)| part(probe).map_or(f64::NAN, Duration::secs_f64);
            Column::F64(rows().map(of).collect())
        };
        let columns = vec![
            ("group".to_owned(), Column::U16(rows().map(|(of, _)| of.group).collect())),
            ("user".to_owned(), Column::U32(rows().map(|(of, _)| of.user).collect())),
            (
                "begun_ns".to_owned(),
                Column::U64(rows().map(|(_, probe)| probe.begun.nanos()).collect()),
            ),
            ("self".to_owned(), Column::U8(rows().map(|(_, p)| u8::from(p.is_self)).collect())),
            ("tcp_s".to_owned(), seconds(|probe| probe.tcp)),
            ("tls_s".to_owned(), seconds(|probe| probe.tls)),
            ("http_s".to_owned(), seconds(|probe| probe.http)),
        ];
        (!self.tests.is_empty()).then_some(Table { name: "probes", columns, every_s: None })
    }
}
