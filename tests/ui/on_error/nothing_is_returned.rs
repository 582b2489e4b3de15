use agents::{prelude::*, tool};

tool! {
    /// Tells the time.
    #[tool(none)]
    async fn tell_time() -> String {
        "noon".to_owned()
    }

    on_error {
        execution_error(Returned(e)) => feedback(format!("{e}")),
        execution_error(TimedOut(_) | Failure::Returned(_)) => throw("late"),
    }
}

/// Waits.
#[tool(none)]
async fn wait() {}

on_error!(Wait, match error {
    execution_error(Returned(_)) => escalate("never"),
    execution_error(Panicked(said)) => escalate(said.to_owned()),
});

struct Clerk;

#[agent(prompt = "You wait.", tools = [Wait])]
impl Clerk {
    /// Waits.
    #[skill]
    async fn idle(&self, request: String) -> String;

    on_error!(Wait, match error {
        execution_error(Returned(_)) => throw("never"),
    });
    on_error!(match error {
        execution_error(Returned(e)) => throw(e.to_string()),
    });
}

fn main() {}
