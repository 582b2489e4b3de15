use agents::{prelude::*, tool};
use std::{fmt, io};

#[derive(Debug)]
enum Jam {
    Shut,
    Blocked(u32),
    Far { miles: u32 },
}

impl fmt::Display for Jam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("jammed")
    }
}

impl std::error::Error for Jam {}

/// Moves a crate.
#[tool(none)]
async fn move_crate() -> Result<String, Jam> {
    Err(Jam::Blocked(3))
}

/// Reads a file.
#[tool(reads)]
async fn read_file() -> io::Result<String> {
    Ok(String::new())
}

struct Terminal;

#[agent(prompt = "You move crates.", tools = [MoveCrate, ReadFile])]
impl Terminal {
    /// Moves.
    #[skill]
    async fn go(&self, request: String) -> String;

    on_error!(match error {
        execution_error(Returned(Jam::Shut)) => escalate("jammed"),
        execution_error(Returned(&Jam::Blocked(by))) if by > 3 => throw(format!("by {by}")),
        execution_error(Jam::Far { miles }) => feedback(format!("{miles} miles")),
        execution_error(Returned(Jam::Shut) | TimedOut(_)) => retry(),
        execution_error(Returned(e)) => match e {
            Jam::Blocked(by) => feedback(format!("by {by}")),
            _ => retry(),
        },
        execution_error(Returned(e)) if e.kind() == io::ErrorKind::NotFound => throw("gone"),
        execution_error(why) => match why {
            Jam::Shut => throw("shut"),
            _ => retry(),
        },
    });
}

struct Depot;

#[agent(prompt = "You move crates.", tools = [MoveCrate, ReadFile])]
impl Depot {
    /// Moves.
    #[skill]
    async fn go(&self, request: String) -> String;

    // As the messages say.
    on_error!(match error {
        execution_error(Returned(e)) if let Some(Jam::Shut) = e.downcast_ref() => throw("shut"),
        execution_error(Returned(e)) if let Some(e) = e.downcast_ref::<io::Error>() => {
            throw(e.to_string())
        }
        execution_error(Returned(e)) => match e.downcast_ref() {
            Some(Jam::Blocked(by)) => feedback(format!("by {by}")),
            _ => retry(),
        },
    });
    on_error!(MoveCrate, match error {
        execution_error(Returned(Jam::Shut)) => escalate("jammed", severity = Severity::Low),
    });
}

fn main() {}
