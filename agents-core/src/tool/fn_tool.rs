use super::{
    DynTool, Effects, ErrorText, ErrorType, InDoubt, IntoTool, Prepared, ReadError, Risk,
    SharedTool, ToolContext, ToolSpec, Undone, output::OutputSchema, wording,
};
use crate::{
    Json,
    error::{AnyError, Cause, Code, ToolError},
    recovery::{self, CallError, ErrorContext, Fixer, Plan},
};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::{fmt, hash::Hasher, sync::Arc};

type Body = dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<Json, Cause>> + Send + Sync;
type FindOut = dyn Fn(Value, ToolContext) -> BoxFuture<'static, InDoubt<Json>> + Send + Sync;
type Undo =
    dyn Fn(Value, Value, ToolContext) -> BoxFuture<'static, Result<Undone, Cause>> + Send + Sync;
type RiskOf = dyn Fn(&Value) -> Risk + Send + Sync;
type Arms = dyn Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync;

/// A tool made at run time from a name, a schema and a closure.
///
/// The tool is called under the same rules as a tool that a macro wrote, and may have [arms](FnTool::on_error) of
/// its own.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, FnTool};
/// use serde_json::{Value, json};
///
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// let weather = FnTool::new("weather", "The weather in a city.", Effects::Reads, schema, |args, _| async move {
///     Ok::<_, std::io::Error>(format!("sunny in {}", args["city"]))
/// });
/// ```
#[derive(Clone)]
pub struct FnTool {
    spec: Arc<ToolSpec>,
    output: Option<Arc<OutputSchema>>,
    body: Arc<Body>,
    /// Type of the errors that the body returns, for the tool's arms; `None` if the body returns causes.
    fails_with: Option<ErrorType>,
    arms: Option<Arc<Arms>>,
    namespace: Vec<u8>,
    fixers: Vec<Arc<dyn Fixer>>,
    in_doubt: Option<Arc<FindOut>>,
    undo: Option<Arc<Undo>>,
    risk: Option<Arc<RiskOf>>,
    part_of_the_run: bool,
    check: fn(&Value) -> Result<(), ReadError>,
}

impl FnTool {
    /// Creates a tool that runs `body` with arguments that fit `input_schema`.
    pub fn new<F, Fut, T, E, How>(
        name: impl Into<String>,
        description: impl Into<String>,
        effects: Effects,
        input_schema: Value,
        body: F,
    ) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: serde::Serialize,
        E: ErrorText<How>,
    {
        let spec = ToolSpec::new(name.into(), description.into(), effects, input_schema);
        Self::with_spec(spec, body)
    }

