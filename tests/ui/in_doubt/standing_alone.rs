use agents::{in_doubt, tool};

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

/// Four.
#[tool(writes)]
async fn four() -> u32 {
    4
}

/// Five.
#[tool(writes)]
async fn five(#[inject] root: String) -> String {
    root
}

in_doubt!(one, |_| not_done());
in_doubt!(Two { root }, |key, root| done(key + root));
in_doubt!(Three, async |key: String| done(key));
in_doubt!(Four, |_| -> u32 { done("four") });
in_doubt!(Four, match key.len() { 0 => not_done(), _ => unknown() });
in_doubt!(Four, key => unknown());
in_doubt!(Four);
in_doubt!(|key| unknown());
in_doubt!(Five, |key| if args.len() > self.rot.len() { done(key) } else { done(args.amount) });

fn main() {}
