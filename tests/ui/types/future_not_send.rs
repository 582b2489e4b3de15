use agents::tool;

use std::rc::Rc;

async fn nap() {}

/// Finds.
#[tool(none)]
async fn find() -> String {
    let name = Rc::new(String::new());
    nap().await;
    name.to_string()
}

fn main() {}
