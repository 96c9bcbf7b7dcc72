//! Fair queueing: the worked examples.

use packet::{DropReason, Ecn, Rng};

use super::build;
use super::line::{Did, Model, P, Product, Traffic, compare};

/// A second transcription of DRR.
struct Reference {
    limit: u64,
    bytes: bool,
    victim: &'static str,
    front: bool,
    quantum: u64,
    /// Active flows in the order of service: name, packets, and deficit in bytes.
    active: Vec<(u64, Vec<P>, u64)>,
    /// Whether the first flow has received the quantum of this turn.
    visited: bool,
    register: Option<(u64, u64)>,
}

impl Reference {
    fn len(&self, packets: &[P]) -> u64 {
        if self.bytes { packets.iter().map(|p| p.size).sum() } else { packets.len() as u64 }
    }

    fn q(&self, flow: u64) -> u64 {
        self.active.iter().find(|f| f.0 == flow).map_or(0, |f| self.len(&f.1))
    }

    fn touch(&mut self, flow: u64) {
        let q = self.q(flow);
        match self.register {
            Some((f, _)) if f == flow => self.register = (q > 0).then_some((flow, q)),
            Some((_, length)) if q <= length => {}
            _ if q > 0 => self.register = Some((flow, q)),
            _ => {}
        }
    }

    fn victim(&self, arrival: u64, rng: &mut Rng) -> u64 {
        let lqd = || {
            let most = self.active.iter().map(|f| self.len(&f.1)).max().unwrap();
            self.active.iter().find(|f| self.len(&f.1) == most).unwrap().0
        };
        match self.victim {
            "lqd" => lqd(),
            "alqd" => self.register.map_or_else(lqd, |r| r.0),
            "rnd" => {
                let share = self.limit as f64 / self.active.len() as f64;
                let over: Vec<u64> = self
                    .active
                    .iter()
                    .filter(|f| self.len(&f.1) as f64 > share * (1.0 + 1e-12))
                    .map(|f| f.0)
                    .collect();
                over[rng.below(over.len() as u64) as usize]
            }
            _ => arrival,
        }
    }

    fn take(&mut self, flow: u64, front: bool) -> P {
        let at = self.active.iter().position(|f| f.0 == flow).unwrap();
        let packets = &mut self.active[at].1;
        let p = if front { packets.remove(0) } else { packets.pop().unwrap() };
        if packets.is_empty() {
            self.active.remove(at);
            if at == 0 {
                self.visited = false;
            }
        }
        self.touch(flow);
        p
    }
}

impl Model for Reference {
    fn enqueue(&mut self, p: P, rng: &mut Rng, did: &mut Vec<Did>) {
        did.push(Did::Queue(p.id));
        match self.active.iter_mut().find(|f| f.0 == p.flow) {
            Some(f) => f.1.push(p),
            None => self.active.push((p.flow, vec![p], 0)),
        }
        self.touch(p.flow);
        while self.active.iter().map(|f| self.len(&f.1)).sum::<u64>() > self.limit {
            let victim = self.victim(p.flow, rng);
            let gone = self.take(victim, self.front && self.victim != "tail");
            did.push(Did::Drop(gone.id, DropReason::Overflow));
        }
    }

    fn dequeue(&mut self, _: u64, _: &mut Rng, _: &mut Vec<Did>) -> Option<P> {
        loop {
            let quantum = self.quantum;
            let (flow, packets, deficit) = self.active.first_mut()?;
            if !self.visited {
                *deficit += quantum;
                self.visited = true;
            }
            if packets[0].size <= *deficit {
                *deficit -= packets[0].size;
                let stays = packets.get(1).is_some_and(|next| next.size <= *deficit);
                let (flow, last) = (*flow, packets.len() == 1);
                let p = self.take(flow, true);
                if !last && !stays {
                    self.active.rotate_left(1);
                    self.visited = false;
                }
                return Some(p);
            }
            self.active.rotate_left(1);
            self.visited = false;
        }
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        vec![("active_flows", self.active.len() as f64)]
    }
}

#[test]
fn hashed_flows_share_queues() {
    // Without collisions among the few flows, `sfq` equals DRR that drops from the longest queue.
    for head_drop in ["true", "false"] {
        let model = Reference {
            limit: 40,
            bytes: false,
            victim: "lqd",
            front: head_drop == "true",
            quantum: 1514,
            active: Vec::new(),
            visited: false,
            register: None,
        };
        let pairs = [("limit", "40"), ("queues", "65536"), ("head_drop", head_drop)];
        let this = compare("sfq", &pairs, model, Traffic::new(3, 9, 500), 3, 12_000);
        assert!(this.overflow > 500, "{this:?}");
    }
    // With one queue only, `sfq` serves first come, first served.
    let mut one = Product::new("sfq", &[("queues", "1")], 1);
    for id in 0..9 {
        one.enqueue(P { id, flow: u64::from(id), size: 1000, ecn: Ecn::NotEct, t: 0 });
    }
    for id in 0..9 {
        assert_eq!(one.dequeue(0).0.unwrap().id, id);
    }
}

