use agents::{prelude::*, tool};

struct Lost {
    far: bool,
}

/// Finds.
#[tool(none)]
async fn find() -> Result<String, Lost> {
    Err(Lost { far: true })
}

on_error!(Find, match error {
    execution_error(Returned(e)) if e.far => escalate("too far"),
    execution_error(Returned(Lost { .. })) => retry(),
});

tool! {
    /// Seeks.
    #[tool(none)]
    async fn seek() -> Result<String, Lost> {
        Err(Lost { far: false })
    }

    on_error {
        execution_error(Returned(Lost { far })) => feedback(far.to_string()),
    }
}

fn main() {}
