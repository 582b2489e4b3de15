use agents::{tool, undo};

/// One.
#[tool(writes)]
async fn one() -> u32 {
    1
}

/// Two.
#[tool(writes)]
async fn two(#[inject] root: String) -> String {
    root
}

/// Three.
#[tool(writes)]
async fn three(
    /// How many.
    amount: u32,
) -> u32 {
    amount
}

undo!(one, |_| undone());
undo!(Two { root }, |path: String, root| conflict(path + root));
undo!(Three, |count| -> u32 { conflict(count.to_string()) });
undo!(Three, match count { 0 => undone(), _ => conflict("more") });
undo!(Three);
undo!(|count| undone());
undo!();

fn main() {}
