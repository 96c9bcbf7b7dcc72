//! The hash that assigns flows to queues.

use packet::params::{Field, Kind, Params, Value};
use packet::random::{GOLDEN, mix};
use packet::units::Unit;

/// Name of the field that seeds a discipline's hash, for callers that give every run a seed of its
/// own.
pub const HASH_SEED_FIELD: &str = "hash_seed";

/// Parameter `hash_seed` of every discipline that hashes flows. A caller that runs replications
/// draws it from the run's seed ([`HASH_SEED_FIELD`]), so that their mean averages over the hash.
pub(crate) const HASH_SEED: Field = Field::new(
    HASH_SEED_FIELD,
    Kind::whole(Unit::None, 0, 1 << 53),
    Value::Unset,
)
.meaning(
    "Seed of the hash: another one lets other flows collide. A run draws one from its seed, \
         each queue its own; a trial and an embedded queue take 0.",
)
.source(
    "read: Linux hashes with a key drawn at random (sfq_init, sfb_init_perturbation; \
         skb_get_hash's for the others)",
);

/// The seed of the hash of a discipline with these parameters.
pub(crate) fn hash_seed(params: &Params) -> u64 {
    params.whole_or(HASH_SEED_FIELD, 0)
}

/// A seeded hash of a flow.
pub(crate) const fn hash(flow: u64, seed: u64) -> u64 {
    mix(flow ^ mix(seed.wrapping_add(GOLDEN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_spread_consecutive_flows() {
        // 1000 flows in 100 buckets: chi-squared with 99 degrees of freedom exceeds 160 once in
        // 10^4.
        for seed in 0..5 {
            let mut counts = [0f64; 100];
            for flow in 0..1000 {
                counts[(hash(flow, seed) % 100) as usize] += 1.0;
            }
            let chi: f64 = counts.iter().map(|n| (n - 10.0) * (n - 10.0) / 10.0).sum();
            assert!((50.0..160.0).contains(&chi), "seed {seed}: {chi}");
        }
        assert_ne!(hash(1, 1), hash(1, 2));
    }
}
