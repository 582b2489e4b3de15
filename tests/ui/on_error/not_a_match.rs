use agents::prelude::*;

struct Clerk;

#[agent(prompt = "You read.")]
impl Clerk {
    /// Reads.
    #[skill]
    async fn read(&self, request: String) -> String;

    on_error! {
        execution_error(_) => retry(),
    }
}

on_error!(Clerk, {
    execution_error(_) => retry(),
});

fn main() {}
