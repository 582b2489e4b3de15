//! Errors, reasons and denials of a runtime, in words.

use crate::{Action, RuntimeError, error::RuntimeErrorKind};
use agents_core::{Effects, Json, tool::Risk};
use agents_store::{ErrorKind, HeldReason, PLATFORM, RunStatus, StoreError};
use std::{fmt::Display, path::Path};

// ---- whoever asks for what is not there, or not theirs ----

pub(crate) fn no_run(id: &str) -> RuntimeError {
    not_found(format!("there is no run `{id}`"))
}

pub(crate) fn no_conversation(id: &str) -> RuntimeError {
    invalid(format!("there is no conversation `{id}`"))
}

pub(crate) fn no_request(id: &str) -> RuntimeError {
    not_found(format!("there is no request `{id}`"))
}

pub(crate) fn no_execution(id: &str) -> RuntimeError {
    not_found(format!("there is no execution `{id}`"))
}

fn not_found(why: String) -> RuntimeError {
    StoreError::new(ErrorKind::NotFound, why).into()
}

pub(crate) fn no_member(id: &str, tenant: &str) -> RuntimeError {
    forbidden(format!("`{id}` does not belong to tenant `{tenant}`"))
}

pub(crate) fn action_needs_role(action: Action, role: &str, id: &str) -> RuntimeError {
    forbidden(format!(
        "`{action}` needs the role `{role}`, which `{id}` has not"
    ))
}

pub(crate) fn no_operator(action: Action, id: &str) -> RuntimeError {
    forbidden(format!(
        "`{action}` is for the operator of the platform, which `{id}` is not"
    ))
}

pub(crate) fn named_like_a_policy(id: &str) -> RuntimeError {
    forbidden(format!(
        "`{id}` has the name of a policy, and policies decide for themselves"
    ))
}

pub(crate) fn named_like_the_operator(id: &str) -> RuntimeError {
    forbidden(format!(
        "`{id}` has the name of the operator of the platform, and belongs to a tenant; give the principal another id"
    ))
}

pub(crate) const DECIDE: &str = "decide about its requests";
pub(crate) const SETTLE: &str = "settle its doubts";

/// Text of the error for the principal who started a run; `what` is one of the two constants above.
pub(crate) fn started_the_run(id: &str, what: &str) -> RuntimeError {
    forbidden(format!("`{id}` started the run, and may not {what}"))
}

/// Text of the error for the user whom a run works for; `what` is one of the two constants above.
pub(crate) fn run_works_for(id: &str, what: &str) -> RuntimeError {
    forbidden(format!("the run works for `{id}`, who may not {what}"))
}

/// Text of the error for a principal who wrote to the agent of a run; `what` is one of the two constants above.
pub(crate) fn wrote_to_the_agent(id: &str, what: &str) -> RuntimeError {
    forbidden(format!(
        "`{id}` wrote to the agent of the run, and may not {what}"
    ))
}

pub(crate) fn role_missing(id: &str, role: &str, risk: Risk) -> RuntimeError {
    forbidden(format!(
        "calls of {risk:?} risk need the role `{role}`, which `{id}` has not"
    ))
}

/// Returns the error for a row that was changed by hand: its table, its id, and what was done to it.
pub(crate) fn row_altered(run: &str, (table, row, what): &(&str, String, &str)) -> RuntimeError {
    let of = match run {
        PLATFORM => "the store".to_owned(),
        run => format!("run {run}"),
    };
    RuntimeError::sealed(format!(
        "{of} was altered by hand: row {row} of {table} {what}"
    ))
}

fn forbidden(why: String) -> RuntimeError {
    RuntimeError::new(RuntimeErrorKind::Forbidden, why)
}

// ---- runs ----

pub(crate) fn two_webhooks(name: &str) -> String {
    format!(
        "the runtime has two webhooks of the name `{name}`: the store knows by the name what each was told of"
    )
}

pub(crate) fn two_agents(name: &str) -> String {
    format!(
        "the runtime has two agents of the name `{name}`: stored runs find their agent by its name"
    )
}

