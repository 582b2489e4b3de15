use agents::prelude::*;
use std::io::{self, ErrorKind};

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(raw, _) => if raw.is_empty() { "send JSON" } else { fix("{}") },
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound => "file not found",
            ErrorKind::PermissionDenied => {
                let why = e.to_string();
                format!("not yours: {why}")
            }
            ErrorKind::Interrupted => feedback(match e.raw_os_error() {
                Some(_) => "interrupted",
                None => "stopped",
            }),
            _ => retry(max_attempts = 3),
        },
    }
}

fn main() {}
