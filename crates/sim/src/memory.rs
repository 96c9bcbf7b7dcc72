//! Free memory of the system: tables that do not fit are refused before an allocation fails, which
//! would end the whole process.

use std::fs;

use aqm::{Built, Line};
use packet::params::BadParams;

use crate::scenario::Queue;

/// Size of tables, in bytes, up to which the system is not queried for free memory.
const LITTLE: u64 = 64 << 20;

/// Builds a discipline with its tables, if there is memory for them.
///
/// # Errors
/// As [`aqm::Entry::construct`]; also if the tables need more memory than is free, even though the
/// allocator would promise it.
pub(crate) fn construct(queue: &Queue, line: &Line) -> Result<Built, BadParams> {
    let little = queue.entry.table_bytes(&queue.params) <= LITTLE;
    construct_in(queue, line, if little { None } else { free_bytes() })
}

fn construct_in(queue: &Queue, line: &Line, free: Option<u64>) -> Result<Built, BadParams> {
    if free.is_some_and(|free| queue.entry.table_bytes(&queue.params) > free) {
        return Err(queue.entry.no_room(&queue.params));
    }
    queue.entry.construct(&queue.params, line)
}

/// Bytes that this process may still allocate, according to Linux: the least of the machine's free
/// memory, what its control group allows, and its own limit (`ulimit -v`). `None` if the system
/// reports none of these.
pub fn free_bytes() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(available);
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = |most: &str, used: &str| Some(number(most)?.saturating_sub(number(used)?));
    let groups = [
        group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        group(
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ];
    let own = read("/proc/self/limits").zip(read("/proc/self/status"));
    let own = own.and_then(|(limits, status)| mappable(&limits, &status));
    groups.into_iter().chain([machine, own]).flatten().min()
}

/// Bytes left between the address-space limit in /proc/self/limits and the memory that is mapped
/// according to /proc/self/status.
fn mappable(limits: &str, status: &str) -> Option<u64> {
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let mapped = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kib: u64 = mapped.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(limit.saturating_sub(kib * 1_024))
}

/// `MemAvailable` of /proc/meminfo plus the free swap space, bytes.
fn available(meminfo: &str) -> Option<u64> {
    let of = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1_024)
    };
    Some(of("MemAvailable:")?.saturating_add(of("SwapFree:").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::topology::Direction;

    #[test]
    fn tables_that_nothing_can_hold_are_a_sentence() {
        let queue = Scenario::from_json(&format!(
            r#"{{"duration": "1 s", "link": [{{"rate": "1 Mbit/s", "forward": {{"aqm": "sfb", "L": 32, "N": {}}}}}], "traffic": [{{"app": "bulk", "flows": 1}}]}}"#,
            1 << 20
        ))
        .unwrap();
        let (queue, line) = (&queue.links[0].queues[0], queue.links[0].line(Direction::Forward));
        let why = |free| construct_in(queue, &line, free).err().map(|bad| bad.to_string());
        assert_eq!(
            why(Some(1_000_000_000)).unwrap(),
            "N: tables of 1.6 GB do not fit into memory; give a smaller number"
        );
    }

    #[test]
    fn what_is_free_is_read_as_linux_writes_it() {
        let said =
            "MemTotal: 16000 kB\nMemFree:  10 kB\nMemAvailable:     12000 kB\nSwapFree: 3 kB\n";
        assert_eq!(available(said), Some(12_003 * 1_024));
        assert_eq!(available("MemAvailable: many kB\n"), None);
        assert_eq!(available(""), None);
    }

    #[test]
    fn a_limit_of_ones_own_leaves_what_is_not_mapped() {
        let limits = |soft: &str| {
            format!(
                "Limit  Soft Limit  Units\nMax address space         {soft}  unlimited  bytes\n"
            )
        };
        let status = "Name: x\nVmSize:\t    1000 kB\n";
        assert_eq!(mappable(&limits("5000000"), status), Some(5_000_000 - 1_024_000));
        assert_eq!(mappable(&limits("1"), status), Some(0));
        assert_eq!(mappable(&limits("unlimited"), status), None);
        assert_eq!(mappable("", status), None);
    }

    #[test]
    fn tables_that_just_fit_are_built() {
        let text = r#"{"duration": "1 s", "link": [{"rate": "1 Mbit/s", "forward": "sfb"}], "traffic": [{"app": "bulk", "flows": 1}]}"#;
        let scenario = Scenario::from_json(text).unwrap();
        let (queue, line) =
            (&scenario.links[0].queues[0], scenario.links[0].line(Direction::Forward));
        let bytes = queue.entry.table_bytes(&queue.params);
        assert!(bytes > 0 && construct_in(queue, &line, Some(bytes)).is_ok());
        assert!(construct_in(queue, &line, Some(bytes - 1)).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_says_what_is_free() {
        assert!(free_bytes().is_some_and(|bytes| bytes > 1_000_000));
    }
}
