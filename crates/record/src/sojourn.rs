//! Queueing delays of packets: the whole distribution, for each class of packets, in bounded
//! memory.

use std::collections::BTreeMap;

use packet::{Ecn, dscp};

use crate::measure::{AS_MS, Measure, PACKETS, real, whole};
use crate::waits::{Spread, Waits};
use crate::{Column, Kind, PacketClass, Summary, Table};

/// The class by which the delays of a queue are distinguished: a packet's kind and group, its DSCP,
/// and whether it is L4S as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayClass(u32);

impl DelayClass {
    /// Bit of L4S packets; it has the position of the bit for retransmissions in [`PacketClass`].
    const L4S: u32 = PacketClass::RETRANSMISSION;

    /// The class of a packet that arrives with this code point of ECN. It is L4S if it
    /// carries ECT(1) or CE, which is how an L4S queue classifies it (RFC 9331 section 5.1).
    #[inline]
    pub fn new(class: PacketClass, ecn: Ecn) -> Self {
        let l4s = u32::from(ecn.code_point() & 1) * Self::L4S;
        DelayClass(class.of_any_turn() | l4s)
    }
    /// Index of the class's histogram, unless its group sends packets with several DSCPs.
    #[inline]
    fn place(self) -> usize {
        (self.0 & ((1 << PacketClass::DSCP_SHIFT) - 1)) as usize
    }
    fn group(self) -> u16 {
        (self.0 >> PacketClass::GROUP_SHIFT) as u16
    }
    fn is_l4s(self) -> bool {
        self.0 & Self::L4S != 0
    }
    fn dscp(self) -> u8 {
        (self.0 >> PacketClass::DSCP_SHIFT) as u8
    }
    /// Number of the packets' kind, in the order of [`Kind`].
    fn kind(self) -> u8 {
        (self.0 & PacketClass::KIND) as u8
    }
    /// The sort key of classes: group, then DSCP, then whether they are L4S, then kind.
    fn rank(self) -> (u16, u8, bool, u8) {
        (self.group(), self.dscp(), self.is_l4s(), self.kind())
    }
}

/// The histogram of the first class that got this index.
#[derive(Clone, Debug, Default)]
struct Slot {
    class: DelayClass,
    waits: Waits,
}

/// Queueing delays of the packets of every class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sojourns {
    slots: Vec<Slot>,
    /// Histograms of classes whose index is taken: packets of one group with several DSCPs.
    others: Vec<Slot>,
    /// Whether no delays are kept.
    off: bool,
}

impl Sojourns {
    /// A recorder without delays; it stays empty unless they are to be `kept`.
    pub fn kept(kept: bool) -> Self {
        Sojourns { off: !kept, ..Sojourns::default() }
    }

    /// Adds a packet of this class that leaves the queue.
    #[inline(always)]
    pub fn add(&mut self, class: DelayClass, waited_ns: u64) {
        match self.slots.get_mut(class.place()) {
            Some(slot) if slot.class == class => slot.waits.add(waited_ns),
            _ => self.add_elsewhere(class, waited_ns),
        }
    }

    /// As [`Sojourns::add`], for a packet that found the line idle.
    #[inline(always)]
    pub fn add_zero(&mut self, class: DelayClass) {
        match self.slots.get_mut(class.place()) {
            Some(slot) if slot.class == class => slot.waits.add_zero(),
            _ => self.add_elsewhere(class, 0),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_elsewhere(&mut self, class: DelayClass, waited_ns: u64) {
        if !self.off {
            self.slot(class).waits.add(waited_ns);
        }
    }

    /// The histogram of a class, wherever it is kept; a new one if there is none.
    fn slot(&mut self, class: DelayClass) -> &mut Slot {
        let place = class.place();
        if place >= self.slots.len() {
            self.slots.resize_with(place + 1, Slot::default);
        }
        if self.slots[place].class == class || !self.slots[place].waits.is_used() {
            self.slots[place].class = class;
            return &mut self.slots[place];
        }
        let found = self.others.iter().position(|slot| slot.class == class);
        let found = found.unwrap_or_else(|| {
            self.others.push(Slot { class, waits: Waits::default() });
            self.others.len() - 1
        });
        &mut self.others[found]
    }

    /// The histograms of all classes of which a packet left, in order.
    fn classes(&self) -> Vec<&Slot> {
        let all = self.slots.iter().chain(&self.others);
        let mut used: Vec<&Slot> = all.filter(|slot| slot.waits.is_used()).collect();
        used.sort_by_key(|slot| slot.class.rank());
        used
    }

    /// Statistics of all classes together.
    pub fn all(&self) -> Spread {
        let parts: Vec<&Waits> = self.classes().into_iter().map(|slot| &slot.waits).collect();
        Spread::of(&parts)
    }

    /// Adds all delays of another queue.
    pub fn merge(&mut self, more: &Sojourns) {
        for slot in more.classes() {
            self.slot(slot.class).waits.merge(&slot.waits);
        }
    }

    /// Writes the delays by group, kind, DSCP and ECN, each only where packets of several classes
    /// left. `groups` are the names of the traffic groups, in the order of the scenario.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        let group = |class: DelayClass| {
            let name = groups.get(usize::from(class.group())).copied().unwrap_or("unknown");
            (u32::from(class.group()), name.to_owned())
        };
        self.by(BY_GROUP, group, out);
        self.by(BY_KIND, kind, out);
        self.by(BY_DSCP, dscp_of, out);
        let ecn = |class: DelayClass| {
            let name = if class.is_l4s() { "l4s" } else { "classic" };
            (u32::from(class.is_l4s()), name.to_owned())
        };
        self.by(BY_ECN, ecn, out);
    }

