use agents::prelude::*;

/// You sum up.
#[agent(rename = "sum", system = "You sum.", temperature = 0.0)]
async fn sum_up(text: String) -> String;

/// You count.
#[agent("You count.")]
async fn count(text: String) -> u32;

/// You guess.
#[agent(prompt = 5, description = true)]
async fn guess(text: String) -> u32;

struct Clerk;

#[agent(prompt = "You are a clerk.", skills = [answer])]
impl Clerk {
    /// Answers.
    #[skill(prompt = "You answer.")]
    async fn answer(&self, text: String) -> String;

    /// Counts.
    #[skill("counts")]
    async fn count(&self, text: String) -> String;
}

fn main() {}
