use agents::prelude::*;

tool! {
    /// One.
    #[tool(writes)]
    async fn one(
        /// How many.
        amount: u32,
    ) -> u32 {
        amount
    }

    undo(count, amount) match count { 0 => undone(), _ => conflict("more") }
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two(
        /// How many.
        count: u32,
    ) -> u32 {
        count
    }

    undo(count) -> conflict(count.to_string()),
}

tool! {
    /// Three.
    #[tool(writes)]
    async fn three() -> u32 {
        3
    }

    undo(count: u32) { conflict(count.to_string()) }
    on_error { execution_eror(_) => throw("no") }
}

tool! {
    /// Four.
    #[tool(writes)]
    async fn four() -> u32 {
        4
    }

    undo => undone();
}

tool! {
    /// Five.
    #[tool(writes)]
    async fn five() -> u32 {
        5
    }

    undo(count) =>
}

tool! {
    /// Six.
    #[tool(writes)]
    async fn six() -> u32 {
        6
    }

    unod(_) => undone(),
}

fn main() {
    let _ = (One, Two, Three, Four, Five, Six);
}
