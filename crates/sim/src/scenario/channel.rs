//! Channels that a link may use instead of a wire: `wifi = { … }`, … Each kind is a file and a line
//! of [`CHANNELS`].

mod cell;
mod docsis;
mod wifi;

use packet::params::Field;
use serde_json::{Map, Value as Json};

use crate::error::ScenarioError;
use crate::scenario::section::Section;
use crate::topology::Direction;

pub use cell::Cell;
pub use docsis::Docsis;
pub use wifi::Wifi;

/// A channel instead of a wire: packets contend for it, or wait until they are scheduled.
#[derive(Clone, Debug)]
pub enum Channel {
    /// An access point and its stations.
    Wifi(Wifi),
    /// The upstream of a cable modem.
    Docsis(Docsis),
    /// A base station and its UEs.
    Cell(Cell),
}

/// A kind of channel, for reading and describing scenarios.
pub struct Kind {
    /// Name of the link's field that describes such a channel.
    pub name: &'static str,
    /// Fields of the channel that are not parameters.
    pub structure: &'static [[&'static str; 4]],
    /// Parameters of the channel.
    pub fields: &'static [Field],
    /// Names of the parameters that must be given.
    pub required: &'static [&'static str],
    read: fn(&str, &Json) -> Result<Channel, ScenarioError>,
}

/// All kinds of channels.
pub static CHANNELS: &[Kind] = &[wifi::KIND, docsis::KIND, cell::KIND];

impl Channel {
    /// Reads the channel of a link, and removes its field from the link's table.
    pub(super) fn take(
        path: &str,
        section: &mut Section,
        changes: bool,
    ) -> Result<Option<Channel>, ScenarioError> {
        let mut found: Option<(&'static str, Channel)> = None;
        for kind in CHANNELS {
            let Some(json) = section.take(kind.name) else { continue };
            let at = format!("{path}.{}", kind.name);
            if let Some((other, _)) = found {
                return Err(ScenarioError(format!(
                    "{at}: the link is {other} already; leave one out"
                )));
            }
            if changes {
                return Err(ScenarioError(format!(
                    "{at}: the channel has rates of its own; leave out what changes the link's rate"
                )));
            }
            found = Some((kind.name, (kind.read)(&at, json)?));
        }
        Ok(found.map(|(_, channel)| channel))
    }

    /// Writes the channel into the table of its link, in the form in which it is read.
    pub(super) fn write(&self, link: &mut Map<String, Json>) {
        let (name, json) = match self {
            Channel::Wifi(wifi) => ("wifi", wifi.write()),
            Channel::Docsis(docsis) => ("docsis", docsis.write()),
            Channel::Cell(cell) => ("cell", cell.write()),
        };
        link.insert(name.into(), json);
    }

    /// Whether this direction of the link uses the channel; otherwise it is a wire.
    pub(crate) fn is_of(&self, direction: Direction) -> bool {
        match self {
            Channel::Wifi(_) | Channel::Cell(_) => true,
            Channel::Docsis(_) => direction == Direction::Reverse,
        }
    }
}
