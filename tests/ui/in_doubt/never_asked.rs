use agents::{in_doubt, prelude::tool as block, tool};

block! {
    /// Reads.
    #[tool(reads)]
    async fn read() -> u32 {
        1
    }

    in_doubt(_) => done("one"),
}

block! {
    /// Counts.
    #[tool(none)]
    async fn count() -> u32 {
        1
    }

    in_doubt(key) => done(key.len()),
}

block! {
    /// Pays.
    #[tool(writes, idempotent)]
    async fn pay() -> u32 {
        1
    }

    in_doubt(_) => not_done(),
}

block! {
    /// Whether it writes is not said.
    #[tool(timeuot = 3)]
    async fn send() -> u32 {
        1
    }

    in_doubt(_) => not_done(),
}

/// Lists.
#[tool(reads)]
async fn list() -> u32 {
    1
}

/// Books.
#[tool(writes, idempotent)]
async fn book() -> u32 {
    1
}

/// Shouts.
#[agents::agent]
fn shout(text: String) -> String {
    text
}

in_doubt!(List, |_| unknown());
in_doubt!(Book, |_| unknown());
in_doubt!(Shout, |_| unknown());
in_doubt!(Boko, |_| unknown());

fn main() {}
