use agents::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Summary;

/// You sum up.
#[agent]
async fn sum_up(text: String) -> Summary;

struct Manager;

#[agent(prompt = "You manage.")]
impl Manager {
    /// Manages.
    #[skill]
    async fn manage(&self, request: String) -> Summary;
}

fn main() {}