    /// Writes the delays by the number and name that `of` gives to a class. Classes with an equal
    /// number are taken together.
    fn by(&self, name: &str, of: impl Fn(DelayClass) -> (u32, String), out: &mut Summary) {
        let mut parts: BTreeMap<(u32, String), Vec<&Waits>> = BTreeMap::new();
        for slot in self.classes() {
            parts.entry(of(slot.class)).or_default().push(&slot.waits);
        }
        if parts.len() < 2 {
            return;
        }
        let mut group = Summary::default();
        for ((_, part), waits) in &parts {
            let mut figures = Summary::default();
            figures.write(MEASURES, &Spread::of(waits));
            group.group(part, figures);
        }
        out.group(name, group);
    }

    /// The histograms of several ports as rows, empty bins left out.
    pub fn table<'a>(ports: impl Iterator<Item = &'a Sojourns>) -> Table {
        let mut rows = Rows::default();
        for (port, sojourns) in (0..).zip(ports) {
            sojourns.classes().into_iter().for_each(|slot| rows.add(port, slot));
        }
        rows.into_table()
    }
}

/// Columns of the table of queueing delays.
#[derive(Default)]
struct Rows {
    port: Vec<u32>,
    group: Vec<u16>,
    kind: Vec<u8>,
    l4s: Vec<u8>,
    dscp: Vec<u8>,
    upper_ms: Vec<f64>,
    count: Vec<u32>,
}

impl Rows {
    fn add(&mut self, port: u32, slot: &Slot) {
        for (upto_ns, count) in slot.waits.bins() {
            self.port.push(port);
            self.group.push(slot.class.group());
            self.kind.push(slot.class.kind());
            self.l4s.push(slot.class.is_l4s().into());
            self.dscp.push(slot.class.dscp());
            self.upper_ms.push(upto_ns as f64 / 1e6);
            self.count.push(count);
        }
    }

    fn into_table(self) -> Table {
        let columns = vec![
            ("port".to_owned(), Column::U32(self.port)),
            ("group".to_owned(), Column::U16(self.group)),
            ("kind".to_owned(), Column::U8(self.kind)),
            ("l4s".to_owned(), Column::U8(self.l4s)),
            ("dscp".to_owned(), Column::U8(self.dscp)),
            ("upper_ms".to_owned(), Column::F64(self.upper_ms)),
            ("count".to_owned(), Column::U32(self.count)),
        ];
        Table { name: "queue_delays", columns, every_s: None }
    }
}

/// The kinds that a summary distinguishes, as its counts do: a FIN without payload is with the
/// acknowledgements.
fn kind(class: DelayClass) -> (u32, String) {
    const DATAGRAM: u8 = Kind::Datagram as u8;
    const SYN: u8 = Kind::Syn as u8;
    const DATA: u8 = Kind::Data as u8;
    let (place, name) = match class.kind() {
        DATA => (0, "data"),
        SYN => (2, "syn"),
        DATAGRAM => (3, "datagram"),
        _ => (1, "ack"),
    };
    (place, name.to_owned())
}

/// A DSCP by its name, or by its number where it has none.
fn dscp_of(class: DelayClass) -> (u32, String) {
    let code = class.dscp();
    let name = dscp::name(code).map_or_else(|| code.to_string(), str::to_owned);
    (u32::from(code), name)
}

