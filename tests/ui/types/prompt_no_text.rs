use agents::prelude::*;

struct Writer {
    lines: u32,
}

#[agent(prompt = self.lines)]
impl Writer {
    /// Writes.
    async fn write(&self, request: String) -> String;
}

struct Clerk;

#[agent(prompt = || self.manners())]
impl Clerk {
    /// Files.
    async fn file(&self, request: String) -> String;

    async fn manners(&self) -> u32 {
        3
    }
}

struct Porter;

#[agent(prompt = || self.manners())]
impl Porter {
    /// Carries.
    async fn carry(&self, request: String) -> String;

    fn manners(&self) -> String {
        "polite".into()
    }
}

fn main() {}
