use agents::{prelude::*, tool};

/// Pays.
#[tool(writes)]
async fn pay() -> std::io::Result<()> {
    Ok(())
}

/// Gives away.
#[tool(writes)]
async fn give() {}

struct Clerk;

#[agent(prompt = "You pay.", tools = [Pay, Give])]
impl Clerk {
    /// Pays.
    #[skill]
    async fn settle(&self, request: String) -> String;

    on_error!(Pay, match error {
        execution_error(_) => retry(max_attempts = 2),
    });
    on_error!(match error {
        execution_error(_) => retry(),
    });
}

fn main() {}
