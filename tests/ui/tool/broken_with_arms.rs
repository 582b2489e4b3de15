use agents::{prelude::*, tool};
use std::io::{self, ErrorKind};

/// Reads.
#[tool(reads)]
async fn read(path: &str) -> io::Result<String> {
    Ok(path.to_owned())
}

on_error!(Read, match error {
    execution_error(Returned(e)) if e.kind() == ErrorKind::NotFound => throw("gone"),
    execution_error(_) => retry(),
});

struct Clerk;

#[agent(prompt = "You read.", tools = [Read])]
impl Clerk {
    /// Works.
    #[skill]
    async fn work(&self, request: String) -> String;

    on_error!(Read, match error {
        execution_error(Returned(e)) if e.kind() == ErrorKind::NotFound => throw("gone"),
        execution_error(_) => retry(),
    });
}

fn main() {}
