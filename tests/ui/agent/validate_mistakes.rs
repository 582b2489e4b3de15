use agents::prelude::*;

struct Desk;

#[agent(prompt = "You count.", validate = |count: u32| self.check(count))]
impl Desk {
    async fn count(&self, text: String) -> u32;

    async fn check(&self, count: u32) -> bool {
        count < 10
    }
}

struct Other;

#[agent(prompt = "You count.", validate = |count| self.check(count))]
impl Other {
    async fn count(&self, text: String) -> u32;

    fn check(&self, name: String) -> Result<(), String> {
        Err(name)
    }
}

/// You guess.
#[agent(validate = "count < 10")]
async fn guess(text: String) -> u32;

/// Shouts.
#[agent(validate = |_| Ok::<(), String>(()))]
fn shout(text: String) -> String {
    text.to_uppercase()
}

fn main() {}
