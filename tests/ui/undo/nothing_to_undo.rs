use agents::{prelude::tool as block, tool, undo};

block! {
    /// Reads.
    #[tool(reads)]
    async fn read() -> u32 {
        1
    }

    undo(_) => undone(),
}

block! {
    /// Counts.
    #[tool(none)]
    async fn count() -> u32 {
        1
    }

    undo(_) => undone(),
}

block! {
    /// Sends an email.
    #[tool(writes, external, irreversible = "an email cannot be unsent")]
    async fn send() -> u32 {
        1
    }

    undo(_) => undone(),
}

/// Lists.
#[tool(reads, irreversible = "what was read cannot be unread")]
async fn list() -> u32 {
    1
}

/// Calls.
#[tool(writes, irreversible = "a call cannot be taken back")]
async fn call() -> u32 {
    1
}

/// Looks.
#[tool(reads)]
async fn look() -> u32 {
    1
}

undo!(Call, |_| undone());
undo!(Look, |_| undone());
undo!(Clal, |_| undone());

fn main() {}
