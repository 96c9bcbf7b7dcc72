//! Profile `altq`: ALTQ on FreeBSD (the testbeds of Christiansen et al. and Le et al.).

use packet::Duration;

use super::fj93;
use crate::algorithms::red::altq::Altq;
use crate::algorithms::red::gate;
use crate::algorithms::red::profile::{IdleClock, Limits, Profile, Program, Switch};
use crate::by_profile::{Stated, stated};

const PACKETS: &str = "ALTQ's RED counts packets";

pub(crate) const PROFILE: Profile = Profile {
    name: "altq",
    program: Program::Altq,
    judge: |settings| Ok(gate(Altq::new(settings)?, settings)),
    w_q: Stated::new(
        // ALTQ truncates the packets per second before it compares them with 300 and 50.
        |given| match (given.clock.packet_secs() * 1e6 + 0.5) as u64 {
            0..=3333 => 1.0 / 512.0,
            3334..=20_000 => 1.0 / 128.0,
            _ => 1.0 / 64.0,
        },
        "1/512 (1/128 below 300 packets/s, 1/64 below 50)",
    ),
    max_p: stated!(0.1),
    idle_packet_time: Stated::new(
        IdleClock::Fixed(Duration::from_micros(800)),
        "800 us, or mean_packet_bytes at the line's rate if that is given",
    ),
    limits: Limits::AtLeastMaxTh,
    gentle: Switch::Fixed(false, "ALTQ's RED has no gentle mode"),
    queue_in_bytes: Switch::Fixed(false, PACKETS),
    byte_probability: Switch::Fixed(false, PACKETS),
    harddrop: Switch::Fixed(true, "this program always drops where the signal is certain"),
    ..fj93::PROFILE
};
