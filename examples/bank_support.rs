//! Support of a bank: instructions that are read from the database, a tool with injected values, a typed answer.
//!
//! `cargo run --example bank_support -- qwen3:4b` asks a model of Ollama. Without a name, a scripted model answers.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
};
use std::{collections::BTreeMap, env, io, sync::Arc};

/// Database of the bank.
#[derive(Clone)]
struct Bank(Arc<BTreeMap<u32, (&'static str, f64)>>);

impl Bank {
    async fn customer(&self, id: u32) -> io::Result<(&'static str, f64)> {
        let found = self.0.get(&id).copied();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such customer"))
    }
}

/// Returns the balance of the customer's account.
#[agents::tool(reads)]
async fn balance(#[inject] bank: Bank, #[inject] customer: u32) -> io::Result<String> {
    let (_, balance) = bank.customer(customer).await?;
    Ok(format!("${balance:.2}"))
}

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Advice {
    /// What the customer is told.
    advice: String,
    /// Whether the card has to be blocked.
    block_card: bool,
    /// How risky the matter is, from 0 to 10.
    #[schemars(range(max = 10))]
    risk: u8,
}

struct Support {
    bank: Bank,
    customer: u32,
}

#[agent(
    prompt = || self.instructions(),
    tools = [Balance { bank: self.bank.clone(), customer: self.customer }],
)]
impl Support {
    /// You support the customers of our bank. Help, and judge how risky the matter is.
    async fn support(&self, question: String) -> Advice;

    async fn instructions(&self) -> io::Result<String> {
        let (name, _) = self.bank.customer(self.customer).await?;
        Ok(format!("The customer is called {name}; use the name."))
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model: Arc<dyn Model> = match env::args().nth(1) {
        Some(name) => Arc::new(ollama(name)),
        None => Arc::new(scripted()),
    };
    let bank = Bank(Arc::new([(123, ("Ada", 123.45))].into()));
    let support = Support {
        bank,
        customer: 123,
    };
    for question in ["What is my balance?", "I have lost my card!"] {
        let advice = support.run(question).model(model.clone()).await?;
        println!("{question}\n  {advice:?}");
    }
    Ok(())
}

fn scripted() -> ScriptedModel {
    let answers = [
        Script::call("balance", "{}"),
        Script::text(r#"{"advice": "Ada, you have $123.45.", "block_card": false, "risk": 1}"#),
        Script::text(r#"{"advice": "Ada, your card is blocked.", "block_card": true, "risk": 8}"#),
    ];
    ScriptedModel::new(answers).0
}
