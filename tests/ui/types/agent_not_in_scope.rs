/// You read.
#[agents::agent(tools = [ReadFile])]
async fn reader(request: String) -> String;

/// Reads.
#[agents::tool(reads)]
async fn read_file() -> String {
    String::new()
}

fn main() {
    let _ = Reader.run("x");
}
