use agents::prelude::*;

struct Manager;

#[agent(prompt = "You manage.")]
impl Manager {
    fn plain(&self) {}
}

fn main() {}
