//! The registry of congestion controls: those of this crate, one line each, and those that a user
//! adds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use packet::About;
use packet::params::{BadParams, Field, Kind, Params};

use super::control::{Control, Entry};

/// All congestion controls, one line each.
const CONTROLS: &[Entry] = &[
    super::reno::ENTRY,
    super::classic_reno::BSD,
    super::classic_reno::RFC5681,
    super::classic_reno::NS2,
    super::cubic::ENTRY,
    super::search::ENTRY,
    super::careful_resume::ENTRY,
    super::rfc9438::ENTRY,
    super::vegas::ENTRY,
    super::vegas_linux::ENTRY,
    super::nv::ENTRY,
    super::westwood::ENTRY,
    super::htcp::ENTRY,
    super::copa::ENTRY,
    super::bbr::ENTRY,
    super::bbr3::ENTRY,
    super::ledbatpp::ENTRY,
    super::dctcp::ENTRY,
    super::prague::ENTRY,
    super::scream::ENTRY,
];

/// Description of each congestion control, in the order of [`CONTROLS`].
const ABOUT: [&About; CONTROLS.len()] = {
    let mut about = [&CONTROLS[0].about; CONTROLS.len()];
    let mut i = 0;
    while i < about.len() {
        about[i] = &CONTROLS[i].about;
        i += 1;
    }
    about
};

/// Kind of the parameter by which a profile offers the congestion controls.
pub(crate) const KIND: Kind = Kind::Variant(&ABOUT);

/// A new control of this crate called `name`, made from its own parameters; a profile's table has
/// checked the name.
fn make(name: &str, params: &Params) -> Box<dyn Control> {
    let named = |entry: &&Entry| entry.about.name == name;
    (CONTROLS.iter().find(named).expect("a profile names a listed control").make)(params)
}

/// A new control called `name` with its defaults.
pub(crate) fn make_usual(name: &str) -> Box<dyn Control> {
    let about = ABOUT.into_iter().find(|about| about.name == name).expect("a listed control");
    make(name, &Params::defaults(about.fields))
}

/// Makes a user's own control from checked parameters.
pub type MakeControl = dyn Fn(&Params) -> Result<Box<dyn Control>, BadParams> + Send + Sync;

/// A user's own congestion control.
pub struct OwnControl {
    /// Name, summary, sources and parameters of the control.
    pub about: About,
    /// Constructs a control from its checked parameters.
    pub make: Box<MakeControl>,
}

impl fmt::Debug for OwnControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnControl").field(&self.about.name).finish()
    }
}

/// The congestion controls that a scenario may name: those of this crate, and those that a user adds.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    own: Vec<&'static OwnControl>,
    /// Fields of each profile, by its name, with the user's controls among the choices. They live
    /// as long as the process.
    fields: Arc<Mutex<BTreeMap<&'static str, &'static [Field]>>>,
}

impl Controls {
    /// The congestion controls of this crate.
    pub fn ours() -> Self {
        Controls::default()
    }

    /// The congestion controls of this crate, and `own` as well.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn with(own: &[&'static OwnControl]) -> Result<Self, &'static str> {
        let mut all = Controls::ours();
        for control in own {
            if all.all().any(|about| about.name == control.about.name) {
                return Err(control.about.name);
            }
            all.own.push(control);
        }
        Ok(all)
    }

    /// Descriptions of all controls, this crate's first.
    pub fn all(&self) -> impl Iterator<Item = &'static About> {
        ABOUT.into_iter().chain(self.own.iter().map(|own| &own.about))
    }

    /// The fields of a profile, in which any of these controls may be chosen.
    pub fn fields(&self, profile: &crate::Entry) -> &'static [Field] {
        let ours = profile.about.fields;
        if self.own.is_empty() {
            return ours;
        }
        let mut known = self.fields.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(profile.about.name).or_insert_with(|| {
            let all: &'static [&'static About] = Vec::leak(self.all().collect());
            let mut fields = ours.to_vec();
            for field in fields.iter_mut().filter(|field| field.name == "congestion") {
                field.kind = Kind::Variant(all);
            }
            Vec::leak(fields)
        })
    }

    /// A new control called `name`, made from its own parameters; a profile's table has checked the
    /// name.
    ///
    /// # Errors
    /// The error with which a user's control refuses its parameters.
    pub fn make(&self, name: &str, params: &Params) -> Result<Box<dyn Control>, BadParams> {
        match self.own.iter().find(|own| own.about.name == name) {
            Some(own) => (own.make)(params),
            None => Ok(make(name, params)),
        }
    }
}

/// The control to which Linux falls back if a connection lacks the ECN feedback that its own
/// control needs.
pub(crate) fn linux_reno() -> Box<dyn Control> {
    Box::new(super::reno::Reno::default())
}

/// All congestion controls, for lists and documentation.
pub fn controls() -> impl Iterator<Item = &'static About> + Clone {
    ABOUT.into_iter()
}
