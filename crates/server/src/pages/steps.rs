//! The steps of a run, a line for each event that tells something.

use super::{encoded, worked};
use crate::inert;
use agents_core::run::{Event, EventKind, Timestamp};
use maud::{Markup, html};
use std::{collections::HashSet, time::Duration};

/// Line of the list of a run's steps.
struct Step {
    mark: &'static str,
    class: &'static str,
    text: String,
    /// Longer text below the line; `None` if the line says it all.
    more: Option<String>,
}

/// Returns the list of a run's steps, made of its events. `run` is the address of the run's page.
pub(super) fn steps(run: &str, events: &[Event]) -> Markup {
    let begin = events
        .first()
        .map_or(Timestamp::default(), |event| event.at);
    let mut told = HashSet::new();
    html! {
        ol.steps {
            @for event in events {
                // A run that goes on in another process begins its agents and its open requests again.
                @if let Some(step) = step(&event.kind, !told.insert(again(event))) {
                    li.{ "depth-" (event.depth.min(6)) }.(step.class) {
                        time.at datetime=(event.at) title=(event.at) { (after(event.at.since(begin))) }
                        span.agent { (inert::text(&event.agent)) }
                        span.mark aria-hidden="true" { (step.mark) }
                        span.text { bdi { (inert::text(&step.text)) } }
                        @if let Some(call) = receipt_of(&event.kind) {
                            a.call href={ (run) "/calls/" (encoded(call)) } { "the call" }
                        }
                        @if let Some(more) = &step.more {
                            details { summary { "more" } pre { bdi { (inert::text(more)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a length of time to the hundredth of a second.
fn after(time: Duration) -> String {
    let (minutes, rest) = (time.as_secs() / 60, time.as_millis() % 60_000 / 10);
    let seconds = format!("{:02}.{:02}", rest / 100, rest % 100);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{}.{:02} s", rest / 100, rest % 100),
        (0, minutes) => format!("{minutes}:{seconds}"),
        (hours, minutes) => format!("{hours}:{minutes:02}:{seconds}"),
    }
}

/// Returns the id of the receipt of the call that has ended with this event; `None` for other events, and for a call of
/// an unknown tool.
fn receipt_of(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::CallEnded(receipt) if !receipt.version.is_empty() => Some(&receipt.call_id),
        _ => None,
    }
}

/// Returns the key of an event, by which a repetition is recognised: if a resumed run reports the same thing again,
/// that event has the same key.
fn again(event: &Event) -> (&str, String) {
    match &event.kind {
        EventKind::RunStarted { .. } => ("run", String::new()),
        EventKind::AgentStarted => ("agent", event.place.to_string()),
        EventKind::ApprovalRequested(request) => ("request", request.id.clone()),
        _ => ("", event.seq.to_string()),
    }
}

/// Returns the line that shows an event; `None` if it has none. `is_again` is `true` if an event with the same key came
/// before.
fn step(kind: &EventKind, is_again: bool) -> Option<Step> {
    let (mark, class, text, more) = match kind {
        EventKind::RunStarted { .. } => match is_again {
            true => ("▶", "begin", "the run goes on".to_owned(), None),
            false => ("▶", "begin", "the run begins".to_owned(), None),
        },
        EventKind::AgentStarted | EventKind::ApprovalRequested(_) if is_again => return None,
        EventKind::AgentStarted => ("▸", "begin", "begins".to_owned(), None),
        EventKind::SkillChosen { skill } => ("·", "", format!("chooses the skill {skill}"), None),
        EventKind::Instructed(said) => {
            let by = said.by.as_deref().unwrap_or("a person");
            let text = format!("{by} says: {}", short(&said.text));
            ("!", "ask", text, long(&said.text))
        }
        EventKind::Shortened {
            left_out,
            tokens,
            window,
            ..
        } => {
            let text = format!(
                "shortens its conversation of {tokens} tokens, for a window of {window}: {left_out} messages are replaced"
            );
            ("✂", "", text, None)
        }
        EventKind::HandedOff { to } => ("→", "", format!("hands the conversation to {to}"), None),
        EventKind::ModelRequested { turn, model, .. } => {
            ("·", "model", format!("turn {turn}: asks {model}"), None)
        }
        EventKind::ModelReplied { calls, usage, .. } => {
            let tokens = usage.input_tokens + usage.output_tokens;
            let text = match calls {
                0 => format!("the model answers ({tokens} tokens)"),
                1 => format!("the model wants one call ({tokens} tokens)"),
                calls => format!("the model wants {calls} calls ({tokens} tokens)"),
            };
            ("·", "model", text, None)
        }
        EventKind::CallStarted {
            tool, arguments, ..
        } => (
            "⚙",
            "call",
            format!("{tool} {}", short(arguments)),
            long(arguments),
        ),
        EventKind::TicketGiven { ticket, .. } => {
            let text = format!("{ticket} goes on in the background");
            ("…", "call", text, None)
        }
        EventKind::CallRepaired { tool, repairs, .. } => {
            ("✎", "repair", format!("{tool}: repaired: {repairs}"), None)
        }
        EventKind::ApprovalRequested(request) => {
            let text = match &request.question {
                Some(question) => format!("asks: {}", question.text),
                None => format!("asks for approval of {}", request.tool_name),
            };
            ("?", "ask", text, None)
        }
        EventKind::ApprovalDecided { approval, by, .. } => {
            let by = by
                .as_ref()
                .map(|by| format!(" by {by}"))
                .unwrap_or_default();
            ("!", "ask", format!("{}{by}", decided(approval)), None)
        }
        EventKind::BackingOff { tool, wait } => (
            "…",
            "",
            format!("waits {} before {tool} runs again", after(*wait)),
            None,
        ),
        EventKind::FixerRequested { tool, fixer, .. } => (
            "✎",
            "repair",
            format!("{fixer} is asked to repair {tool}"),
            None,
        ),
        EventKind::FixerReplied { fixer, answer, .. } => match answer {
            Ok(answer) => (
                "✎",
                "repair",
                format!("{fixer} answers {}", short(answer)),
                long(answer),
            ),
            Err(why) => ("✗", "bad", format!("{fixer} has no answer: {why}"), None),
        },
        EventKind::CallFailed { tool, error, .. } => {
            let by = error.given_by();
            let by = by.map(|by| format!(" with what `{by}` gave"));
            let by = by.unwrap_or_default();
            let text = format!("{tool} failed{by}: {}", short(&error.message));
            ("✗", "bad", text, long(&error.message))
        }
        EventKind::KnowledgeUsed { knowledge } => ("·", "", format!("reads {knowledge}"), None),
        EventKind::CallEnded(receipt) => {
            let took = after(worked(receipt));
            match (&receipt.output, &receipt.error) {
                (Some(output), None) => {
                    let output = output.as_str();
                    let text = format!("{} → {} ({took})", receipt.name, short(output));
                    ("✓", "good", text, long(output))
                }
                (_, error) => {
                    let why = error.as_ref().map_or("no output", |error| &error.message);
                    (
                        "✗",
                        "bad",
                        format!("{}: {}", receipt.name, short(why)),
                        long(why),
                    )
                }
            }
        }
        EventKind::Escalated(escalation) => (
            "↑",
            "ask",
            format!("escalates: {}", escalation.reason),
            None,
        ),
        EventKind::EscalationSettled(receipt) => (
            "↓",
            "ask",
            format!("the escalation is settled: {}", receipt.settled),
            None,
        ),
        EventKind::AnswerRepaired { repairs, .. } => (
            "✎",
            "repair",
            format!("the answer was repaired: {repairs}"),
            None,
        ),
        EventKind::AnswerFailed { reason, .. } => (
            "✗",
            "bad",
            format!("the answer does not fit: {reason}"),
            None,
        ),
        EventKind::AgentEnded { ok } => match ok {
            true => ("■", "end", "has an answer".to_owned(), None),
            false => ("■", "bad", "ends without an answer".to_owned(), None),
        },
        EventKind::Stopped(stopped) => ("■", "bad", format!("the run is stopped: {stopped}"), None),
        EventKind::Failed { reason, .. } => {
            ("■", "bad", format!("the run has failed: {reason}"), None)
        }
        EventKind::RunEnded { ok, usage, .. } => {
            let tokens = usage.input_tokens + usage.output_tokens;
            match ok {
                true => (
                    "■",
                    "end",
                    format!("the run is over ({tokens} tokens)"),
                    None,
                ),
                false => (
                    "■",
                    "bad",
                    format!("the run is over, without an answer ({tokens} tokens)"),
                    None,
                ),
            }
        }
        EventKind::Text(_)
        | EventKind::Thinking(_)
        | EventKind::AttemptStarted { .. }
        | EventKind::SecretLookup { .. }
        | EventKind::ResolutionRefused(_)
        | EventKind::AnswerRefused { .. } => return None,
    };
    Some(Step {
        mark,
        class,
        text,
        more,
    })
}

fn decided(approval: &agents_runtime::Approval) -> String {
    use agents_runtime::Approval;
    match approval {
        Approval::Approve => "approved".to_owned(),
        Approval::ApproveWith { .. } => "approved with other arguments".to_owned(),
        Approval::Answer { answer } => format!("answered: {answer}"),
        Approval::Deny { reason } => format!("denied: {reason}"),
        Approval::Revise { note } => format!("sent back: {note}"),
        Approval::Expired { reason } => format!("expired: {reason}"),
    }
}

/// Number of characters of a longer text that a line shows.
const SHORT: usize = 160;

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(SHORT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn long(text: &str) -> Option<String> {
    (text.chars().nth(SHORT).is_some()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_same_minute_have_different_times() {
        for (millis, told) in [
            (0, "0.00 s"),
            (59_999, "59.99 s"),
            (60_000, "1:00.00"),
            (187_210, "3:07.21"),
            (3_600_050, "1:00:00.05"),
        ] {
            assert_eq!(after(Duration::from_millis(millis)), told);
        }
    }
}
