//! Errors and results of the commands, in words. Tables and their heads are where they are printed.

use crate::failure::Failure;
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

// ---- undo and the audit trail ----

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
