//! The switches of each profile: their defaults, and what the program cannot do.

use super::settings::Profile::{self, Altq, Fj93, Linux, Ns2, Ns2Fixed, Ns3};

/// A switch's value in a profile: free with a default, or fixed for a reason.
pub(super) enum Switch {
    /// The user may choose; this holds otherwise.
    Free(bool),
    /// The program has no choice, because.
    Fixed(bool, &'static str),
}

/// One row per switch that depends on the profile.
pub(super) fn switch_in(profile: Profile, name: &str) -> Switch {
    use Switch::{Fixed, Free};
    match (name, profile) {
        ("gentle", Ns2 | Ns3) => Free(true),
        ("gentle", Altq) => Fixed(false, "ALTQ's RED has no gentle mode"),
        ("gentle", Linux) => Fixed(false, "Linux RED has no gentle mode"),
        ("gentle", _) => Free(false),

        ("wait", Ns2 | Ns2Fixed | Ns3) => Free(true),
        ("wait", Altq) => Fixed(false, "ALTQ has one spacing rule of its own"),
        ("wait", _) => Fixed(false, "the wait rule exists in ns-2 and ns-3 only"),

        ("queue_in_bytes", Ns2) => Free(true),
        ("queue_in_bytes", Altq) => Fixed(false, "ALTQ's RED counts packets"),
        ("queue_in_bytes", Linux) => Fixed(true, "Linux RED counts bytes throughout"),
        ("queue_in_bytes", _) => Free(false),

        ("byte_probability", Ns2 | Ns2Fixed) => Free(true),
        ("byte_probability", Altq) => Fixed(false, "ALTQ's RED counts packets"),
        ("byte_probability", Linux) => {
            Fixed(false, "Linux RED does not scale its probability by packet size")
        }
        ("byte_probability", _) => Free(false),

        ("harddrop", Linux) => Free(false),
        ("harddrop", Fj93 | Ns3) => Free(true),
        ("harddrop", _) => Fixed(true, "this program always drops where the signal is certain"),

        ("use_mark_p", Ns2) => Free(true),
        ("use_mark_p", Ns2Fixed) => {
            Fixed(false, "Harsh RED is defined by its certain drops, which use_mark_p removes")
        }
        ("use_mark_p", _) => Fixed(false, "use_mark_p exists in ns-2 only"),

        ("ns1_compat", Ns2 | Ns2Fixed | Ns3) => Free(false),
        ("ns1_compat", _) => Fixed(false, "ns1_compat exists in ns-2 and ns-3 only"),

        (other, _) => panic!("{other} is no switch of a profile"),
    }
}
