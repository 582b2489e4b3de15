//! Texts of the control room for people.

use agents_core::run::Timestamp;
use agents_runtime::HeldKind;

pub(crate) const NO_PAGE: &str = "there is no such page";
pub(crate) const NOBODY: &str = "nobody is signed in: open the URL that the server has printed, or sign in to the application that this page belongs to";
pub(crate) const OTHER_SITE: &str =
    "the request comes from another site; open the control room itself, and try again there";
pub(crate) const OTHER_HOST: &str =
    "this control room answers requests to this machine alone, by its own name and port";
pub(crate) const NO_TOKEN: &str = "the form has no valid token: somebody else has signed in since it was shown; load the page again";
pub(crate) const NO_DECISION: &str = "`decision` is none of `approve`, `deny`, `revise`, `answer`";
pub(crate) const NO_QUESTION: &str = "the request asks no question: approve, deny or revise it";
pub(crate) const NO_ANSWER: &str = "`decision` is `answer`, and the field `answer` is missing";
pub(crate) const ANSWER_IN_VAIN: &str =
    "`answer` was given, and `decision` is not `answer`; leave one of them out";
pub(crate) const NO_ACTION: &str = "`action` is none of `say`, `pause`, `release`, `cancel`";
pub(crate) const NOTHING_CHOSEN: &str = "no request is chosen: tick those that you decide about";
pub(crate) const EDITED_TWICE: &str = "the arguments were edited both in single fields and in the field `arguments`; edit one of them";
pub(crate) const EDITED_UNSEEN: &str =
    "the arguments cannot be edited by somebody who does not see them";
pub(crate) const EDITED_IN_VAIN: &str = "edited arguments are for an approval; to have the call changed, ask for a revision with a note";
pub(crate) const DENIED: &str = "denied in the control room";
pub(crate) const REVISE: &str = "change this call, or do without it";

pub(crate) fn not_all(decided: u32, why: &str) -> String {
    format!("decided: {decided}; the others could not be, first of all because {why}")
}

pub(crate) fn unreadable_arguments(error: impl std::fmt::Display) -> String {
    format!("`arguments` is no JSON: {error}")
}

pub(crate) fn unreadable_field(name: &str, kind: &str) -> String {
    format!("the argument `{name}` is not of the type `{kind}`")
}

pub(crate) fn missing_field(name: &str) -> String {
    format!("the argument `{name}` is missing")
}

pub(crate) fn unknown_status(status: &str) -> String {
    format!("`status` is `{status}`, which is no state")
}

pub(crate) fn not_known_now(error: impl std::fmt::Display) -> String {
    format!("who sends this request cannot be found out now: {error}")
}

pub(crate) fn not_loopback(address: impl std::fmt::Display) -> String {
    format!(
        "{address} is not an address of this machine alone: use 127.0.0.1, or put `router` with an authenticator into a server of your own"
    )
}

pub(crate) const NO_CONTROL: &str = "this control room has no control plane: give it one with `ControlRoom::of(&client).control(&plane)`, as the chapter of the book about control planes shows";

pub(crate) fn no_version(version: u64, purpose: &str) -> String {
    format!("`version`: the purpose `{purpose}` has no version {version} that you may activate")
}

pub(crate) fn unknown_sum(by: &str) -> String {
    format!("`by` is `{by}`, which is none of `day`, `agent`, `purpose`, `model`, `tenant`, `run`")
}

pub(crate) fn no_day(text: &str) -> String {
    format!("`since` is `{text}`, which is no day; write it as `2026-11-26`")
}

/// Returns the advice about a run that is held: what a person can do.
pub(crate) fn what_to_do(held: HeldKind) -> &'static str {
    match held {
        HeldKind::Paused => "Let it go on when its time has come, or cancel it.",
        HeldKind::All => {
            "All runs are held, as after a restore. Compare what this one has done since, then let it go on."
        }
        HeldKind::Poisoned => {
            "Look into the logs of the workers for what ends them, mend it, and let the run go on."
        }
        HeldKind::Incompatible => {
            "Start a worker that has what the run needs, then let the run go on. `agents check-deploy` finds such runs before a deploy."
        }
        HeldKind::Altered => {
            "Verify the audit trail. A run whose contents were altered, or whose keys are gone, can only be cancelled."
        }
        _ => "Mend what the reason names, and let the run go on.",
    }
}

pub(crate) const PUT_DOWN: &str =
    "Its worker puts it down at the next safe moment: a tool that writes ends first.";

pub(crate) const NO_WORKER: &str = "no worker has taken it so far";

pub(crate) fn paused_by(by: &str) -> String {
    format!("it was paused by `{by}`")
}

