use agents::{prelude::*, tool};

/// Mends.
#[agent]
fn mender(broken: String) -> String {
    broken
}

tool! {
    /// Pays.
    #[tool(writes)]
    async fn pay(
        /// Euros.
        euros: u32,
    ) -> Result<u32, String> {
        Ok(euros)
    }

    on_error {
        execution_error(TimedOut(_)) => fix(r#"{"euros": 1}"#),
        execution_error(Panicked(_)) if cx.attempt() == 1 => fix(agent = Mender).or(feedback("no")),
        execution_error(_) => fix(r#"{"euros": 2}"#),
    }
}

/// Gives away.
#[tool(writes)]
async fn give() {}

/// Looks.
#[tool(reads)]
async fn look() {}

/// Puts.
#[tool(writes, idempotent)]
async fn put() {}

struct Clerk;

#[agent(prompt = "You pay.", tools = [Give, Look, Put])]
impl Clerk {
    /// Pays.
    #[skill]
    async fn settle(&self, request: String) -> String;

    on_error!(Put, match error {
        execution_error(TimedOut(_) | Panicked(_)) => fix("{}"),
    });
    on_error!(match error {
        execution_error(TimedOut(_) | Panicked(_)) => fix("{}"),
    });
}

fn main() {}
