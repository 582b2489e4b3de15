//! Dead letters: a list of them, and the page of one with its failures and the form of its replay.

use super::{
    encoded,
    form::{Text, answer, form},
    frame::{Live, Tab, page},
    moment, not_allowed, run, since,
};
use crate::{
    failure::Failure,
    inert,
    posted::{Posted, Slip},
    query::Query,
    room::{Room, Visitor},
    shown::letters::{DeadLetters, MOST, Search, letters},
    steering, wording,
};
use agents_core::run::Timestamp;
use agents_runtime::{Action, DeadLetter, DeadLetterDetail, DeadLetterKind};
use axum::{
    Extension,
    extract::{Path, State},
    response::{Html, IntoResponse, Redirect, Response},
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
    let shown = |live: Live<'_>, body: &Markup| {
        Ok(page(&visitor, "Dead letters", Tab::Letters, live, body))
    };
    let failure = match letters(&room, &visitor, &search, ROWS).await {
        Ok(found) => {
            let body = body(&visitor, &search, &found, done.replayed.is_some());
            return answer(&visitor, None, shown(Live::Every(10), &body));
        }
        Err(failure) => failure,
    };
    match Slip::of(Posted::default(), failure) {
        Ok(slip) => {
            let body = filter(&visitor, &search, Some(&slip));
            let page = shown(Live::Failed(Some(&slip)), &body);
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}

/// Returns the form that searches for letters. After a `slip` the field that does not fit is marked.
fn filter(visitor: &Visitor, search: &Search, slip: Option<&Slip>) -> Markup {
    let is_wrong = |name| slip.and_then(|slip| slip.at(name)).map(|_| "true");
    let minutes = |label: &str, name, text: &str| {
        html! {
            label { (label) input.short type="text" inputmode="numeric" name=(name) value=(text) autocomplete="off" aria-invalid=[is_wrong(name)] autofocus[is_wrong(name).is_some()]; }
        }
    };
    html! {
        form.filter method="get" action={ (visitor.base) "/letters" } {
            label { "Handler " input type="text" name="handler_name" value=(search.handler_name) autocomplete="off"; }
            (minutes("Died at least this many minutes ago ", "min_minutes", &search.min_minutes))
            (minutes("at most ", "max_minutes", &search.max_minutes))
            button { "Show" }
        }
    }
}

fn body(visitor: &Visitor, search: &Search, found: &DeadLetters, is_replayed: bool) -> Markup {
    let (now, base) = (Timestamp::now(), &visitor.base);
    html! {
        @if is_replayed { p.done { (wording::REPLAYED) } }
        (filter(visitor, search, None))
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
                                td { (since(letter.died_at, now)) }
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
    answer(&visitor, None, letter(&room, &visitor, &id, None).await)
}

/// Returns the page of a dead letter. `slip` is what the visitor has got wrong in the form of its replay.
async fn letter(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let detail = room.client.letters().get(id, &visitor.principal).await?;
    let body = whole(visitor, &detail, slip);
    let live = Live::None.or_failed(slip);
    Ok(page(visitor, "Dead letter", Tab::Letters, live, &body))
}

fn whole(visitor: &Visitor, detail: &DeadLetterDetail, slip: Option<&Slip>) -> Markup {
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
        (replaying(visitor, letter, slip))
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
fn replaying(visitor: &Visitor, letter: &DeadLetter, slip: Option<&Slip>) -> Markup {
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
    let reason = Text {
        id: "reason",
        name: "reason",
        label: "Reason",
        hint: "for the audit trail: why it may succeed now",
        is_required: true,
        most: Some(2_000),
    };
    let contents = html! {
        (reason.line(slip))
        p.note { (effect) }
        div.buttons { button.approve { "Replay" } }
    };
    let action = address(visitor, &letter.event_id);
    form(visitor, "decision try", &action, &contents)
}

pub(crate) async fn replay(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    let failure = match steering::replay(&room, &visitor, &id, posted.text("reason")).await {
        Ok(Some(run)) => return Redirect::to(&run::address(&visitor, &run)).into_response(),
        Ok(None) => {
            let list = format!("{}/letters?replayed=yes", visitor.base);
            return Redirect::to(&list).into_response();
        }
        Err(failure) => failure,
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let page = letter(&room, &visitor, &id, Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}
