//! Texts of the engine: those that models are told first, then those that people are told.

use crate::reader::{ChangeKind, ReadError};
use serde_json::Value;
use std::{fmt::Display, time::Duration};

// ---- the prompt ----

pub(super) fn answer_by_schema(prompt: &str, schema: &Value) -> String {
    let gap = if prompt.is_empty() { "" } else { "\n\n" };
    format!(
        "{prompt}{gap}When you are done, answer with nothing but JSON that follows this schema:\n{schema}"
    )
}

// ---- a call that is not admitted ----

pub(super) fn no_calls_left(limit: u32) -> String {
    format!("all {limit} tool calls are used up; answer with what you have")
}

pub(super) fn skill_for_a_tool(name: &str) -> String {
    format!("`{name}` is a skill and no tool; to choose it, say {name} and nothing else")
}

pub(super) fn no_skill_chosen(skills: &[String]) -> String {
    format!(
        "no tool can be called before a skill is chosen; say the name of one and nothing else: {}",
        skills.join(", ")
    )
}

/// Text of the error of a call of an unknown tool. `meant` is the tool that has almost this name, and `tools` are all
/// that the agent has.
pub(super) fn no_tool(name: &str, meant: Option<&str>, tools: &[String]) -> String {
    let suggestion = match meant {
        Some(meant) => format!(" did you mean `{meant}`?"),
        None => String::new(),
    };
    match tools {
        [] => format!("there is no tool `{name}`; you have no tools, so answer in text"),
        [_] if meant.is_some() => format!("there is no tool `{name}`;{suggestion}"),
        all => format!(
            "there is no tool `{name}`;{suggestion} you have {}",
            all.join(", ")
        ),
    }
}

pub(super) fn blocked(tool: &str, reason: &str) -> String {
    format!("`{tool}` is blocked: {reason}")
}

pub(super) fn called_too_often(wait: Duration) -> String {
    format!("it was called too often; call it again in {wait:.1?}")
}

/// Text of the error if a rate limiter fails; `amiss` says what is wrong with it.
pub(super) fn limiter_amiss(amiss: &impl Display) -> String {
    format!("the rate limiter {amiss}, so the tool was not run")
}

/// Text of the error of the second of two equal calls in one reply.
pub(super) const STANDS_TWICE: &str = "the same call stands twice in your reply, and this one was not made: call again if it is meant twice";

// ---- arguments that cannot be read ----

pub(super) const NO_ARGUMENTS: &str = "no arguments read as `{}`";

pub(super) fn broke_off(error: &ReadError) -> String {
    format!("the text broke off ({error}): send the whole object again, to its closing bracket")
}

pub(super) fn does_not_fit(error: &ReadError) -> String {
    format!("what can be made out in the text does not fit ({error}): send one whole object")
}

pub(super) fn not_an_object(raw: &str, misfit: &str) -> String {
    match raw.trim().bytes().next() {
        None => "they are empty; send a JSON object".into(),
        Some(b'n') if raw.trim() == "null" => "they are `null`; send a JSON object".into(),
        Some(b'[') => {
            format!("they are a list, or begin like one; send a JSON object ({misfit})")
        }
        _ => format!("they are not a JSON object: {misfit}"),
    }
}

pub(super) fn too_long(length: usize, limit: usize) -> String {
    format!("they are {length} bytes long, and {limit} are allowed; send less")
}

/// Text of the error of uncertain arguments; `note` says what was changed in them.
pub(super) fn uncertain(note: &str, kind: &ChangeKind) -> String {
    let remedy = match kind {
        ChangeKind::Extracted => "send the value alone, as JSON has it",
        ChangeKind::Inferred => "write the name of the field that is meant",
        ChangeKind::DroppedKey => "leave the key out, or write the name of the field that is meant",
        ChangeKind::CutOff => "send the whole object again, to its closing bracket",
        _ => "send one JSON object and nothing else",
    };
    format!("{note}, and a tool that writes does not run on that: {remedy}")
}

// ---- an execution ----

pub(super) const PROCESS_ENDED: &str = "the process ended while it ran";

pub(super) fn secrets_missing(secrets: &str) -> String {
    format!(
        "the stored arguments hold the secret {secrets}, which this run does not have; give it again with `.secret(..)` or `.secrets(..)`"
    )
}

// ---- approvals and policies ----

pub(super) const NO_APPROVER: &str = "the run has no approver; give it one with `.approver(..)`";

/// Reason of a repeated call that is not executed, with the output of the call that has succeeded.
pub(super) fn done_before(output: Option<&str>) -> String {
    let result = output.map(|output| format!(". The result was: {output}"));
    let result = result.unwrap_or_default();
    format!(
        "not executed again, since the same call has succeeded before. If it is meant a second time, make it again, and say why in a sentence of your own before it{result}"
    )
}

/// Reason of a call that is refused because an equal call was denied.
pub(super) fn denied_before(denial: &impl Display) -> String {
    format!("the same call was denied before: {denial}")
}

/// Reason of a question whose time to answer is over.
pub(super) const NOT_IN_TIME: &str = "the time to answer is over";

pub(super) fn approver_panicked(panic: &str) -> String {
    format!("the approver panicked: {panic}")
}

/// Text of the error of an approver's arguments that a policy refuses; `why` are the words of the policy.
pub(super) fn edit_refused(why: &str) -> String {
    format!("not approved: the approver gave other arguments, which a policy refuses: {why}")
}

