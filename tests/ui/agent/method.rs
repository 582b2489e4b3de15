use agents::prelude::*;

struct Clerk {
    root: String,
}

impl Clerk {
    /// Finds a file.
    #[agent]
    fn find(&self, name: String) -> String {
        format!("{}/{name}", self.root)
    }
}

fn main() {}
