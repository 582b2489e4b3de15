//! Events and receipts of a run as lines on a terminal.
//!
//! ```no_run
//! use agents::{console::print_line, prelude::*};
//!
//! # async fn run() -> Result<(), Error> {
//! # let agent = AgentBuilder::<String, String>::new("a").build();
//! agent.run("Summarise config.json").on_event(print_line).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Colours are used only if the output is a terminal and `NO_COLOR` is not set.

use agents_core::screen::{shorten, shown, squeeze};
use agents_core::{
    error::ErrorRecord,
    escalation::{Escalation, EscalationReceipt, Settlement},
    model::FinishReason,
    run::{Approval, Attempt, Event, EventKind, ToolEnvelope},
};
use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    sync::LazyLock,
    time::Duration,
};

/// Prints an event of a run to the terminal, if it is worth a line; [`Run::on_event`](agents_core::agent::Run::on_event)
/// takes this function.
///
/// Lines are printed for calls that have ended, repairs, waits, approvals, escalations and answers that went back to
/// the model, among others. The last line names the agent, whether it answered, its tokens if there were any, and its
/// duration. If it did not answer, a line before gives the reason.
///
/// ```
/// use agents::{console::print_line, prelude::*};
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("4")]);
/// # let adder = AgentBuilder::<String, u32>::new("adder").model(model).build();
/// let sum = adder.run("2 + 2").on_event(print_line).await?;
/// # assert_eq!(sum, 4);
/// # Ok(())
/// # }
/// ```
pub fn print_line(event: &Event) {
    if let Some(line) = line(event, *COLOUR) {
        let indent = "  ".repeat(event.depth as usize + 1);
        // An output that was closed must not stop the run.
        let _ = writeln!(io::stdout().lock(), "{indent}{line}");
    }
}

static COLOUR: LazyLock<bool> =
    LazyLock::new(|| io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none());

