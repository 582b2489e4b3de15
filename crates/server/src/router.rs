//! Routes of the control room.

use crate::{Authenticator, ControlRoom, api, guard::guard, pages, room::Room, ui};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};

/// Creates the control room as a part of your own application, which [knows its users](Authenticator). It may be nested
/// under any path. [`serve`](crate::serve) is for one person on one machine.
///
/// ```
/// use agents_runtime::{Principal, Runtime, SqliteStore};
/// use axum::{Router, http::request::Parts};
///
/// /// Everybody who reaches this server is Ada, of the tenant `acme`.
/// fn ada(_: &Parts) -> Option<Principal> {
///     Some(Principal::new("ada", "acme"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Runtime::client(SqliteStore::in_memory().await?);
/// let app: Router = Router::new().nest("/agents", agents_server::router(&client, ada));
/// # Ok(())
/// # }
/// ```
pub fn router(room: impl Into<ControlRoom>, authenticator: impl Authenticator) -> Router {
    let room = Room::new(room.into(), authenticator);
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
        .route("/runs/{id}", get(pages::run::show).post(pages::run::steer))
        .route(
            "/runs/{id}/executions/{execution}",
            get(pages::run::confirm).post(pages::run::act),
        )
        .route(
            "/runs/{id}/calls/{call}",
            get(pages::call::show).post(pages::call::vary),
        )
        .route("/chat", get(pages::chat::list))
        .route(
            "/chat/{agent}",
            get(pages::chat::show).post(pages::chat::say),
        )
        .route("/letters", get(pages::letters::list))
        .route(
            "/letters/{id}",
            get(pages::letters::show).post(pages::letters::replay),
        )
        .route("/failures", get(pages::failures::list))
        .route(
            "/failures/{id}",
            get(pages::failures::show).post(pages::failures::triage),
        )
        .route("/tools", get(pages::tools::list))
        .route(
            "/tools/{agent}/{tool}/{version}",
            get(pages::tool::show).post(pages::tool::call),
        )
        .route("/teams", get(pages::teams::list))
        .route("/teams/{agent}", get(pages::teams::one))
        .route("/models", get(pages::models::list))
        .route(
            "/models/{purpose}",
            get(pages::models::versions).post(pages::models::change),
        )
        .route("/costs", get(pages::costs::list))
        .route("/audit", get(pages::audit::list))
        .route("/api/approvals", get(api::approvals::list))
        .route(
            "/api/approvals/{id}",
            get(api::approvals::one).post(api::approvals::decide),
        )
        .route("/api/runs", get(api::runs::list))
        .route("/api/runs/{id}", get(api::runs::one).post(api::runs::steer))
        .route("/api/runs/{id}/text", get(api::runs::text))
        .route("/api/runs/{id}/executions", get(api::runs::executions))
        .route(
            "/api/runs/{id}/executions/{execution}",
            post(api::runs::act),
        )
        .route(
            "/api/runs/{id}/calls/{call}",
            get(api::calls::one).post(api::calls::vary),
        )
        .route("/api/runs/{id}/pinned", get(api::calls::pinned))
        .route("/api/letters", get(api::letters::list))
        .route(
            "/api/letters/{id}",
            get(api::letters::one).post(api::letters::replay),
        )
        .route("/api/failures", get(api::failures::list))
        .route(
            "/api/failures/{id}",
            get(api::failures::one).post(api::failures::triage),
        )
        .route("/api/tools", get(api::tools::list))
        .route(
            "/api/tools/{agent}/{tool}/{version}",
            post(api::tools::call),
        )
        .route("/api/agents", get(api::agents::list))
        .route("/api/agents/{agent}", get(api::agents::one))
        .route(
            "/api/conversations/{id}",
            get(api::conversations::one).post(api::conversations::send),
        )
        .route(
            "/api/conversations/{id}/events",
            get(api::conversations::events),
        )
        .route(
            "/api/ui/{agent}/ag-ui",
            post(ui::ag_ui::run).layer(DefaultBodyLimit::max(ui::MOST_BYTES)),
        )
        .route(
            "/api/ui/{agent}/chat",
            post(ui::ai_sdk::chat).layer(DefaultBodyLimit::max(ui::MOST_BYTES)),
        )
        .route("/api/ui/{agent}/chat/{id}", get(ui::ai_sdk::history))
        .route("/api/ui/{agent}/chat/{id}/stream", get(ui::ai_sdk::again))
        .route("/api/models", get(api::models::list))
        .route(
            "/api/models/{purpose}",
            get(api::models::versions).post(api::models::change),
        )
        .route("/api/costs", get(api::costs::list))
        .route("/api/costs.csv", get(api::costs::csv))
        .route("/api/audit", get(api::audit::list))
        .route("/api/audit.jsonl", get(api::audit::export))
        .route("/api/openapi.json", get(api::openapi::document))
        .route("/api/live", get(api::live::events))
        .fallback(pages::nothing)
        .layer(middleware::from_fn_with_state(room.clone(), guard))
        .route("/room.css", get(pages::style))
        .route("/room.js", get(pages::script))
        .with_state(room)
}
