//! The registry of measures: name, unit and meaning of each number of a summary.
//!
//! A recorder keeps a table of [`Measure`]s: the name, unit and meaning of each number, and the
//! function that reads it. The summary, `aqmlab list measures`, `docs/results.md`, the console and
//! the default labels of figures and tables are all made from these tables. A new measure is a row
//! of its recorder's table; a new recorder adds a line to [`measures`].

use crate::{Figure, Summary};

/// The unit of a number, and the unit in which reports show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Unit of the number itself; empty for a number without a unit.
    pub name: &'static str,
    /// The unit in which the number is shown.
    pub shown: &'static str,
    /// Factor by which the number is multiplied to be shown.
    pub scale: f64,
    /// Digits after the decimal point of the shown number.
    pub digits: u8,
}

impl Unit {
    /// A unit whose numbers are shown as they are, without decimals.
    pub const fn of(name: &'static str) -> Unit {
        Unit { name, shown: name, scale: 1.0, digits: 0 }
    }
    /// This unit, shown with `digits` digits after the decimal point.
    pub const fn digits(self, digits: u8) -> Unit {
        Unit { digits, ..self }
    }
    /// This unit, shown as `shown` after multiplication by `scale`.
    pub const fn shown(self, shown: &'static str, scale: f64) -> Unit {
        Unit { shown, scale, ..self }
    }
}

/// A number without unit.
pub(crate) const BARE: Unit = Unit::of("");
pub(crate) const PACKETS: Unit = Unit::of("packets");
pub(crate) const BYTES: Unit = Unit::of("bytes");
pub(crate) const PAYLOAD: Unit = Unit::of("payload bytes");
pub(crate) const CONNECTIONS: Unit = Unit::of("connections");
pub(crate) const SEGMENTS: Unit = Unit::of("segments");
pub(crate) const SHARE: Unit = Unit::of("share").shown("%", 100.0).digits(1);
pub(crate) const SECONDS: Unit = Unit::of("s").digits(2);
pub(crate) const AS_MS: Unit = Unit::of("s").shown("ms", 1e3);
pub(crate) const BITS_PER_S: Unit = Unit::of("bit/s").shown("Mbit/s", 1e-6).digits(2);

/// The description of a measure, which needs no run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// Name of the measure in a summary, without its prefix (such as `copies.<port>.`).
    pub name: &'static str,
    /// Label in tables and figures, worded as in the middle of a sentence.
    pub title: &'static str,
    /// Unit of the measure.
    pub unit: Unit,
    /// What is counted or measured, worded to follow the unit.
    pub meaning: &'static str,
    /// Whether the measure covers the whole run and not the measured interval.
    pub whole_run: bool,
    /// Whether a summary also gives the measure for each traffic group.
    pub by_group: bool,
}

/// The function that reads a number from a recorder; only a `Figure` may be absent.
enum Read<R: ?Sized + 'static> {
    Whole(fn(&R) -> u64),
    Real(fn(&R) -> f64),
    Figure(fn(&R) -> Option<Figure>),
}

/// One number of a summary, read from the recorder or view `R`.
pub struct Measure<R: ?Sized + 'static> {
    /// Name, unit and meaning of the measure.
    pub about: Description,
    read: Read<R>,
}

impl<R: ?Sized> Measure<R> {
    const fn new(
        name: &'static str,
        unit: Unit,
        title: &'static str,
        read: Read<R>,
        meaning: &'static str,
    ) -> Self {
        let about = Description { name, title, unit, meaning, whole_run: false, by_group: false };
        Measure { about, read }
    }
    /// This measure, taken over the whole run and not over the measured interval.
    pub const fn whole_run(mut self) -> Self {
        self.about.whole_run = true;
        self
    }
    /// This measure, also given for each traffic group.
    pub const fn by_group(mut self) -> Self {
        self.about.by_group = true;
        self
    }
}

/// A measure that is a count.
pub const fn whole<R: ?Sized>(
    name: &'static str,
    unit: Unit,
    title: &'static str,
    read: fn(&R) -> u64,
    meaning: &'static str,
) -> Measure<R> {
    Measure::new(name, unit, title, Read::Whole(read), meaning)
}

/// A measure that is a real number.
pub const fn real<R: ?Sized>(
    name: &'static str,
    unit: Unit,
    title: &'static str,
    read: fn(&R) -> f64,
    meaning: &'static str,
) -> Measure<R> {
    Measure::new(name, unit, title, Read::Real(read), meaning)
}

/// A measure that is a word, or a number that may be missing.
pub const fn figure<R: ?Sized>(
    name: &'static str,
    unit: Unit,
    title: &'static str,
    read: fn(&R) -> Option<Figure>,
    meaning: &'static str,
) -> Measure<R> {
    Measure::new(name, unit, title, Read::Figure(read), meaning)
}

impl Summary {
    /// Writes every measure of a table, read from `of`.
    pub fn write<R: ?Sized>(&mut self, table: &[Measure<R>], of: &R) {
        self.write_where("", table, of, |_| true);
    }

    /// Writes the measures that are given for each traffic group.
    pub(crate) fn write_group<R: ?Sized>(&mut self, table: &[Measure<R>], of: &R) {
        self.write_where("", table, of, |about| about.by_group);
    }

    /// Writes the measures for which `wanted` is true, under names that begin with `prefix`.
    pub(crate) fn write_where<R: ?Sized>(
        &mut self,
        prefix: &str,
        table: &[Measure<R>],
        of: &R,
        wanted: impl Fn(&Description) -> bool,
    ) {
        for Measure { about, read } in table.iter().filter(|measure| wanted(&measure.about)) {
            let figure = match read {
                Read::Whole(read) => Some(Figure::Whole(read(of))),
                Read::Real(read) => Some(Figure::Real(read(of))),
                Read::Figure(read) => read(of),
            };
            self.0.extend(figure.map(|figure| (format!("{prefix}{}", about.name), figure)));
        }
    }
}

impl Summary {
    /// Writes the measures of all `rows` together, under names that begin with `prefix`, and those
    /// of each traffic group where there are several; writes nothing without a row.
    pub(crate) fn write_rows<T: Clone>(
        &mut self,
        prefix: &str,
        table: &[Measure<[T]>],
        rows: &[T],
        group_of: impl Fn(&T) -> u16,
        names: &[&str],
    ) {
        if rows.is_empty() {
            return;
        }
        self.write_where(prefix, table, rows, |_| true);
        let mut groups = Summary::default();
        for (index, name) in (0..).zip(names) {
            let own = rows.iter().filter(|row| group_of(row) == index);
            let own: Vec<T> = own.cloned().collect();
            if !own.is_empty() && own.len() < rows.len() {
                let mut group = Summary::default();
                group.write(table, own.as_slice());
                groups.group(name, group);
            }
        }
        if !groups.0.is_empty() {
            self.group(&format!("{prefix}by_group"), groups);
        }
    }
}

/// A measure, and the prefixes with which its name occurs in summaries.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Prefixes of the measure's name in a summary, the usual one first.
    pub places: Vec<&'static str>,
    /// Name, unit and meaning of the measure.
    pub about: Description,
}

/// The measures of a table, each with the prefixes `places`; those that are also given by traffic
/// group have the prefix `groups` too.
pub fn list<R: ?Sized>(
    places: &[&'static str],
    groups: &'static str,
    table: &[Measure<R>],
) -> Vec<Listed> {
    let listed = |measure: &Measure<R>| {
        let group = measure.about.by_group.then_some(groups);
        Listed { places: places.iter().copied().chain(group).collect(), about: measure.about }
    };
    table.iter().map(listed).collect()
}
