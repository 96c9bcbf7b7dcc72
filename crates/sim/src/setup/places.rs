//! The places that packets pass: of each link one for all machines, or a copy for every group of client machines, as
//! homes have; and the routes over them.

use super::Builder;
use crate::topology::{Direction, Routes, Side};

/// The places of one direction of a link, in order.
pub(super) enum Places {
    /// All users share these machines.
    Shared(Vec<u32>),
    /// One list for each group of client machines.
    PerClients { clients: u32, copies: Vec<Vec<u32>> },
}

impl Places {
    /// What packets from or to this client machine pass.
    fn of(&self, client: u32) -> &[u32] {
        match self {
            Places::Shared(places) => places,
            Places::PerClients { clients, copies } => &copies[(client / clients) as usize],
        }
    }
}

/// Ports of the links in both directions, and of the machines of both sides.
pub(super) struct Ports {
    /// Ports of each link, in both directions.
    pub(super) forward: Vec<Places>,
    pub(super) reverse: Vec<Places>,
    /// A machine's own line; none without a rate of access.
    pub(super) clients: Vec<u32>,
    pub(super) servers: Vec<u32>,
    /// Client machines.
    pub(super) homes: u32,
}

impl Ports {
    /// Routes of what `from` sends over the links `via`.
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
