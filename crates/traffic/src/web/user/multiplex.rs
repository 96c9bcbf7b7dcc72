//! How a user requests a page over HTTP/2: RFC 9113 section 5.

use super::User;
use crate::AppCx;
use crate::web::Sharing;

impl User {
    /// Most requests that may wait on one connection of this stay, if it multiplexes.
    pub(super) fn streams_at_once(&self) -> Option<u32> {
        match self.model.persistence.as_ref()?.sharing {
            // With multiplexing all stays are persistent.
            Sharing::Multiplexed { streams, .. } => Some(streams),
            Sharing::InTurn | Sharing::Pipelined => None,
        }
    }

    /// Requests everything that is left of the page: from the stay's server on the connection that
    /// lasts, from every other server on a connection for this page.
    pub(super) fn ask_for_all(&mut self, streams: u32, cx: &mut AppCx) {
        let files = std::mem::take(&mut self.files_left);
        if files > 0 {
            let place = self.rare().open.lasting();
            let place = place.unwrap_or_else(|| self.open_kept(self.server, cx));
            self.hand(place, files, streams, cx);
        }
        let files = std::mem::take(&mut self.rare().others_left);
        let servers = self.rare().others.len();
        for other in 0..servers.min(files as usize) {
            let part = (files as usize - other).div_ceil(servers) as u32;
            let peer = self.rare().others[other];
            let place = self.open_kept(peer, cx);
            self.rare().open.at(place).for_page = true;
            self.hand(place, part, streams, cx);
        }
    }

    /// Gives a connection `files` files to fetch: as many as `streams` allows are requested at
    /// once, one more with every reply.
    fn hand(&mut self, place: usize, files: u32, streams: u32, cx: &mut AppCx) {
        let kept = self.rare().open.at(place);
        let at_once = files.min(streams.saturating_sub(u32::from(kept.waiting)));
        kept.queued += files - at_once;
        for _ in 0..at_once {
            self.ask(place, cx);
        }
    }
}
