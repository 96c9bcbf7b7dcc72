//! The limit of a queue that gives none, where its link is of a kind of access.

use aqm::Line;
use serde_json::{Value as Json, json};

use super::Queue;
use crate::error::ScenarioError;
use crate::memory::construct;
use crate::scenario::access;
use crate::topology::Direction;

/// Fields by which disciplines say how much may wait, the nearest to an access's bytes first.
const LIMITS: [&str; 3] = ["limit_bytes", "memory_limit", "limit"];
/// A packet of an access whose room is counted in packets, bytes.
const FULL_PACKET: u64 = 1_500;

/// The queue written as `json`, which `read` reads. Where that says nothing of its room, it has the access's: in bytes
/// where the discipline counts them, else in full packets.
///
/// # Errors
/// As `read`, and if the discipline can do nothing with such a room.
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
    // What is wrong without it is said later.
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
