//! Makes ten payments in one run that may be killed at any moment. No payment is lost, and none is made twice.
//!
//! ```text
//! payments --journal FILE --ledger FILE --tool idempotent|plain [--pause MS]
//! payments --store sqlite:FILE|postgres://.. --run KEY --keyring FILE --ledger FILE --tool idempotent|plain
//!          [--runs N] [--ask] [--pause MS]
//! ```
//!
//! A scripted model asks for one payment per reply. The tool writes `KEY AMOUNT` into the ledger, with a pause before
//! and after. A restart with the same journal or store continues the run. The last line is `paid P, in doubt D`. A
//! payment is in doubt if the process ended while the tool was running. An `idempotent` tool resolves the doubt, since
//! it looks into the ledger first. It runs again unless it was interrupted three times.
//!
//! With `--runs N`, the runs `KEY-1` to `KEY-N` are worked by all processes that have the store, and the last lines
//! begin with their keys. Requests for approval are approved here, unless `--ask` leaves them to others.

mod shop;
mod stored;

use agents::{
    Agent,
    journal::{FileJournal, Key},
    run::{Approval, ApprovalRequest, ToolEnvelope},
};
use std::{error::Error, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

/// Options of the command line.
struct Options {
    place: Place,
    ledger: PathBuf,
    idempotent: bool,
    pause: Duration,
}

/// Place where the runs are stored.
enum Place {
    Journal(PathBuf),
    Store(stored::Stored),
}

const USAGE: &str = "usage: payments --journal FILE --ledger FILE --tool idempotent|plain [--pause MS]
       payments --store sqlite:FILE|postgres://.. --run KEY --keyring FILE --ledger FILE --tool idempotent|plain [--runs N] [--ask] [--pause MS]";

fn read_options() -> Option<Options> {
    let (mut journal, mut ledger, mut tool, mut pause) = (None, None, None, 20);
    let (mut store, mut run, mut keyring, mut runs, mut ask) = (None, None, None, None, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--ask" {
            ask = true;
            continue;
        }
        let value = words.next()?;
        match &*word {
            "--journal" => journal = Some(PathBuf::from(value)),
            "--ledger" => ledger = Some(PathBuf::from(value)),
            "--tool" => tool = Some(value),
            "--pause" => pause = value.parse().ok()?,
            "--store" => store = Some(value),
            "--run" => run = Some(value),
            "--keyring" => keyring = Some(PathBuf::from(value)),
            "--runs" => runs = Some(value.parse().ok().filter(|runs| *runs > 0)?),
            _ => return None,
        }
    }
    let place = match (journal, store) {
        (Some(journal), None) if run.is_none() && runs.is_none() && !ask => Place::Journal(journal),
        (None, Some(store)) => Place::Store(stored::Stored {
            place: stored::Place::read(&store)?,
            key: run?,
            keyring: keyring?,
            runs,
            ask,
        }),
        _ => return None,
    };
    Some(Options {
        place,
        ledger: ledger?,
        idempotent: match &*tool? {
            "idempotent" => true,
            "plain" => false,
            _ => return None,
        },
        pause: Duration::from_millis(pause),
    })
}

/// Describes what became of the payments.
fn counted(receipts: &[Arc<ToolEnvelope>]) -> String {
    let paid = receipts.iter().filter(|receipt| receipt.is_ok()).count();
    format!("paid {paid}, in doubt {}", receipts.len() - paid)
}

async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let pay = shop::pay(&options.ledger, options.idempotent, options.pause);
    let cashier = shop::cashier(pay, 10);
    let journal = match &options.place {
        Place::Journal(journal) => journal,
        Place::Store(stored) => return stored.work(cashier).await,
    };
    let yes = |_: ApprovalRequest| async { Approval::Approve };
    let outcome = cashier
        .run("Pay ten times.")
        .approver(yes)
        .journal(FileJournal::open(journal, Key::none())?)
        .outcome()
        .await?;
    outcome.result?;
    let receipts: Vec<_> = outcome.outputs.tools_by_id.into_values().collect();
    println!("{}", counted(&receipts));
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
