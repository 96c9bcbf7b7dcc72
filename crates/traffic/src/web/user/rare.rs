//! State that only some models need of a user: connections that are kept, other servers of a page,
//! and the streams of random numbers for pauses and services. Users of other models need no memory
//! for it.

use packet::Rng;

use super::{NUMBERS, User};
use crate::distribution::whole_count;
use crate::web::UserModel;
use crate::web::persistent::PersistentConnections;
use crate::web::start::RareStreams;

#[derive(Debug)]
pub(super) struct Rare {
    pub streams: RareStreams,
    pub open: PersistentConnections,
    /// Servers other than the stay's that supply files of this page.
    pub others: Vec<u32>,
    /// Number of files of this page that have not been requested from the other servers yet.
    pub others_left: u32,
}

impl Rare {
    /// Whether users of this model need this state.
    pub fn needed(model: &UserModel) -> bool {
        model.persistence.is_some()
            || model.page_servers.is_some()
            || model.parse.is_some()
            || model.service.is_some()
    }

    /// The state of a new user; `stream` makes each stream of random numbers by its name.
    pub fn new(stream: impl Fn(&str) -> Rng) -> Self {
        Rare {
            streams: RareStreams::new(stream),
            open: PersistentConnections::default(),
            others: Vec::new(),
            others_left: 0,
        }
    }
}

impl User {
    /// Draws which other servers supply files of this page: all different, never more than there
    /// are files to supply.
    pub(super) fn choose_others(&mut self, files: u32) {
        let at_once = self.streams_at_once().is_some();
        let Some(number) = &self.model.page_servers else { return };
        let Some(Rare { streams, others, others_left, .. }) = self.rare.as_deref_mut() else {
            return;
        };
        others.clear();
        let rng = &mut streams.page_servers;
        let number = whole_count(number.sample(rng)).min(files).min(self.model.servers);
        let number = if at_once { number.min(NUMBERS) } else { number };
        while (others.len() as u32) < number - 1 {
            let other = rng.below(u64::from(self.model.servers)) as u32;
            if other != self.server && !others.contains(&other) {
                others.push(other);
            }
        }
        // With n servers, every n-th file, from the first on, comes from the stay's server.
        self.files_left = files.div_ceil(others.len() as u32 + 1);
        *others_left = files - self.files_left;
    }

    /// The server of the next file that the stay's server does not supply, if a request may be
    /// sent.
    pub(super) fn next_other(&mut self) -> Option<u32> {
        let may = self.has_number();
        let Rare { others, others_left, .. } = self.rare.as_deref_mut().filter(|_| may)?;
        *others_left = others_left.checked_sub(1)?;
        Some(others[*others_left as usize % others.len()])
    }
}