/// Formats an event as one line without a line break; `None` for events that need no line. With `colour`, parts of the
/// line are painted with escape sequences of terminals.
///
/// ```
/// use agents::{console, prelude::*, run::Event};
/// # use agents::testing::{Script, ScriptedModel};
/// # use std::sync::{Arc, Mutex};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::call("loook", "{}"), Script::text("I cannot")]);
/// # let watcher = AgentBuilder::<String, String>::new("watcher").model(model).build();
/// # let log = Arc::new(Mutex::new(Vec::new()));
/// # let lines = log.clone();
/// // The same lines, elsewhere.
/// let run = watcher.run("Look").on_event(move |event: &Event| lines.lock().unwrap().extend(console::line(event, false)));
/// run.await?;
/// assert!(log.lock().unwrap().iter().any(|line| line.contains("loook")));
/// # Ok(())
/// # }
/// ```
pub fn line(event: &Event, colour: bool) -> Option<String> {
    let ink = Ink { colour };
    Some(match &event.kind {
        EventKind::CallEnded(receipt) => self::receipt(receipt, colour),
        EventKind::CallFailed { tool, error, .. } => {
            let said = error.details.as_ref().and_then(|details| {
                details
                    .get("raw_value")
                    .or(details.get("raw_args"))?
                    .as_str()
            });
            let said = said
                .map(|raw| format!(" {}", shorten(raw, 70)))
                .unwrap_or_default();
            let said = match error.given_by() {
                Some(by) => format!("{said} (given by `{}`)", shown(by)),
                None => said,
            };
            format!(
                "{}{said} → {}",
                ink.yellow(&format!("! {tool}")),
                problem(error)
            )
        }
        EventKind::CallRepaired { tool, repairs, .. } => {
            let repairs = safe(repairs);
            format!("{} {repairs}", ink.yellow(&format!("~ {tool} repaired:")))
        }
        EventKind::AnswerRepaired { answer, repairs } => {
            let said = shorten(answer, 70);
            format!(
                "{} {said:?}: {}",
                ink.yellow("~ the answer was repaired,"),
                safe(repairs)
            )
        }
        EventKind::AnswerFailed { answer, reason } => {
            let said = ink.yellow("! the answer");
            format!("{said} {} → {}", shorten(answer, 70), shorten(reason, 160))
        }
        EventKind::AnswerRefused { reason } => {
            let reason = safe(reason);
            format!("{} {reason}", ink.yellow("! the answer goes back:"))
        }
        EventKind::BackingOff { tool, wait } => ink.dim(&format!("… {tool} {}", again(*wait))),
        EventKind::FixerRequested {
            tool,
            fixer,
            attempt,
        } => ink.dim(&format!(
            "? {fixer} is asked to repair {tool}, try {attempt}"
        )),
        EventKind::FixerReplied {
            fixer,
            answer,
            tokens,
            took,
            ..
        } => {
            let said = match answer {
                Ok(text) => ink.dim(&format!("  {fixer} gave {}", shorten(text, 70))),
                Err(why) => ink.yellow(&format!("! {fixer}: {why}")),
            };
            said + &ink.facts(&[format!("{tokens} tokens"), duration(*took)])
        }
        EventKind::Escalated(escalation) => {
            format!("{} {}", ink.yellow("^ escalated:"), safe(escalation))
        }
        EventKind::ResolutionRefused(refused) => {
            ink.yellow(&format!("! {refused}; it goes to the next agent above"))
        }
        EventKind::EscalationSettled(receipt) => ink.yellow(&settled(receipt)),
        EventKind::SecretLookup {
            tool,
            name,
            fallback: true,
            ..
        } => ink.yellow(&format!("! {tool} uses `{name}` of the whole organisation")),
        EventKind::SecretLookup {
            tool,
            reason: Some(reason),
            ..
        } => ink.yellow(&format!("! {tool}: {reason}")),
        EventKind::ModelRequested {
            model,
            choosing: true,
            ..
        } => ink.dim(&format!("? {model} chooses a skill")),
        EventKind::SkillChosen { skill } => ink.dim(&format!("· answers with the skill {skill}")),
        EventKind::Instructed(said) => ink.dim(&match &said.by {
            Some(by) => format!("! {by}: {}", shorten(&said.text, 100)),
            None => format!("! {}", shorten(&said.text, 100)),
        }),
        EventKind::Shortened {
            left_out, tokens, ..
        } => ink.dim(&format!(
            "· shortens the conversation: {left_out} messages of {tokens} tokens in all"
        )),
        EventKind::TicketGiven { ticket, .. } => {
            ink.dim(&format!("… {ticket} goes on in the background"))
        }
        EventKind::HandedOff { to } => ink.dim(&format!("→ hands the conversation to {to}")),
        EventKind::ApprovalRequested(request) => ink.dim(&match &request.question {
            Some(question) => format!("? {}", shorten(&question.text, 100)),
            None => format!(
                "? may {} run with {}",
                request.tool_name,
                shorten(request.args.as_str(), 60)
            ),
        }),
        EventKind::ApprovalDecided { approval, by, .. } => {
            ink.dim(&format!("  {}", decided(approval, by.as_deref())))
        }
        EventKind::Stopped(stopped) => {
            format!("{} {}", ink.red("✗ stopped:"), safe(stopped))
        }
        EventKind::Failed { reason, .. } => {
            format!("{} {}", ink.red("✗ failed:"), safe(reason))
        }
        EventKind::RunEnded {
            ok,
            partial,
            usage,
            took,
        } => {
            let said = match ok {
                true => format!("{} answered", ink.bold(&format!("▸ {}", event.agent))),
                false => ink.red(&format!("✗ {}: no answer", event.agent)),
            };
            let tokens = usage.tokens();
            let tokens = (tokens > 0).then(|| format!("{tokens} tokens"));
            let partial = partial.then(|| "partial".to_owned());
            let facts = partial.into_iter().chain(tokens);
            let facts: Vec<_> = facts.chain([duration(*took)]).collect();
            said + &ink.facts(&facts)
        }
        EventKind::ModelReplied {
            finish: FinishReason::Length,
            ..
        } => ink.yellow(
            "! the model's reply was cut off at the limit of its output tokens; the model has a setting for it",
        ),
        EventKind::RunStarted { .. }
        | EventKind::AgentStarted
        | EventKind::AgentEnded { .. }
        | EventKind::SecretLookup { .. }
        | EventKind::ModelRequested { .. }
        | EventKind::Text(_)
        | EventKind::Thinking(_)
        | EventKind::ModelReplied { .. }
        | EventKind::CallStarted { .. }
        | EventKind::AttemptStarted { .. }
        | EventKind::KnowledgeUsed { .. } => return None,
    })
}

/// Formats a receipt as one line: the call, its output or error, its duration, and further facts such as the approval
/// and the number of attempts if there was more than one. With `colour`, parts of the line are painted with escape
/// sequences of terminals.
///
/// ```
/// # use agents::{prelude::*, testing::{Script, ScriptedModel}, tool};
/// /// Adds.
/// #[tool(none)]
/// async fn add(
///     /// One.
///     a: u32,
///     /// Another.
///     b: u32,
/// ) -> u32 { a + b }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let (model, _) = ScriptedModel::new([Script::call("add", r#"{"a":1,"b":2}"#), Script::text("3")]);
/// let agent = AgentBuilder::<String, String>::new("adder").tool(Add).model(model).build();
/// let outcome = agent.run("1 + 2").outcome().await.unwrap();
/// let receipt = outcome.outputs.last_tool.unwrap();
/// assert!(agents::console::receipt(&receipt, false).starts_with(r#"✓ add {"a":1,"b":2} → 3"#));
/// # }
/// ```
pub fn receipt(receipt: &ToolEnvelope, colour: bool) -> String {
    let ink = Ink { colour };
    let mut line = match &receipt.error {
        None => ink.green("✓ "),
        Some(_) => ink.red("✗ "),
    };
    line.push_str(&ink.bold(&receipt.name));
    let _ = write!(line, " {}", shorten(receipt.input.as_str(), 70));
    match (&receipt.output, &receipt.error) {
        (Some(output), _) => {
            let _ = write!(line, " → {}", shorten(output.as_str(), 70));
        }
        (None, Some(error)) => {
            let _ = write!(line, " → {}", ink.red(&problem(error)));
        }
        (None, None) => {}
    }
    let mut facts = vec![duration(receipt.duration())];
    if receipt.attempts.len() > 1 {
        facts.insert(0, format!("{} attempts", receipt.attempts.len()));
    }
    facts.splice(0..0, approval(receipt));
    if receipt.cached {
        facts.insert(0, "cached".into());
    }
    if receipt.truncated {
        facts.insert(0, "cut".into());
    }
    if receipt.is_partial() {
        facts.insert(0, "partial".into());
    }
    line + &ink.facts(&facts)
}

