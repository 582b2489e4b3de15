use super::{
    AnswerForm, Background, Cache, Category, Effects, NeedsApproval, Pattern, Risk, Status,
    UnknownKeys,
    schema::{Expected, constrained, schema_of},
};
use crate::{json::canonical, reader::Schema};
use schemars::JsonSchema;
use serde_json::{Value, json};
use std::{borrow::Cow, fmt, sync::OnceLock, time::Duration};

/// Specification of a tool: its name, description, effects, schemas and limits.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, ToolSpec};
/// use std::time::Duration;
///
/// #[derive(schemars::JsonSchema)]
/// struct Args {
///     /// Path, relative to the workspace.
///     path: String,
/// }
///
/// let spec = ToolSpec::of::<Args>("read_file", "Reads a file.", Effects::Reads)
///     .timeout(Duration::from_secs(2));
/// assert_eq!(spec.input_schema["required"][0], "path");
/// assert_eq!(spec.effects, Effects::Reads);
/// ```
#[derive(Clone)]
pub struct ToolSpec {
    /// Name by which the model calls the tool.
    pub name: Cow<'static, str>,
    /// Version of the tool, which is written into receipts; `1.0.0` by default.
    pub version: Cow<'static, str>,
    /// Description of the tool, as models read it.
    pub description: Cow<'static, str>,
    /// Effects on the outside world; `Writes` if they were not declared.
    pub effects: Effects,
    /// Is `true` if the effects of the tool were declared: by its author, or by the hints of a server that are taken
    /// for true.
    pub declared: bool,
    /// Is `true` if a second execution with the same arguments has no further effect.
    pub idempotent: bool,
    /// Time from the first execution during which `idempotent` holds; `None` if there is no limit.
    pub idempotent_for: Option<Duration>,
    /// Is `true` if the tool's effects leave the organisation. If such a tool writes, the risk of its calls is high,
    /// unless another risk was declared. The method [`ToolSpec::external`] sets this field, and also makes every call
    /// of a tool that writes need approval.
    pub external: bool,
    /// Category of the tool, for people who choose among many tools.
    pub category: Category,
    /// Timeout of one execution; `None` for the run's default.
    pub timeout: Option<Duration>,
    /// Rule by which results of the tool are reused.
    pub cache: Cache,
    /// Rule by which calls need a person's approval.
    pub approval: NeedsApproval,
    /// Is `true` if arguments are read strictly: only JSON that fits the schema is accepted.
    pub strict: bool,
    /// Rule for keys of the arguments that the schema does not know.
    pub unknown_keys: UnknownKeys,
    /// Is `true` if the tool runs alone: after the calls that the model made before it, and before the calls after
    /// it.
    pub sequential: bool,
    /// Is `true` if the tool polls: it is made to be called with the same arguments again and again, until its result
    /// changes.
    pub polls: bool,
    /// Status of this version: active, deprecated or blocked.
    pub status: Status,
    /// JSON Schema (draft 7) of the arguments.
    pub input_schema: Value,
    /// JSON Schema (draft 7) of the result, if it is known.
    pub output_schema: Option<Value>,
    /// Worked examples of arguments, which are shown to models that are offered tools
    /// [by prompt](crate::model::prompted).
    pub examples: Vec<Value>,
    /// Risk of the calls, if it was declared; see [`ToolSpec::risk_level`].
    pub declared_risk: Option<Risk>,
    /// Effect of a call in words for the approver, with the names of arguments in braces: see
    /// [`ToolSpec::effect_description`].
    pub effect_description: Option<Cow<'static, str>>,
    /// Reason why the effect of a call cannot be undone; `None` if the tool is not declared irreversible.
    pub irreversible: Option<Cow<'static, str>>,
    /// Names of the secrets that the tool looks up, as far as they were declared.
    pub secrets: Vec<Cow<'static, str>>,
    /// Form of the answers to the question that the tool asks people; `None` if it asks no question.
    pub(crate) answers: Option<Box<AnswerForm>>,
    /// Is `true` if the tool can undo its calls.
    pub(crate) has_undo: bool,
    /// Is `true` if the author of the tool declared whether calls need approval.
    pub(crate) has_said: bool,
    /// Is `true` if every agent that has the tool may use it, although neither a skill's list of tools nor a grant of a
    /// team names it.
    pub(crate) innate: bool,
    /// Is `true` if the tool only lets a model give up a task that it cannot do, as `escalate` does.
    pub(crate) last_resort: bool,
    /// Behaviour of calls that go on in the background; `None` if the model waits for the results of calls.
    pub(crate) background: Option<Background>,
    /// The tool's own name, if `name` is an alias; else `None`.
    own_name: Option<Cow<'static, str>>,
    declaration: Derived<String>,
    schema: Derived<Schema>,
    constrained: Derived<bool>,
    digest: Derived<[u8; 32]>,
}

