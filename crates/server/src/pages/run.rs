//! Page of a run: what became of it, why it does not go on, what it has done, and its steps.

use super::{
    card, encoded,
    escalations::chart,
    form::{Text, answer, asks_first, form},
    frame::{Live, Tab, page},
    moment, money, not_allowed, runs, sentence,
    steps::steps,
};
use crate::{
    failure::Failure,
    inert,
    posted::{Posted, Slip},
    room::{Room, Visitor},
    shown::{
        self,
        runs::{Contents, Doubtful, Executed, Standstill, Whole, whole, written_so_far},
    },
    steering, wording,
};
use agents_core::{Effects, Json, run::Timestamp};
use agents_runtime::{Action, AuditKind, Doubt, ExecutionState, HeldKind};
use axum::{
    Extension,
    extract::{Path, State},
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};

/// Returns the address of a run's page.
pub(super) fn address(visitor: &Visitor, run: &str) -> String {
    format!("{}/runs/{}", visitor.base, encoded(run))
}

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    answer(&visitor, None, run(&room, &visitor, &id, None).await)
}

/// Returns the page of a run. `slip` is what the visitor has got wrong in one of its forms.
async fn run(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let run = whole(room, visitor, id).await?;
    let doubts = shown::runs::doubts(room, visitor, id).await?;
    let is_open = run.run.status != "done";
    let written = match &run.contents {
        // A run whose text is gone is shown without it.
        Some(_) if is_open => Some(written_so_far(room, id).await.unwrap_or_default()),
        _ => None,
    };
    let body = body(visitor, &run, &doubts, written.as_deref(), slip);
    let live = Live::Run(id).or_failed(slip);
    Ok(page(visitor, "Run", Tab::Runs, live, &body))
}

fn body(
    visitor: &Visitor,
    whole: &Whole,
    in_doubt: &[Doubtful],
    written: Option<&str>,
    slip: Option<&Slip>,
) -> Markup {
    let run = &whole.run;
    let asks = whole
        .standstill
        .as_ref()
        .is_some_and(|one| one.requests > 0);
    html! {
        div #list data-list="" {
            dl.facts {
                dt { "Agent" } dd { (inert::text(&run.agent)) }
                dt { "State" } dd data-run-status=(run.status) { (runs::state(run)) }
                @if let Some(usage) = &whole.usage {
                    dt { "Tokens" }
                    dd data-tokens=(usage.tokens()) { (usage.input_tokens) " read, " (usage.output_tokens) " written, in " (usage.requests) @if usage.requests == 1 { " request" } @else { " requests" } }
                }
                @if let Some(cost) = whole.cost_nanos { dt { "Cost" } dd data-cost=(cost) { (money(cost)) } }
                @if let Some(key) = &run.key { dt { "Key" } dd { (inert::text(key)) } }
                @if !run.tenant_id.is_empty() { dt { "Tenant" } dd { (inert::text(&run.tenant_id)) } }
                @if let Some(by) = &run.started_by { dt { "Started by" } dd { (inert::text(by)) } }
                @if let Some(at) = run.wake_at {
                    dt { @if asks { "Waits at most until" } @else { "Goes on at" } }
                    dd { (moment(at)) }
                }
                dt { "Stored" } dd { (moment(run.created_at)) }
                dt { "Id" } dd { code { (run.id) } }
                @for (name, value) in &run.labels { dt { (inert::text(name)) } dd { (inert::text(value)) } }
            }
            @if let Some(standstill) = &whole.standstill { (stands(visitor, standstill)) }
            (buttons(visitor, whole, slip))
            (doubts(visitor, in_doubt, slip))
            @match &whole.contents {
                Some(contents) => (told_answer(visitor, whole, contents, written)),
                None => p.empty { "The steps hold exact arguments, which are for others." },
            }
            (executions(visitor, whole))
            @if let Some(contents) = &whole.contents {
                (chart(&contents.escalations))
                h2 { "Steps" }
                @match &whole.unreadable {
                    Some(why) => p.failure { (inert::text(why)) "." },
                    None if contents.events.is_empty() => p.empty { "The run has not begun." },
                    None => (steps(&address(visitor, &run.id), &contents.events)),
                }
            }
        }
    }
}

