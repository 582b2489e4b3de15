use agents::prelude::*;

tool! {
    undo(_) => undone(),

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

        undo(count) => match count {
            0 => undone(),
            _ => conflict("two"),
        }
    }
}

tool! {
    /// Three.
    #[tool(writes, undo = undone())]
    async fn three() -> u32 {
        3
    }
}

struct Clerk;

#[agent(prompt = "You write.", tools = [Two, Three])]
impl Clerk {
    undo!(Three, |_| undone());

    /// Writes.
    #[skill]
    async fn write(&self, request: String) -> String;
}

fn main() {
    let _ = (Two, Three, Clerk);
}
