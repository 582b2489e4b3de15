//! The frame of all pages: head, navigation, and pages of failures.

use crate::{
    failure::Failure,
    inert,
    posted::Slip,
    room::{MOST_COUNTED, Visitor},
};
use agents_core::run::Timestamp;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Entry of the navigation that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Approvals,
    Runs,
    Chat,
    Letters,
    Failures,
    Tools,
    Teams,
    Models,
    Costs,
    Audit,
    None,
}

/// Kind of changes in the store upon which a page is updated.
#[derive(Clone, Copy)]
pub(super) enum Live<'a> {
    None,
    All,
    /// Changes of one run, whose id this is.
    Run(&'a str),
    /// Changes without events in the trail: the page is loaded again after this number of seconds.
    Every(u32),
    /// No changes: the page answers a request that was refused because of this slip, if it can be mended on the page.
    Failed(Option<&'a Slip>),
}

impl<'a> Live<'a> {
    /// Returns how the page is updated. A page that shows a slip is not.
    pub(super) fn or_failed(self, slip: Option<&'a Slip>) -> Self {
        match slip {
            Some(_) => Live::Failed(slip),
            None => self,
        }
    }
}

/// Returns a whole page: its head and navigation, around this body.
pub(super) fn page(
    visitor: &Visitor,
    title: &str,
    tab: Tab,
    live: Live<'_>,
    body: &Markup,
) -> Html<String> {
    let base = &visitor.base;
    let tabs = [
        (Tab::Approvals, "Approvals", "/approvals"),
        (Tab::Runs, "Runs", "/runs"),
        (Tab::Chat, "Chat", "/chat"),
        (Tab::Letters, "Dead letters", "/letters"),
        (Tab::Failures, "Failures", "/failures"),
        (Tab::Tools, "Tools", "/tools"),
        (Tab::Teams, "Teams", "/teams"),
        (Tab::Models, "Models", "/models"),
        (Tab::Costs, "Costs", "/costs"),
        (Tab::Audit, "Audit", "/audit"),
    ];
    let own_run = match live {
        Live::Run(run) => Some(run),
        Live::None | Live::All | Live::Every(_) | Live::Failed(_) => None,
    };
    let hears = matches!(live, Live::All | Live::Run(_));
    let every = match live {
        Live::Every(seconds) => Some(seconds),
        _ => None,
    };
    let whole = whole(
        title,
        base,
        &html! {
            header {
                a.skip href="#main" { "Skip to the content" }
                span.brand { "Control room" }
                nav aria-label="Pages" {
                    @for (own, name, path) in tabs {
                        a href={ (base) (path) } aria-current=[(own == tab).then_some("page")] {
                            (name)
                            @if own == Tab::Approvals { (waiting(visitor.pending)) }
                        }
                    }
                }
                span.who { "Signed in as " b { (inert::text(visitor.principal.id())) } }
            }
            main #main data-live={ (base) "/api/live" } data-now=(Timestamp::now().as_millis()) data-hears[hears] data-at=[visitor.at.filter(|_| hears)] data-run=[own_run] data-every=[every] data-failed[matches!(live, Live::Failed(_))] tabindex="-1" {
                div #connection role="alert" hidden {}
                h1 { (title) }
                p #status role="status" aria-live="polite" {}
                @if let Live::Failed(Some(slip)) = live { p.failure role="alert" { (inert::text(&slip.failure.message)) "." } }
                (body)
            }
        },
    );
    Html(whole.into_string())
}

/// Returns the number of requests that wait for a decision, as a badge of the navigation; hidden if there is none.
fn waiting(pending: usize) -> Markup {
    html! {
        span #waiting hidden[pending == 0] {
            " " span.count data-pending=(pending) {
                @if pending > MOST_COUNTED { (MOST_COUNTED) "+" } @else { (pending) }
                span.unseen { " waiting" }
            }
        }
    }
}

impl Failure {
    /// Returns the failure as a page for the visitor, with the navigation.
    pub(crate) fn page(self, visitor: &Visitor) -> Response {
        (self.status, failure(visitor, &self)).into_response()
    }
}

fn failure(visitor: &Visitor, failure: &Failure) -> Html<String> {
    let body = html! {
        p.failure { (inert::text(&failure.message)) "." }
        p { a href={ (visitor.base) "/approvals" } { "Back to the requests" } }
    };
    page(
        visitor,
        title_of(failure),
        Tab::None,
        Live::Failed(None),
        &body,
    )
}

/// Returns the page of a failure of a request whose sender is not signed in or not known yet, without the navigation.
pub(crate) fn bare(failure: &Failure) -> Html<String> {
    let title = title_of(failure);
    let body = html! {
        main #main {
            h1 { (title) }
            p.failure { (inert::text(&failure.message)) "." }
            p { a href="" { "Load the page again" } }
        }
    };
    Html(whole(title, "", &body).into_string())
}

fn title_of(failure: &Failure) -> &'static str {
    match failure.status.as_u16() {
        401 => "Sign in first",
        403 => "Not allowed",
        404 => "Not found",
        409 => "Too late",
        410 => "Cannot be read any more",
        422 => "Does not fit",
        503 => "Try again later",
        _ => "Something failed",
    }
}

fn whole(title: &str, base: &str, body: &Markup) -> PreEscaped<String> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Control room" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ (base) "/room.css" };
                script src={ (base) "/room.js" } defer {}
            }
            body { (body) }
        }
    }
}
