//! Starts applications: at the begin of the run, or after another group.

use traffic::Input;

use super::{Event, World, event_order};

impl World {
    /// Starts the applications of all groups that do not wait for another group.
    pub fn start(&mut self) {
        for source in 0..self.sources.len() as u32 {
            let group = self.sources[source as usize].group;
            if !self.groups[usize::from(group)].waits {
                self.notify(source, Input::Start);
            }
        }
    }

    /// Starts the applications of a group that has waited for another.
    pub(super) fn begin(&mut self, group: u16) {
        let first = self.groups[usize::from(group)].first_member;
        let of_group = |source: &u32| self.sources[*source as usize].group == group;
        let end = (first..self.sources.len() as u32).find(|source| !of_group(source));
        for source in first..end.unwrap_or(self.sources.len() as u32) {
            self.notify(source, Input::Start);
        }
    }

    /// A source of a group opens a connection or sends its first datagram: the groups that depend
    /// on this one can now be started.
    #[inline]
    pub(super) fn on_group_active(&mut self, group: u16) {
        if !self.groups[usize::from(group)].dependents.is_empty() {
            self.start_dependents(group);
        }
    }

    #[cold]
    fn start_dependents(&mut self, group: u16) {
        for (dependent, delay) in std::mem::take(&mut self.groups[usize::from(group)].dependents) {
            let at = self.now + delay;
            self.events.schedule(at, event_order::beginning(dependent), Event::Begin(dependent));
        }
    }
}
