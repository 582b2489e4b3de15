//! Approval across processes: the first process asks and ends; a later one brings the decision and goes on.
//!
//! ```text
//! cargo run --example approval_later -- run.journal
//! cargo run --example approval_later -- run.journal approve
//! ```
//!
//! Instead of `approve`, `deny` or the words of a change may be given, for instance `"only 20"`. A scripted model plays
//! the clerk. The later process does nothing again that the first one has done, because the journal has it.

use agents::{
    agent::Progress,
    journal::{FileJournal, Key},
    prelude::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
};
use std::{
    env,
    future::pending,
    sync::{Mutex, PoisonError},
};

/// Returns the balance of an account.
#[agents::tool(reads)]
async fn balance(
    /// Name of the account.
    account: String,
) -> String {
    format!("{account} has $1000")
}

/// Transfers money.
#[agents::tool(writes, approval = always)]
async fn transfer(
    /// Account that gets the money.
    to: String,
    /// Whole dollars.
    amount: u32,
) -> String {
    println!("  transferred ${amount} to {to}");
    format!("${amount} went to {to}")
}

/// You move money between accounts.
#[agent(tools = [Balance, Transfer])]
async fn clerk(task: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = env::args().skip(1);
    let journal = words
        .next()
        .ok_or("usage: approval_later JOURNAL [approve|deny|WORDS]")?;
    let decision = Mutex::new(words.next().map(decided));
    let run = Clerk
        .run("Send 50 dollars from savings to rent.")
        .model(scripted())
        .journal(FileJournal::open(journal, Key::none())?)
        .approver(move |_: ApprovalRequest| {
            let decision = decision
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            async move {
                match decision {
                    Some(decision) => decision,
                    None => pending().await,
                }
            }
        });
    // This process need not wait for a decision: the run is in the journal.
    match run.until_waiting().await? {
        Progress::Done(outcome) => println!("= {}", outcome.result?),
        Progress::Waiting(requests) => {
            for request in requests {
                println!("may {} run with {}?", request.tool_name, request.args);
            }
        }
    }
    Ok(())
}

fn decided(words: String) -> Approval {
    match &*words {
        "approve" => Approval::Approve,
        "deny" => Approval::deny("the owner said no"),
        _ => Approval::Revise { note: words },
    }
}

fn scripted() -> ScriptedModel {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call("balance", r#"{"account": "savings"}"#),
        [("balance", _)] => Script::call("transfer", r#"{"to": "rent", "amount": 50}"#),
        [.., (_, last)] if last.contains("only 20") => {
            Script::call("transfer", r#"{"to": "rent", "amount": 20}"#)
        }
        [.., (_, last)] => Script::text(last),
    });
    model
}
