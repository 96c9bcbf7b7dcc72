//! The limit of a queue that gives none, on a link with a kind of access.

use aqm::Line;
use serde_json::{Value as Json, json};

use super::Queue;
use crate::error::ScenarioError;
use crate::memory::construct;
use crate::scenario::access;
use crate::topology::Direction;

/// Fields that limit the backlog of disciplines; those in bytes, as an access gives the limit,
/// first.
const LIMITS: [&str; 3] = ["limit_bytes", "memory_limit", "limit"];
/// Bytes per packet for a discipline whose limit is in packets.
const FULL_PACKET: u64 = 1_500;

/// Reads with `read` the queue written as `json`. If it gives no limit, it gets that of the access:
/// in bytes if the discipline counts bytes, else in full packets.
///
/// # Errors
/// As `read`, and if the discipline refuses such a limit.
pub(super) fn read(
    read: impl Fn(Option<&Json>) -> Result<Queue, ScenarioError>,
    path: &str,
    json: Option<&Json>,
    (access, direction): (Option<&str>, Direction),
    line: &Line,
) -> Result<Queue, ScenarioError> {
    let queue = read(json)?;
    let room = access.and_then(|access| access::limit_bytes(access, direction));
    let (Some(json), Some(bytes)) = (json, room) else { return Ok(queue) };
    let has = |room: &&str| queue.entry.about.fields.iter().any(|field| field.name == *room);
    let known: Vec<&str> = LIMITS.into_iter().filter(has).collect();
    let said = known.iter().any(|room| queue.params.given(room));
    // Mistakes that have nothing to do with the limit are reported later.
    if said || construct(&queue, line).is_err() {
        return Ok(queue);
    }
    let mut refusal = None;
    for room in known {
        let size = if room == "limit" { (bytes / FULL_PACKET).max(1) } else { bytes };
        let mut table = match json {
            Json::String(name) => json!({ "aqm": name }),
            table => table.clone(),
        };
        table[room] = json!(size);
        let roomy = read(Some(&table))?;
        match construct(&roomy, line) {
            Ok(_) => return Ok(roomy),
            Err(bad) => refusal = Some(bad),
        }
    }
    let Some(bad) = refusal else { return Ok(queue) };
    Err(ScenarioError(format!(
        "{path}: the access's room of {bytes} B does not suit it ({bad}); give it a limit of its own"
    )))
}
