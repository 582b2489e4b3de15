use agents::tool;

/// One.
#[tool(writes, effect_description = "pay {ammount} cents to {bank}")]
async fn one(/** In cents. */ amount: u32, #[inject] bank: String) -> String {
    format!("{amount} {bank}")
}

/// Two.
#[tool(writes, effect_description = "")]
async fn two() {}

/// Three.
#[tool(writes, effect_description = "pay {amount:.2} euros")]
async fn three(/** In euros. */ amount: f64) -> f64 {
    amount
}

/// Four.
#[tool(writes, effect_description = "pay {} cents")]
async fn four(/** In cents. */ amount: u32) -> u32 {
    amount
}

/// Five.
#[tool(writes, effect_description = "pay {amount cents")]
async fn five(/** In cents. */ amount: u32) -> u32 {
    amount
}

/// Six.
#[tool(writes, effect_description = format!("pay"))]
async fn six() {}

/// Seven.
#[tool(writes, effect_description = "pay", effect_description = "pay more")]
async fn seven() {}

fn main() {}
