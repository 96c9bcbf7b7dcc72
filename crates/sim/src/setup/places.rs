//! The elements (ports and effects) that packets pass on links, shared by all machines or copied
//! for every group of client machines, as for homes; and the routes over them.

use super::Builder;
use crate::topology::{Direction, Routes, Side};

/// Indices of the elements in one direction of a link, in the order in which packets pass them.
pub(super) enum Places {
    /// All machines share these elements.
    Shared(Vec<u32>),
    /// One list of elements for each group of client machines.
    PerClients { clients: u32, copies: Vec<Vec<u32>> },
}

impl Places {
    /// The elements that packets from or to this client machine pass.
    fn of(&self, client: u32) -> &[u32] {
        match self {
            Places::Shared(places) => places,
            Places::PerClients { clients, copies } => &copies[(client / clients) as usize],
        }
    }
}

/// Ports of the links in both directions, and of the machines of both sides.
pub(super) struct Ports {
    /// Elements of each link, in the forward direction; those of the reverse direction follow.
    pub(super) forward: Vec<Places>,
    pub(super) reverse: Vec<Places>,
    /// Port of each client machine's access line, and of each server's; empty without an access
    /// rate.
    pub(super) clients: Vec<u32>,
    pub(super) servers: Vec<u32>,
    /// Number of client machines.
    pub(super) homes: u32,
}

impl Ports {
    /// Routes of the packets that the side `from` sends over the links `via`.
    pub(super) fn routes(&self, from: Side, via: &[usize], builder: &mut Builder) -> Routes {
        let (access, places): (&[u32], Vec<&Places>) = match Direction::from(from) {
            Direction::Forward => (&self.servers, via.iter().map(|&i| &self.forward[i]).collect()),
            Direction::Reverse => {
                (&self.clients, via.iter().rev().map(|&i| &self.reverse[i]).collect())
            }
        };
        let links = |client| places.iter().flat_map(move |of| of.of(client)).copied();
        let shared = places.iter().all(|of| matches!(of, Places::Shared(_)));
        if shared && access.is_empty() {
            return Routes::BySender(vec![builder.route(links(0).collect())]);
        }
        if shared || from == Side::Clients {
            let machines = if access.is_empty() { self.homes } else { access.len() as u32 };
            let first = |machine: u32| access.get(machine as usize).copied();
            let of = |machine: u32| {
                let client = if shared { 0 } else { machine };
                builder.route(first(machine).into_iter().chain(links(client)).collect())
            };
            return Routes::BySender((0..machines).map(of).collect());
        }
        let of = |client: u32| builder.route(links(client).collect());
        Routes::ByReceiver((0..self.homes).map(of).collect())
    }
}
