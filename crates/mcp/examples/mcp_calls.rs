//! An agent that calls tools of a server: `mcp_calls [TOOL ARGUMENTS].. URL`, or `mcp_calls [TOOL ARGUMENTS].. -- PROGRAM ARGS..`.
//! Without a tool it calls each tool of the server that needs no arguments, and `add_numbers`.
//!
//! The calls come from a script, so that no model is needed. Questions of the server are answered with its own defaults. If
//! the server wants to know who asks, its authorization server is asked as a browser would, without a person.
//! `scripts/mcp-conformance` uses this program as a client.

use agents::{
    AgentBuilder,
    prelude::*,
    run::Approval,
    testing::{Script, ScriptedModel},
    tool::{Scope, ToolSet},
};
use agents_mcp::{self as mcp, Answer, ListedTool, Mcp, OAuth};
use serde_json::Value;
use std::{env, error::Error};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = env::args().skip(1).collect();
    let usage = "usage: mcp_calls [TOOL ARGUMENTS].. URL, or mcp_calls [TOOL ARGUMENTS].. -- PROGRAM ARGS..";
    let server = match args.iter().position(|arg| arg == "--") {
        Some(at) => {
            let mut command = args.split_off(at).into_iter().skip(1);
            mcp::stdio(command.next().ok_or(usage)?, command)
        }
        None => mcp::http(args.pop().ok_or(usage)?).oauth(oauth()),
    };
    let server = server
        .named("server")
        .trust_hints()
        .answers(|_| async { Answer::Given(Value::Null) });
    let server = Mcp::new(move |_| server.clone());
    let mut calls: Vec<_> = args
        .chunks_exact(2)
        .map(|call| (format!("server_{}", call[0]), call[1].clone()))
        .collect();
    if calls.is_empty() {
        let listed = server.tools(&Scope::default()).await?;
        calls = listed.iter().filter_map(call_of).collect();
    }

    let names: Vec<_> = calls.iter().map(|(name, _)| name.clone()).collect();
    let (model, handle) = ScriptedModel::new([Script::calls(calls), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("caller")
        .tools(ToolSet::new().with_all(&server))
        .build();
    let approve = |_| async { Approval::Approve };
    agent.run("go").model(model).approver(approve).await?;
    if let Some(request) = handle.requests().last() {
        for (name, (_, result)) in names.iter().zip(request.results()) {
            println!("{name}: {result}");
        }
    }
    Ok(())
}

/// Returns who we are. The conformance suite may say who that is.
fn oauth() -> OAuth {
    let oauth = OAuth::new("http://localhost:3918/callback")
        .client_metadata_url("https://conformance-test.local/client-metadata.json")
        .visits(visit);
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    match context["client_id"].as_str() {
        Some(id) => oauth.client(id, context["client_secret"].as_str().map(str::to_owned)),
        None => oauth,
    }
}

/// Opens the page, on which nothing has to be clicked, and returns where it leads.
async fn visit(url: String) -> Result<String, Box<dyn Error + Send + Sync>> {
    let browser = reqwest::Client::builder();
    let browser = browser
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let page = browser.get(url).send().await?;
    let back = page
        .headers()
        .get("location")
        .ok_or("the page leads nowhere")?;
    Ok(back.to_str()?.to_owned())
}

fn call_of(listed: &ListedTool) -> Option<(String, String)> {
    let name = listed.tool.name.clone();
    if listed.own_name == "add_numbers" {
        return Some((name, r#"{"a": 1, "b": 2}"#.to_owned()));
    }
    let required = listed.tool.input_schema["required"].as_array();
    let needs_nothing = required.is_none_or(Vec::is_empty);
    needs_nothing.then(|| (name, "{}".to_owned()))
}
