use crate::has_boxes;
use agents::{
    Agent, AgentBuilder, Effects, Json, Tool, async_trait,
    cache::{CacheError, CacheKey, MemoryCache, ToolCache},
    policy::{Action, Verdict},
    rate::RateLimiter,
    run::EventKind,
    secret::{SecretError, SecretOwner, SecretValue, Secrets},
    testing::{Script, ScriptedModel},
    tool::{Cache, FnTool, ToolContext, ToolSpec},
};
use agents_sandbox::{PythonArgs, PythonTool, Sandbox};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tracing::{Subscriber, span};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// Stages in the order in which they were reached.
#[derive(Clone, Default)]
struct Stages(Arc<Mutex<Vec<&'static str>>>);

impl Stages {
    fn add(&self, stage: &'static str) {
        self.0.lock().unwrap().push(stage);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl RateLimiter for Stages {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        self.add("rate");
        Ok(())
    }
}

#[async_trait]
impl Secrets for Stages {
    async fn find(&self, _: &SecretOwner, _: &str) -> Result<Option<SecretValue>, SecretError> {
        self.add("secrets");
        Ok(Some(SecretValue::from("hunter2")))
    }
}

struct Cached(Stages, MemoryCache);

#[async_trait]
impl ToolCache for Cached {
    async fn get(&self, key: &CacheKey) -> Result<Option<Json>, CacheError> {
        self.0.add("cache");
        self.1.get(key).await
    }

    async fn put(
        &self,
        key: &CacheKey,
        output: &Json,
        keep_for: Option<Duration>,
    ) -> Result<(), CacheError> {
        self.1.put(key, output, keep_for).await
    }
}

/// Layer that tells of the spans that stand for a stage: when each begins, and when the last one ends.
struct Spans(Stages);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        match attributes.metadata().name() {
            "chat" => self.0.add("model"),
            "policy" => self.0.add("guard"),
            "execute_tool" => self.0.add("tool"),
            "sandbox" => self.0.add("sandbox"),
            _ => {}
        }
    }

    fn on_close(&self, id: span::Id, cx: Context<'_, S>) {
        if cx.span(&id).is_some_and(|span| span.name() == "call") {
            self.0.add("span");
        }
    }
}

/// Tool with every stage: its body looks a secret up, and runs code in a box.
fn signed(python: PythonTool) -> FnTool {
    let python = Arc::new(python);
    let spec = ToolSpec::of::<PythonArgs>("signed", "Runs code with a key.", Effects::Reads)
        .cache(Cache::Forever);
    FnTool::with_spec(spec, move |code: serde_json::Value, cx: ToolContext| {
        let python = python.clone();
        async move {
            cx.secret("key").await.map_err(std::io::Error::other)?;
            let args = serde_json::from_value::<PythonArgs>(code)?;
            python.call(args, &cx).await.map_err(std::io::Error::other)
        }
    })
}

/// The guard is asked before the model and before each call. The cache stands before the limiter, so that a kept result costs
/// no limit. Secrets and the box are within the execution of the tool.
#[tokio::test]
async fn e1_the_stages_of_a_call_are_in_order_and_the_box_is_one_of_them() {
    if !has_boxes() {
        return;
    }
    let stages = Stages::default();
    let subscriber = tracing_subscriber::registry().with(Spans(stages.clone()));
    let _in_test = agents_needs::watched_by(subscriber);
    let tool = signed(PythonTool::new(Effects::None, Sandbox::new()).unwrap());
    let agent = AgentBuilder::<String, String>::new("signer")
        .tool(tool)
        .build();
    // The reader mends the comma, and tells of it.
    let code = r#"{"code": "print(6 * 7)",}"#;
    let (model, _) = ScriptedModel::new([
        Script::call("signed", code),
        Script::call("signed", code),
        Script::text("42"),
    ]);
    let (judged, told) = (stages.clone(), stages.clone());
    let outcome = agent
        .run("Sign.")
        .model(model)
        .rate_limits(stages.clone())
        .secrets(stages.clone())
        .cache(Cached(stages.clone(), MemoryCache::new()))
        .policy(move |action: &Action<'_>| {
            if let Action::Model(_) = action {
                judged.add("guard");
            }
            Verdict::Allow
        })
        .on_event(move |event| match event.kind {
            EventKind::ModelReplied { .. } => told.add("adapter"),
            EventKind::CallRepaired { .. } => told.add("validate"),
            EventKind::CallEnded(_) => told.add("envelope"),
            _ => {}
        })
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "42");
    let turn = ["guard", "model", "adapter"];
    let first = [
        "guard", "validate", "cache", "rate", "tool", "secrets", "sandbox", "envelope", "span",
    ];
    let second = ["guard", "validate", "cache", "envelope", "span"];
    let all = [&turn[..], &first, &turn, &second, &turn].concat();
    assert_eq!(stages.take(), all);
}
