//! Errors of every store, in words.

use crate::{
    Approval, Begin, ErrorKind, Execution, HeldKind, HeldReason, Lease, Letter, RunStatus,
    StoreError,
};

pub(crate) fn no_run(id: &str) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no run `{id}`"))
}

pub(crate) fn no_request(id: &str) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no request `{id}`"))
}

pub(crate) fn no_execution(id: &str) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no execution `{id}`"))
}

pub(crate) fn no_conversation_of(run: &str) -> StoreError {
    let why = format!("run `{run}` belongs to no conversation");
    StoreError::new(ErrorKind::NotFound, why)
}

pub(crate) fn conversation_of_another(conversation: &str, agent: &str) -> StoreError {
    let why = format!("the conversation `{conversation}` is one with `{agent}`");
    StoreError::new(ErrorKind::OtherAgent, why)
}

pub(crate) fn request_never_made(run: &str, request: &str) -> StoreError {
    not_approved(format!("run `{run}` has made no request `{request}`"))
}

pub(crate) fn other_arguments(tool: &str) -> StoreError {
    not_approved(format!(
        "the approval of `{tool}` is for other arguments than those that would run"
    ))
}

pub(crate) fn not_approved_yet(request: &Approval) -> StoreError {
    let Approval {
        tool_name, status, ..
    } = request;
    not_approved(format!("the request about `{tool_name}` is {status}"))
}

pub(crate) fn used_too_late(tool: &str) -> StoreError {
    not_approved(format!(
        "the approval of `{tool}` was not used in time; ask again"
    ))
}

pub(crate) fn used_up(tool: &str) -> StoreError {
    not_approved(format!(
        "the approval of `{tool}` was used by another call, or by an execution that has ended"
    ))
}

pub(crate) fn ended_before(begin: &Begin) -> StoreError {
    let Begin {
        id,
        tool_name,
        attempt,
        ..
    } = begin;
    not_approved(format!(
        "execution `{id}` of `{tool_name}`, attempt {attempt} at its call, has ended, and cannot begin once more"
    ))
}

fn not_approved(why: String) -> StoreError {
    StoreError::new(ErrorKind::NotApproved, why)
}

pub(crate) fn settled(request: &Approval) -> StoreError {
    let Approval { id, status, .. } = request;
    let by = request.decided_by.iter();
    let by: String = by.map(|by| format!(" by {by}")).collect();
    let why = format!("the request `{id}` is {status}{by} already");
    StoreError::new(ErrorKind::Settled, why)
}

pub(crate) fn journal_went_on(run: &str, last: u64, after: u64) -> StoreError {
    let why = format!("the journal of run `{run}` ends with entry {last}, not with {after}");
    StoreError::new(ErrorKind::Conflict, why)
}

pub(crate) fn lease_lost(lease: &Lease) -> StoreError {
    let Lease {
        worker, run, fence, ..
    } = lease;
    let run = &run.id;
    let why = format!("worker `{worker}` no longer has run `{run}`: its lease {fence} has ended");
    StoreError::new(ErrorKind::LeaseLost, why)
}

/// Returns the reason for holding a run that workers have claimed again and again in vain.
pub(crate) fn claimed_in_vain(claims: u64) -> HeldReason {
    let why = format!(
        "{claims} workers in a row took the run and stored nothing, the last one without another run: it may end \
         their processes; \
         release it when the cause is mended"
    );
    HeldReason::new(HeldKind::Poisoned, why)
}

pub(crate) fn not_over(run: &str, status: RunStatus) -> StoreError {
    let why = format!("run `{run}` is {status}; cancel it before it is erased");
    StoreError::new(ErrorKind::NotOver, why)
}

pub(crate) fn other_key() -> StoreError {
    let why = "the audit trail of the store was made with the key of another keyring; open the store with that keyring";
    StoreError::new(ErrorKind::OtherKey, why)
}

#[cfg(feature = "postgres")]
pub(crate) fn trail_without_end() -> StoreError {
    StoreError::new(ErrorKind::Failed, "the audit trail of the run has no end")
}

