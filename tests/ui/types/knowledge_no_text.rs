use agents::prelude::*;

struct Writer;

#[agent(prompt = "You write.")]
impl Writer {
    /// Writes.
    #[skill]
    async fn write(&self, request: String) -> String;

    /// How many lines.
    #[knowledge]
    fn lines(&self) -> Vec<u32> {
        vec![80]
    }
}

fn main() {}
