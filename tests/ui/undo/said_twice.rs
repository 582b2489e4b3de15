use agents::prelude::*;

tool! {
    /// One.
    #[tool(writes)]
    async fn one() -> u32 {
        1
    }

    undo(_) => undone(),
    undo(_) => conflict("no"),
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two() -> u32 {
        2
    }

    undo(_) => undone(),
}

undo!(Two, |_| undone());

fn main() {}
