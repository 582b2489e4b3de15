use agents::prelude::*;
use std::{fmt, io};

#[derive(Debug)]
enum Lost {
    Far { miles: u32 },
    Wide,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lost")
    }
}

tool! {
    /// Finds.
    #[tool(none)]
    async fn find() -> Result<String, Lost> {
        Err(Lost::Far { miles: 3 })
    }

    on_error {
        execution_error(why) => match why {
            Lost::Far { .. } => throw("too far"),
            Lost::Wide => retry(),
        },
    }
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> io::Result<String> {
        Ok(String::new())
    }

    on_error {
        execution_error(e) => match e.kind() {
            io::ErrorKind::NotFound => escalate("file not found"),
            _ => retry(max_attempts = 3),
        },
    }
}

#[derive(Debug)]
struct Late {
    by: u32,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("late")
    }
}

tool! {
    /// Arrives.
    #[tool(none)]
    async fn arrive() -> Result<String, Late> {
        Err(Late { by: 3 })
    }

    on_error {
        execution_error(why) if why.by > 2 => throw("too late"),
        execution_error(any) => feedback(any.to_string()),
    }
}

fn main() {}
