use agents::prelude::*;

tool! {
    /// One.
    #[tool(writes)]
    async fn one() -> u32 {
        1
    }

    in_doubt(_) => done(1),
    in_doubt(_) => done(2),
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two() -> u32 {
        2
    }

    in_doubt(_) => done(1),
}

in_doubt!(Two, |_| done(2));

fn main() {}
