//! Models: what is active for each purpose, and the versions of its profiles.

use super::{
    encoded,
    form::form,
    frame::{Live, Tab, page},
    moment, money, not_allowed, span,
};
use crate::{
    failure::Failure,
    inert,
    posted::Posted,
    room::{Room, Visitor},
    shown::models::{self as shown, Budget, Circuit, Profile, Purpose, Version, Versions},
    wording,
};
use agents_control::{ModelProfile, RateLimit, Tier};
use agents_core::run::Timestamp;
use axum::{
    Extension,
    extract::{Path, State},
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use std::time::Duration;

/// Returns the page that stands in the place of models or costs in a control room without a control plane. It says how
/// to add one.
pub(super) fn without(visitor: &Visitor, title: &str, tab: Tab) -> Response {
    let body = html! {
        p.empty {
            "This control room has no control plane, which has the models of purposes and their costs; "
            "add one with " code { "ControlRoom::of(&client).control(&plane)" }
            ", as the chapter of the book about control planes shows."
        }
    };
    page(visitor, title, tab, Live::None, &body).into_response()
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    if room.control.is_none() {
        return without(&visitor, "Models", Tab::Models);
    }
    match shown::models(&room, &visitor).await {
        Ok(models) => {
            let body = html! {
                div #list data-list="" {
                    @for purpose in &models.purposes { (self::purpose(&visitor, purpose)) }
                }
            };
            page(&visitor, "Models", Tab::Models, Live::Every(5), &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn purpose(visitor: &Visitor, purpose: &Purpose) -> Markup {
    let name = inert::text(&purpose.purpose);
    html! {
        section.purpose data-purpose=(name) aria-label=(name) {
            h2 { a href={ (visitor.base) "/models/" (encoded(&purpose.purpose)) } { (name) } }
            @if purpose.profiles.is_empty() {
                p.note { "No profile is active, so agents with this purpose have no model." }
            } @else {
                div.cards { @for one in &purpose.profiles { (profile(one)) } }
            }
            @if !purpose.budgets.is_empty() { (budgets(&purpose.budgets)) }
        }
    }
}

/// Returns a readable name for a tier: all organisations, one organisation, or one workspace of an organisation.
fn tier(org_id: Option<&str>, domain_id: Option<&str>) -> String {
    match (org_id, domain_id) {
        (None | Some(""), _) => "all organisations".to_owned(),
        (Some(org), None | Some("")) => format!("organisation {}", inert::text(org)),
        (Some(org), Some(domain)) => {
            format!("workspace {} of {}", inert::text(domain), inert::text(org))
        }
    }
}

fn profile(profile: &Profile) -> Markup {
    let now = Timestamp::now();
    html! {
        article.card data-version=(profile.version) tabindex="0" {
            header {
                h3 { (tier(profile.org_id.as_deref(), profile.domain_id.as_deref())) }
                small.version {
                    "version " (profile.version)
                    @if let Some(by) = &profile.created_by { " by " (inert::text(by)) }
                    ", active for " time datetime=(profile.activated_at) title=(profile.activated_at) { (span(now.since(profile.activated_at))) }
                }
            }
            @if !profile.applies { p.failure { "It does not count: the global profile does not permit it." } }
            ol.chain { @for one in &profile.models { (circuit(one)) } }
            dl.facts {
                dt { "Cap" } dd { (profile.daily_cap_nanos.map_or_else(|| "none".to_owned(), |cap| format!("{} a day", money(cap)))) }
                dt { "Rate" } dd { (rate(profile.rate_limit)) }
                @if let Some(tokens) = profile.max_output_tokens { dt { "Longest reply" } dd { (tokens) " tokens" } }
                @if let Some(name) = &profile.credential { dt { "Credential" } dd { (inert::text(name)) } }
            }
        }
    }
}

fn circuit(circuit: &Circuit) -> Markup {
    html! {
        li {
            (inert::text(&circuit.provider)) "/" (inert::text(&circuit.model)) " "
            @match circuit.open_for_ms {
                None => span.badge.{ "circuit-closed" } { "circuit closed" },
                Some(0) => span.badge.{ "circuit-open" } { "circuit open, the next request tries it" },
                Some(left) => span.badge.{ "circuit-open" } { "circuit open for " (span(Duration::from_millis(left.max(1000)))) },
            }
        }
    }
}

fn rate(limit: Option<RateLimit>) -> String {
    match limit {
        None => "no limit".to_owned(),
        Some(RateLimit {
            calls,
            per_ms: 1_000,
        }) => format!("{calls} calls a second"),
        Some(RateLimit {
            calls,
            per_ms: 60_000,
        }) => format!("{calls} calls a minute"),
        Some(RateLimit { calls, per_ms }) => {
            format!("{calls} calls in {}", span(Duration::from_millis(per_ms)))
        }
    }
}

fn budgets(budgets: &[Budget]) -> Markup {
    html! {
        table.budgets tabindex="0" aria-label="Budgets" {
            thead { tr { th scope="col" { "Today" } th scope="col" { "Spent" } th scope="col" { "Held" } th scope="col" { "Of the cap" } th scope="col" { "Rate" } } }
            tbody {
                @for one in budgets {
                    tr data-org=(inert::text(&one.org_id)) {
                        td { (whom(one)) }
                        td { (money(one.spent_nanos)) }
                        td { (money(one.held_nanos)) }
                        td {
                            @match one.cap_nanos {
                                Some(cap) => {
                                    meter min="0" max=(cap.max(1)) high=(cap / 5 * 4) value=((one.spent_nanos + one.held_nanos).min(cap.max(1))) aria-label="Used of the cap" {}
                                    " " (share(one.spent_nanos + one.held_nanos, cap)) " of " (money(cap))
                                }
                                None => "no cap",
                            }
                        }
                        td { (rate(one.rate_limit)) }
                    }
                }
            }
        }
    }
}

fn whom(budget: &Budget) -> String {
    match &*budget.org_id {
        "" => "no organisation".to_owned(),
        org => tier(Some(org), Some(&budget.domain_id)),
    }
}

/// Returns the share that `part` has of `whole`, in hundredths.
fn share(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 100 / u128::from(whole.max(1));
    format!("{hundredths} %")
}

pub(crate) async fn versions(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(purpose): Path<String>,
) -> Response {
    if room.control.is_none() {
        return without(&visitor, "Models", Tab::Models);
    }
    match shown::versions(&room, &visitor, &purpose).await {
        Ok(versions) => {
            let title = format!("Models for {}", inert::text(&versions.purpose));
            let body = history(&visitor, &versions);
            page(&visitor, &title, Tab::Models, Live::None, &body).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

fn history(visitor: &Visitor, versions: &Versions) -> Markup {
    html! {
        p { a href={ (visitor.base) "/models" } { "All purposes" } }
        h2 { "Versions" }
        @if versions.versions.is_empty() { p.empty { "There are no versions that you may change." } }
        @else {
            table.versions tabindex="0" aria-label="Versions" {
                thead { tr { th scope="col" { "Version" } th scope="col" { "For" } th scope="col" { "Models" } th scope="col" { "Limits" } th scope="col" { "By" } th scope="col" { "Active" } th scope="col" { "Roll back" } } }
                tbody { @for one in &versions.versions { (version(visitor, &versions.purpose, one)) } }
            }
        }
        h2 { "Changes" }
        @if versions.changes.is_empty() { p.empty { "There are no changes." } }
        @else {
            table.changes tabindex="0" aria-label="Changes" {
                thead { tr { th scope="col" { "Time" } th scope="col" { "Change" } th scope="col" { "Version" } th scope="col" { "For" } th scope="col" { "By" } th scope="col" { "Reason" } } }
                tbody {
                    @for one in &versions.changes {
                        tr data-change=(one.action) {
                            td { (moment(one.at)) }
                            td { (one.action.replace('_', " ")) }
                            td { @if one.version > 0 { (one.version) } }
                            td { (tier(Some(&one.org_id), Some(&one.domain_id))) }
                            td { (inert::text(&one.by)) }
                            td { @if let Some(reason) = &one.reason { bdi { (inert::text(reason)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn version(visitor: &Visitor, purpose: &str, one: &Version) -> Markup {
    let profile = &one.profile;
    let (org_id, domain_id) = (profile.tier.org_id(), profile.tier.domain_id());
    let is_active = one.deactivated_at.is_none();
    html! {
        tr data-version=(one.version) data-active[is_active] {
            td { (one.version) }
            td { (match profile.tier { Tier::Global => "all organisations".to_owned(), _ => tier(org_id, domain_id) }) }
            td { (chain(profile)) }
            td { (limits(profile)) }
            td { (inert::text(&one.created_by)) }
            td {
                (moment(one.activated_at)) " – "
                @match one.deactivated_at {
                    Some(at) => (moment(at)),
                    None => b { "now" },
                }
            }
            td {
                @if is_active {}
                @else if let Some(why) = &one.refusal { (not_allowed(why)) }
                @else {
                    @let contents = html! {
                        input type="hidden" name="version" value=(one.version);
                        @if let Some(active) = one.active { input type="hidden" name="replaces" value=(active); }
                        button { "Activate version " (one.version) }
                    };
                    (form(visitor, "", &format!("{}/models/{}", visitor.base, encoded(purpose)), &contents))
                }
            }
        }
    }
}

fn chain(profile: &ModelProfile) -> String {
    let names = profile.chain().into_iter();
    let names = names.map(|one| inert::text(&format!("{}/{}", one.provider, one.model)));
    names.collect::<Vec<_>>().join(", then ")
}

fn limits(profile: &ModelProfile) -> String {
    let cap = profile
        .daily_cap_nanos
        .map(|cap| format!("{} a day", money(cap)));
    let calls = profile.rate_limit.map(|limit| rate(Some(limit)));
    let all: Vec<_> = cap.into_iter().chain(calls).collect();
    match all.is_empty() {
        true => "those of the tier above".to_owned(),
        false => all.join(", "),
    }
}

pub(crate) async fn change(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(purpose): Path<String>,
    posted: Posted,
) -> Response {
    let number = |text: &str| {
        text.parse()
            .map_err(|_| Failure::invalid(wording::NO_VERSION))
    };
    let changed = async {
        let version = number(posted.text("version"))?;
        let replaces = posted.get("replaces").map(number).transpose()?;
        shown::roll_back(&room, &visitor, &purpose, version, replaces).await
    };
    match changed.await {
        Ok(()) => {
            let address = format!("{}/models/{}", visitor.base, encoded(&purpose));
            Redirect::to(&address).into_response()
        }
        Err(failure) => failure.page(&visitor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_in_hundredths_and_never_divides_by_zero() {
        assert_eq!(share(1, 3), "33 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100 %");
        assert_eq!(share(5, 0), "500 %");
    }

    #[test]
    fn a_rate_is_told_in_the_unit_that_it_was_given_in() {
        let told = |calls, per_ms| rate(Some(RateLimit { calls, per_ms }));
        assert_eq!(told(60, 60_000), "60 calls a minute");
        assert_eq!(told(2, 1_000), "2 calls a second");
        assert_eq!(told(5, 3_600_000), "5 calls in 1 h 0 min");
        assert_eq!(rate(None), "no limit");
    }
}