const BY_GROUP: &str = "queue_delay_by_group";
const BY_KIND: &str = "queue_delay_by_kind";
const BY_DSCP: &str = "queue_delay_by_dscp";
const BY_ECN: &str = "queue_delay_by_ecn";

/// Prefixes of the delays of a class in a summary.
pub(crate) const PLACES: &[&str] = &[
    "queue_delay_by_group.<group>.",
    "queue_delay_by_kind.<kind>.",
    "queue_delay_by_dscp.<dscp>.",
    "queue_delay_by_ecn.<ecn>.",
    "ports.<port>.queue_delay_by_group.<group>.",
    "ports.<port>.queue_delay_by_kind.<kind>.",
    "ports.<port>.queue_delay_by_dscp.<dscp>.",
    "ports.<port>.queue_delay_by_ecn.<ecn>.",
];

const CLASS: &str = "quantile of the queueing delay of a class of packets, within 0.8 %";

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Spread>] = &[
    whole("packets", PACKETS, "packets", |w: &Spread| w.count,
        "of a class whose transmission ended; classes are traffic groups, kinds (data, ack with FINs, syn, \
         datagram), DSCPs by name, and l4s (ECT(1) or CE on arrival, RFC 9331 section 5.1) or classic, each \
         only where packets of several classes left"),
    real("mean_s", AS_MS.digits(1), "queueing delay, mean", |w| w.mean_s, "mean queueing delay of a class of packets"),
    real("p50_s", AS_MS.digits(1), "queueing delay, median", |w| w.quantiles_s[0], CLASS),
    real("p90_s", AS_MS.digits(1), "queueing delay, 90 %", |w| w.quantiles_s[1], CLASS),
    real("p95_s", AS_MS.digits(1), "queueing delay, 95 %", |w| w.quantiles_s[2], CLASS),
    real("p99_s", AS_MS.digits(1), "queueing delay, 99 %", |w| w.quantiles_s[3], CLASS),
    real("p99_9_s", AS_MS.digits(1), "queueing delay, 99.9 %", |w| w.quantiles_s[4], CLASS),
    real("max_s", AS_MS.digits(1), "queueing delay, longest", |w| w.longest_s,
        "longest queueing delay of a class of packets"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn class(kind: Kind, group: u16, ecn: Ecn, dscp: u8) -> DelayClass {
        DelayClass::new(PacketClass::new(kind, true).of_group(group).with_dscp(dscp), ecn)
    }

    #[test]
    fn every_class_has_its_delays() {
        let mut all = Sojourns::default();
        let ms = |n: u64| n * 1_000_000;
        all.add(class(Kind::Data, 0, Ecn::Ect1, 0), ms(1));
        all.add(class(Kind::Data, 0, Ecn::Ce, 46), ms(2)); // a group with two DSCPs
        all.add(class(Kind::Ack, 2, Ecn::NotEct, 0), ms(40));
        all.add(class(Kind::Fin, 2, Ecn::Ect0, 5), ms(60));
        let mut out = Summary::default();
        all.summarise(&["web", "idle", "bulk"], &mut out);
        let Some(crate::Figure::Group(ecn)) = out.get("queue_delay_by_ecn") else { panic!() };
        let Some(crate::Figure::Group(l4s)) = ecn.get("l4s") else { panic!() };
        assert_eq!((l4s.number("packets"), l4s.number("max_s")), (2.0, 0.002));
        assert_eq!(l4s.number("mean_s"), 0.0015);
        let names = |part: &str| {
            let Some(crate::Figure::Group(group)) = out.get(part) else { panic!("{part}") };
            group.0.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names("queue_delay_by_group"), ["web", "bulk"]);
        assert_eq!(names("queue_delay_by_kind"), ["data", "ack"]);
        assert_eq!(names("queue_delay_by_dscp"), ["default", "5", "ef"]);
        let mut off = Sojourns::kept(false);
        off.add(class(Kind::Data, 0, Ecn::NotEct, 0), ms(1));
        let table = Sojourns::table([&off, &all].into_iter());
        let column = |name: &str| &table.columns.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(column("port"), &Column::U32(vec![1; 4]));
        assert_eq!(column("count"), &Column::U32(vec![1; 4]));
        assert_eq!(all.all().count, 4);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!((twice.all().count, twice.all().quantiles_s), (8, all.all().quantiles_s));
        assert_eq!(twice.classes().len(), all.classes().len());
    }
}