pub(crate) fn no_lease_thread(error: &impl Display) -> RuntimeError {
    let why = format!("the thread that renews leases cannot start: {error}");
    StoreError::new(ErrorKind::Failed, why).into()
}

pub(crate) fn input_not_stored(why: &str) -> RuntimeError {
    invalid(format!("the input cannot be stored: {why}"))
}

pub(crate) fn key_of_other_work(key: &str, agent: &str) -> RuntimeError {
    invalid(format!(
        "the key `{key}` belongs to a run of `{agent}` with another input, scope or conversation; give each piece of work a key of its own"
    ))
}

pub(crate) fn held(run: &str, why: &str) -> RuntimeError {
    RuntimeError::unreadable(format!("run `{run}` is held: {why}"))
}

pub(crate) fn no_end(run: &str) -> RuntimeError {
    RuntimeError::unreadable(format!("the journal of run `{run}` has no end"))
}

pub(crate) fn not_the_agents_input(error: &impl Display) -> String {
    format!("the stored input does not fit the agent: {error}")
}

pub(crate) fn lease_about_to_end() -> &'static str {
    "the lease of the run is about to end, so the tool is not run"
}

pub(crate) fn tenant_at_work(run: &str, tenant: &str, status: RunStatus) -> RuntimeError {
    invalid(format!(
        "run `{run}` of tenant `{tenant}` is {status}; cancel it, and erase the tenant when it is over"
    ))
}

pub(crate) fn conversation_at_work(
    conversation: &str,
    run: &str,
    status: RunStatus,
) -> RuntimeError {
    invalid(format!(
        "run `{run}` of conversation `{conversation}` is {status}; cancel it, and erase the conversation when it is over"
    ))
}

pub(crate) fn moved_to_another_conversation(run: &str) -> RuntimeError {
    RuntimeError::sealed(format!(
        "run `{run}` was put into another conversation than the one it was started in: its row was changed by hand"
    ))
}

/// Returns the reason for which a run is held, in words.
pub(crate) fn in_words(held: Option<HeldReason>) -> String {
    held.map(|held| held.why).unwrap_or_default()
}

fn invalid(why: String) -> RuntimeError {
    RuntimeError::new(RuntimeErrorKind::Invalid, why)
}

// ---- contents and keys ----

pub(crate) fn unreadable(what: &str, error: &impl Display) -> RuntimeError {
    RuntimeError::unreadable(format!("the {what} cannot be read: {error}"))
}

pub(crate) fn commit_missing(after: u64) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the journal has no entries behind {after}: a commit was removed, or another one put in its place"
    ))
}

pub(crate) fn request_missing(run: &str, request: &str) -> RuntimeError {
    RuntimeError::unreadable(format!(
        "the journal of run `{run}` has no request `{request}`"
    ))
}

pub(crate) fn keyring_readable() -> &'static str {
    "others can read it; make it yours alone: `chmod 600`"
}

pub(crate) fn of_keyring(path: &Path, error: &impl Display) -> String {
    format!("the keyring {}: {error}", path.display())
}

pub(crate) fn keyring_not_written(path: &Path, error: &impl Display) -> String {
    format!(
        "the keyring {} cannot be written: {error}; the process creates files beside it, so that it must be able to write in the folder",
        path.display()
    )
}

pub(crate) fn no_keyring(error: &impl Display) -> String {
    format!("this is no keyring: {error}")
}

pub(crate) fn keyring_of_other_format(found: u32) -> String {
    format!("it has format {found}; this version reads format 1")
}

pub(crate) fn keys_in_memory() -> &'static str {
    "a store in memory has no keys that could be destroyed; give the runtime a keyring with `.keyring(..)`"
}

pub(crate) fn keyring_missing() -> RuntimeError {
    RuntimeError::sealed(
        "the runtime has no keyring for the contents of this store; give it one with `.keyring(..)`",
    )
}

pub(crate) fn erased(run: &str) -> RuntimeError {
    RuntimeError::sealed(format!("run `{run}` was erased"))
}