/// A DRR queue that gets packets of 1500 bytes, numbered from 0 in the order of arrival.
struct Scene {
    product: Product,
    next: u32,
}

impl Scene {
    fn new(victim: &str, limit: &str) -> Self {
        Scene { product: Product::new("drr", &[("victim", victim), ("limit", limit)], 1), next: 0 }
    }

    /// Lets a packet of each of these flows arrive. Returns the numbers of the packets dropped.
    fn arrive(&mut self, flows: &str) -> Vec<u32> {
        let mut dropped = Vec::new();
        for flow in flows.bytes() {
            let p = P { id: self.next, flow: flow.into(), size: 1500, ecn: Ecn::NotEct, t: 0 };
            self.next += 1;
            dropped.extend(self.product.enqueue(p).iter().filter_map(|did| match did {
                Did::Drop(id, _) => Some(*id),
                _ => None,
            }));
        }
        dropped
    }
}

#[test]
fn the_longest_queue_loses_its_head() {
    // Flow A has 6 packets, B 3 and C 1 in a buffer of 10; then another one of C arrives.
    for victim in ["lqd", "rnd", "alqd"] {
        let mut scene = Scene::new(victim, "10");
        assert_eq!(scene.arrive("AAAAAABBBC"), []);
        assert_eq!(scene.arrive("C"), [0], "{victim}: the head of A");
    }
    let mut scene = Scene::new("lqd", "10");
    scene.arrive("AAAAAABBBC");
    assert_eq!(scene.arrive("A"), [0], "the arriving flow loses its head, not the arrival");
    let mut scene = Scene::new("tail", "10");
    scene.arrive("AAAAAABBBC");
    assert_eq!(scene.arrive("C"), [10], "the arrival");
}

#[test]
fn a_register_follows_its_own_queue_down() {
    // The register of the longest queue holds A with 7 packets. A sends 2: A with 5. B grows to 5:
    // the register still holds A. B grows to 6: it holds B.
    let loses = |arrivals: &str| {
        let mut scene = Scene::new("alqd", "10");
        scene.arrive("AAAAAAA");
        for id in 0..2 {
            assert_eq!(scene.product.dequeue(0).0.unwrap().id, id);
        }
        scene.arrive(arrivals)
    };
    assert_eq!(loses("BBBBB"), []);
    assert_eq!(loses("BBBBBC"), [2], "B is as long as the registered A");
    assert_eq!(loses("BBBBBB"), [7], "now B is registered");
    // If the register did not follow A down, it would still hold A with 7.
}

#[test]
fn turns_are_by_bytes() {
    let mut product = Product::new("drr", &[("limit", "100")], 1);
    for n in 0..10 {
        for (flow, size) in [(0u64, 1000), (1, 1500)] {
            let id = 2 * n + flow as u32;
            product.enqueue(P { id, flow, size, ecn: Ecn::NotEct, t: 0 });
        }
    }
    let served: String =
        (0..10).map(|_| if product.dequeue(0).0.unwrap().flow == 0 { 'A' } else { 'B' }).collect();
    assert_eq!(served, "ABAABABAAB");
}

#[test]
fn backlogged_flows_get_equal_service() {
    // Service of two flows that stay backlogged never differs by more than a quantum and a
    // largest packet each way.
    let mut product = Product::new("drr", &[("limit", "10000")], 1);
    let mut rng = Rng::named(4, "fairness");
    let mut id = 0;
    for _ in 0..800 {
        for flow in 0..5 {
            let size = [40, 552, 1500][rng.below(3) as usize];
            product.enqueue(P { id, flow, size, ecn: Ecn::NotEct, t: 0 });
            id += 1;
        }
    }
    let mut service = [0i64; 5];
    for _ in 0..2500 {
        let packet = product.dequeue(0).0.unwrap();
        service[packet.flow as usize] += i64::from(packet.bytes);
        let (least, most) = (service.iter().min().unwrap(), service.iter().max().unwrap());
        assert!(most - least < 1500 + 1500, "{service:?}");
    }
}

#[test]
fn one_measure_only() {
    let Err(why) = build("drr", &[("limit", "9"), ("limit_bytes", "9000")], 10_000_000) else {
        panic!("two limits accepted")
    };
    assert!(why.to_string().contains("limit = 9"), "{why}");
}
