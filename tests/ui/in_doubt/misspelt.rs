use agents::prelude::*;

tool! {
    /// One.
    #[tool(writes)]
    async fn one() -> u32 {
        1
    }

    indoubt(key) => done(key),
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two() -> u32 {
        2
    }

    on_eror { execution_error(_) => throw("no") }
    in_doubts(key) => { let _ = key; unknown() }
}

tool! {
    /// Three.
    #[tool(writes)]
    async fn three() -> u32 {
        3
    }

    interrupted(_) => not_done(),
}

tool! {
    /// Four.
    #[tool(writes)]
    async fn four() -> u32 {
        4
    }

    in_doubt(_) => notdone(),
}

fn main() {
    let _ = (One, Two, Three, Four);
}
