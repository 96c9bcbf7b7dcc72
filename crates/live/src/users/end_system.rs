//! Maps a scenario's end systems to the running kernel: socket options, settings of the namespaces,
//! and a list of properties that the kernel cannot imitate.
//!
//! Settings of a namespace hold for all groups, so groups must agree on them. The kernel describes
//! them in Documentation/networking/ip-sysctl.rst. One relation was measured: a receive buffer of
//! 28,672 B gives a window of 16,060 B; buffers for other windows are scaled from that.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use packet::params::{Params, Value};
use rustix::net::sockopt;
use sim::scenario::{Scenario, Traffic};
use tcp::Profile;

use super::kernel::set_tcp_option;

/// TCP_NOTSENT_LOWAT: a program writes only while less than these bytes wait unsent in the socket.
/// The limit is low, so that [`Action::Stop`](traffic::Action::Stop) leaves little unsent data.
const UNSENT: i32 = 64 << 10;

/// Names of our congestion controls, each with the kernel's name. The kernel's BBR is version 1.
const CONTROLS: &[(&str, &str)] = &[
    ("reno", "reno"),
    ("rfc5681", "reno"),
    ("cubic", "cubic"),
    ("bbr", "bbr"),
    ("dctcp", "dctcp"),
    ("vegas", "vegas"),
    ("vegas-linux", "vegas"),
    ("nv", "nv"),
    ("westwood", "westwood"),
    ("htcp", "htcp"),
];

/// Options of a group's sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// The kernel's congestion control.
    pub congestion: String,
    /// TCP_MAXSEG in bytes; `None` for the segment size of the MTU.
    pub segment: Option<u16>,
}

impl SocketOptions {
    /// Sets the options on a socket.
    ///
    /// # Errors
    /// A sentence, if the kernel does not have the congestion control; else the kernel's error.
    pub fn set(&self, socket: &OwnedFd) -> io::Result<()> {
        sockopt::set_tcp_congestion(socket, &self.congestion).map_err(|error| {
            let name = &self.congestion;
            io::Error::other(format!(
                "this kernel lends no congestion control \"{name}\" ({error}); load it as root with modprobe tcp_{name}"
            ))
        })?;
        // The simulator's senders do not use Nagle's algorithm.
        sockopt::set_tcp_nodelay(socket, true)?;
        set_tcp_option(socket, libc::TCP_NOTSENT_LOWAT, UNSENT)?;
        match self.segment {
            Some(bytes) => set_tcp_option(socket, libc::TCP_MAXSEG, bytes.into()),
            None => Ok(()),
        }
    }
}

/// Settings for the namespaces of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Values of sysctls, by the name below `/proc/sys/net/ipv4`.
    pub sysctls: BTreeMap<&'static str, String>,
    /// Initial congestion window in segments (`initcwnd` of the routes); `None` for the kernel's
    /// default.
    pub initial_window: Option<u32>,
    /// Whether receivers acknowledge every segment at once (`quickack` of the routes).
    pub quick_acks: bool,
    /// Properties of the end systems that the kernel cannot imitate, a sentence each.
    pub missing: Vec<String>,
}

/// The socket options for a group with this profile.
pub fn socket_options(group: &Traffic, profile: &Profile) -> SocketOptions {
    let congestion = kernels(profile.control_name());
    let mss = group.tcp.whole("mss");
    // The timestamps option takes 12 B of the segment size, in the kernel as in the simulator.
    let segment = (mss != 1_460).then_some(mss as u16);
    SocketOptions { congestion: congestion.unwrap_or("reno").to_owned(), segment }
}

/// Refuses scenarios with QUIC, which the kernel does not have.
///
/// # Errors
/// A sentence, if a group uses QUIC or its parameters contradict each other.
pub fn refuse_quic(scenario: &Scenario) -> Result<(), String> {
    tcp_groups(scenario).try_for_each(|group| end_system(group).map(drop))
}