    /// Creates a tool from a full [`ToolSpec`].
    pub fn with_spec<F, Fut, T, E, How>(spec: ToolSpec, body: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: serde::Serialize,
        E: ErrorText<How>,
    {
        let tool = Self::with_causes(spec, move |args, cx| {
            let work = body(args, cx);
            async move {
                work.await.map_err(|error| {
                    Cause::returned_saying(error.told(), error, Code::Unknown, None)
                })
            }
        });
        FnTool {
            fails_with: Some(ErrorType::of::<E>()),
            ..tool
        }
    }

    /// Creates a tool from a full [`ToolSpec`], with a body whose errors are [causes](Cause): a cause has the code of
    /// the failure, the time to wait, and whether the execution was [cut off](Cause::interrupted).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Effects, error::Cause, tool::{FnTool, ToolSpec}};
    /// use serde_json::json;
    ///
    /// let spec = ToolSpec::new("close_issue", "Closes an issue.", Effects::Writes, json!({"type": "object"}));
    /// let close = FnTool::with_causes(spec, |_, _| async {
    ///     // The tracker went away after the request was sent: nobody knows whether the issue is closed.
    ///     Err::<(), _>(Cause::interrupted("the connection to the tracker was lost"))
    /// });
    /// # let _ = close;
    /// ```
    pub fn with_causes<F, Fut, T>(spec: ToolSpec, body: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, Cause>> + Send + 'static,
        T: serde::Serialize,
    {
        let effects = spec.effects;
        let body = move |args, cx: ToolContext| -> BoxFuture<'static, Result<Json, Cause>> {
            let own = cx.clone();
            let work = body(args, cx);
            Box::pin(async move {
                let value = work.await?;
                own.output_of(&value)
                    .map_err(|error| wording::output_unwritable(&error, effects))
            })
        };
        FnTool {
            output: spec
                .output_schema
                .as_ref()
                .map(|schema| Arc::new(OutputSchema::new(schema))),
            spec: Arc::new(spec),
            body: Arc::new(body),
            fails_with: None,
            arms: None,
            namespace: Vec::new(),
            fixers: Vec::new(),
            in_doubt: None,
            undo: None,
            risk: None,
            part_of_the_run: false,
            check: |_| Ok(()),
        }
    }

    /// Sets the tool's own arms, as [`AgentBuilder::on_error`] does for an agent.
    ///
    /// The tool's own arms are asked after an agent's arms for this tool, and before the agent's default arms.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{
    ///     recovery::*,
    ///     tool::{Effects, FnTool},
    /// };
    /// use serde_json::json;
    /// use std::io;
    ///
    /// let stock = FnTool::new("stock", "How many are left.", Effects::Reads, json!({"type": "object"}), |_, _| async {
    ///     Err::<u32, _>(io::Error::from(io::ErrorKind::ConnectionReset))
    /// })
    /// .on_error(|error, _| match error {
    ///     CallError::Execution(Failure::Returned(e)) if e.downcast_ref::<io::Error>().is_some() => {
    ///         Some(retry::<Execution>().max_attempts(3).into())
    ///     }
    ///     _ => None,
    /// });
    /// ```
    ///
    /// [`AgentBuilder::on_error`]: crate::AgentBuilder::on_error
    #[must_use]
    pub fn on_error(
        mut self,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'static,
    ) -> Self {
        self.arms = Some(Arc::new(arms));
        self
    }

    /// Sets a namespace for cached results, such as the URL of the server behind the tool. Results are not shared
    /// with tools of the same name, version and schema in another namespace.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::tool::{FnTool, ToolSpec};
    ///
    /// // `search` of two servers: what one has found, and a cache has kept, is not what the other finds.
    /// fn search_of(server: &str, spec: ToolSpec) -> FnTool {
    ///     let url = format!("{server}/search");
    ///     FnTool::with_spec(spec, move |_, _| {
    ///         let url = url.clone();
    ///         async move { Ok::<_, std::io::Error>(format!("asked {url}")) }
    ///     })
    ///     .cache_namespace(server)
    /// }
    /// # let _ = search_of;
    /// ```
    #[must_use]
    pub fn cache_namespace(mut self, by: impl Into<Vec<u8>>) -> Self {
        self.namespace = by.into();
        self
    }

    /// Sets the function that finds out whether an interrupted execution took effect, that is, an execution during
    /// which its process ended. An error of the function counts as [`InDoubt::Unknown`]. See [`InDoubt`].
    #[must_use]
    pub fn in_doubt<F, Fut, T, E>(mut self, find_out: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<InDoubt<T>, E>> + Send + 'static,
        T: serde::Serialize,
        E: fmt::Display,
    {
        self.in_doubt = Some(Arc::new(move |args, cx| {
            let own = cx.clone();
            let known = find_out(args, cx);
            Box::pin(async move {
                match known.await {
                    Ok(InDoubt::Done(output)) => {
                        let output = own.output_of(&output);
                        output.map_or(InDoubt::Unknown, InDoubt::Done)
                    }
                    Ok(InDoubt::NotDone) => InDoubt::NotDone,
                    Ok(InDoubt::Unknown) => InDoubt::Unknown,
                    Err(error) => {
                        tracing::warn!(tool = %own.tool, %error, "it cannot be found out whether the interrupted execution took effect");
                        InDoubt::Unknown
                    }
                }
            })
        }));
        self
    }

    /// Sets the function that returns the risk of a call from its arguments. By default all calls have the risk of the
    /// [`ToolSpec`].
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::tool::{Effects, FnTool, Risk};
    ///
    /// # let schema = serde_json::json!({"type": "object", "properties": {"cents": {"type": "integer"}}});
    /// let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("paid") })
    ///     .risk_of(|args| if args["cents"].as_u64() > Some(100_000) { Risk::High } else { Risk::Medium });
    /// ```
    #[must_use]
    pub fn risk_of(mut self, risk: impl Fn(&Value) -> Risk + Send + Sync + 'static) -> Self {
        self.risk = Some(Arc::new(risk));
        self
    }

    /// Sets the function that undoes a call, given the call's arguments and output. See [`Undone`].
    #[must_use]
    pub fn undo<F, Fut, E, How>(mut self, undo: F) -> Self
    where
        F: Fn(Value, Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Undone, E>> + Send + 'static,
        E: ErrorText<How>,
    {
        let undo = move |args, output, cx| -> BoxFuture<'static, Result<Undone, Cause>> {
            let work = undo(args, output, cx);
            Box::pin(async move {
                work.await.map_err(|error| {
                    Cause::returned_saying(error.told(), error, Code::Unknown, None)
                })
            })
        };
        self.undo = Some(Arc::new(undo));
        Arc::make_mut(&mut self.spec).has_undo = true;
        self
    }

    /// Marks the tool's work as a part of the run; see [`DynTool::is_part_of_the_run`].
    pub(crate) fn part_of_the_run(mut self) -> Self {
        self.part_of_the_run = true;
        self
    }

    /// Adds a check of the arguments, for demands that no schema can express. Arguments that fail it do not fit.
    pub(crate) fn checked(mut self, check: fn(&Value) -> Result<(), ReadError>) -> Self {
        self.check = check;
        self
    }

    /// Registers a repair agent that the tool's arms name, so that a resumed run can find it by
    /// name.
    #[must_use]
    pub fn fixer(mut self, agent: impl Fixer) -> Self {
        self.fixers.push(Arc::new(agent));
        self
    }
}

/// Returns the first integer in valid JSON that a `Value` would round because it does not fit 64 bits; `None` if there
/// is none.
fn unkept_integer(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(start) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[start..];
        if let Some(text) = rest.strip_prefix('"') {
            rest = after_string(text);
            continue;
        }
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let is_integer = !number.contains(['.', 'e', 'E']);
        if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            return Some(number);
        }
        rest = after;
    }
    None
}

