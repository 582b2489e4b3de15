use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read() -> Result<String, String> {
    Err("no".to_owned())
}

on_error!(Read, match error {
    invalid_args(..) | deserialization_error(..) => feedback("send what the schema says"),
    execution_error(_) => feedback("later"),
});

fn main() {}
