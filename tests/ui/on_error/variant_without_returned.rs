use agents::prelude::*;
use std::fmt;

#[derive(Debug)]
enum Lost {
    Far(u32),
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
        Err(Lost::Far(3))
    }

    on_error {
        execution_error(Lost::Far(miles)) => throw(format!("{miles} too far")),
        execution_error(Lost::Wide) => retry(),
    }
}

fn main() {}
