use agents::prelude::*;

struct Clerk;

#[agent(promt = "You file things.", budjet(max_turn = 3))]
impl Clerk {
    /// Files.
    #[skill(wen = |request: &String| request.is_empty())]
    async fn file(&self, request: String) -> String;
}

tool! {
    /// Adds.
    #[tool(nonne)]
    async fn add() -> u32 { 3 }
}

fn main() {}
