//! Errors and results of the commands, in words. Tables and their heads are where they are printed.

use crate::{args::TestFromArgs, failure::Failure};
use agents_core::{journal::Recorded, run::Question};
use agents_runtime::{RuntimeError, RuntimeErrorKind};
use agents_store::{ErrorKind, StoreError};
use std::{fmt::Display, path::Path};

// ---- the store and its keys ----

pub(crate) fn no_keyring_there(path: &Path) -> Failure {
    let path = path.display();
    Failure::failed(format!(
        "there is no keyring {path}; check the path after --keyring"
    ))
}

pub(crate) fn no_keyring_at(path: &Path) -> String {
    format!("there is no keyring {}", path.display())
}

pub(crate) fn no_keyring_beside() -> String {
    "the store has no keyring beside it".to_owned()
}

/// Failure of a command that needs keys; `missing` names the keyring that was not found.
pub(crate) fn keyring_needed(missing: &str) -> Failure {
    Failure::failed(format!(
        "{missing}, without which nobody can read the contents of the store; name it with --keyring FILE"
    ))
}

pub(crate) fn no_store(error: &impl Display) -> Failure {
    Failure::failed(format!(
        "{error}; check the path, since this program creates no store"
    ))
}

#[cfg(not(feature = "postgres"))]
pub(crate) fn without_postgres() -> Failure {
    Failure::Usage(
        "this program was built without PostgreSQL; build it with `--features postgres`".to_owned(),
    )
}

/// Failure of a command whose `--store` is no store. The address is not named: it may have a password.
pub(crate) fn not_a_store() -> Failure {
    Failure::Usage(
        "--store, or AGENTS_STORE, is no store; name one as sqlite:FILE or postgres://USER@HOST/DATABASE".to_owned(),
    )
}

pub(crate) fn file_unreadable(path: &Path, error: &impl Display) -> Failure {
    let path = path.display();
    Failure::failed(format!("the file {path} cannot be read: {error}"))
}

// ---- hints behind an error of the runtime ----

const OPEN_REQUESTS: &str = "; `agents approvals` lists those that are open";
const TRY_AGAIN: &str = "; try again";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        RuntimeError::from(error).into()
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        let way_out = match error.kind() {
            RuntimeErrorKind::Store(ErrorKind::Settled) => OPEN_REQUESTS,
            RuntimeErrorKind::Store(ErrorKind::Unavailable) => TRY_AGAIN,
            _ => "",
        };
        Failure::failed(format!("{error}{way_out}"))
    }
}

// ---- runs ----

pub(crate) fn no_run(id: &str) -> Failure {
    Failure::failed(format!("there is no run `{id}`; `agents runs` lists them"))
}

pub(crate) fn is_over(run: &str, state: &str) -> Failure {
    Failure::failed(format!(
        "the run `{run}` is over already: {state}; `agents show {run}` shows what it did"
    ))
}

pub(crate) fn not_held(run: &str, state: &str) -> Failure {
    Failure::failed(format!(
        "the run `{run}` is not held: it is {state}; `agents runs --status held` lists those that are"
    ))
}

pub(crate) const HELD: &str = "is held; `agents release` lets it go on";
pub(crate) const PAUSED: &str = "is paused; its worker puts it down when no effect is under way";
pub(crate) const CANCELLED: &str = "cancelled; a worker ends it";
pub(crate) const SAID: &str = "is told before its next request to the model";
pub(crate) const RELEASED: &str = "released; a worker goes on with it";
pub(crate) const ERASED: &str = "erased; its audit trail stays";

pub(crate) fn all_held(runs: u64) -> String {
    format!(
        "{runs} runs are held; `agents runs --status held` lists them, `agents release RUN` lets one go on"
    )
}

pub(crate) fn way_out_of_a_hold(run: &str) -> String {
    format!("way out: mend the reason, then `agents release {run}`")
}

pub(crate) fn no_tenant_for_mode() -> Failure {
    Failure::Usage("name the tenant with --tenant, or mean all of them with --all".to_owned())
}

// ---- webhooks ----

pub(crate) fn sent_again(event: &str, webhook: &str) -> String {
    format!("event {event} is sent to `{webhook}` again")
}

// ---- approvals ----

pub(crate) fn no_request(id: &str) -> Failure {
    Failure::failed(format!(
        "there is no request `{id}`; `agents approvals` lists them"
    ))
}

pub(crate) fn no_request_about(tool: &str) -> Failure {
    Failure::failed(format!(
        "no open request is about `{tool}` at that risk; `agents approvals` lists them"
    ))
}

pub(crate) fn arguments_of_one() -> Failure {
    Failure::Usage(
        "changed arguments belong to one request; approve the others by themselves".to_owned(),
    )
}

pub(crate) fn asks_nothing(id: &str) -> Failure {
    Failure::Usage(format!(
        "request `{id}` asks no question; use `approve`, `deny` or `revise`"
    ))
}