/// Returns why a run waits, and the advice what to do.
pub(crate) fn waits(requests: usize, wake_at: Option<Timestamp>) -> (String, String) {
    match (requests, wake_at) {
        (0, Some(at)) => (
            format!("it waits until {at}"),
            "Nothing: it goes on by itself.".to_owned(),
        ),
        (0, None) => (
            "it waits, and no request of it is open".to_owned(),
            "Nothing: a worker goes on with it.".to_owned(),
        ),
        (1, _) => (
            "it waits for a decision".to_owned(),
            "Decide about its request.".to_owned(),
        ),
        (count, _) => (
            format!("it waits for {count} decisions"),
            "Decide about its requests.".to_owned(),
        ),
    }
}

/// Returns the advice about a run that no worker takes.
pub(crate) fn start_a_worker(agent: &str, conversation: Option<&str>) -> String {
    match conversation {
        Some(_) => format!(
            "It has its turn when the earlier runs of its conversation are over. Otherwise start a worker that has the agent `{agent}`."
        ),
        None => format!("Start a worker that has the agent `{agent}`, or one that is less busy."),
    }
}

pub(crate) const NO_VERSION: &str = "`version` and `replaces` are numbers of versions";
pub(crate) const NO_CHANGE: &str = "`action` is not `roll_back`";

pub(crate) const NO_FINDING: &str = "`action` is none of `took_effect`, `had_no_effect`, `undo`";

pub(crate) const NOTHING_TO_UNDO: &str = "the tool changes nothing, so there is nothing to undo";
pub(crate) const NO_WAY_BACK: &str = "the tool declares that its effect cannot be undone";
pub(crate) const UNDONE_BEFORE: &str = "the effect is undone already";
pub(crate) const DOUBT_FIRST: &str =
    "it is not known whether the tool took effect; find out and settle the doubt first";
pub(crate) const WITHOUT_OUTPUT: &str = "the execution has returned no output, which an undo needs";
pub(crate) const NOT_READABLE: &str =
    "the journal of the run cannot be read, so it is not known what an undo would need";
pub(crate) const NO_UNDO: &str = "the tool does not say how a call is undone";
pub(crate) const REVERSIBLE: &str = "The tool says how its calls are undone. A worker that has the tool in this version does it. If something else has happened since, the tool may refuse: then nothing is changed, and the run of the undo says so";

pub(crate) const NO_EVENT: &str =
    "this conversation has no event with the id of `Last-Event-ID` or `after`";

pub(crate) fn no_run_of_conversation(id: &str) -> String {
    format!("this conversation has no run `{id}`: `before` takes the id in `next`")
}

pub(crate) fn no_conversation(id: &str) -> String {
    format!("there is no conversation `{id}`")
}

pub(crate) fn no_agent(name: &str) -> String {
    format!(
        "nobody sends messages to an agent `{name}` here: add it with `ControlRoom::of(&client).agent(\"{name}\")`"
    )
}

pub(crate) fn other_agent(agent: &str) -> String {
    format!("this conversation is not one with the agent `{agent}`")
}

pub(crate) const NO_CHATS: &str = "Nobody sends messages to agents here: name those that people may talk to with `ControlRoom::agent`.";
pub(crate) const NO_WORDS: &str = "`text` is empty: write what the agent shall do";
pub(crate) fn no_conversation_id(most: usize) -> String {
    format!("the id of a conversation has up to {most} bytes, and no control characters")
}

pub(crate) const NO_CONVERSATION_ID: &str =
    "`conversation` is empty: load the page again, which makes an id";

pub(crate) const FOR_OTHERS: &str = "the text of a run holds exact arguments, which are for whoever may decide about calls of every risk or, if there is a role for `Action::ReadArguments`, only for whoever has it";

pub(crate) fn unknown_word(field: &str, given: &str, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|word| format!("`{word}`")).collect();
    format!(
        "`{field}` is `{given}`, which is none of {}",
        known.join(", ")
    )
}

pub(crate) const PIN_WITHOUT_TOOL: &str =
    "`tool` is missing: name the tool whose call the handle refers to";
pub(crate) const PIN_WITHOUT_CALL: &str =
    "`call_id` is missing: the strategy `by_call_id` needs the id of a receipt";
pub(crate) const NO_OTHER_RESULT: &str =
    "say how the call ends instead: with another `output`, or with an `error` that has a `code`";

pub(crate) fn unreadable_output(error: impl std::fmt::Display) -> String {
    format!("`output` is no JSON: {error}")
}

pub(crate) const REPLAYED: &str =
    "The letter is on its way again. If its handler fails as often as before, it comes back here.";
pub(crate) const NO_TRIAGE: &str = "`status` is missing: it is `dismissed`, `escalate` or `wait`";

pub(crate) fn no_minutes(field: &str, given: &str) -> String {
    format!("`{field}` is `{given}`, which is no number of minutes; write it as `60`")
}

pub(crate) fn no_place(given: &str) -> String {
    format!("`before` is `{given}`, which is no place in the list: it takes what `next` has")
}

pub(crate) const NOT_CALLABLE: &str = "this version of the tool is not there any more, or is blocked; look for one that an agent has now";
