//! Arguments of the command line.

use agents_core::{run::Timestamp, tool::Risk};
use agents_runtime::{Action, Mode};
use agents_store::RunStatus;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Lists and steers durable runs, and decides about their requests for approval.
#[derive(Debug, Parser)]
#[command(name = "agents", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Tenant of NAME; without --as, the only tenant that is shown
    #[arg(long, value_name = "T", global = true)]
    pub(crate) tenant: Option<String>,
    /// Print JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Debug)]
pub(crate) struct SessionArgs {
    /// Store of the runs: sqlite:FILE
    #[arg(long, env = "AGENTS_STORE", hide_env_values = true, value_name = "URL")]
    pub(crate) store: String,
    /// Keyring of the store; by default the file beside it, FILE.keys
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
    /// Act as this person; without it, as the operator of the platform
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Role of NAME; may be repeated
    #[arg(long = "role", value_name = "ROLE", requires = "name")]
    pub(crate) roles: Vec<String>,
    /// Role that calls of this risk or a higher one demand, or an action: high=treasurer, cancel=dispatcher; may be repeated
    #[arg(long = "role-for", value_name = "WHAT=ROLE", value_parser = role_for)]
    pub(crate) roles_for: Vec<RoleFor>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List runs, the newest first
    Runs(RunsArgs),
    /// Show a run: its state, its calls, its open requests
    Show(ShowArgs),
    /// List the requests that nobody has decided, the oldest first
    Approvals(ApprovalsArgs),
    /// Show a request with its exact arguments
    Approval {
        /// Id of the request
        id: String,
    },
    /// Approve requests
    Approve(ApproveArgs),
    /// Deny requests
    Deny(DenyArgs),
    /// Ask for a change of a call: its model may ask again
    Revise(ReviseArgs),
    /// Answer the question of an agent
    Answer(AnswerArgs),
    /// List, set or remove the modes, in which people are asked about calls
    Mode(ModeArgs),
    /// List the executions in doubt: nobody knows whether they took effect
    Doubts,
    /// Say whether an execution in doubt took effect
    Settle(SettleArgs),
    /// Cancel a run: a worker ends it
    Cancel {
        /// Id of the run
        run: String,
    },
    /// Give the agents at work in a run an instruction, which they are told before their next request to the model
    Say {
        /// Id of the run
        run: String,
        /// Instruction, in your words
        text: String,
    },
    /// Pause a run until it is released; no effect is interrupted
    Pause {
        /// Id of the run
        run: String,
    },
    /// Let a run go on that is held or paused
    Release {
        /// Id of the run
        run: String,
        /// Let its agents go on with this model, if they have another one than before
        #[arg(long)]
        model: Option<String>,
    },
    /// List the executions of a run, with their ids
    Executions {
        /// Id of the run
        run: String,
    },
    /// Ask a worker to undo an execution, by its tool's own undo
    Undo {
        /// Id of the execution
        execution: String,
    },
    /// Print the audit trail, one event a line
    Audit(AuditArgs),
    /// Print the last event of each run's audit trail, to be kept outside the store
    Heads,
    /// Check that nobody has changed the audit trail
    Verify {
        /// File with what `heads` has printed before; - for the standard input
        #[arg(long, value_name = "FILE")]
        heads: Option<PathBuf>,
    },
    /// Hold all runs that are not over, after a store was restored from a copy
    HoldAll {
        /// Reason, which is shown for each run
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Erase the contents of a run that is over; its audit trail stays
    Erase {
        /// Id of the run
        run: String,
    },
    /// Print the events of a run, and those that come, until the run is over
    Events(EventsArgs),
    /// Print figures about the work of the store, in the Prometheus text format
    Metrics,
    /// List the events that webhooks have not been told of
    Deliveries(DeliveriesArgs),
    /// Send an event again that a webhook was not told of
    Redeliver {
        /// Name of the webhook
        webhook: String,
        /// Number of the event
        event: u64,
    },
    /// List the unfinished runs that the agents of a manifest cannot go on with
    CheckDeploy(CheckDeployArgs),
    /// Write tests for the application
    #[command(subcommand)]
    Test(TestCommand),
}

#[derive(Args, Debug)]
pub(crate) struct CheckDeployArgs {
    /// Manifest of the application, as JSON; - for the standard input
    #[arg(required_unless_present = "journals")]
    pub(crate) manifest: Option<PathBuf>,
    /// List the runs that the application works otherwise: what its `runtime.replays(..)` has found, as JSON; - for the standard input
    #[arg(long, value_name = "FILE", conflicts_with = "manifest")]
    pub(crate) journals: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TestCommand {
    /// Write a Rust test that replays a run, and its journal beside it
    From(TestFromArgs),
}

#[derive(Args, Debug)]
pub(crate) struct TestFromArgs {
    /// Id of the run
    pub(crate) run: String,
    /// Folder of the test
    #[arg(long, value_name = "FOLDER", default_value = "tests")]
    pub(crate) out: PathBuf,
    /// Name of the test and its files; by default, `replays_`, the agent's name and the end of the run's id
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Path of the agent in the code: my_crate::Refunds
    #[arg(long, value_name = "PATH")]
    pub(crate) agent: Option<String>,
    /// Text to be replaced everywhere in the journal, and its replacement: ada@example.com=someone@example.com; may be repeated
    #[arg(long = "replace", value_name = "OLD=NEW", value_parser = replacement)]
    pub(crate) replace: Vec<(String, String)>,
    /// Overwrite files that are there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RunsArgs {
    /// Runs in this state
    #[arg(long, value_name = "STATE")]
    pub(crate) status: Option<Status>,
    /// Runs of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Run with this key
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Runs with this label: month=2026-10; may be repeated
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,
    /// Runs that were started at this time or later: 2026-10-01T00:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// Runs that were started before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<Timestamp>,
    /// Maximum number of runs
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Runs that were started before this one
    #[arg(long, value_name = "RUN")]
    pub(crate) before: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Id of the run
    pub(crate) run: String,
    /// Show the input, the answer, and the arguments and outputs of calls
    #[arg(long)]
    pub(crate) exact: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ApprovalsArgs {
    /// Requests of this run
    #[arg(long)]
    pub(crate) run: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ApproveArgs {
    /// Ids of the requests
    #[arg(required_unless_present = "all", value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Arguments in the place of those of the call; they have to fit the schema of the tool
    #[arg(long, value_name = "JSON", conflicts_with = "all")]
    pub(crate) args: Option<String>,
    /// File with these arguments; - for the standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "args"])]
    pub(crate) args_file: Option<PathBuf>,
    /// Approve all open requests of a tool, up to a risk
    #[arg(long, conflicts_with = "ids", requires = "tool", requires = "max_risk")]
    pub(crate) all: bool,
    /// Tool of the requests that --all means
    #[arg(long, value_name = "NAME", requires = "all")]
    pub(crate) tool: Option<String>,
    /// Highest risk of the requests that --all means
    #[arg(long, value_name = "RISK", requires = "all")]
    pub(crate) max_risk: Option<MaxRisk>,
}

#[derive(Args, Debug)]
pub(crate) struct AnswerArgs {
    /// Id of the request that asks the question
    pub(crate) id: String,
    /// Answer: one of the choices, a text, or JSON that fits the form (`agents approval ID` shows it)
    #[arg(value_name = "ANSWER")]
    pub(crate) answer: String,
}

#[derive(Args, Debug)]
pub(crate) struct DenyArgs {
    /// Ids of the requests
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Reason, which the model is told
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReviseArgs {
    /// Id of the request
    pub(crate) id: String,
    /// Change that is asked for, in words for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: String,
}

#[derive(Args, Debug)]
pub(crate) struct ModeArgs {
    /// Mode to set, of the tenant that --tenant names; without one, the modes are listed
    #[arg(value_name = "MODE")]
    pub(crate) mode: Option<ModeWord>,
    /// Set or remove the mode of all tenants without one of their own
    #[arg(long, conflicts_with = "tenant")]
    pub(crate) all: bool,
    /// Remove the mode
    #[arg(long, conflicts_with = "mode")]
    pub(crate) remove: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SettleArgs {
    /// Id of the execution
    pub(crate) execution: String,
    /// The tool took effect
    #[arg(
        long,
        required_unless_present = "no_effect",
        conflicts_with = "no_effect"
    )]
    pub(crate) took_effect: bool,
    /// The tool had no effect
    #[arg(long)]
    pub(crate) no_effect: bool,
    /// Reason, which the model is told
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct DeliveriesArgs {
    /// Deliveries to this webhook
    #[arg(long, value_name = "NAME")]
    pub(crate) webhook: Option<String>,
    /// Deliveries that are not tried again
    #[arg(long)]
    pub(crate) given_up: bool,
}

#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Events of this run
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// Leave out the events up to and including this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) after: u64,
}

#[derive(Args, Debug)]
pub(crate) struct EventsArgs {
    /// Id of the run
    pub(crate) run: String,
    /// Leave out the events up to and including this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) after: u64,
    /// Print the stored events, and do not wait for more
    #[arg(long)]
    pub(crate) no_follow: bool,
    /// Print the whole events, with arguments and texts
    #[arg(long)]
    pub(crate) exact: bool,
}

/// State of a run, by which runs are listed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Status {
    Ready,
    Running,
    Waiting,
    Done,
    Held,
}

impl From<Status> for RunStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Ready => RunStatus::Ready,
            Status::Running => RunStatus::Running,
            Status::Waiting => RunStatus::Waiting,
            Status::Done => RunStatus::Done,
            Status::Held => RunStatus::Held,
        }
    }
}