fn stands(visitor: &Visitor, standstill: &Standstill) -> Markup {
    let Standstill {
        why,
        to_do,
        requests,
    } = standstill;
    html! {
        section.standstill aria-labelledby="standstill" {
            h2 #standstill { "Why it does not go on" }
            p { (sentence(&inert::text(why))) }
            p { b { "What to do: " } (inert::text(to_do)) }
            @if *requests > 0 { p { a href={ (visitor.base) "/approvals" } { "To the requests that wait" } } }
        }
    }
}

fn buttons(visitor: &Visitor, whole: &Whole, slip: Option<&Slip>) -> Markup {
    let (goes_on, name) = match whole.run.status {
        "done" => return html! {},
        "held" => (Action::Release, "Let it go on"),
        _ => (Action::Pause, "Pause"),
    };
    let button = |action: Action, name: &str| html! { button name="action" value=(action) disabled[visitor.refusal(action).is_some()] { (name) } };
    let what = html! { p { b { "The run ends for good." } " What it has done stays done." } };
    let cancel = button(Action::Cancel, "Cancel the run");
    let contents = html! {
        (button(goes_on, name))
        @if visitor.refusal(Action::Cancel).is_some() { (button(Action::Cancel, "Cancel")) }
        @else { (asks_first("Cancel", "", &what, &cancel)) }
    };
    let address = address(visitor, &whole.run.id);
    html! {
        (form(visitor, "steer", &address, &contents))
        @if is_incompatible(whole) && visitor.refusal(Action::Release).is_none() { (other_model(visitor, &address)) }
        @if visitor.refusal(Action::Say).is_none() { (saying(visitor, &address, slip)) }
        @for action in [goes_on, Action::Cancel] {
            @if let Some(why) = visitor.refusal(action) { (not_allowed(why)) }
        }
    }
}

/// Returns `true` if a run is held because the code does not fit it, such as another model.
fn is_incompatible(whole: &Whole) -> bool {
    let held = whole.run.held.as_ref();
    held.is_some_and(|held| held.kind == HeldKind::Incompatible)
}

/// Returns the form by which the visitor lets the agents of a held run go on with another model.
fn other_model(visitor: &Visitor, address: &str) -> Markup {
    let text = Text {
        id: "model",
        name: "text",
        label: "If it has another model now, the name of that model",
        hint: "as in the reason; its agents may go on with it",
        is_required: true,
        most: Some(200),
    };
    let contents = html! {
        input type="hidden" name="action" value=(Action::Release);
        (text.line(None))
        button { "Let it go on with this model" }
    };
    form(visitor, "say", address, &contents)
}

/// Returns the form by which the visitor gives the agent an instruction.
fn saying(visitor: &Visitor, address: &str, slip: Option<&Slip>) -> Markup {
    let slip = slip.filter(|slip| slip.has("action", Action::Say.as_str()));
    let text = Text {
        id: "say",
        name: "text",
        label: "Tell the agent",
        hint: "before its next request to the model; whoever does so may not decide about its requests",
        is_required: true,
        most: Some(8_000),
    };
    let contents = html! {
        input type="hidden" name="action" value=(Action::Say);
        (text.line(slip))
        button { "Tell it" }
    };
    form(visitor, "say", address, &contents)
}

/// Returns a card for each execution in doubt, with the form that settles the doubt.
fn doubts(visitor: &Visitor, in_doubt: &[Doubtful], slip: Option<&Slip>) -> Markup {
    if in_doubt.is_empty() {
        return html! {};
    }
    html! {
        h2 { "In doubt" }
        p.note { "A process ended while these tools ran, and nothing says whether they took effect. Look at the other system, and say what you have found out. The first finding counts, and the run's model is told." }
        div.cards {
            @for Doubtful { doubt: one, refusal } in in_doubt {
                article.card data-execution-id=(one.execution_id) data-status=(ExecutionState::InDoubt) tabindex="0" {
                    header {
                        h3 { (inert::text(&one.tool_name)) " " small.version { (inert::text(&one.tool_version)) } }
                        span.badges { (card::risk(one.risk_level)) }
                    }
                    p.facts { b { (inert::text(&one.agent_name)) } " · began " (moment(one.executed_at)) " · try " (one.attempt) }
                    @if let Some(summary) = &one.args_summary { p.summary { bdi { (inert::text(summary)) } } }
                    @match refusal {
                        Some(why) => (not_allowed(why)),
                        None => (finding(visitor, one, slip)),
                    }
                }
            }
        }
    }
}