/// The groups that use connections, not datagrams.
fn tcp_groups(scenario: &Scenario) -> impl Iterator<Item = &Traffic> {
    scenario.traffic.iter().filter(|group| !group.entry.datagrams)
}

/// The profile of a group's end systems; an error if they use QUIC.
fn end_system(group: &Traffic) -> Result<Profile, String> {
    let profile = group.end_system().map_err(|error| error.to_string())?;
    if profile.has_streams() {
        return Err(format!(
            "traffic {}: a live run has the TCP of its kernel, which has no QUIC; write tcp = \"linux\", or simulate the scenario",
            group.name
        ));
    }
    Ok(profile)
}

/// The kernel's name for one of our congestion controls.
fn kernels(control: &str) -> Option<&'static str> {
    CONTROLS.iter().find(|(ours, _)| *ours == control).map(|(_, kernels)| *kernels)
}

/// The settings for the namespaces of a scenario.
///
/// # Errors
/// A sentence, if groups need different values of a setting, or use QUIC.
pub fn settings(scenario: &Scenario) -> Result<Settings, String> {
    refuse_quic(scenario)?;
    let mut all = Settings::default();
    let mut said: BTreeMap<&str, &str> = BTreeMap::new();
    for group in tcp_groups(scenario) {
        let control = end_system(group)?.control_name();
        let one = Reader { group, tcp: &group.tcp, control }.settings();
        for (name, value) in one.sysctls {
            let before = all.sysctls.insert(name, value.clone());
            if let Some(before) = before.filter(|before| *before != value) {
                let first = said[name];
                return Err(format!(
                    "traffic {}: its end systems need {name} = {value}, those of {first} {before}, and a live run has one kernel for all; give both the same profile",
                    group.name
                ));
            }
            said.insert(name, &group.name);
        }
        if all.initial_window.is_some_and(|before| Some(before) != one.initial_window) {
            return Err(format!(
                "traffic {}: its initial_window is not that of the other groups, and a live run has one for all; give all the same",
                group.name
            ));
        }
        all.initial_window = one.initial_window;
        all.quick_acks |= one.quick_acks;
        all.missing.extend(one.missing);
    }
    Ok(all)
}

/// Derives settings from a group's profile and parameters.
struct Reader<'a> {
    group: &'a Traffic,
    tcp: &'a Params,
    /// Our name of the group's congestion control.
    control: &'static str,
}

