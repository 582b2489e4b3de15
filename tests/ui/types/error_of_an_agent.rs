use agents::{prelude::*, tool};
use std::error::Error;

struct Lost;

/// Finds.
#[agent]
fn find(what: String) -> Result<String, Lost> {
    let _ = what;
    Err(Lost)
}

struct Clerk;

#[agent]
impl Clerk {
    /// Finds.
    #[skill]
    async fn seek(&self, what: String) -> Result<String, Lost> {
        let _ = what;
        Err(Lost)
    }
}

/// Reads.
#[tool(reads)]
async fn read() -> Result<String, Box<dyn Error>> {
    Ok(std::fs::read_to_string("a.txt")?)
}

/// Waits.
#[tool(none)]
async fn wait() -> Result<(), Lost> {
    Err(Lost)
}

on_error!(Wait, match error {
    execution_error(Returned(e)) => feedback(format!("{e}")),
    execution_error(_) => throw("late"),
});

fn main() {}
