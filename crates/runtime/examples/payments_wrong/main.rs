//! The example `payments` with deliberate errors, which cause the double payments that the engine prevents.
//!
//! ```text
//! payments_wrong --journal FILE --ledger FILE --wrong repeats|early [--pause MS]
//! ```
//!
//! `repeats`: the tool reports that no execution in doubt had an effect, so that each is repeated. `early`: the
//! journal confirms an intent before it is stored. If killed often enough, both pay twice.

#[path = "../payments/shop.rs"]
mod shop;

use agents::{
    Agent, ToolContext, async_trait,
    journal::{Entry, FileJournal, Journal, JournalError, Key},
    run::{Approval, ApprovalRequest},
    tool::not_done,
};
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

/// A journal that confirms entries at once, and stores them later.
struct Early {
    journal: Arc<FileJournal>,
    later: Duration,
}

#[async_trait]
impl Journal for Early {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        self.journal.read().await
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        let (journal, later, entries) = (self.journal.clone(), self.later, entries.to_vec());
        tokio::spawn(async move {
            tokio::time::sleep(later).await;
            journal.append(&entries).await
        });
        Ok(())
    }
}

async fn run(
    journal: PathBuf,
    ledger: PathBuf,
    wrong: &str,
    pause: Duration,
) -> Result<(), Box<dyn std::error::Error>> {
    let pay = shop::pay(&ledger, false, pause);
    let pay = match wrong {
        "repeats" => pay.in_doubt(|_, _: ToolContext| async {
            Ok::<_, std::convert::Infallible>(not_done::<String>())
        }),
        _ => pay,
    };
    let cashier = shop::cashier(pay, 10);
    let yes = |_: ApprovalRequest| async { Approval::Approve };
    let run = cashier.run("Pay ten times.").approver(yes);
    let file = FileJournal::open(journal, Key::none())?;
    let outcome = match wrong {
        "early" => {
            let later = pause.mul_f64(1.5);
            let journal = Arc::new(file);
            run.journal(Early { journal, later }).outcome().await?
        }
        _ => run.journal(file).outcome().await?,
    };
    outcome.result?;
    println!("done");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    let (Some(journal), Some(ledger), Some(wrong)) =
        (option("--journal"), option("--ledger"), option("--wrong"))
    else {
        eprintln!(
            "usage: payments_wrong --journal FILE --ledger FILE --wrong repeats|early [--pause MS]"
        );
        return ExitCode::from(2);
    };
    let pause = option("--pause").and_then(|pause| pause.parse().ok());
    let pause = Duration::from_millis(pause.unwrap_or(20));
    match run(journal.into(), ledger.into(), &wrong, pause).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