/// Returns text that is safe for a terminal, to stand beside painted text.
fn safe(what: &impl ToString) -> String {
    shown(&what.to_string()).into_owned()
}

/// Returns in words how a call was approved, or its question answered: the number of approvals, with the author and the
/// time of the last one, and who denied the call or wants it changed. `None` if nobody was asked, or if the only
/// decision is a denial or a wish for a change, without an author. The reason of a denial is in the error.
pub(crate) fn approval(receipt: &ToolEnvelope) -> Option<String> {
    let asked = |attempt: &&Attempt| attempt.approval_s.is_some();
    let times = receipt.attempts.iter().filter(asked).count();
    let last = receipt.attempts.iter().rfind(asked);
    let approved = last.and_then(|last| {
        let took = Duration::try_from_secs_f64(last.approval_s?).ok()?;
        let by = last.approved_by.as_deref();
        let said = match (times, by) {
            (1, by) if receipt.is_answer => by_whom("answered", by),
            (1, by) => by_whom("approved", by),
            (times, Some(by)) => format!("approved {times} times, last by {by}"),
            (times, None) => format!("approved {times} times, the last"),
        };
        Some(format!("{said} after {}", duration(took)))
    });
    let denied = receipt.error.as_ref().and_then(|error| {
        let did = match error.is_revised() {
            true => "to be changed",
            false => "denied",
        };
        Some(format!("{did} by {}", error.decided_by()?))
    });
    let said: Vec<_> = approved.into_iter().chain(denied).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn decided(approval: &Approval, by: Option<&str>) -> String {
    let did = match approval {
        Approval::Approve => "approved",
        Approval::ApproveWith { .. } => "approved with other arguments",
        Approval::Answer { .. } => "answered",
        Approval::Deny { .. } => "denied",
        Approval::Expired { .. } => "expired",
        Approval::Revise { .. } => "to be changed",
    };
    by_whom(did, by)
}

fn by_whom(did: &str, by: Option<&str>) -> String {
    match by {
        Some(by) => format!("{did} by {by}"),
        None => did.to_owned(),
    }
}

/// Returns the text of an error, with what the model was told besides. If the error follows an escalation, the events
/// of the escalation say the rest.
pub(crate) fn problem(error: &ErrorRecord) -> String {
    let mut said = format!("{}: {}", error.code, squeeze(&error.message, 160));
    if error.reason.is_some() {
        return said;
    }
    if let Some(hint) = error.hint() {
        let _ = write!(said, "; hint: {}", shorten(hint, 160));
    }
    if let Some(remark) = error.remark() {
        let _ = write!(said, "; {}", squeeze(remark, 240));
    }
    said
}

/// Returns words that say when a call is made again: after this wait, or at once.
pub(crate) fn again(wait: Duration) -> String {
    match wait.is_zero() {
        true => "again at once".to_owned(),
        false => format!("again in {}", duration(wait)),
    }
}

pub(crate) fn duration(time: Duration) -> String {
    match time.as_millis() {
        0 => "<1 ms".into(),
        millis @ 1..=9_999 => format!("{millis} ms"),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

pub(crate) struct Ink {
    pub(crate) colour: bool,
}

impl Ink {
    /// Returns the text, safe for a terminal, painted in this colour if colours are on.
    fn paint(&self, code: &str, text: &str) -> String {
        let text = shown(text);
        match self.colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.into_owned(),
        }
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Returns facts in parentheses, for the end of a line.
    fn facts(&self, facts: &[String]) -> String {
        self.dim(&format!("  ({})", facts.join(", ")))
    }

    fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.paint("31", text)
    }
}

/// Returns the console's line for a settled escalation. The line names the source of the escalation, because lines of
/// other calls may stand in between.
fn settled(receipt: &EscalationReceipt) -> String {
    let source = &receipt.escalation.source;
    let settled = match &receipt.settled {
        Settlement::Dropped { why } => format!("what `{source}` gave up is dropped: {why}"),
        Settlement::ReportedToModel => {
            format!("nobody handled what `{source}` gave up; the model that called is told")
        }
        settled => settled.to_string(),
    };
    format!("^ {settled}{}", passed_on(&receipt.escalation))
}

/// Returns in words which agents passed the escalation on with words of their own. The last of them counts for its
/// settlement.
fn passed_on(escalation: &Escalation) -> String {
    let above = escalation.raised.iter().skip(1);
    let said = above.map(|raised| {
        let reason = shorten(&raised.reason, 70);
        format!(
            "; `{}` had passed it on ({}): {reason}",
            raised.by, raised.severity
        )
    });
    said.collect()
}
