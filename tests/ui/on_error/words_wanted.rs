use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        std::fs::read_to_string("a.txt")
    }

    on_error {
        invalid_args(_, error) => escalate(error, severity = Low),
        deserialization_error(_, _) => feedback(3),
        execution_error(Returned(e)) if e.raw_os_error().is_some() => throw(e),
        execution_error(Returned(e)) => feedback(e),
        execution_error(_) => feedback(format!("{:?}", cx.attempt())),
    }
}

fn main() {}
