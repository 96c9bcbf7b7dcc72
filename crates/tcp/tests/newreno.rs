//! How long a recovery without selective acknowledgements may take: RFC 6582, section 4.

use crate::lab::{S, World, ms, profile, secs};
use aqmlab_tcp::HostClock;
use packet::params::Raw;

/// Timeouts of a reply whose first flight of 80 segments loses every second one, 100 ms away.
fn timeouts(name: &str) -> u32 {
    let settings = [
        ("recovery", Raw::Text("newreno".into())),
        ("initial_window", Raw::Number(80.0)),
        ("window_bytes", Raw::Number(200_000.0)),
    ];
    let clock = HostClock { slow: ms(430), fast: ms(170) };
    let mut world = World::new(&profile(name, &settings), [clock; 2], 200_000);
    world.run(secs(300.0), &mut |s| s.side == S && s.data_number <= 80 && s.data_number % 2 == 1);
    let counters = world.ends[S].counters();
    assert!(counters.resent_data >= 40, "{name}");
    counters.timeouts
}

/// A hole for each round trip takes 4 s, longer than a timeout of 1 s (`plain`) or, where none is
/// measured, 3 s: the impatient have one, those that restart the timer each time do not.
#[test]
fn many_losses_end_in_a_timeout_of_the_impatient() {
    for (name, expected) in [("plain", 1), ("ns2", 1), ("ns2-full", 0)] {
        assert_eq!(timeouts(name), expected, "{name}");
    }
}
