use agents::{prelude::*, tool};

/// Pays.
#[tool(writes)]
async fn pay(
    /// How much.
    cents: u32,
) -> std::io::Result<()> {
    let _ = cents;
    Ok(())
}

struct Clerk;

#[agent(prompt = "You are a clerk.", tools = [Pay])]
impl Clerk {
    /// Pays bills.
    #[skill(tools = [Pay])]
    async fn bills(&self, task: String) -> String;

    /// Greets.
    #[skill(when = |name| name.len() < 9)]
    fn greet(&self, name: String) -> String {
        name
    }

    on_error!(Self::bils, match error {
        invalid_args(_, _) => feedback("digits"),
    });

    on_error!(Self::greet, match error {
        invalid_args(_, _) => feedback("digits"),
    });

    on_error!(Self::bills, match error {
        invalid_args(_, _) => feedback("digits"),
    });

    on_error!(Self::bills, match error {
        execution_error(_) => feedback("later"),
    });
}

struct Payer;

#[agent(prompt = "You are a payer.", tools = [Pay])]
impl Payer {
    /// Pays bills.
    #[skill(tools = [Pay])]
    async fn bills(&self, task: String) -> String;

    on_error!(Self::bills, match error {
        execution_error(_) => retry(max_attempts = 2),
    });
}

fn main() {}
