use agents::prelude::*;

tool! {
    on_error { execution_error(_) => retry() }

    /// Reads.
    #[tool(reads)]
    async fn read() -> Result<u32, String> {
        Ok(1)
    }
}

tool! {
    /// Writes.
    #[tool(writes)]
    async fn write() -> Result<u32, String> {
        Ok(1)
    };

    on_error { execution_error(_) => throw("no") }
}

tool! {
    /// Counts.
    #[tool(none)]
    async fn count() -> Result<u32, String> {
        Ok(1)
    }

    on_error! { execution_error(_) => retry() }
}

tool! {
    /// Lists.
    #[tool(none)]
    async fn list() -> Result<u32, String> {
        Ok(1)
    }

    on_error match error { execution_error(_) => retry() }
}

fn main() {
    let _ = Write;
}
