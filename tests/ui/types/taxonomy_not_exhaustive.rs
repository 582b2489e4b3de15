use agents::ToolError;

fn advice(error: &ToolError) -> &'static str {
    match error {
        ToolError::InvalidArgs { .. } => "write JSON",
        ToolError::Deserialization { .. } => "look at the field",
        ToolError::Execution { .. } => "try again",
    }
}

fn main() {
    let _ = advice;
}
