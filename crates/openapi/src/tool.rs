//! An operation as a tool.

use crate::{error::CallError, operation::Operation, request};
use agents_core::{
    Effects, Tool, ToolContext, ToolFailure,
    error::Cause,
    tool::{Category, FnTool, ToolSpec},
};
use agents_http_tool::{HttpAnswer, HttpTool, Method};
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns the tool for an operation, which sends its requests by `http`. `version` is that of the document.
pub(crate) fn of(
    name: String,
    operation: Arc<Operation>,
    base: Arc<str>,
    version: &str,
    http: Arc<HttpTool>,
) -> FnTool {
    let writes = !matches!(operation.method, Method::Get | Method::Head);
    let effects = match writes {
        true => Effects::Writes,
        false => Effects::Reads,
    };
    let mut spec = ToolSpec::new(
        name,
        operation.description.clone(),
        effects,
        operation.schema.clone(),
    )
    .external()
    .category(Category::Api)
    .version(version.to_owned());
    if operation.idempotency_key.is_some() {
        spec = spec.idempotent();
    }
    spec = http.secrets().fold(spec, ToolSpec::secret);
    let namespace = format!("openapi:{base}");
    let tool = FnTool::with_causes(spec, move |args, cx| {
        let (operation, base, http) = (operation.clone(), base.clone(), http.clone());
        async move { call(&operation, &base, &args, &http, &cx, writes).await }
    });
    tool.cache_namespace(namespace)
}

async fn call(
    operation: &Operation,
    base: &str,
    args: &Value,
    http: &HttpTool,
    cx: &ToolContext,
    writes: bool,
) -> Result<Value, Cause> {
    let request = request::of(operation, base, args, &cx.idempotency_key()).map_err(cause)?;
    match http.call(request, cx).await {
        Ok(answer) if answer.status >= 400 => {
            Err(cause(CallError::answered(answer.status, &answer.brief())))
        }
        Ok(answer) => Ok(output(&answer)),
        Err(error) if writes && error.may_have_taken_effect() => {
            Err(Cause::interrupted(error.to_string()))
        }
        Err(error) => Err(cause(error.into())),
    }
}

fn cause(error: CallError) -> Cause {
    let (code, after) = (error.code(), error.retry_after());
    Cause::returned(error, code, after)
}

/// Returns the output of a tool for an answer: its body as JSON or as text, or what describes it. If there is no body,
/// returns the status, and the location if the server names one.
fn output(answer: &HttpAnswer) -> Value {
    if let Some(Ok(value)) = answer.json.as_ref().map(agents_core::Json::to_value) {
        return value;
    }
    match (&answer.text, &answer.binary) {
        (Some(text), _) => Value::from(text.as_str()),
        (None, Some(binary)) => Value::from(binary.as_str()),
        (None, None) => match answer.headers.get("location") {
            Some(location) => json!({"status": answer.status, "location": location}),
            None => json!({"status": answer.status}),
        },
    }
}
