//! Dead letters: a list of them, and the page of one with its failures and the form of its replay.

use super::{
    ago, encoded,
    frame::{Live, Tab, page},
    moment, not_allowed, run,
};
use crate::{
    failure::Failure,
    guard::check_token,
    inert,
    query::Query,
    room::{Room, Visitor},
    shown::letters::{DeadLetters, MOST, Search, letters},
    steering, wording,
};
use agents_core::run::Timestamp;
use agents_runtime::{Action, DeadLetter, DeadLetterDetail, DeadLetterKind};
use axum::{
    Extension,
    extract::{Form as Body, Path, State},
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of dead letters that a page shows.
const ROWS: u32 = 50;

#[derive(Deserialize)]
pub(crate) struct Done {
    /// Is set, to any text, if the visitor has just replayed a letter; the list of letters then says so.
    replayed: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Replay {
    #[serde(default)]
    reason: String,
    token: Option<String>,
}

/// Returns the address of a dead letter's page. Ids of letters have slashes, so they are encoded.
pub(super) fn address(visitor: &Visitor, id: &str) -> String {
    format!("{}/letters/{}", visitor.base, encoded(id))
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(search): Query<Search>,
    Query(done): Query<Done>,
) -> Response {
    match letters(&room, &visitor, &search, ROWS).await {
        Ok(found) => {
            let body = body(&visitor, &search, &found, done.replayed.is_some());
            page(
                &visitor,
                "Dead letters",
                Tab::Letters,
                Live::Every(10),
                &body,
            )
            .into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn body(visitor: &Visitor, search: &Search, found: &DeadLetters, is_replayed: bool) -> Markup {
    let (now, base) = (Timestamp::now(), &visitor.base);
    html! {
        @if is_replayed { p.done { (wording::REPLAYED) } }
        form.filter method="get" action={ (base) "/letters" } {
            label { "Handler " input type="text" name="handler_name" value=(search.handler_name) autocomplete="off"; }
            label { "Died at least this many minutes ago " input.short type="text" inputmode="numeric" name="min_minutes" value=(search.min_minutes) autocomplete="off"; }
            label { "at most " input.short type="text" inputmode="numeric" name="max_minutes" value=(search.max_minutes) autocomplete="off"; }
            button { "Show" }
        }
        div #list data-list="" {
            @if found.letters.is_empty() {
                p.empty { (match search.is_empty() {
                    true => "There are no dead letters: every event was handled, or is still tried.",
                    false => "There are no such dead letters.",
                }) }
            } @else {
                table.letters {
                    thead { tr { th scope="col" { "Event" } th scope="col" { "Handler" } th scope="col" { "Failure" } th scope="col" { "Tries" } th scope="col" { "Died" } th scope="col" { "For" } } }
                    tbody {
                        @for letter in &found.letters {
                            tr data-letter=(inert::text(&letter.event_id)) {
                                td { a href=(address(visitor, &letter.event_id)) { (name(letter)) } }
                                td { bdi { (inert::text(&letter.handler_name)) } }
                                td { span.badge.final { (letter.failure.replace('_', " ")) } }
                                td { (letter.attempts) }
                                td { time datetime=(letter.died_at) title=(letter.died_at) { (ago(letter.died_at, now)) } }
                                td { bdi { (inert::text(&letter.tenant_id)) } }
                            }
                        }
                    }
                }
            }
            @if found.more { p.note { "The newest " (MOST) " are looked at. Choose a handler or an age to find others." } }
        }
        @if let Some(next) = &found.next {
            p { a rel="next" href={ (base) "/letters?" (query(search)) "&before=" (encoded(next)) } { "Earlier letters" } }
        }
    }
}

/// Returns a search for dead letters as the query of an address, for the links to other pages.
fn query(search: &Search) -> String {
    let fields = [
        ("handler_name", &search.handler_name),
        ("min_minutes", &search.min_minutes),
        ("max_minutes", &search.max_minutes),
    ];
    let fields = fields.map(|(name, text)| format!("{name}={}", encoded(text)));
    fields.join("&")
}

/// Returns the title of a dead letter: the name of its event, or that it is a run.
fn name(letter: &DeadLetter) -> String {
    match &letter.event_name {
        Some(name) => inert::text(name),
        None => "a run that is held".to_owned(),
    }
}

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    match room.client.letters().get(&id, &visitor.principal).await {
        Ok(detail) => {
            let body = whole(&visitor, &detail);
            page(&visitor, "Dead letter", Tab::Letters, Live::None, &body).into_response()
        }
        Err(error) => Failure::from(error).page(&visitor),
    }
}

fn whole(visitor: &Visitor, detail: &DeadLetterDetail) -> Markup {
    let letter = &detail.letter;
    let is_run = letter.kind == DeadLetterKind::Run;
    html! {
        p { a href={ (visitor.base) "/letters" } { "All dead letters" } }
        dl.facts {
            dt { "Event" } dd { bdi { (name(letter)) } }
            dt { @if is_run { "Agent" } @else { "Handler" } } dd { bdi { (inert::text(&letter.handler_name)) } }
            dt { "Failure" } dd { span.badge.final { (letter.failure.replace('_', " ")) } }
            dt { "Tries" } dd { (letter.attempts) }
            @if letter.replays > 0 { dt { "Replays" } dd { (letter.replays) } }
            @if !letter.tenant_id.is_empty() { dt { "Tenant" } dd { bdi { (inert::text(&letter.tenant_id)) } } }
            dt { @if is_run { "Started" } @else { "Published" } }
            dd {
                (moment(letter.published_at))
                @if let Some(by) = &detail.published_by { " by " bdi { (inert::text(by)) } }
            }
            dt { @if is_run { "Held" } @else { "Died" } } dd { (moment(letter.died_at)) }
            dt { "Id" } dd { code { (inert::text(&letter.event_id)) } }
            @if is_run { dt { "Run" } dd { a href=(run::address(visitor, &letter.event_id)) { "To the run" } } }
        }
        (replaying(visitor, letter))
        h2 { "Failures" }
        @if detail.failure_history.is_empty() { p.note { "They cannot be read any more." } }
        @else {
            table.tries tabindex="0" aria-label="Failures" {
                thead { tr { th scope="col" { "Try" } th scope="col" { "Time" } th scope="col" { "Failure" } th scope="col" { "Error" } } }
                tbody {
                    @for failure in &detail.failure_history {
                        tr data-try=(failure.attempt) {
                            td { (failure.attempt) }
                            td { (moment(failure.at)) }
                            td { (failure.failure.replace('_', " ")) }
                            td { bdi { (inert::text(&failure.error)) } }
                        }
                    }
                }
            }
        }
        h2 { @if is_run { "Input" } @else { "Contents" } }
        @match (&detail.payload, &detail.payload_missing) {
            (Some(payload), _) => pre.exact tabindex="0" aria-label="Contents" { bdi { (inert::json(payload)) } },
            (None, Some(why)) => p.note.unread { "They are not shown: " (inert::text(why)) "." },
            (None, None) => p.note { "There are none." },
        }
    }
}

/// Returns the form that replays a dead letter, or why the visitor may not replay it.
fn replaying(visitor: &Visitor, letter: &DeadLetter) -> Markup {
    let (action, effect) = match letter.kind {
        DeadLetterKind::Run => (Action::Release, "The run goes on where it was held."),
        _ => (
            Action::Replay,
            "The handler is told again, and its tries begin anew.",
        ),
    };
    if let Some(why) = visitor.refusal(action) {
        return not_allowed(why);
    }
    html! {
        form.decision.try method="post" action=(address(visitor, &letter.event_id)) {
            input type="hidden" name="token" value=(visitor.token);
            label for="reason" { "Reason " small { "for the audit trail: why it may succeed now" } }
            input #reason type="text" name="reason" required autocomplete="off" maxlength="2000";
            p.note { (effect) }
            div.buttons { button.approve { "Replay" } }
        }
    }
}

pub(crate) async fn replay(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Body(given): Body<Replay>,
) -> Response {
    let replayed = async {
        check_token(given.token.as_deref(), &visitor)?;
        steering::replay(&room, &visitor, &id, &given.reason).await
    };
    match replayed.await {
        Ok(Some(run)) => Redirect::to(&run::address(&visitor, &run)).into_response(),
        Ok(None) => Redirect::to(&format!("{}/letters?replayed=yes", visitor.base)).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}