impl ToolSpec {
    /// Creates the specification of a tool whose arguments follow the schema of `Args`.
    pub fn of<Args: JsonSchema>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        effects: Effects,
    ) -> Self {
        Self::new(name, description, effects, schema_of::<Args>())
    }

    /// Creates the specification of a tool whose arguments follow `input_schema`.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        effects: Effects,
        input_schema: Value,
    ) -> Self {
        ToolSpec {
            name: name.into(),
            version: Cow::Borrowed("1.0.0"),
            description: description.into(),
            effects,
            declared: true,
            idempotent: effects != Effects::Writes,
            idempotent_for: None,
            external: false,
            category: Category::Utility,
            timeout: None,
            cache: Cache::None,
            approval: NeedsApproval::Never,
            strict: false,
            unknown_keys: UnknownKeys::Doubted,
            sequential: false,
            polls: false,
            status: Status::Active,
            input_schema,
            output_schema: None,
            examples: Vec::new(),
            declared_risk: None,
            effect_description: None,
            irreversible: None,
            secrets: Vec::new(),
            answers: None,
            has_undo: false,
            has_said: false,
            innate: false,
            last_resort: false,
            background: None,
            own_name: None,
            declaration: Derived::default(),
            schema: Derived::default(),
            constrained: Derived::default(),
            digest: Derived::default(),
        }
    }

    /// Creates the specification of a tool of undeclared effects, as listed by a server.
    ///
    /// The tool is taken for one that writes, also outside of the organisation, so that every call needs approval.
    pub fn undeclared(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: Value,
    ) -> Self {
        ToolSpec {
            declared: false,
            ..Self::new(name, description, Effects::Writes, input_schema).external()
        }
    }

    /// Sets the version of the tool; `1.0.0` by default.
    #[must_use]
    pub fn version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.version = version.into();
        self
    }

    /// Declares that a second execution with the same arguments has no further effect. The tool may then be
    /// retried although it writes.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Declares the tool [idempotent](Self::idempotent) for this time from the first execution. An example is a
    /// service that remembers an idempotency key for a day.
    ///
    /// An execution that may have taken effect is repeated only within this time. Afterwards
    /// [`Tool::in_doubt`](super::Tool::in_doubt) is asked about it; without an answer the execution stays in
    /// doubt.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Effects, run::hours, tool::ToolSpec};
    /// # #[derive(schemars::JsonSchema)] struct Payment { cents: u32 }
    ///
    /// let spec = ToolSpec::of::<Payment>("pay", "Pays.", Effects::Writes).idempotent_for(hours(24));
    /// assert!(spec.idempotent);
    /// ```
    #[must_use]
    pub fn idempotent_for(mut self, time: Duration) -> Self {
        self.idempotent_for = Some(time);
        self.idempotent()
    }

    /// Returns `true` if a second execution with the same arguments has no further effect, since the tool does not
    /// write or is idempotent.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.effects != Effects::Writes || self.idempotent
    }

    /// Declares that the tool's effects leave the organisation. If the tool writes, every call then needs
    /// approval.
    ///
    /// To declare another rule for approval, call [`approval`](Self::approval) afterwards.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.external = true;
        if self.effects == Effects::Writes {
            self.approval = NeedsApproval::Always;
        }
        self
    }

    /// Declares the risk of the calls; by default, it follows from the effects: see [`risk_level`](Self::risk_level).
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.declared_risk = Some(risk);
        self
    }

    /// Returns the risk of the calls. If no risk was declared, it follows from the effects: `Low` for a tool that does
    /// not write, `High` for a tool that writes and is [external](Self::external) or
    /// [irreversible](Self::irreversible), and `Medium` for any other tool that writes.
    pub fn risk_level(&self) -> Risk {
        let by_effects = match self.effects {
            Effects::None | Effects::Reads => Risk::Low,
            Effects::Writes if self.external || self.irreversible.is_some() => Risk::High,
            Effects::Writes => Risk::Medium,
        };
        self.declared_risk.unwrap_or(by_effects)
    }

    /// Sets the words that tell the approver what a call would do. An argument's name in braces stands for its value,
    /// and so does the path of a field within an argument: `{to.city}`. A brace that is meant as such is doubled.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::tool::{Effects, ToolSpec};
    /// # #[derive(schemars::JsonSchema)] struct Payment { cents: u32, to: String }
    ///
    /// let pay = ToolSpec::of::<Payment>("pay", "Pays.", Effects::Writes)
    ///     .effect_description("Pays {cents} cents to {to}.");
    /// # let _ = pay;
    /// ```
    #[must_use]
    pub fn effect_description(mut self, effect: impl Into<Cow<'static, str>>) -> Self {
        self.effect_description = Some(effect.into());
        self
    }

    /// Declares that the effect of a call cannot be undone, for this reason. The risk of a tool that writes is then
    /// high, unless another risk is declared.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::tool::{Effects, Risk, ToolSpec};
    /// # #[derive(schemars::JsonSchema)] struct Mail { to: String }
    ///
    /// let send = ToolSpec::of::<Mail>("send", "Sends a mail.", Effects::Writes).irreversible("a mail cannot be unsent");
    /// assert_eq!(send.risk_level(), Risk::High);
    /// assert_eq!(send.irreversible.as_deref(), Some("a mail cannot be unsent"));
    /// ```
    #[must_use]
    pub fn irreversible(mut self, why: impl Into<Cow<'static, str>>) -> Self {
        self.irreversible = Some(why.into());
        self
    }

    /// Declares a secret that the tool looks up with [`ToolContext::secret`](super::ToolContext::secret), so that
    /// people see which tools lack a secret before a call fails with `AUTH_REQUIRED`. Call this method once for each
    /// secret.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Effects, tool::ToolSpec};
    /// # #[derive(schemars::JsonSchema)] struct Question { text: String }
    ///
    /// let ask = ToolSpec::of::<Question>("ask_crm", "Asks the CRM.", Effects::Reads).secret("crm");
    /// assert_eq!(ask.secrets, ["crm"]);
    /// ```
    #[must_use]
    pub fn secret(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        if !self.secrets.contains(&name) {
            self.secrets.push(name);
        }
        self
    }

    /// Declares that the tool can undo its calls: it implements [`Tool::undo`](super::Tool::undo).
    #[must_use]
    pub fn undoable(mut self) -> Self {
        self.has_undo = true;
        self
    }

    /// Returns `true` if the tool can undo its calls; [`undo_tool`](super::undo_tool) returns the tool that does so.
    pub fn has_undo(&self) -> bool {
        self.has_undo
    }

    /// Sets the category of the tool; [`Category::Utility`] by default.
    #[must_use]
    pub fn category(mut self, category: Category) -> Self {
        self.category = category;
        self
    }

    /// Sets the timeout of one execution; by default, that of the run: see
    /// [`Run::tool_timeout`](crate::agent::Run::tool_timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the rule by which results are reused: see [`cache`](crate::cache). By default, results are not reused.
    /// Results of a tool that writes never are.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Sets whether calls need approval; this counts as the author's own declaration. By default, calls need approval
    /// if the tool writes [outside of the organisation](Self::external), and not otherwise.
    #[must_use]
    pub fn approval(mut self, approval: NeedsApproval) -> Self {
        self.approval = approval;
        self.has_said = true;
        self
    }

    /// Makes the reading of the arguments strict: only JSON that fits the schema is accepted.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets the rule for keys of the arguments that the schema does not know. By default, a tool that writes does not run
    /// with such a key, which may change what the call means.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::tool::{Effects, ToolSpec, UnknownKeys};
    /// # #[derive(schemars::JsonSchema)] struct Entry { text: String }
    ///
    /// // Whatever else a model says of an entry does not matter.
    /// let log = ToolSpec::of::<Entry>("log", "Logs.", Effects::Writes).unknown_keys(UnknownKeys::Dropped);
    /// # let _ = log;
    /// ```
    #[must_use]
    pub fn unknown_keys(mut self, rule: UnknownKeys) -> Self {
        self.unknown_keys = rule;
        self
    }

    /// Returns `true` if a key that the schema does not know makes the reading of arguments uncertain.
    pub(crate) fn doubts_unknown_keys(&self) -> bool {
        self.effects == Effects::Writes && self.unknown_keys == UnknownKeys::Doubted
    }

    /// Marks the tool as innate: every agent that has the tool may use it, although neither a skill's list of tools nor
    /// a grant of a team names it.
    pub(crate) fn innate(mut self) -> Self {
        self.innate = true;
        self
    }

    /// Marks the tool as one by which a model gives up a task.
    pub(crate) fn last_resort(mut self) -> Self {
        self.last_resort = true;
        self
    }

    /// Makes the tool run alone: no other call of the same reply is executed at the same time.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.sequential = true;
        self
    }

    /// Declares that the tool polls: it is made to be called with the same arguments again and again, until its result
    /// changes. Examples are the state of a build, or of an order. Its calls may be identical without a bound; see
    /// [`Budget::max_identical_calls`](crate::Budget::max_identical_calls). If the tool writes, each of them is executed,
    /// and nobody is asked whether it is [meant twice](crate::agent::Run::confirm_repeats).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Effects, tool::ToolSpec};
    /// # #[derive(schemars::JsonSchema)] struct Build { number: u32 }
    ///
    /// let spec = ToolSpec::of::<Build>("build_state", "Returns the state of a build.", Effects::Reads).polls();
    /// assert!(spec.polls);
    /// ```
    #[must_use]
    pub fn polls(mut self) -> Self {
        self.polls = true;
        self
    }

    /// Marks the tool as deprecated, with a `note` on what to use instead.
    #[must_use]
    pub fn deprecated(mut self, note: impl Into<Cow<'static, str>>) -> Self {
        self.status = Status::Deprecated { note: note.into() };
        self
    }

    /// Blocks the tool, for this `reason`: its calls are refused, and no model is offered the tool.
    #[must_use]
    pub fn blocked(mut self, reason: impl Into<Cow<'static, str>>) -> Self {
        self.status = Status::Blocked {
            reason: reason.into(),
        };
        self
    }

    /// Sets the schema of the result; none by default. The results of an [`FnTool`](super::FnTool) are checked against
    /// the schema. If one does not follow the schema, the call has failed. If the tool writes, it is not known whether the
    /// call took effect.
    #[must_use]
    pub fn output_schema(mut self, schema: Option<Value>) -> Self {
        self.output_schema = schema;
        self
    }

    /// Adds a worked example of arguments. Models that are offered tools [by prompt](crate::model::prompted) are shown
    /// the first two examples at most, and other models none.
    #[must_use]
    pub fn example(mut self, arguments: Value) -> Self {
        self.examples.push(arguments);
        self
    }

    /// Returns the function declaration for models as JSON text: name, description and schema of the arguments. The
    /// text is made on the first call, and later changes to the fields do not reach it.
    pub fn declaration(&self) -> &str {
        self.declaration.get_or_init(|| {
            json!({
                "type": "function",
                "function": {
                    "name": self.name,
                    "description": self.description,
                    "parameters": self.input_schema,
                },
            })
            .to_string()
        })
    }

    /// Returns the schema of the arguments; it is compiled on the first call.
    pub(crate) fn expected(&self) -> Expected<'_> {
        let compiled = self.schema.get_or_init(|| {
            let schema = Schema::new(&self.input_schema);
            match self.doubts_unknown_keys() {
                true => schema.doubt_unknown_keys(),
                false => schema,
            }
        });
        Expected {
            schema: &self.input_schema,
            compiled,
        }
    }

    /// Returns the schema of the arguments if it demands anything beyond types (bounds, lengths, patterns), which
    /// reading a type does not check; else `None`.
    pub(crate) fn constraints(&self) -> Option<&Schema> {
        let constrained = self
            .constrained
            .get_or_init(|| constrained(&self.input_schema));
        constrained.then(|| self.expected().compiled)
    }

    /// Returns a digest of the tool's own name, its version and the schema of its arguments; the same on any
    /// machine.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let schema = self.input_schema.to_string();
            let mut digest = hmac_sha256::Hash::new();
            for part in [self.own_name(), &self.version, &canonical(&schema)] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
            digest.finalize()
        })
    }

    /// Returns the tool's own name, as receipts have it. For an [`alias`](super::alias), the own name differs from the
    /// name by which models call the tool.
    pub fn own_name(&self) -> &str {
        self.own_name.as_ref().unwrap_or(&self.name)
    }

    /// Returns `true` if the pattern matches the tool's name, its own name or its `name@version`.
    pub(crate) fn is_meant_by(&self, pattern: &Pattern) -> bool {
        pattern.matches(&self.name)
            || pattern.matches(self.own_name())
            || pattern.matches(&self.key())
    }

    /// Returns `name@version`, with the tool's own name.
    pub fn key(&self) -> String {
        format!("{}@{}", self.own_name(), self.version)
    }

    /// Returns the specification with another name for models; the tool's own name stays.
    pub(super) fn renamed(&self, name: Cow<'static, str>) -> ToolSpec {
        let own_name = self.own_name.clone().or_else(|| Some(self.name.clone()));
        ToolSpec {
            name,
            own_name,
            ..self.clone()
        }
    }

    /// Returns `true` if the tool takes no arguments: the schema of its arguments has no properties.
    pub(crate) fn takes_nothing(&self) -> bool {
        self.input_schema
            .get("properties")
            .and_then(Value::as_object)
            .is_none_or(serde_json::Map::is_empty)
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSpec")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("effects", &self.effects)
            .finish_non_exhaustive()
    }
}

/// Value that is computed from other fields of its struct on first use, and kept. A clone of the struct computes the
/// value anew, because the other fields may be changed in the clone.
struct Derived<T>(OnceLock<T>);

impl<T> Derived<T> {
    fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Derived(OnceLock::new())
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}