pub(crate) fn no_thread(error: &std::io::Error) -> StoreError {
    let why = format!("the store's thread cannot start: {error}");
    StoreError::new(ErrorKind::Failed, why)
}

/// Returns the error of a migration that failed. `kind` is `Unavailable` if another process may still migrate the tables.
pub(crate) fn not_migrated(kind: ErrorKind, error: &impl std::fmt::Display) -> StoreError {
    let why = format!("the tables of the store cannot be brought up to date: {error}");
    StoreError::new(kind, why)
}

pub(crate) fn newer(found: i32, known: i32) -> StoreError {
    let why = format!(
        "the store has tables of version {found}, and this version of the program knows {known}; use the later program"
    );
    StoreError::new(ErrorKind::Newer, why)
}

/// Returns the error of a verdict about an execution that is not in doubt.
pub(crate) fn not_in_doubt(row: &Execution) -> StoreError {
    let id = &row.id;
    let why = match &row.settled {
        None if row.superseded => {
            format!("execution `{id}` is not in doubt: a later attempt at the call has succeeded")
        }
        None => format!("execution `{id}` is not in doubt"),
        Some(settled) => {
            let (by, effect) = match settled.had_effect {
                true => (&settled.by, "an effect"),
                false => (&settled.by, "no effect"),
            };
            format!("`{by}` has found out already that execution `{id}` had {effect}")
        }
    };
    StoreError::new(ErrorKind::Settled, why)
}

pub(crate) fn cannot_be_paused(run: &str) -> StoreError {
    let why = format!("run `{run}` is over, and cannot be paused");
    StoreError::new(ErrorKind::Over, why)
}

pub(crate) fn cannot_be_instructed(run: &str) -> StoreError {
    let why = format!("run `{run}` is over, and its agent takes no more instructions");
    StoreError::new(ErrorKind::Over, why)
}

/// Returns the reason for which a paused run is held.
pub(crate) fn paused(by: &str) -> HeldReason {
    let why = format!("paused by `{by}`; release the run to let it go on");
    HeldReason::new(HeldKind::Paused, why).by(by)
}

pub(crate) fn nothing_given_up(webhook: &str, event: u64) -> StoreError {
    let why = format!("webhook `{webhook}` has no delivery of event {event} that was given up");
    StoreError::new(ErrorKind::NotFound, why)
}

pub(crate) fn no_profile(version: u64) -> StoreError {
    let why = format!("there is no version {version} of a profile");
    StoreError::new(ErrorKind::NotFound, why)
}

/// Returns the error of an activation that was meant to take the place of another version than the active one.
pub(crate) fn other_profile(expected: u64, active: Option<u64>) -> StoreError {
    let active = match active {
        Some(version) => format!("version {version} is active"),
        None => "no version is active".to_owned(),
    };
    let why =
        format!("{active}, not version {expected}: look at what was activated in the meantime");
    StoreError::new(ErrorKind::Conflict, why)
}

pub(crate) fn no_hold(id: &str) -> StoreError {
    let why = format!("nothing is held for the request `{id}`");
    StoreError::new(ErrorKind::NotFound, why)
}

pub(crate) fn no_letter(id: &str) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no letter `{id}`"))
}

/// Returns the error of a replay of a letter that is not dead: it was replayed before, or has never died.
pub(crate) fn letter_alive(letter: &Letter) -> StoreError {
    let id = &letter.id;
    let why = match letter.replays {
        0 => format!("letter `{id}` is on its way, not dead: there is nothing to replay"),
        _ => format!("letter `{id}` is on its way: somebody has replayed it already"),
    };
    StoreError::new(ErrorKind::Settled, why)
}

/// Returns the error of a replay of a run that is not held: it was replayed before, or has never been held.
pub(crate) fn run_not_held(run: &str, status: RunStatus) -> StoreError {
    let why = format!("run `{run}` is {status}, not held: there is nothing to replay");
    StoreError::new(ErrorKind::Settled, why)
}

#[cfg(feature = "postgres")]
pub(crate) fn notification_in_between(name: &str) -> StoreError {
    let why = format!(
        "a notification `{name}` with this key was erased at this moment; publish it again"
    );
    StoreError::new(ErrorKind::Unavailable, why)
}