pub(crate) fn key_altered(run: &str) -> RuntimeError {
    RuntimeError::sealed(format!("the key of run `{run}` was altered"))
}

pub(crate) fn key_version_missing(run: &str, tenant: &str, version: u32) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the keyring has no version {version} of the key of tenant `{tenant}`: run `{run}` was stored with another keyring, or its tenant was erased"
    ))
}

pub(crate) fn too_long() -> RuntimeError {
    RuntimeError::sealed("the contents are too long to be encrypted")
}

pub(crate) fn altered(what: &str, run: &str) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the {what} of run `{run}` was altered, or its key is another one"
    ))
}

pub(crate) fn not_opened(name: &str, error: &RuntimeError) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the {name} cannot be decrypted: it was altered, the keyring is another one, or its tenant was erased; store it again ({error})"
    ))
}

// ---- approvals ----

pub(crate) fn says_nothing() -> RuntimeError {
    invalid("the instruction is empty; say what the agent is to do".to_owned())
}

pub(crate) fn says_too_much(length: usize, most: usize) -> RuntimeError {
    invalid(format!(
        "the instruction is {length} bytes long, and {most} are allowed; say less"
    ))
}

pub(crate) fn cannot_be_sealed(run: &str) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the instruction to run `{run}` cannot be encrypted"
    ))
}

pub(crate) fn needs_an_answer(request: &str) -> RuntimeError {
    invalid(format!(
        "request `{request}` asks a question: answer it, or deny it, which tells the model that nobody answers"
    ))
}

pub(crate) fn asks_nothing(request: &str, tool: &str) -> RuntimeError {
    invalid(format!(
        "request `{request}` asks no question: approve, deny or revise the call of `{tool}`"
    ))
}

pub(crate) fn answer_unfit(question: &str, misfit: &impl Display) -> RuntimeError {
    invalid(format!(
        "the answer does not fit the question \"{question}\": {misfit}"
    ))
}

pub(crate) fn schema_missing(tool: &str) -> RuntimeError {
    invalid(format!(
        "the arguments of `{tool}` cannot be changed: their schema is not known"
    ))
}

pub(crate) fn misfit(tool: &str, misfit: &impl Display) -> RuntimeError {
    invalid(format!("the arguments do not fit `{tool}`: {misfit}"))
}

pub(crate) fn not_decided(request: &str, decision: &impl Display, by: &str) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the decision about request `{request}` ({decision} by {by}) was not made by a decider: its row was written by hand"
    ))
}

/// Reason that a model is told if its call was not approved in time.
pub(crate) fn expired(was_decided: bool) -> &'static str {
    match was_decided {
        false => "nobody decided in time",
        true => "the approval was not used in time; ask again",
    }
}

/// Description for approvers of a call whose tool does not say what it does.
pub(crate) fn effect(tool: &str, effects: Effects) -> String {
    match effects {
        Effects::None => format!("Runs `{tool}`, which changes nothing."),
        Effects::Reads => format!("Runs `{tool}`, which reads."),
        Effects::Writes => format!("Runs `{tool}`, which writes."),
    }
}

// ---- undo ----

pub(crate) fn run_not_over(run: &str, status: RunStatus) -> RuntimeError {
    invalid(format!(
        "run `{run}` is {status}; cancel it, and undo it when it is over"
    ))
}

pub(crate) fn tool_missing(agent: &str, tool: &str, version: &str) -> RuntimeError {
    invalid(format!(
        "the runtime has no agent `{agent}` with version {version} of the tool `{tool}`; undo it with the program that ran it"
    ))
}

pub(crate) fn no_tool(agent: &str, tool: &str, version: &str) -> RuntimeError {
    invalid(format!(
        "agent `{agent}` has no version {version} of the tool `{tool}`; look which version it has now, and call that one"
    ))
}

pub(crate) fn writes_in_a_variation(tool: &str) -> String {
    format!("`{tool}` writes, and this run only tries what would have become of another one")
}

