use agents::{prelude::*, tool};

struct Db;

/// Looks up.
#[tool(reads)]
async fn look_up(#[inject] db: &Db, #[inject] second: Db) -> String {
    let (Db, Db) = (db, second);
    String::new()
}

/// You look up.
#[agent(tools = [LookUp { db: Db, second: Db }])]
async fn clerk(request: String) -> String;

fn main() {}
