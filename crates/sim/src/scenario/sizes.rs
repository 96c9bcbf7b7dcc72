//! Limits of a scenario's size, given by the integers that number its ports, routes, groups and
//! users.

use std::collections::HashSet;

use super::{Rtt, Scenario, Traffic};
use crate::error::ScenarioError;

/// Largest number of links: a packet counts the ports that it has passed with 16 bits.
const MOST_LINKS: usize = 65_000;
/// Largest number of groups: tables number them with 16 bits.
const MOST_GROUPS: usize = 65_535;
/// Largest number of users: they are numbered with 32 bits.
const MOST_USERS: u64 = 4_000_000_000;
/// Largest number of ports in all routes together, which take four bytes each.
const MOST_HOPS: u64 = 100_000_000;
const MOST_PAIRS: u64 = 10_000_000;
const MOST_SAMPLES: f64 = 1e8;

impl Scenario {
    /// Refuses scenarios that exceed these limits.
    pub(super) fn check_sizes(&self) -> Result<(), ScenarioError> {
        let fail = |why: String| Err(ScenarioError(why));
        if self.links.len() > MOST_LINKS {
            let links = self.links.len();
            return fail(format!("link: {links} links are too many; at most {MOST_LINKS}"));
        }
        if self.traffic.len() > MOST_GROUPS {
            let groups = self.traffic.len();
            return fail(format!(
                "traffic: {groups} groups are too many; give at most {MOST_GROUPS}, with more users each"
            ));
        }
        let users: u64 = self.traffic.iter().filter_map(Traffic::sources).map(u64::from).sum();
        if users > MOST_USERS {
            return fail(format!(
                "traffic: {users} users and flows together are too many; at most {MOST_USERS}"
            ));
        }
        self.check_routes()?;
        self.check_pairs()?;
        let samples = self.params.real("duration") / self.record.real("queue_every");
        if self.record.switch("samples") && samples > MOST_SAMPLES {
            return fail(format!(
                "record.queue_every: {samples:.0} samples are too many to keep; sample less often or write samples = false"
            ));
        }
        Ok(())
    }

    /// Refuses too many routes: every machine with a line of its own has routes of its own.
    fn check_routes(&self) -> Result<(), ScenarioError> {
        let machines = self.network.whole("clients") + self.network.whole("servers");
        let own = self.network.given("access_rate");
        let copied = self.links.iter().any(|link| link.clients_per_link().is_some());
        let each = match (own, copied) {
            (true, _) => machines,
            (_, true) => 2 * self.network.whole("clients"),
            _ => 2,
        };
        let different: HashSet<&[usize]> = self.traffic.iter().map(|t| t.via.as_slice()).collect();
        let hops: u64 = different.iter().map(|via| (via.len() as u64 + 1) * each).sum();
        // Each group also keeps its links and the indices of its routes.
        let hops = hops + self.traffic.iter().map(|t| t.via.len() as u64 + each).sum::<u64>();
        if hops <= MOST_HOPS {
            return Ok(());
        }
        Err(ScenarioError(match own {
            true => format!(
                "network.access_rate: {machines} machines with lines of their own make routes of {hops} ports together, at most {MOST_HOPS}; leave it out, or give fewer machines, links or groups"
            ),
            false => format!(
                "link: the groups' routes have {hops} ports together, at most {MOST_HOPS}; name the links of every group with via"
            ),
        }))
    }

    /// Refuses too many pairs of machines where each pair has a round-trip time in a table.
    fn check_pairs(&self) -> Result<(), ScenarioError> {
        let (clients, servers) = (self.network.whole("clients"), self.network.whole("servers"));
        let pairs = |rtt: &Rtt| matches!(rtt, Rtt::Range(rtt) if rtt.choice("draw") == "pair");
        let by_pair = self.traffic.iter().any(|t| pairs(t.rtt.as_ref().unwrap_or(&self.rtt)));
        if by_pair && clients * servers > MOST_PAIRS {
            return Err(ScenarioError(format!(
                "network.rtt: {clients} clients and {servers} servers make too many pairs; write draw = \"connection\""
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(change: &str) -> Scenario {
        let text = format!(
            r#"{{"duration": "100 s", "link": [{{"rate": "1 Mbit/s"}}], "traffic": [{{"app": "bulk", "flows": 1}}]{change}}}"#
        );
        Scenario::from_json(&text).unwrap()
    }

    fn fits(scenario: &Scenario) -> bool {
        scenario.check_sizes().is_ok()
    }

    #[test]
    fn as_many_links_groups_and_users_as_can_be_numbered_are_allowed() {
        let mut wide = scenario("");
        wide.links = vec![wide.links[0].clone(); MOST_LINKS];
        assert!(fits(&wide));
        wide.links.push(wide.links[0].clone());
        assert!(!fits(&wide));

        let mut many = scenario("");
        many.traffic = vec![many.traffic[0].clone(); MOST_GROUPS];
        assert!(fits(&many));
        many.traffic.push(many.traffic[0].clone());
        assert!(!fits(&many));

        let text = r#"{"duration": "1 s", "link": [{"rate": "1 Mbit/s"}], "traffic": [{"app": "bulk", "flows": 100000000}]}"#;
        let mut crowd = Scenario::from_json(text).unwrap();
        crowd.traffic = vec![crowd.traffic[0].clone(); 40];
        assert!(fits(&crowd));
        crowd.traffic.push(scenario("").traffic[0].clone());
        assert!(!fits(&crowd));
    }

    #[test]
    fn as_many_samples_and_pairs_as_can_be_kept_are_allowed() {
        assert!(fits(&scenario(r#", "record": {"queue_every": "1 us"}"#)));
        let pairs = |servers: u32| {
            format!(
                r#"{{"duration": "1 s", "link": [{{"rate": "1 Mbit/s"}}], "traffic": [{{"app": "bulk", "flows": 1}}],
                    "network": {{"clients": 5000, "servers": {servers}, "rtt": {{"draw": "pair"}}}}}}"#
            )
        };
        assert!(Scenario::from_json(&pairs(2_000)).is_ok());
        assert!(Scenario::from_json(&pairs(2_001)).is_err());
    }
}
