use agents::prelude::*;
use std::rc::Rc;

async fn find(_: &str) -> u32 {
    3
}

tool! {
    /// Pays.
    #[tool(writes)]
    async fn pay() -> u32 {
        3
    }

    in_doubt(key) => {
        let key = Rc::new(key);
        done(find(&key).await)
    }
}

fn main() {}