/// Returns the form by which the visitor says whether an execution in doubt took effect.
fn finding(visitor: &Visitor, doubt: &Doubt, slip: Option<&Slip>) -> Markup {
    let id = &doubt.execution_id;
    let slip = slip.filter(|slip| slip.has("execution", id));
    let contents = html! {
        input type="hidden" name="execution" value=(id);
        (card::note(id, "for the agent and the trail: how you know", slip))
        div.buttons {
            button name="action" value="took_effect" { "It took effect" }
            button name="action" value="had_no_effect" { "It had no effect" }
        }
    };
    let action = format!(
        "{}/executions/{}",
        address(visitor, &doubt.run_id),
        encoded(id)
    );
    form(visitor, "decision", &action, &contents)
}

fn told_answer(
    visitor: &Visitor,
    whole: &Whole,
    contents: &Contents,
    written: Option<&str>,
) -> Markup {
    let told = contents.answer.as_ref().map(|answer| match answer {
        serde_json::Value::String(text) => inert::text(text),
        other => Json::of(other).map_or_else(|_| String::new(), |json| inert::json(&json)),
    });
    html! {
        @if let Some(told) = told {
            h2 { "Answer" }
            @if contents.partial { p.note { "The answer is incomplete." } }
            pre.answer tabindex="0" aria-label="Answer" { bdi { (told) } }
        } @else if let Some(error) = &contents.error {
            h2 { "Why there is no answer" }
            p.failure { (inert::text(error)) "." }
        } @else if let Some(written) = written {
            section #writing hidden[written.is_empty()] data-text={ (visitor.base) "/api/runs/" (encoded(&whole.run.id)) "/text" } {
                h2 { "As it is written" }
                pre.answer tabindex="0" aria-label="Answer, as it is written" aria-busy="true" { bdi { (inert::text(written)) } }
            }
        }
    }
}

/// Returns the part of a run's page about the executions that may have changed something.
fn executions(visitor: &Visitor, whole: &Whole) -> Markup {
    let all = whole.executions.iter();
    let mut changing = all
        .filter(|one| {
            one.execution
                .effects
                .is_none_or(|effects| effects == Effects::Writes)
        })
        .peekable();
    if changing.peek().is_none() {
        return html! {};
    }
    html! {
        h2 { "What it has done" }
        table.executions tabindex="0" aria-label="Executions" {
            thead { tr { th scope="col" { "Tool" } th scope="col" { "Arguments, in short" } th scope="col" { "State" } th scope="col" { "Time" } th scope="col" { "Undo" } } }
            tbody {
                @for one in changing { (execution(visitor, one)) }
            }
        }
    }
}

fn execution(visitor: &Visitor, executed: &Executed) -> Markup {
    let one = &executed.execution;
    let state = one.state.as_str();
    html! {
        tr data-execution=(one.execution_id) {
            td { (inert::text(&one.tool_name)) " " small.version { (inert::text(&one.tool_version)) } }
            td { @if let Some(summary) = &one.args_summary { bdi { (inert::text(summary)) } } }
            td {
                span.badge.{ "execution-" (state) } { (state.replace('_', " ")) }
                @if let Some(by) = &one.settled_by { " found out by " (inert::text(by)) }
                @if let Some(by) = &one.approved_by { " approved by " (inert::text(by)) }
            }
            td { (moment(one.executed_at)) }
            td {
                @if let Some(news) = &executed.undo { (told(news.kind, news.by.as_deref(), news.at, news.reason.as_deref())) " " }
                @if executed.may_be_undone && visitor.refusal(Action::Undo).is_none() {
                    a href={ (address(visitor, &one.run_id)) "/executions/" (encoded(&one.execution_id)) } { "Undo…" }
                } @else if one.irreversible == Some(true) { "cannot be undone" }
                @else if executed.may_be_undone { "not by you" }
            }
        }
    }
}

