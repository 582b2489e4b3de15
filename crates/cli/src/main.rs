//! The command line of durable agent runs: an operator lists runs, decides about their requests for approval, and steers
//! them. The book has a chapter about it, `book/src/command-line.md`.

mod args;
mod commands;
mod failure;
mod out;
mod screen;
mod session;
mod table;
mod wording;

use args::{Cli, Command, TestCommand};
use clap::Parser;
use failure::Failure;
use out::Out;
use session::Session;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Whoever asked for help may have stopped to read.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(cli)),
        Err(error) => Err(Failure::from(error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

async fn run(cli: Cli) -> Result<(), Failure> {
    let mut out = Out::new(cli.json);
    let session = Session::open(cli.session, cli.tenant).await?;
    match &cli.command {
        Command::Runs(asked) => commands::runs::list(&session, asked, &mut out).await,
        Command::Show(asked) => commands::show::show(&session, asked, &mut out).await,
        Command::Approvals(asked) => commands::approvals::list(&session, asked, &mut out).await,
        Command::Approval { id } => commands::approvals::show(&session, id, &mut out).await,
        Command::Answer(asked) => commands::decide::answer(&session, asked, &mut out).await,
        Command::Approve(asked) => commands::decide::approve(&session, asked, &mut out).await,
        Command::Deny(asked) => commands::decide::deny(&session, asked, &mut out).await,
        Command::Revise(asked) => commands::decide::revise(&session, asked, &mut out).await,
        Command::Mode(asked) => commands::mode::mode(&session, asked, &mut out).await,
        Command::Cancel { run } => commands::steer::cancel(&session, run, &mut out).await,
        Command::Doubts => commands::doubts::list(&session, &mut out).await,
        Command::Settle(asked) => commands::doubts::settle(&session, asked, &mut out).await,
        Command::Say { run, text } => commands::steer::say(&session, run, text, &mut out).await,
        Command::Pause { run } => commands::steer::pause(&session, run, &mut out).await,
        Command::Release { run, model } => {
            commands::steer::release(&session, run, model.as_deref(), &mut out).await
        }
        Command::Executions { run } => commands::undo::executions(&session, run, &mut out).await,
        Command::Undo { execution } => commands::undo::undo(&session, execution, &mut out).await,
        Command::Audit(asked) => commands::audit::audit(&session, asked, &mut out).await,
        Command::Heads => commands::audit::heads(&session, &mut out).await,
        Command::Verify { heads } => {
            commands::audit::verify(&session, heads.as_deref(), &mut out).await
        }
        Command::HoldAll { reason } => commands::steer::hold_all(&session, reason, &mut out).await,
        Command::Erase { run } => commands::steer::erase(&session, run, &mut out).await,
        Command::Events(asked) => commands::events::events(&session, asked, &mut out).await,
        Command::Metrics => commands::metrics::print(&session, &mut out).await,
        Command::Deliveries(asked) => commands::deliveries::list(&session, asked, &mut out).await,
        Command::Redeliver { webhook, event } => {
            commands::deliveries::send_again(&session, webhook, *event, &mut out).await
        }
        Command::CheckDeploy(asked) => {
            commands::check_deploy::check(&session, asked, &mut out).await
        }
        Command::Test(TestCommand::From(asked)) => {
            commands::test_from::write(&session, asked, &mut out).await
        }
    }
}
