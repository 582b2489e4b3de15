//! An agent with the operations of an OpenAPI document, against a server of this program.
//!
//! The calls come from a script, so that no model is needed.

use agents::{
    prelude::*,
    run::Approval,
    testing::{Script, ScriptedModel},
};
use agents_openapi::Api;
use axum::{Json, Router, routing::get};
use serde_json::{Value, json};

const DOCUMENT: &str = r##"{
  "openapi": "3.1.0",
  "info": {"title": "Stock", "version": "2"},
  "paths": {
    "/items/{name}": {
      "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}],
      "get": {"operationId": "getItem", "summary": "Returns how many are left of an item."},
      "put": {
        "operationId": "orderItem",
        "summary": "Orders an item.",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
          "type": "object", "required": ["count"], "properties": {"count": {"type": "integer", "minimum": 1}}}}}}
      }
    }
  }
}"##;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let item = get(|| async { Json(json!({"left": 3})) })
        .put(|Json(order): Json<Value>| async move { Json(json!({"ordered": order["count"]})) });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, Router::new().route("/items/{name}", item)).into_future());

    let stock = Api::read(DOCUMENT)?.named("stock").private_server(url);
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tools(stock.tools()?)
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::call("stock_getItem", r#"{"name": "brass screws"}"#),
        Script::call(
            "stock_orderItem",
            r#"{"name": "brass screws", "body": {"count": "20",}}"#,
        ),
        Script::text("I have ordered 20."),
    ]);
    // Reading needs no approval, and ordering does.
    let approved = |request: agents::run::ApprovalRequest| async move {
        println!("approved: {} {}", request.tool_name, request.args.as_str());
        Approval::Approve
    };
    let said = clerk
        .run("Are there enough screws?")
        .model(model)
        .approver(approved)
        .await?;
    for request in &handle.requests()[1..] {
        println!(
            "told: {}",
            request.results().last().map_or("", |(_, text)| text)
        );
    }
    println!("{said}");
    Ok(())
}
