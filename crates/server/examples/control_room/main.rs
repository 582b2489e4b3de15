//! The control room, and a team that works in front of you: it reads, fails, repairs and asks.
//!
//! ```text
//! control_room [--listen 127.0.0.1:PORT] [--store sqlite:FILE] [--ledger FILE]
//! ```
//!
//! Without these it listens on port 7878, and its files are in the folder for temporary files. Open the URL that it prints. Each payment that is approved there adds the line `KEY AMOUNT` to the ledger. Scripted
//! models play the agents, so neither a server nor a key is needed. The program may be stopped and started again, and
//! others may serve the same store at the same time.

mod office;

use agents::PurposeKey;
use agents_control::{ControlError, ControlPlane, ModelProfile, Prices, usd};
use agents_runtime::{Principal, Runtime, RuntimeError, SqliteStore};
use agents_server::{ControlRoom, Server};
use agents_store::{RunFilter, RunStatus};
use std::{error::Error, path::PathBuf, process::ExitCode, time::Duration};
use tokio_util::sync::CancellationToken;

const USAGE: &str =
    "usage: control_room [--listen 127.0.0.1:PORT] [--store sqlite:FILE] [--ledger FILE]";

/// Invoices that the team works on.
const INVOICES: [&str; 3] = ["A-17", "B-4", "C-231"];

struct Options {
    listen: String,
    store: PathBuf,
    ledger: PathBuf,
}

fn read_options() -> Option<Options> {
    let folder = std::env::temp_dir();
    let mut options = Options {
        listen: "127.0.0.1:7878".to_owned(),
        store: folder.join("agents-control-room.db"),
        ledger: folder.join("agents-control-room-ledger.txt"),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match &*word {
            "--listen" => options.listen = value,
            "--store" => options.store = PathBuf::from(value.strip_prefix("sqlite:")?),
            "--ledger" => options.ledger = PathBuf::from(value),
            _ => return None,
        }
    }
    Some(options)
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(options) = read_options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match serve(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::open(&options.store).await?;
    let model = office::model();
    let control = ControlPlane::open(&store)
        .provider("scripted", move |_| model.clone())
        .prices(Prices::default().model("scripted/*", 1.0, 5.0));
    activate_profiles(&control).await?;
    // Others go on soon with the runs of a server that is killed.
    let runtime = Runtime::open(store)
        .control(&control)
        .lease(Duration::from_secs(2));
    let room = ControlRoom::of(runtime.as_client())
        .control(&control)
        .agent("office");
    let server = Server::bind(room, &*options.listen).await?;
    let paid = format!(
        "approved payments are added to {}",
        options.ledger.display()
    );
    let office = runtime.agent(office::team(options.ledger));
    if is_idle(&runtime).await? {
        for invoice in INVOICES {
            let task = format!("Pay the invoice {invoice}.");
            office.run(task).label("invoice", invoice).start().await?;
        }
    }
    tokio::spawn(runtime.work(CancellationToken::new()));
    println!("listening on {}\n{paid}", server.url());
    server.run().await?;
    Ok(())
}

/// Returns `true` if no run of the store is open: an earlier start, or another process, has left nothing to do.
async fn is_idle(runtime: &Runtime) -> Result<bool, RuntimeError> {
    for status in [RunStatus::Ready, RunStatus::Running, RunStatus::Waiting] {
        let filter = RunFilter {
            status: Some(status),
            limit: 1,
            ..RunFilter::default()
        };
        if !runtime.as_client().runs(&filter).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives each purpose its model, unless an earlier start has done so.
async fn activate_profiles(control: &ControlPlane) -> Result<(), ControlError> {
    if !control.active().await?.is_empty() {
        return Ok(());
    }
    let operator = Principal::operator();
    for (purpose, models) in [
        (PurposeKey::AgentTurn, &["large"][..]),
        (PurposeKey::AgentTool, &["large", "small"]),
    ] {
        // The last version is the one that is active.
        for model in models {
            let profile = ModelProfile::global(purpose.clone()).model("scripted", *model);
            let profile = profile.max_output_tokens(1_000).daily_cap(usd(5));
            control.activate(profile).by(&operator).await?;
        }
    }
    Ok(())
}