pub(crate) fn answer_unfit(question: &Question, misfit: &impl Display) -> Failure {
    let meant = match &*question.form.choices() {
        [] => format!("its form is {}", question.form.schema),
        choices => format!("answer {}", one_of(choices)),
    };
    Failure::Usage(format!("the answer does not fit: {misfit}; {meant}"))
}

pub(crate) fn one_of(choices: &[&str]) -> String {
    match choices {
        [only] => format!("`{only}`"),
        choices => format!("one of `{}`", choices.join("`, `")),
    }
}

pub(crate) fn arguments_unreadable(error: &impl Display) -> Failure {
    Failure::Usage(format!("the arguments are no JSON: {error}"))
}

pub(crate) fn no_role_for(actions: &str) -> String {
    format!(
        "expected a risk or an action and a role, such as high=treasurer; the actions are {actions}"
    )
}

pub(crate) fn no_time() -> String {
    "expected a time such as 2026-10-01T00:00:00Z".to_owned()
}

pub(crate) fn no_label() -> String {
    "expected a name and a value, such as month=2026-10".to_owned()
}

// ---- tests ----

pub(crate) fn no_replacement() -> String {
    "expected a text and its replacement, such as ada@example.com=someone@example.com".to_owned()
}

pub(crate) fn no_test_name(name: &str) -> Failure {
    Failure::Usage(format!(
        "--name {name} is no name of a Rust function; use letters, digits and _, and no keyword"
    ))
}

pub(crate) fn no_agent_path(path: &str) -> Failure {
    Failure::Usage(format!(
        "--agent {path} is no path of a Rust type; write it as my_crate::Refunds"
    ))
}

pub(crate) fn is_there(path: &Path) -> Failure {
    let path = path.display();
    Failure::failed(format!(
        "{path} is there already; write another test with --name, or overwrite it with --force"
    ))
}

pub(crate) fn not_written(path: &Path, error: &impl Display) -> Failure {
    let path = path.display();
    Failure::failed(format!("{path} cannot be written: {error}"))
}

pub(crate) fn not_replaceable(error: &impl Display) -> Failure {
    Failure::failed(format!(
        "with the replacements this is no journal any more: {error}; replace longer texts, which are no part of its form"
    ))
}

pub(crate) fn not_in_the_journal(old: &str) -> Failure {
    Failure::failed(format!(
        "`{old}` is not in the journal, so that nothing is replaced; nothing is written"
    ))
}

pub(crate) const WHAT_IS_IN_THE_JOURNAL: &str = "The journal has no values of secrets. It has all else that was said, asked and returned: look at it before you commit it, and replace what is personal with --replace.";

/// Returns the source of a test. `path` is the path of the agent's type, if the user has given it. Otherwise, `guess`
/// is the name of that type.
pub(crate) fn test(
    name: &str,
    path: Option<&str>,
    guess: &str,
    recorded: &Recorded,
    asked: &TestFromArgs,
) -> String {
    let (run, agent) = (&asked.run, recorded.agent());
    let unknown = "// The path is a guess from the agent's name: adapt it to your crate.\n";
    let (hint, path) = match path {
        Some(path) => ("", path.to_owned()),
        None => (unknown, format!("my_crate::{guess}")),
    };
    let own = path.rsplit("::").next().unwrap_or_default();
    let one_line = |text: &str| crate::screen::shown(&text.replace(['\n', '\r'], " ")).into_owned();
    let policies = match recorded.policies() {
        [] => String::new(),
        names => format!(
            "    // The run had these policies; give them again with `.policy(..)`: {}.\n",
            one_line(&names.join(", "))
        ),
    };
    let (run, agent) = (one_line(run), one_line(agent));
    format!(
        "//! Replays run {run} of agent `{agent}` with the code of today, and fails where it would go otherwise.\n\
         //! `agents test from` has written it; it is yours to change. It needs the feature `recordings` of `agents`.\n\
         \n\
         use agents::{{Agent, journal}};\n\
         {hint}use {path};\n\
         \n\
         #[test]\n\
         fn {name}() {{\n\
         {policies}    \
         let text = include_str!(\"{name}.journal\");\n    \
         journal::assert_replays(text, |input| {own}.run(input));\n\
         }}\n"
    )
}

// ---- undo and the audit trail ----

/// Words behind an approval whose decider has edited the arguments.
pub(crate) const EDITED: &str = " (with edited arguments)";

pub(crate) fn undone_before(execution: &str) -> String {
    format!("{execution} was undone before")
}

pub(crate) fn undone_by(execution: &str, run: &str) -> String {
    format!("{execution} is undone by run {run}; `agents show {run}` tells what became of it")
}

pub(crate) fn no_head(line: usize, path: &Path, error: &impl Display) -> Failure {
    let path = path.display();
    Failure::failed(format!(
        "line {line} of {path} is no head: {error}; the file has what `agents heads` prints"
    ))
}