/// Risk of requests that may be approved without a look at each of them.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MaxRisk {
    Low,
    Medium,
}

impl From<MaxRisk> for Risk {
    fn from(risk: MaxRisk) -> Self {
        match risk {
            MaxRisk::Low => Risk::Low,
            MaxRisk::Medium => Risk::Medium,
        }
    }
}

/// Mode in which people are asked about calls.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ModeWord {
    /// About every call that needs approval
    Ask,
    /// Not about calls of low risk
    UpToLow,
    /// Not about calls of low or medium risk
    UpToMedium,
    /// Not about calls of any risk
    UpToHigh,
    /// Only about tools whose effects leave the organisation
    ExternalOnly,
    /// Not at all
    Off,
}

impl From<ModeWord> for Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::Ask => Mode::Ask,
            ModeWord::UpToLow => Mode::UpTo(Risk::Low),
            ModeWord::UpToMedium => Mode::UpTo(Risk::Medium),
            ModeWord::UpToHigh => Mode::UpTo(Risk::High),
            ModeWord::ExternalOnly => Mode::ExternalOnly,
            ModeWord::Off => Mode::Off,
        }
    }
}

/// Role that calls of a risk, or an action, demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RoleFor {
    Risk(Risk, String),
    Action(Action, String),
}

fn role_for(text: &str) -> Result<RoleFor, String> {
    let unknown = || {
        let actions: Vec<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        let actions = actions.join(", ");
        crate::wording::no_role_for(&actions)
    };
    let said = text.split_once('=').filter(|(_, role)| !role.is_empty());
    let (word, role) = said.ok_or_else(unknown)?;
    let role = role.to_owned();
    let action = Action::ALL.iter().copied().find(|one| one.as_str() == word);
    match (word, action) {
        ("low", _) => Ok(RoleFor::Risk(Risk::Low, role)),
        ("medium", _) => Ok(RoleFor::Risk(Risk::Medium, role)),
        ("high", _) => Ok(RoleFor::Risk(Risk::High, role)),
        (_, Some(action)) => Ok(RoleFor::Action(action, role)),
        _ => Err(unknown()),
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    let quoted = serde_json::Value::from(text);
    serde_json::from_value(quoted).map_err(|_| crate::wording::no_time())
}

fn replacement(text: &str) -> Result<(String, String), String> {
    let said = text.split_once('=').filter(|(old, _)| !old.is_empty());
    said.map(|(old, new)| (old.to_owned(), new.to_owned()))
        .ok_or_else(crate::wording::no_replacement)
}

fn label(text: &str) -> Result<(String, String), String> {
    let said = text.split_once('=');
    said.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(crate::wording::no_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_risk_or_an_action_is_followed_by_its_role() {
        let role = |role: &str| role.to_owned();
        let risk = |risk, name| Ok(RoleFor::Risk(risk, role(name)));
        assert_eq!(role_for("high=treasurer"), risk(Risk::High, "treasurer"));
        assert_eq!(role_for("low=a=b"), risk(Risk::Low, "a=b"));
        let undo = RoleFor::Action(Action::Undo, role("chief"));
        assert_eq!(role_for("undo=chief"), Ok(undo));
        for wrong in ["high", "high=", "huge=treasurer", "=treasurer", ""] {
            assert!(role_for(wrong).is_err(), "{wrong}");
        }
    }
}
