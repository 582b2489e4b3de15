use agents::{prelude::*, tool};

/// Pays.
#[tool(writes)]
async fn pay() -> std::io::Result<()> {
    Ok(())
}

on_error!(Pay, match error {
    invalid_output(raw, _) => feedback(raw.to_string()),
    execution_error(_) => retry(),
});

on_error!(match error {
    execution_error(_) => escalate("no"),
});

on_error!(Pya, match error { execution_error(_) => throw("no") });

fn main() {}
