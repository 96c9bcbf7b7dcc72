//! The list of congestion controls: one line each.

use packet::About;
use packet::params::{Kind, Params};

use super::control::{Control, Entry};

/// All congestion controls, one line each.
const CONTROLS: &[Entry] = &[
    super::reno::ENTRY,
    super::classic_reno::BSD,
    super::classic_reno::RFC5681,
    super::classic_reno::NS2,
    super::cubic::ENTRY,
    super::rfc9438::ENTRY,
    super::vegas::ENTRY,
    super::bbr::ENTRY,
    super::bbr3::ENTRY,
    super::ledbatpp::ENTRY,
    super::dctcp::ENTRY,
    super::prague::ENTRY,
];

/// What they say of themselves.
const ABOUT: [&About; CONTROLS.len()] = {
    let mut about = [&CONTROLS[0].about; CONTROLS.len()];
    let mut i = 0;
    while i < about.len() {
        about[i] = &CONTROLS[i].about;
        i += 1;
    }
    about
};

/// The kind of the parameter by which a profile offers them.
pub(crate) const KIND: Kind = Kind::Variant(&ABOUT);

/// A new control called `name`, which a profile's table has checked, with parameters of its own.
pub(crate) fn make(name: &str, params: &Params) -> Box<dyn Control> {
    let named = |entry: &&Entry| entry.about.name == name;
    (CONTROLS.iter().find(named).expect("a profile names a listed control").make)(params)
}

/// A new control called `name` with its defaults.
pub(crate) fn make_usual(name: &str) -> Box<dyn Control> {
    let about = ABOUT.into_iter().find(|about| about.name == name).expect("a listed control");
    make(name, &Params::defaults(about.fields))
}

/// What takes over in Linux where a control does not get the feedback it needs.
pub(crate) fn linux_reno() -> Box<dyn Control> {
    Box::new(super::reno::Reno::default())
}

/// All congestion controls, for lists and documentation.
pub fn controls() -> impl Iterator<Item = &'static About> + Clone {
    ABOUT.into_iter()
}
