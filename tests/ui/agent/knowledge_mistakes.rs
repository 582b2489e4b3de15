use agents::prelude::*;

struct Writer;

#[agent(prompt = "You write.")]
impl Writer {
    /// Writes.
    #[skill]
    async fn write(&self, request: String) -> String;

    #[knowledge]
    fn style(&self) -> &'static str {
        "tidy"
    }

    /// What words mean.
    #[knowledge(lazy)]
    async fn glossary(&mut self, word: String) -> std::io::Result<String> {
        Ok(word)
    }

    /// Who reads it.
    #[knowledge]
    fn audience() -> String;

    /// Both.
    #[skill]
    #[knowledge]
    fn both(&self, request: String) -> String {
        request
    }
}

struct Clock;

#[agent]
impl Clock {
    /// Tells the time.
    #[skill]
    fn time(&self, _: String) -> String {
        "noon".into()
    }

    /// How time is told.
    #[knowledge]
    fn format(&self) -> &str {
        "in words"
    }
}

fn main() {}
