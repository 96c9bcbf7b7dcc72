//! The tests of this crate from outside as one program: a new file needs its line here.

mod accurate_ecn;
mod bursts;
mod delayed_acks;
mod dialogues;
mod ecn;
mod giving_up;
mod golden;
mod host_clocks;
mod idle_restart;
mod lab;
mod linux_rules;
mod loss_laws;
mod newreno;
mod openings;
mod parameter_ranges;
mod profiles_and_controls;
mod properties;
mod quic;
mod rack_sender;
mod registry;
mod responses;
mod sender_rules;
mod spurious_timeouts;
mod throughput;
