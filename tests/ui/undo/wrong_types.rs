use agents::{prelude::{tool as block, *}, tool};

struct Silent;

/// What was changed.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Change {
    previous: String,
}

/// This cannot be read back.
#[derive(serde::Serialize)]
pub struct Receipt {
    id: u32,
}

async fn restore(_: u32, _: String) -> Result<(), Silent> {
    Err(Silent)
}

async fn remove(_: u32) -> Result<u32, String> {
    Ok(1)
}

block! {
    /// One.
    #[tool(writes)]
    async fn one(/** Which. */ id: u32) -> Result<Change, String> {
        Ok(Change { previous: id.to_string() })
    }

    undo(change) => remove(change.previuos).await.map(|_| undone()),
}

block! {
    /// Two.
    #[tool(writes)]
    async fn two() -> Result<Receipt, String> {
        Ok(Receipt { id: 2 })
    }

    undo(receipt) => remove(receipt.id).await.map(|_| undone()),
}

/// Three.
#[tool(writes)]
async fn three() -> Receipt {
    Receipt { id: 3 }
}

undo!(Three, |receipt| {
    remove(receipt.id).await?;
    Ok(undone())
});

block! {
    /// Four.
    #[tool(writes)]
    async fn four(/** Which. */ id: u32) -> Change {
        Change { previous: id.to_string() }
    }

    undo(change) => restore(id, change.previous).await,
}

block! {
    /// Five.
    #[tool(writes)]
    async fn five(/** Which. */ id: u32) -> u32 {
        id
    }

    undo(_) => remove(id).await,
}

block! {
    /// Six.
    #[tool(writes)]
    async fn six(/** Which. */ id: u32) -> u32 {
        id
    }

    undo(_) => remove(id),
}

block! {
    /// Seven.
    #[tool(writes)]
    async fn seven() -> Option<u32> {
        None
    }

    undo(Some(id)) => remove(id).await.map(|_| undone()),
}

fn main() {}
