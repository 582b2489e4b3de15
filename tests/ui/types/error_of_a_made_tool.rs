use agents::tool::{Effects, FnTool};
use std::fmt;

struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lost")
    }
}

fn main() {
    let schema = serde_json::json!({"type": "object"});
    let _ = FnTool::new("find", "Finds.", Effects::Reads, schema, |_, _| async {
        Err::<u32, Lost>(Lost)
    });
}
