//! Routes of the control room.

use crate::{Authenticator, api, guard::guard, pages, room::Room};
use agents_runtime::Client;
use axum::{Router, middleware, routing::get};

/// Creates the control room for an application of your own, which [knows its users](Authenticator). It may be nested
/// under any path.
pub fn router(client: &Client, authenticator: impl Authenticator) -> Router {
    let room = Room::new(client, authenticator);
    Router::new()
        .route("/", get(pages::home))
        .route(
            "/approvals",
            get(pages::inbox::list).post(pages::inbox::decide_all),
        )
        .route(
            "/approvals/{id}",
            get(pages::inbox::one).post(pages::inbox::decide),
        )
        .route("/runs", get(pages::runs::list))
        .route("/runs/{id}", get(pages::runs::one).post(pages::runs::steer))
        .route("/audit", get(pages::audit::list))
        .route("/api/approvals", get(api::approvals::list))
        .route(
            "/api/approvals/{id}",
            get(api::approvals::one).post(api::approvals::decide),
        )
        .route("/api/runs", get(api::runs::list))
        .route("/api/runs/{id}", get(api::runs::one).post(api::runs::steer))
        .route("/api/audit", get(api::audit::list))
        .route("/api/live", get(api::live::events))
        .fallback(pages::nothing)
        .layer(middleware::from_fn_with_state(room.clone(), guard))
        .route("/room.css", get(pages::style))
        .route("/room.js", get(pages::script))
        .with_state(room)
}