fn told(kind: AuditKind, by: Option<&str>, at: Timestamp, reason: Option<&str>) -> Markup {
    html! {
        span title=(at) { (kind.as_str().replace('_', " ")) }
        @if let Some(by) = by { " by " (inert::text(by)) }
        @if let Some(reason) = reason { ": " bdi { (inert::text(reason)) } }
    }
}

pub(crate) async fn steer(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    let (action, text) = (posted.text("action"), posted.text("text"));
    match steering::steer(&room, &visitor, &id, action, text).await {
        Ok(()) => Redirect::to(&address(&visitor, &id)).into_response(),
        Err(failure) => mended(&room, &visitor, &id, posted, failure).await,
    }
}

/// Returns the response to a form of a run's page that was not carried out.
async fn mended(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    posted: Posted,
    failure: Failure,
) -> Response {
    match Slip::of(posted, failure) {
        Ok(slip) => answer(
            visitor,
            Some(&slip),
            run(room, visitor, id, Some(&slip)).await,
        ),
        Err(failure) => failure.page(visitor),
    }
}

/// Asks the visitor whether an execution is to be undone, and says what that means.
pub(crate) async fn confirm(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
) -> Response {
    match crate::shown::runs::execution(&room, &visitor, &run, &id).await {
        Ok(executed) => {
            let body = confirmation(&visitor, &executed);
            page(&visitor, "Undo", Tab::Runs, Live::None, &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn confirmation(visitor: &Visitor, executed: &Executed) -> Markup {
    let one = &executed.execution;
    let back = address(visitor, &one.run_id);
    html! {
        dl.facts {
            dt { "Tool" } dd { (inert::text(&one.tool_name)) " " small.version { (inert::text(&one.tool_version)) } }
            dt { "Called by" } dd { (inert::text(&one.agent_name)) }
            dt { "Arguments, in short" } dd { @if let Some(summary) = &one.args_summary { bdi { (inert::text(summary)) } } }
            dt { "Ran" } dd { (moment(one.executed_at)) }
            @if let Some(by) = &one.approved_by { dt { "Approved by" } dd { (inert::text(by)) } }
            dt { "State" } dd { (one.state.as_str().replace('_', " ")) }
            dt { "Risk" } dd { (card::risk(one.risk_level)) }
            @if let Some(news) = &executed.undo { dt { "Undo" } dd { (told(news.kind, news.by.as_deref(), news.at, news.reason.as_deref())) } }
        }
        @match (steering::not_undoable(one), visitor.refusal(Action::Undo)) {
            (Some(why), _) => p.failure { "It cannot be undone: " (why) "." },
            (None, Some(why)) => (not_allowed(why)),
            (None, None) => {
                p { (wording::REVERSIBLE) "." }
                p { "The undo is a run of its own, in your name. It asks for approval if the calls of the tool do" @if !visitor.principal.is_operator() { ", and then you may not be the one who decides" } "." }
                @let action = format!("{back}/executions/{}", encoded(&one.execution_id));
                @let undo = html! { button.deny name="action" value="undo" { "Undo it" } };
                (form(visitor, "steer", &action, &undo))
            }
        }
        p { a href=(back) { "Back to the run" } }
    }
}

pub(crate) async fn act(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path((run, id)): Path<(String, String)>,
    posted: Posted,
) -> Response {
    let (action, note) = (posted.text("action"), posted.text("note"));
    match steering::act(&room, &visitor, &run, &id, action, note).await {
        // The run of an undo shows what becomes of it.
        Ok(undo) => {
            Redirect::to(&address(&visitor, undo.as_deref().unwrap_or(&run))).into_response()
        }
        // The undo was asked about on a page of its own, which has nothing to mend.
        Err(failure) if action == "undo" => failure.page(&visitor),
        Err(failure) => mended(&room, &visitor, &run, posted, failure).await,
    }
}
