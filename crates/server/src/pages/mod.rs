//! Pages.

pub(crate) mod audit;
pub(crate) mod call;
mod card;
pub(crate) mod chat;
pub(crate) mod costs;
mod escalations;
pub(crate) mod failures;
mod form;
mod frame;
pub(crate) mod inbox;
pub(crate) mod letters;
pub(crate) mod models;
pub(crate) mod run;
pub(crate) mod runs;
mod steps;
pub(crate) mod teams;
pub(crate) mod tool;
pub(crate) mod tools;

pub(crate) use frame::bare;

use crate::{
    failure::Failure,
    inert,
    room::{Visitor, hex, random},
};
use agents_core::run::{Cost, Timestamp, ToolEnvelope};
use axum::{
    Extension,
    http::header,
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::time::Duration;

pub(crate) async fn home(Extension(visitor): Extension<Visitor>) -> Redirect {
    Redirect::to(&format!("{}/approvals", visitor.base))
}

pub(crate) async fn nothing(
    Extension(visitor): Extension<Visitor>,
    request: axum::extract::Request,
) -> Response {
    Failure::not_found().answer(request.uri().path(), Some(&visitor))
}

pub(crate) async fn style() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "max-age=60"),
    ];
    (headers, include_str!("../assets/room.css"))
}

pub(crate) async fn script() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "max-age=60"),
    ];
    (headers, include_str!("../assets/room.js"))
}

/// Returns a length of time in words, in its largest unit or in its two largest units.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// Returns in words how long ago a time is.
fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.since(at) {
        time if time < Duration::from_secs(1) => "just now".to_owned(),
        time => format!("{} ago", span(time)),
    }
}

/// Returns for how long a call was worked on, without the time in which it waited for people.
fn worked(receipt: &ToolEnvelope) -> Duration {
    let waits = receipt.attempts.iter().filter_map(|one| one.approval_s);
    let waited = Duration::try_from_secs_f64(waits.sum()).unwrap_or_default();
    receipt.duration().saturating_sub(waited)
}

/// Returns the element that says how long ago a time is. A script lets it go on.
fn since(at: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(at) title=(at) data-goes="ago" { (ago(at, now)) } }
}

/// Returns a time as people read it, in UTC and to the second.
fn moment(at: Timestamp) -> Markup {
    let exact = at.to_string();
    let (day, time) = exact.split_once('T').unwrap_or((&exact, ""));
    let time = time.split(['.', 'Z']).next().unwrap_or_default();
    html! { time datetime=(exact) title=(exact) { (day) " " (time) " UTC" } }
}

/// Returns a random key for a form, by which a form that is sent twice is carried out once.
fn once() -> String {
    hex(&random()[..16])
}

/// Returns the note that a page shows in the place of a control that the visitor may not use.
fn not_allowed(why: &str) -> Markup {
    html! { p.note.not-allowed { "You may not do this: " (inert::text(why)) "." } }
}

/// Returns a text as a sentence: with a capital at its beginning, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Returns an amount of money for people, from billionths of a dollar.
fn money(nanos: u64) -> String {
    format!("${}", Cost::of_nanos(nanos))
}

/// Characters that need no percent-encoding in a path or a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Percent-encodes a part of a path or query.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_and_a_sentence_are_as_people_read_them() {
        let shown = moment(Timestamp::from_millis(1_795_000_000_123)).into_string();
        assert!(shown.contains(">2026-11-18 11:06:40 UTC<"), "{shown}");
        assert_eq!(sentence("it waits"), "It waits.");
        assert_eq!(sentence(""), ".");
    }

    #[test]
    fn a_length_of_time_is_told_in_its_two_largest_units() {
        for (seconds, told) in [
            (5, "5 s"),
            (300, "5 min"),
            (3_661, "1 h 1 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), told);
        }
    }
}
