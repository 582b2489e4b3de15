use agents::prelude::*;

/// Reads a file.
#[agents::tool(reads)]
async fn read_file() -> std::io::Result<String> {
    Ok(String::new())
}

struct Clerk;

#[agent(prompt = "You read.", tools = [ReadFile])]
impl Clerk {
    /// Reads.
    #[skill]
    async fn read(&self, request: String) -> String;

    on_error!(ReadFile, match error {
        invalid_output(raw, _) => fix(raw.to_string()),
        execution_error(Returned(e)) => throw(e.knid()),
    });
    on_error!(match error {
        invalid_outptu(raw, _) => fix(raw.to_string()),
    });
    on_error!(WriteFile, match error {
        execution_error(_) => throw("no"),
    });
    on_error!(match error {
        execution_error(_) => retry(),
    });
}

fn main() {}
