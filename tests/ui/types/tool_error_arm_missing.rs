use agents::ToolError;

fn main() {}

fn who(error: &ToolError) -> &'static str {
    match error {
        ToolError::InvalidArgs { .. } => "the model",
        ToolError::Deserialization { .. } => "the model",
        ToolError::Execution { .. } => "the tool",
    }
}
