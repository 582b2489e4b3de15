//! `agents deliveries` and `agents redeliver`.

use super::seconds;
use crate::{args::DeliveriesArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_store::DeliveryFilter;
use serde_json::json;

pub(crate) async fn list(
    session: &Session,
    asked: &DeliveriesArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let filter = DeliveryFilter {
        webhook: asked.webhook.clone(),
        given_up: asked.given_up.then_some(true),
        limit: 1000,
        ..DeliveryFilter::default()
    };
    let deliveries = session.client().deliveries();
    let found = deliveries.list(&filter, &session.who).await?;
    if out.is_json() {
        return found.iter().try_for_each(|one| out.object(one));
    }
    let mut table = Table::new(&[
        "WEBHOOK", "EVENT", "KIND", "RUN", "AT", "TRIES", "NEXT TRY", "ERROR",
    ]);
    for one in &found {
        table.row([
            &one.webhook,
            &one.event.to_string(),
            one.kind.as_str(),
            &one.run_id,
            &seconds(one.at),
            &one.attempts.to_string(),
            &one.next_at.map_or("given up".to_owned(), seconds),
            one.error.as_deref().unwrap_or_default(),
        ]);
    }
    table.print(out)
}

pub(crate) async fn send_again(
    session: &Session,
    webhook: &str,
    event: u64,
    out: &mut Out,
) -> Result<(), Failure> {
    let deliveries = session.with_keys()?.deliveries();
    deliveries.send_again(webhook, event, &session.who).await?;
    match out.is_json() {
        true => out.object(&json!({ "webhook": webhook, "event": event })),
        false => out.line(&crate::wording::sent_again(&event.to_string(), webhook)),
    }
}