impl Reader<'_> {
    fn has(&self, field: &str) -> bool {
        self.group.profile.about.fields.iter().any(|each| each.name == field)
    }

    fn switch(&self, field: &str) -> bool {
        self.has(field) && self.tcp.switch(field)
    }

    fn settings(&self) -> Settings {
        let recovery = if self.has("recovery") { self.tcp.choice("recovery") } else { "sack" };
        let rack = recovery == "rack";
        let on = |flag: bool| u8::from(flag).to_string();
        let mut sysctls = BTreeMap::from([
            ("tcp_sack", on(matches!(recovery, "rack" | "sack" | "sack1"))),
            ("tcp_dsack", on(rack)),
            ("tcp_recovery", on(rack)),
            // The tail loss probe came with RACK (RFC 8985 section 7).
            ("tcp_early_retrans", if rack { "3" } else { "0" }.to_owned()),
            ("tcp_timestamps", on(self.switch("timestamps"))),
            ("tcp_frto", if self.switch("f_rto") { "2" } else { "0" }.to_owned()),
            ("tcp_ecn", on(self.asks_for_ecn())),
            ("tcp_ecn_fallback", on(!self.has("ecn_fallback") || self.tcp.switch("ecn_fallback"))),
            ("tcp_slow_start_after_idle", on(self.switch("idle_restart"))),
            ("tcp_no_metrics_save", on(!self.switch("host_cache"))),
            ("tcp_no_ssthresh_metrics_save", on(!self.switch("cache_ssthresh"))),
            ("tcp_autocorking", on(false)),
            ("tcp_fastopen", on(false)),
            ("tcp_reordering", self.tcp.whole_or("dupack_threshold", 3).to_string()),
        ]);
        self.window(&mut sysctls);
        self.handshake(&mut sysctls);
        Settings {
            sysctls,
            initial_window: Some(self.tcp.whole("initial_window") as u32),
            quick_acks: self.tcp.whole_or("ack_every", 2) == 1
                || self.tcp.real("delayed_ack") == 0.0,
            missing: self.missing(recovery),
        }
    }

    fn asks_for_ecn(&self) -> bool {
        let needs = matches!(self.control, "dctcp" | "prague");
        self.tcp.switch_or("ecn", needs)
    }

    /// Sets the receive buffer for the largest window; the kernel offers a part of the buffer as
    /// window.
    fn window(&self, sysctls: &mut BTreeMap<&'static str, String>) {
        let bytes = self.tcp.whole("window_bytes");
        let grows = self.switch("autotuning");
        // A window that grows up to the profile's default needs no setting: the kernel's grows too,
        // up to its own limit.
        let mut fields = self.group.profile.about.fields.iter();
        let usual = fields.find(|field| field.name == "window_bytes");
        if grows && usual.is_some_and(|field| field.default == Value::Whole(bytes)) {
            return;
        }
        let buffer = (bytes * 28_672).div_ceil(16_060);
        let first = if grows { buffer.min(131_072) } else { buffer };
        sysctls.insert("tcp_rmem", format!("{} {first} {buffer}", buffer.min(4_096)));
        sysctls.insert("tcp_moderate_rcvbuf", u8::from(grows).to_string());
        sysctls.insert("tcp_window_scaling", u8::from(bytes > 65_535).to_string());
    }

    fn handshake(&self, sysctls: &mut BTreeMap<&'static str, String>) {
        let mut set = |field: &str, name: &'static str| {
            if self.has(field) && self.tcp.given(field) {
                sysctls.insert(name, self.tcp.whole(field).to_string());
            }
        };
        set("syn_retries", "tcp_syn_retries");
        set("synack_retries", "tcp_synack_retries");
        let linear = if self.has("syn_linear") { self.tcp.whole_or("syn_linear", 4) } else { 0 };
        sysctls.insert("tcp_syn_linear_timeouts", linear.to_string());
    }

    fn missing(&self, recovery: &str) -> Vec<String> {
        let mut out = Vec::new();
        let name = &self.group.name;
        let mut lacks = |what: String| out.push(format!("traffic {name}: {what}"));
        let control = self.control;
        if kernels(control).is_none() {
            lacks(format!("the kernel has no congestion control {control}; it runs reno"));
        }
        if control == "bbr" {
            lacks("the kernel's bbr is version 1".into());
        }
        if matches!(recovery, "reno" | "tahoe") {
            lacks(format!("the kernel has no {recovery} recovery; it runs newreno"));
        }
        let real = |field: &str| if self.has(field) { self.tcp.real_or(field, -1.0) } else { -1.0 };
        for (field, kernels) in [("rto_initial", 1.0), ("rto_min", 0.2), ("delayed_ack", 0.04)] {
            let requested = real(field);
            if requested >= 0.0
                && requested != kernels
                && !(field == "delayed_ack" && requested == 0.0)
            {
                lacks(format!("{field} is {requested} s, the kernel's {kernels} s"));
            }
        }
        if real("tick") > 0.0 {
            lacks(format!("timers count ticks of {} s, the kernel's do not", real("tick")));
        }
        for field in ["small_write_split", "pacing", "classic_fallback"] {
            if self.switch(field) {
                lacks(format!("{field} is not the kernel's"));
            }
        }
        if self.has("delayed_ack_clock") && self.tcp.choice("delayed_ack_clock") != "connection" {
            lacks("acknowledgements wait for a timer of the connection, not of the host".into());
        }
        if self.has("beta_ecn") && self.tcp.given("beta_ecn") {
            lacks("the kernel has no beta_ecn (ABE)".into());
        }
        if !self.group.script.is_empty() {
            lacks("its script is not played".into());
        }
        out
    }
}
