//! Makes ten payments in one run that may be killed at any moment. No payment is lost, and none is made twice.
//!
//! ```text
//! payments --journal FILE --ledger FILE --tool idempotent|plain [--pause MS]
//! ```
//!
//! A scripted model asks for one payment per reply. The tool writes `KEY AMOUNT` into the ledger, with a pause before
//! and after. A restart with the same journal continues the run. The last line is `paid P, in doubt D`. A payment is
//! in doubt if the process ended while the tool was running. An `idempotent` tool resolves the doubt, since it looks
//! into the ledger first. It runs again unless it was interrupted three
//! times.

mod shop;

use agents::{
    Agent,
    journal::{FileJournal, Key},
    run::{Approval, ApprovalRequest},
};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Options of the command line.
struct Options {
    journal: PathBuf,
    ledger: PathBuf,
    idempotent: bool,
    pause: Duration,
}

const USAGE: &str =
    "usage: payments --journal FILE --ledger FILE --tool idempotent|plain [--pause MS]";

fn read_options() -> Option<Options> {
    let (mut journal, mut ledger, mut tool, mut pause) = (None, None, None, 20);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match &*word {
            "--journal" => journal = Some(value.into()),
            "--ledger" => ledger = Some(value.into()),
            "--tool" => tool = Some(value),
            "--pause" => pause = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(Options {
        journal: journal?,
        ledger: ledger?,
        idempotent: match &*tool? {
            "idempotent" => true,
            "plain" => false,
            _ => return None,
        },
        pause: Duration::from_millis(pause),
    })
}

async fn run(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let cashier = shop::cashier(shop::pay(
        &options.ledger,
        options.idempotent,
        options.pause,
    ));
    let yes = |_: ApprovalRequest| async { Approval::Approve };
    let outcome = cashier
        .run("Pay ten times.")
        .approver(yes)
        .journal(FileJournal::open(&options.journal, Key::none())?)
        .outcome()
        .await?;
    let receipts = outcome.outputs.receipts();
    let (paid, in_doubt): (Vec<_>, Vec<_>) = receipts.partition(|receipt| receipt.is_ok());
    outcome.result?;
    println!("paid {}, in doubt {}", paid.len(), in_doubt.len());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(options) = read_options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
