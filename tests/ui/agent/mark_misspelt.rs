use agents::prelude::*;

struct Clerk;

#[agent(prompt = "You file things.")]
impl Clerk {
    /// Files.
    #[skil]
    async fn file(&self, request: String) -> String;

    /// Counts.
    #[skills(when = |request: &String| request.contains("many"))]
    fn count(&self, request: String) -> String {
        request.len().to_string()
    }
}

fn main() {}