pub(crate) fn not_to_vary(run: &str, why: &str) -> RuntimeError {
    invalid(format!("run {run} cannot be varied: {why}"))
}

pub(crate) const NOT_OVER: &str = "it is not over";
pub(crate) const OF_A_CONVERSATION: &str =
    "it is a part of a conversation, and its model was told what was said before";
pub(crate) const OF_NO_AGENT: &str = "no model has worked in it";
pub(crate) const NO_ENTRIES: &str = "it has ended before it began";

/// Returns the input of a run that tries a variation of another run.
pub(crate) fn what_if_input(run: &str) -> String {
    format!("Tell how run {run} would have ended.")
}

/// Returns the input of the run that calls a tool for a person, as JSON. The person's arguments are in it, so that they
/// count as the words of the user.
pub(crate) fn call_input(tool: &str, args: &Json) -> String {
    format!(r#"{{"call": {}, "arguments": {args}}}"#, Json::string(tool))
}

pub(crate) fn output_missing(execution: &str, tool: &str) -> RuntimeError {
    invalid(format!(
        "execution `{execution}` of `{tool}` has no output, so its effect cannot be undone"
    ))
}

pub(crate) fn nothing_to_undo(execution: &str, tool: &str) -> RuntimeError {
    invalid(format!(
        "execution `{execution}` of `{tool}` had no effect, so there is nothing to undo"
    ))
}

pub(crate) fn effect_not_known(tool: &str) -> String {
    format!("it is not known whether `{tool}` took effect, and it has no output")
}

pub(crate) fn undo_held(run: &str, why: &str) -> String {
    format!("run `{run}` of the undo is held: {why}")
}

pub(crate) fn undo_not_run() -> &'static str {
    "the undo has not run"
}

pub(crate) fn undo_without_outcome() -> &'static str {
    "the undo says nothing of its outcome"
}

pub(crate) fn changes_nothing(tool: &str) -> String {
    format!("`{tool}` changes nothing")
}

pub(crate) fn says_no_undo(tool: &str) -> String {
    format!("`{tool}` does not say how it is undone")
}

/// Returns the input of the run that undoes an execution.
pub(crate) fn undo_input(execution: &str, tool: &str) -> String {
    format!("Undo execution {execution} of `{tool}`.")
}

// ---- the audit trail ----

pub(crate) fn trail_not_written(error: &impl Display) -> RuntimeError {
    RuntimeError::unreadable(format!("the audit trail cannot be written: {error}"))
}

/// Reason of an approval whose decider has edited the arguments, with summaries of both; `approved` is `None` where the
/// edited ones cannot be read.
pub(crate) fn edited(approved: Option<&str>, asked: &str) -> String {
    match approved {
        Some(approved) => format!("approved with {{{approved}}} in place of {{{asked}}}"),
        None => format!("approved with other arguments in place of {{{asked}}}"),
    }
}

pub(crate) mod flaws {
    pub(crate) const EDITED: &str = "was edited";
    pub(crate) const REMOVED: &str = "was removed";
    pub(crate) const INSERTED: &str = "was inserted by hand";
    pub(crate) const OUT_OF_ORDER: &str = "is out of order";
    pub(crate) const REMOVED_LATER: &str = "was removed since its head was kept";
    pub(crate) const REWRITTEN: &str = "was rewritten since its head was kept";
    pub(crate) const AGAIN: &str = "was decided, or has begun, once more after its end";
    pub(crate) const NOT_IN_JOURNAL: &str = "is not in the journal of the run";
    pub(crate) const NOT_IN_TRAIL: &str =
        "is in the journal of the run, and not in the audit trail";
    pub(crate) const UNOPENED: &str = "has a data key that the keyring cannot open";
    pub(crate) const OVER: &str = "is the end of the run, which the journal does not have";
}

// ---- replays ----

pub(crate) fn not_to_replay(run: &str, why: &str) -> RuntimeError {
    invalid(format!("run {run} cannot be replayed: {why}"))
}

pub(crate) const NOT_BEGUN: &str = "it has not begun";

