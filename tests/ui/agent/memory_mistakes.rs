use agents::{memory::MemoryBank, prelude::*};

struct Clerk {
    bank: MemoryBank,
}

#[agent(prompt = "You are a clerk.", memory = self.bank.clone())]
impl Clerk {
    /// Counts.
    #[skill]
    async fn count(&self, request: String) -> String;
}

struct Forgetful;

#[agent(prompt = "You are a clerk.")]
impl Forgetful {
    /// Notes.
    #[skill(memory)]
    async fn note(&self, request: String) -> String;

    /// Answers by itself.
    #[skill(memory)]
    fn alone(&self, request: String) -> String {
        request
    }
}

/// Shouts.
#[agent(memory = MemoryBank::new())]
fn shout(text: String) -> String {
    text.to_uppercase()
}

fn main() {}
