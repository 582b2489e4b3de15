use agents::{prelude::*, tool};

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        timeout(_) => retry(),
        timed_out => retry(),
        panicked(why) => throw(why),
        Returned(e) => throw(e.to_string()),
        crashed(_) => retry(),
        invalid_outptu(raw, _) => fix(raw.to_string()),
    }
}

struct Reader;

#[agent(prompt = "You read.", tools = [ReadFile])]
impl Reader {
    /// Reads.
    #[skill]
    async fn read(&self, path: String) -> String;

    on_error!(match error {
        TimedOut(_) => retry(),
        crashed(_) => retry(),
        _ => retry(),
    });
}

fn main() {}
