/// Reads a file.
#[agents::tool(reads, timeuot = std::time::Duration::from_secs(2), colour = "red", read)]
async fn read_file() -> String {
    String::new()
}

fn main() {}
