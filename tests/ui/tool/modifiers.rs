use agents::tool;

/// Reads a file.
#[tool(reads)]
async unsafe fn read_file() -> String {
    String::new()
}

/// Reads a file.
#[tool(reads)]
async extern "C" fn read_again() -> String {
    String::new()
}

fn main() {}
