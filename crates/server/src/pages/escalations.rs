//! The chart of escalations: for each escalation, its path from the source to the agent that settled it.

use crate::{inert, shown::escalations::Climb};
use maud::{Markup, html};

/// Returns the chart of a run's escalations; empty if there was none.
pub(super) fn chart(climbs: &[Climb]) -> Markup {
    if climbs.is_empty() {
        return html! {};
    }
    html! {
        h2 { "Escalations" }
        @for climb in climbs { (way(climb)) }
    }
}

/// Returns the path of one escalation, as a list of the agents that it has passed.
pub(super) fn way(climb: &Climb) -> Markup {
    let escalation = &climb.escalation;
    let severity = escalation.severity.to_string();
    html! {
        ol.climb data-escalation=(inert::text(&escalation.source)) {
            li.source {
                b { (inert::text(&escalation.source)) }
                " " span.badge.{ "severity-" (severity.to_lowercase()) } { (severity) }
                span { bdi { (inert::text(climb.first_reason())) } }
            }
            @for agent in &escalation.path {
                li.reached {
                    b { (inert::text(agent)) }
                    @for words in climb.words_of(agent) { span { bdi { (inert::text(&words)) } } }
                }
            }
            @match &climb.settled {
                Some(settled) => li.settled { bdi { (inert::text(&settled.to_string())) } },
                None => li.unsettled { "nobody has settled it so far" },
            }
        }
    }
}
