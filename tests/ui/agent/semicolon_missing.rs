use agents::prelude::*;

struct Crew;

#[agent(prompt = "You sail.")]
impl Crew {
    /// Sails.
    #[skill]
    async fn sail(&self, question: String) -> Option<String>

    /// Rows.
    #[skill(when = |question: &String| undefined(question))]
    async fn row(&self, question: String) -> Option<String>;
}

tool! {
    /// Drifts.
    #[tool(none)]
    async fn drift()

    on_error {
        execution_error(_) => throw("lost"),
    }
}

fn main() {
    let _ = (Crew, Drift);
}
