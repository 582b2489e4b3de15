//! Code shared by the payment examples: a model that asks for payments, and the tool that makes them.

use agents::{
    AgentBuilder, Budget, Effects, Model, ToolContext,
    agent::ModelAgent,
    async_trait,
    model::{Message, ModelError, Reply, Request, ToolCall, Usage},
    tool::{FnTool, ToolSpec},
};
use serde_json::{Value, json};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
    time::Duration,
};

/// A model that asks for this many payments, one per reply, with amounts from 1.
pub(crate) struct Teller(pub(crate) usize);

#[async_trait]
impl Model for Teller {
    fn id(&self) -> &str {
        "teller"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let asked = |message: &&Message| matches!(message, Message::Assistant { .. });
        let amount = request.messages().iter().filter(asked).count() + 1;
        let pay = |amount: usize| ToolCall {
            id: format!("pay-{amount}"),
            name: "pay".to_owned(),
            arguments: json!({ "amount": amount }).to_string(),
        };
        Ok(Reply {
            content: if amount > self.0 { "done" } else { "" }.to_owned(),
            calls: (amount <= self.0)
                .then(|| pay(amount))
                .into_iter()
                .collect(),
            usage: Usage {
                requests: 1,
                ..Usage::default()
            },
            ..Reply::default()
        })
    }
}

/// Returns a tool that pays by writing a line into the ledger.
pub(crate) fn pay(ledger: &Path, idempotent: bool, pause: Duration) -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": { "amount": { "type": "integer" } },
        "required": ["amount"],
    });
    let spec = ToolSpec::new("pay", "Pays an amount.", Effects::Writes, schema);
    let spec = match idempotent {
        true => spec.idempotent(),
        false => spec,
    };
    let ledger = ledger.to_owned();
    FnTool::with_spec(spec, move |args: Value, cx: ToolContext| {
        let ledger = ledger.clone();
        async move {
            let key = cx.idempotency_key();
            tokio::time::sleep(pause).await;
            if !(idempotent && is_paid(&ledger, &key)?) {
                enter(&ledger, &format!("{key} {}\n", args["amount"]))?;
            }
            tokio::time::sleep(pause).await;
            Ok::<_, io::Error>("paid")
        }
    })
}

fn is_paid(ledger: &Path, key: &str) -> io::Result<bool> {
    let lines = match fs::read_to_string(ledger) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        lines => lines?,
    };
    Ok(lines
        .lines()
        .any(|line| line.split(' ').next() == Some(key)))
}

fn enter(ledger: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(ledger)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// Returns the agent that pays so many times with this tool.
pub(crate) fn cashier(pay: FnTool, times: usize) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("cashier")
        .prompt("Pay what is asked for.")
        .tool(pay)
        .budget(Budget::new().max_turns(12).max_recursion(50))
        .model(Teller(times))
        .build()
}