/// Returns the text behind a JSON string whose opening quote has been taken.
fn after_string(text: &str) -> &str {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    end.map_or("", |end| &text[end + 1..])
}

#[async_trait]
impl DynTool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &str) -> Result<Prepared, ReadError> {
        let value: Value = serde_json::from_str(arguments)
            .map_err(|error| ReadError::new("", error.to_string()))?;
        if let Some(integer) = unkept_integer(arguments) {
            return Err(ReadError::new("", wording::too_large_to_keep(integer)));
        }
        // No Rust type checks these arguments, so the schema does.
        self.spec.expected().compiled.fits(arguments)?;
        (self.check)(&value)?;
        Ok(Prepared(Box::new(value)))
    }

    fn decide(&self, error: &ToolError, cx: &ErrorContext) -> Option<Plan> {
        let arms = self.arms.as_ref()?;
        recovery::with_any_error(error, &self.spec.input_schema, |error| arms(error, cx))
    }

    fn fixers(&self) -> Vec<Arc<dyn Fixer>> {
        self.fixers.clone()
    }

    fn error_type(&self) -> Option<ErrorType> {
        self.fails_with
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        state.write(&self.namespace);
    }

    fn needs_approval(&self, _: &Prepared, _: &ToolContext) -> bool {
        true
    }

    fn risk_of(&self, prepared: &Prepared, _: &ToolContext) -> Risk {
        match (&self.risk, prepared.0.downcast_ref()) {
            (None, _) => self.spec.risk_level(),
            (Some(risk), Some(args)) => risk(args),
            (Some(_), None) => Risk::High,
        }
    }

    fn is_part_of_the_run(&self) -> bool {
        self.part_of_the_run
    }

    async fn in_doubt(&self, prepared: Prepared, cx: &ToolContext) -> InDoubt<Json> {
        match (&self.in_doubt, prepared.0.downcast::<Value>()) {
            (Some(find_out), Ok(args)) => find_out(*args, cx.clone()).await,
            _ => InDoubt::Unknown,
        }
    }

    async fn undo(
        &self,
        prepared: Prepared,
        output: Json,
        cx: &ToolContext,
    ) -> Result<Undone, ToolError> {
        let Some(undo) = &self.undo else {
            return Err(wording::no_undo(self.spec.own_name()).into());
        };
        let Ok(args) = prepared.0.downcast::<Value>() else {
            return Err(wording::of_another_tool().into());
        };
        match (unkept_integer(output.as_str()), output.to_value()) {
            (None, Ok(output)) => Ok(undo(*args, output, cx.clone()).await?),
            (Some(integer), _) => Err(wording::stored_too_large(integer).into()),
            (None, Err(error)) => Err(wording::stored_unreadable(&error.to_string()).into()),
        }
    }

    async fn execute(&self, prepared: Prepared, cx: &ToolContext) -> Result<Json, Cause> {
        match prepared.0.downcast::<Value>() {
            Ok(args) => {
                let output = (self.body)(*args, cx.clone()).await?;
                match &self.output {
                    Some(schema) => schema.check(output, self.spec.effects),
                    None => Ok(output),
                }
            }
            Err(_) => Err(wording::of_another_tool()),
        }
    }
}

#[diagnostic::do_not_recommend]
impl IntoTool for FnTool {
    fn into_tool(self) -> SharedTool {
        Arc::new(self)
    }
}

impl fmt::Debug for FnTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.spec, f)
    }
}
