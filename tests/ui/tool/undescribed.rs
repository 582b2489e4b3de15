#[agents::tool(reads)]
async fn read_file(path: String, #[serde(default)] lines: Option<u32>) -> String {
    format!("{path} {lines:?}")
}

fn main() {}
