use agents::prelude::*;

struct Fixer;

#[agent(prompt = "You fix.")]
impl Fixer {
    /// Fixes.
    #[skill]
    async fn fix(&self, text: String) -> String;

    /// House style.
    #[knowledge]
    fn style(&self) -> &'static str {
        "tidy"
    }
}

fn main() {}
