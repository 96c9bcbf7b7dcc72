//! Entry point of a program of users, which a live run starts. Its sockets are in environment
//! variables; its task is a line of JSON.

use std::path::PathBuf;

use serde_json::Value;
use sim::Scenario;
use sim::topology::Side;

use crate::fault::{Fault, doing};
use crate::parts::{CONTROL, PARTNER};
use crate::system;
use crate::users::{Channels, Places, Program, Task};

/// Carries out a task, given as JSON: `scenario`, `side`, `pair` (its number, and how many pairs
/// there are), `ipv6`, and `log` (the file for facts).
///
/// # Errors
/// A sentence on the first failure.
pub fn users(text: &str) -> Result<(), Fault> {
    let json: Value = serde_json::from_str(text).map_err(|e| Fault(format!("no JSON: {e}")))?;
    let task = task(&json)?;
    let socket = |name: &'static str| {
        let lost =
            || Fault(format!("{name} is not set: live runs start this program, nobody else"));
        system::inherited(name).ok_or_else(lost)
    };
    let channels = Channels { router: Some(socket(CONTROL)?), partner: socket(PARTNER)? };
    let failed = doing("carry traffic");
    let program = Program::new(&task, channels).map_err(&failed)?;
    let begin = program.wait_for_begin().map_err(&failed)?;
    program.run(begin).map_err(&failed)
}

fn task(json: &Value) -> Result<Task, Fault> {
    let scenario = Scenario::from_json(&json["scenario"].to_string()).map_err(|e| Fault(e.0))?;
    let number = |value: &Value| value.as_u64().and_then(|n| u8::try_from(n).ok());
    let pair = number(&json["pair"][0]).zip(number(&json["pair"][1]));
    let log = json["log"].as_str().map(PathBuf::from);
    let (Some(pair), Some(log)) = (pair, log) else {
        return Err(Fault("a task of users lacks its pair or its log".into()));
    };
    Ok(Task {
        scenario,
        side: if json["side"] == "servers" { Side::Servers } else { Side::Clients },
        pair,
        places: if json["ipv6"] == true { Places::Namespaces6 } else { Places::Namespaces },
        log,
    })
}
