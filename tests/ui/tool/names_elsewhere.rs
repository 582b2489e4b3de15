//! A mistake in one macro hides no other: neither the user's items beside it nor names that there are not.
use agents::{prelude::*, tool};

/// Reads a file.
#[tool(reads, timeuot = std::time::Duration::from_secs(2))]
async fn read_file(
    /// Where it is.
    path: String,
) -> String {
    read_all(path).await
}

/// Writes a file.
#[tool]
async fn write_file(
    /// Where it is.
    place: Place,
) -> String {
    place.0
}

/// Shouts.
#[agent(descripton = "loud")]
fn shout(text: String) -> String {
    text.to_uppercas()
}

on_error!(ReadFile, match error {
    invalid_arg(raw, _) => fix(clean(raw)),
});

struct Clerk;

#[agent(tools = [ReadFile, WriteFile])]
impl Clerk {
    /// Files.
    #[skill]
    async fn file(&self, request: String) -> String;

    fn helper(&self) -> u32 {
        unknown_helper()
    }
}

impl Clerk {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file(&self) -> String {
        unknown_method()
    }
}

fn main() {
    let _ = read_file(undefined_path());
    let _ = (ReadFile, WriteFile, Shout, Clerk.helper());
}
