use agents::prelude::*;

tool! {
    /// One.
    #[tool(writes)]
    async fn one() -> u32 {
        1
    }

    in_doubt(key, amount) match key.len() { 0 => not_done(), _ => unknown() }
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two() -> u32 {
        2
    }

    in_doubt(key) -> done(key.len()),
}

tool! {
    /// Three.
    #[tool(writes)]
    async fn three() -> u32 {
        3
    }

    in_doubt(key: String) { done(key) }
    on_error { execution_eror(_) => throw("no") }
}

tool! {
    /// Four.
    #[tool(writes)]
    async fn four() -> u32 {
        4
    }

    in_doubt => async move { done("four") };
}

tool! {
    /// Five.
    #[tool(writes)]
    async fn five() -> u32 {
        5
    }

    in_doubt!(Five, |key| unknown())
    on_error { execution_error(_) => thrwo("no") }
}

tool! {
    /// Six.
    #[tool(writes)]
    async fn six() -> u32 {
        6
    }

    in_doubt { unknown() }
}

tool! {
    /// Seven.
    #[tool(writes)]
    async fn seven() -> u32 {
        7
    }

    in_doubt(Some(key)) =>
}

fn main() {
    let _ = (One, Two, Three, Four, Five, Six, Seven);
}
