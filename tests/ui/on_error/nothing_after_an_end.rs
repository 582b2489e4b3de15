use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(raw, _) => throw("never").or(fix(raw.strip_prefix("x").map(str::to_owned))),
        deserialization_error(_, _) => feedback("numbers are digits").or(sanitize(1)),
        execution_error(_) => retry(max_attempts = 2).or(throw("over")).or(escalate("too late")),
    }
}

fn main() {}
