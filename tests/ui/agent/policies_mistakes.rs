use agents::{prelude::*, tool::ToolPolicy};

struct Triage;

#[agent(
    prompt = "You sort issues.",
    policies = [ToolPolicy::new(), ("github_*", ToolPolicy::new(), 3), ..more()],
)]
impl Triage {
    /// Sorts.
    #[skill]
    async fn sort(&self, request: String) -> String;

    on_error!("github_*", match error {
        execution_error(_) => feedback("try later"),
        invalid_output(_, _) => feedback("in words"),
    });
    on_error!("github_*", match error {
        invalid_args(_, _) => feedback("in JSON"),
    });
}

/// Shouts.
#[agent(policies = [("a", ToolPolicy::new())])]
fn shout(text: String) -> String {
    text.to_uppercase()
}

on_error!("github_*", match error {
    execution_error(_) => feedback("try later"),
});

fn main() {
    let _ = ToolPolicy::new();
}
