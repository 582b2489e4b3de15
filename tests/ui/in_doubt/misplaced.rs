use agents::prelude::*;

tool! {
    in_doubt(_) => unknown(),

    /// One.
    #[tool(writes)]
    async fn one() -> u32 {
        1
    }
}

tool! {
    /// Two.
    #[tool(writes)]
    async fn two() -> u32 {
        let two = 2;
        two

        in_doubt(key) => match key.len() {
            0 => not_done(),
            _ => done("two"),
        }
    }
}

tool! {
    /// Three.
    #[tool(writes, in_doubt = not_done())]
    async fn three() -> u32 {
        3
    }
}

struct Clerk;

#[agent(prompt = "You write.", tools = [Two, Three])]
impl Clerk {
    in_doubt!(Three, |_| not_done());

    /// Writes.
    #[skill]
    async fn write(&self, request: String) -> String;
}

fn main() {
    let _ = (Two, Three, Clerk);
}
