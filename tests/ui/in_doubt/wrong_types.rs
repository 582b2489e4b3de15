use agents::prelude::*;

struct Silent;

#[derive(serde::Serialize)]
pub struct Receipt;

async fn find(_: &str) -> Result<Option<Receipt>, Silent> {
    Err(Silent)
}

async fn look(_: String) -> Result<Option<u32>, String> {
    Ok(None)
}

tool! {
    /// One.
    #[tool(writes)]
    async fn one() -> Result<Receipt, String> {
        Ok(Receipt)
    }

    in_doubt(key) => match look(key).await? { Some(found) => done(found), None => not_done() },
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two() -> Receipt {
        Receipt
    }

    in_doubt(key) => match find(&key).await? { Some(found) => done(found), None => not_done() },
}

tool! {
    /// Three.
    #[tool(writes)]
    async fn three() -> u32 {
        3
    }

    in_doubt(key) => look(key).await,
}

tool! {
    /// Four.
    #[tool(writes)]
    async fn four() -> Result<u32, String> {
        Ok(4)
    }

    in_doubt(key) => {
        let found = look(key).await??;
        if found > 4 {
            return Receipt;
        }
        done(found)
    }
}

tool! {
    /// Five.
    #[tool(writes)]
    async fn five(
        /// How many.
        count: u32,
    ) -> u32 {
        count
    }

    in_doubt(_) => done(cuont),
}

fn main() {}