pub(super) fn rule_panicked(panic: &str) -> String {
    format!("a rule panicked: {panic}")
}

// ---- the tools of a repair agent that gives up ----

pub(super) const ESCALATE: &str = "Only if it cannot be repaired, since nobody can tell what was meant: gives up, and hands the failure to somebody who can judge it.";
pub(super) const THROW: &str =
    "Only if going on would do harm: ends the whole run, and everybody's work with it.";
pub(super) const WHY: &str = "What stands in the way of a repair, in a sentence of your own.";
pub(super) const HARM: &str = "What harm it would do, in a sentence of your own.";
pub(super) const SEVERITY: &str = "How bad it is; HIGH if nothing is said.";
pub(super) const SAYS_NOTHING: &str = "this says nothing; say in your own words why it cannot be repaired, or else answer with the repaired text";
pub(super) const REPAIR_ENDED: &str = "the repair had ended before";

// ---- repairs ----

pub(super) const NESTED_TOO_DEEP: &str = "repairs are nested too deep";
pub(super) const REPAIR_ENDED_WITH_IT: &str = "the repair ended with it";

pub(super) fn repair_agent_unknown(agent: &str) -> String {
    format!("repair agent `{agent}` is not known; list it with `fixers = [..]`")
}

pub(super) fn repair_agent_panicked(panic: &str) -> String {
    format!("panicked: {panic}")
}

// ==== texts for people alone ====

// ---- models ----

pub(super) const CONFIRMED_REQUEST: &str = "a policy wants this request confirmed, and only calls of tools can be; let it allow or deny the request";

pub(super) fn model_denied(model: &str, reason: &str) -> String {
    format!("the model `{model}` may not be asked: {reason}")
}

pub(super) fn no_window(model: &str) -> String {
    format!(
        "its `context` is shortened by a share of the model's window, and the window of `{model}` is not known: give it with `.window(..)` of the model's client, or `window = ..` in the `context`"
    )
}

/// Remedy for a conversation that is too long.
pub(super) const SHORTEN_CONTEXT: &str =
    "the agent can shorten its conversation by itself: `context = trim(at = 0.75)`";

pub(super) fn no_price(model: &str) -> String {
    format!(
        "the model `{model}` has no price, so that its cost cannot be bounded; say what it costs with `.run(..).price(\"{model}\", input, output)`"
    )
}

pub(super) fn not_admitted(model: &str) -> String {
    format!(
        "the model `{model}` is not admitted by the control plane; name a purpose in its place, or admit it with `.admit(\"{model}\")`"
    )
}

pub(super) fn another_model(agent: &str, before: &str, now: &str) -> String {
    format!(
        "agent `{agent}` of the stored run used the model `{before}`, and now has `{now}`; give it `{before}` again, or allow the change with `.allow_model_change(..)`"
    )
}

pub(super) fn given_model_missing(model: &str) -> String {
    format!(
        "the stored run went on with the model `{model}` after an escalation, and nobody's `on_escalation` gives that model now; say it with `.known_model(..)`"
    )
}

// ---- stored runs ----

pub(super) fn repair_agent_not_listed(agent: &str) -> String {
    format!(
        "an arm names the repair agent `{agent}` through a helper, so that a stored run would not find it again; list it with `fixers = [..]` in `#[agent(..)]`, or with `.fixer(..)` on the agent or the tool"
    )
}

/// Text of the error of a stored call whose tool has changed. `stored` and `now` are the versions of the tool, if there
/// was and is such a tool.
pub(super) fn open_call_of_other_version(
    tool: &str,
    stored: Option<&str>,
    now: Option<&str>,
) -> String {
    let version = |version: Option<&str>| match version {
        Some(version) => format!("version {version}"),
        None => "no such tool".to_owned(),
    };
    let (stored, now) = (version(stored), version(now));
    format!(
        "a stored call of `{tool}` is not settled; it was made of {stored}, and now there is {now}"
    )
}

// ---- calls in the background ----

/// Reason for which a call in the background is cancelled.
pub(super) const AGENT_ENDED: &str = "its agent has ended its work";

// ---- images and files ----

/// Text of the error if an image or a file of a conversation cannot be loaded; `what` names it.
pub(super) fn media_not_loaded(what: &str, url: &str, why: &str) -> String {
    format!("{what} of the conversation cannot be loaded from `{url}`: {why}")
}

/// Text of the error of an image or a file without content; `what` names it.
pub(super) fn media_without_content(what: &str) -> String {
    format!(
        "{what} is only a reference to an attachment of a receipt: load the attachment from the blob store, and give \
         the model its bytes with `Media::bytes(..)`"
    )
}

pub(super) const NO_BLOB_STORE: &str =
    "the run has no blob store; give it that of the earlier run with `.blobs(..)`";

pub(super) const ANOTHER_BLOB: &str = "the content is not the one that was stored";

pub(super) const NO_SUCH_BLOB: &str = "the blob store does not have it";

// ---- answers ----

pub(super) const EMPTY_ANSWER: &str = "the answer is empty";

pub(super) fn unusable_answer(reason: &str, limit: &impl Display) -> String {
    format!("the answer does not fit: {reason}; {limit}")
}

pub(super) fn of_agent(agent: &str) -> String {
    format!("agent `{agent}`")
}

pub(super) fn validator_of(agent: &str) -> String {
    format!("a validator of agent `{agent}`")
}