pub(crate) fn conversation_of_another(id: &str, who: &str) -> RuntimeError {
    RuntimeError::new(
        RuntimeErrorKind::Forbidden,
        format!(
            "the conversation `{id}` is not for `{who}`: it is for whoever began it, unless the roles share conversations"
        ),
    )
}

pub(crate) fn may_not_see_contents(who: &str) -> RuntimeError {
    RuntimeError::new(
        RuntimeErrorKind::Forbidden,
        format!(
            "`{who}` may not see the contents of runs; whoever may decide about every risk may, or has the role of `{}`",
            crate::Action::ReadArguments
        ),
    )
}

pub(crate) fn no_replays(error: &impl Display) -> RuntimeError {
    invalid(format!(
        "this is no report of replays: {error}; the application prints one with `runtime.replays(&filter)`, as JSON"
    ))
}

pub(crate) fn replays_of_other_format(found: u32, known: u32) -> RuntimeError {
    invalid(format!(
        "the report of replays has format {found}, and this version reads format {known}; use the later program"
    ))
}

// ---- manifests ----

pub(crate) fn no_manifest(error: &impl Display) -> RuntimeError {
    invalid(format!("this is no manifest of a runtime: {error}"))
}

pub(crate) fn manifest_of_other_format(found: u32, known: u32) -> RuntimeError {
    invalid(format!(
        "the manifest has format {found}, and this version reads format {known}; use the later program"
    ))
}

pub(crate) fn no_agent(name: &str) -> String {
    format!("there is no agent `{name}`")
}

pub(crate) fn no_policy(name: &str) -> String {
    format!("there is no policy `{name}`")
}

pub(crate) fn other_answer() -> String {
    "the type of the answer has changed".to_owned()
}

pub(crate) fn open_call_without_tool(tool: &str, version: &str) -> String {
    format!("an open call of `{tool}` is of version {version}, and there is no such tool")
}

/// Text of the reason why a run is held whose tool has changed. `was` is the version of the tool that the call was made
/// for, if there was such a tool.
pub(crate) fn open_call_of_other_version(tool: &str, was: Option<&str>, now: &str) -> String {
    let was = match was {
        Some(version) => format!("is of version {version}"),
        None => "was made when there was no such tool".to_owned(),
    };
    format!("an open call of `{tool}` {was}, and there is version {now}")
}

pub(crate) fn expires_by_itself() -> RuntimeError {
    invalid("a request expires by itself; deny it instead".to_owned())
}

pub(crate) fn not_found_out(execution: &str) -> RuntimeError {
    RuntimeError::sealed(format!(
        "the finding about execution `{execution}` was not made by somebody with the keys: its row was written by hand"
    ))
}

/// Returns the reason why code that does not name a model cannot go on with a run: an agent of the run went on with
/// that model.
pub(crate) fn model_missing(name: &str) -> String {
    format!(
        "the run went on with the model `{name}` after an escalation, and the runtime does not name it (`.known_model(..)`)"
    )
}

// ---- modes ----

pub(crate) fn no_mode(word: &str, modes: &[&str]) -> RuntimeError {
    let modes = modes.join(", ");
    invalid(format!("there is no mode `{word}`; the modes are {modes}"))
}

pub(crate) fn all_is_no_tenant(all: &str) -> RuntimeError {
    invalid(format!(
        "no tenant has the name `{all}`; leave it out to mean all"
    ))
}

pub(crate) fn may_not_set_modes(id: &str) -> RuntimeError {
    forbidden(format!(
        "`{id}` is no operator, and may neither see nor set modes"
    ))
}

/// Text of the error for a mode that was written by hand: that of `tenant`, or for `None` that of all tenants.
pub(crate) fn mode_by_hand(tenant: Option<&str>) -> RuntimeError {
    let whose = tenant.map_or("of all tenants".to_owned(), |tenant| {
        format!("of `{tenant}`")
    });
    RuntimeError::sealed(format!(
        "the mode {whose} was not set by an operator: its row was written by hand; set it again"
    ))
}
