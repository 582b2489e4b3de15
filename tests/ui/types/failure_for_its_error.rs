use agents::prelude::*;
use std::fmt;

#[derive(Debug)]
struct Lost {
    far: bool,
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
        Err(Lost { far: true })
    }

    on_error {
        execution_error(e) if e.far => throw("too far"),
    }
}

fn main() {}
