//! The team: an office that hands invoices to a bookkeeper, who looks them up and pays.

use agents::{
    Budget, PurposeKey,
    prelude::*,
    testing::{ReceivedRequest, Script, ScriptedModel},
    tool::Undone,
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

tool! {
    /// Finds an invoice.
    #[tool(reads, category = search)]
    async fn find_invoice(
        /// Number of the invoice, such as `A-17`.
        number: String,
        cx: &ToolContext,
    ) -> Result<String, String> {
        if cx.attempt() == 1 {
            return Err("the archive is busy".into());
        }
        match &*number {
            "A-17" => Ok("A-17: 12.00 to ACME".into()),
            "B-4" => Ok("B-4: 88.50 to Brandt & Sons".into()),
            "C-231" => Ok("C-231: 940.00 to Cantor Ltd".into()),
            _ => Err(format!("there is no invoice {number}")),
        }
    }

    on_error {
        execution_error(_) => retry(max_attempts = 3),
    }
}

/// Payment in the ledger.
#[derive(Debug, Deserialize, Serialize)]
struct Payment {
    paid: f64,
    to: String,
    key: String,
}

tool! {
    /// Pays an invoice.
    #[tool(
        writes,
        external,
        idempotent,
        approval = always,
        risk = high,
        category = api,
        effect_description = "pay {amount} to {to}",
        version = "1.0.0",
    )]
    async fn pay(
        /// To whom.
        to: String,
        /// Amount in euros.
        amount: f64,
        #[inject] ledger: PathBuf,
        cx: &ToolContext,
    ) -> io::Result<Payment> {
        let key = cx.idempotency_key();
        if !is_paid(&ledger, &key)? {
            let mut file = OpenOptions::new().create(true).append(true).open(&ledger)?;
            file.write_all(format!("{key} {amount}\n").as_bytes())?;
            file.sync_all()?;
        }
        Ok(Payment { paid: amount, to, key: key.to_string() })
    }

    undo(payment) => {
        let lines = fs::read_to_string(&ledger)?;
        let others: Vec<_> = lines.lines().filter(|line| line.split(' ').next() != Some(&*payment.key)).collect();
        if others.len() == lines.lines().count() {
            return Ok::<Undone, io::Error>(conflict("the payment is not in the ledger any more"));
        }
        fs::write(&ledger, others.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        Ok(undone())
    }
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

struct Bookkeeper {
    ledger: PathBuf,
}

#[agent(
    prompt = "You keep the books. Look an invoice up before you pay it.",
    purpose = PurposeKey::AgentTool,
    tools = [FindInvoice, Pay { ledger: self.ledger.clone() }],
)]
impl Bookkeeper {
    /// Looks up and pays an invoice.
    #[skill]
    async fn settle(&self, number: String) -> String;
}

/// The head of the team.
struct Office;

#[agent(
    prompt = "You run the office. Leave invoices to the bookkeeper.",
    purpose = PurposeKey::AgentTurn,
)]
impl Office {
    /// Does what is to be done.
    #[skill]
    async fn work(&self, task: String) -> String;
}

/// Returns the team, whose payments are entered in this ledger.
pub(crate) fn team(ledger: PathBuf) -> impl Agent<In = String, Out = String> {
    structure!(
        Office
            .delegates(Bookkeeper { ledger }.budget(Budget::new().max_turns(8).max_tool_calls(6)))
    )
}

/// Returns a model that plays the office and the bookkeeper.
pub(crate) fn model() -> ScriptedModel {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.prompt().contains("bookkeeper") {
        true => office(asked),
        false => bookkeeper(asked),
    });
    model
}

fn office(asked: &ReceivedRequest) -> Script {
    match asked.results()[..] {
        [] => Script::call("bookkeeper", format!("{{number: '{}'}}", invoice(asked))),
        [(_, result), ..] => Script::text(result),
    }
}

fn bookkeeper(asked: &ReceivedRequest) -> Script {
    match asked.results()[..] {
        // Single quotes and a comma too many, as small models write.
        [] => Script::call(
            "find_invoice",
            format!("{{'number': '{}',}}", invoice(asked)),
        ),
        [("find_invoice", found)] => match found
            .split_once(": ")
            .and_then(|(_, of)| of.split_once(" to "))
        {
            Some((amount, to)) => {
                Script::call("pay", format!(r#"{{"to": "{to}", "amount": "{amount}"}}"#))
            }
            None => Script::text(found),
        },
        [("pay", told)] if told.contains("make it again") => {
            Script::call("pay", r#"{"to": "ACME", "amount": 10}"#)
        }
        [(_, told), ..] => Script::text(told),
    }
}

/// Returns the number of the invoice that the conversation is about.
fn invoice(asked: &ReceivedRequest) -> &str {
    let words = asked
        .messages
        .iter()
        .flat_map(|message| message.text().split([' ', '"', '.']));
    let mut numbers = words.filter(|word| word.contains('-') && word.len() < 8);
    numbers.next().unwrap_or("A-17")
}
