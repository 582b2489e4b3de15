//! The words of the language: all keys of all attributes, kinds of failure, verbs.

use syn::Ident;

/// A key of an attribute such as `#[tool(..)]`, with the form of its value.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// An example of how the key is written, for messages.
    pub(crate) usage: &'static str,
    pub(crate) takes: Takes,
}

/// The form of the value that a key of an attribute takes.
#[derive(Clone, Copy)]
pub(crate) enum Takes {
    /// The key takes no value: `strict`
    Nothing,
    /// The key takes a time, or nothing: `idempotent`, or `idempotent(for = expr)`
    TimeFor,
    /// The key takes any expression: `timeout = expr`
    Value,
    /// An expression that gives text: `prompt = expr`. A literal has to be a string.
    Words,
    /// The key takes an expression that is no literal: `on_tool_use = expr`
    Code,
    /// The key takes a string literal: `deprecated = "text"`
    Text,
    /// A string literal that is a valid name of a Rust function, without capitals: `name = "web_search"`
    Name,
    /// The key takes a list in brackets: `tools = [a, ..b]`
    List,
    /// Bounds, or one expression: `budget(max_turns = 1)`, or `budget = expr`
    Bounds,
    /// The key takes a path: `crate = path`
    Path,
    /// The arguments of a method, which have rules of their own: `grants([ReadFile])`
    Arguments,
}

const fn key(name: &'static str, takes: Takes, usage: &'static str) -> Key {
    Key { name, usage, takes }
}

/// The keys of `#[tool(..)]` that declare the tool's effects. Each tool has exactly one of these keys.
pub(crate) const EFFECTS: [&str; 3] = ["none", "reads", "writes"];

/// The keys that `#[tool(..)]` knows.
pub(crate) const TOOL: &[Key] = &[
    key("none", Takes::Nothing, "none"),
    key("reads", Takes::Nothing, "reads"),
    key("writes", Takes::Nothing, "writes"),
    key("idempotent", Takes::TimeFor, "idempotent(for = hours(24))"),
    key("external", Takes::Nothing, "external"),
    key("strict", Takes::Nothing, "strict"),
    key("unknown_keys", Takes::Value, "unknown_keys = dropped"),
    key("sequential", Takes::Nothing, "sequential"),
    key("polls", Takes::Nothing, "polls"),
    key("name", Takes::Name, "name = \"web_search\""),
    key("version", Takes::Words, "version = \"1.0.0\""),
    key(
        "deprecated",
        Takes::Text,
        "deprecated = \"use read_file 2\"",
    ),
    key("category", Takes::Value, "category = search"),
    key("timeout", Takes::Value, "timeout = Duration::from_secs(2)"),
    key(
        "cache",
        Takes::Value,
        "cache = ttl(Duration::from_secs(60))",
    ),
    key("approval", Takes::Value, "approval = always"),
    key("risk", Takes::Value, "risk = high"),
    key(
        "effect_description",
        Takes::Text,
        "effect_description = \"pay {amount} cents to {payee}\"",
    ),
    key(
        "irreversible",
        Takes::Text,
        "irreversible = \"an email cannot be unsent\"",
    ),
    key("secrets", Takes::List, "secrets = [\"crm\"]"),
    key("crate", Takes::Path, "crate = path::to::agents"),
];

/// The words for `category = ..` of a tool.
pub(crate) const CATEGORIES: &[&str] = &["api", "code", "data", "search", "utility"];

/// The words for `cache = ..` of a tool.
pub(crate) const CACHES: &[&str] = &["none", "forever", "ttl"];

/// The words for `approval = ..` of a tool.
pub(crate) const APPROVALS: &[&str] = &["never", "always", "when"];

/// The words for `unknown_keys = ..` of a tool.
pub(crate) const UNKNOWN_KEYS: &[&str] = &["doubted", "dropped"];

/// The words for `risk = ..` of a tool.
pub(crate) const RISKS: &[&str] = &["low", "medium", "high"];

/// The keys of `#[serde(..)]` on a parameter: all that serde knows, to tell what a misspelt key may have meant.
pub(crate) const SERDE: &[&str] = &[
    "alias",
    "borrow",
    "bound",
    "default",
    "deserialize_with",
    "flatten",
    "getter",
    "rename",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "with",
];

/// The keys of `#[schemars(..)]` on a parameter, to tell what a misspelt key may have meant.
pub(crate) const SCHEMARS: &[&str] = &[
    "alias",
    "bound",
    "contains",
    "default",
    "deprecated",
    "description",
    "email",
    "example",
    "examples",
    "extend",
    "flatten",
    "format",
    "inner",
    "length",
    "pattern",
    "range",
    "regex",
    "rename",
    "required",
    "schema_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "title",
    "transform",
    "url",
    "with",
];

/// The keys inside of the bounds in `#[schemars(..)]`, such as `min` in `range(min = 1)`.
pub(crate) const LIMITS: &[(&str, &[&str])] = &[
    ("length", &["min", "max", "equal"]),
    ("range", &["min", "max"]),
];

/// The keys that `#[agent(..)]` knows.
pub(crate) const AGENT: &[Key] = &[
    key("name", Takes::Name, "name = \"first_clerk\""),
    key("prompt", Takes::Words, "prompt = \"You are ..\""),
    key(
        "description",
        Takes::Words,
        "description = \"What others are told\"",
    ),
    key("model", Takes::Value, "model = ollama(\"qwen3:4b\")"),
    key("purpose", Takes::Value, "purpose = PurposeKey::Reasoning"),
    key("tools", Takes::List, "tools = [ReadFile, ..more]"),
    key("budget", Takes::Bounds, "budget(max_turns = 10)"),
    key("context", Takes::Value, "context = trim(at = 0.75)"),
    key("memory", Takes::Value, "memory = self.bank.clone()"),
    key("knowledge", Takes::Value, "knowledge = dir!(\"skills/\")"),
    key(
        "policies",
        Takes::List,
        "policies = [(\"github_*\", ToolPolicy::new().confirm())]",
    ),
    key("strict", Takes::Nothing, "strict"),
    key(
        "on_tool_use",
        Takes::Code,
        "on_tool_use = |name, args, result| println!(\"[{name}] {args} {result:?}\")",
    ),
    key(
        "validate",
        Takes::Code,
        "validate = |answer| self.check(answer)",
    ),
    key("hand_off", Takes::List, "hand_off = [Refunds, Sales]"),
    key("fixers", Takes::List, "fixers = [JsonFixer]"),
    key("crate", Takes::Path, "crate = path::to::agents"),
];

/// The bounds that `budget(..)` knows.
pub(crate) const BUDGET: &[&str] = &[
    "max_turns",
    "max_tool_calls",
    "max_identical_calls",
    "max_answers",
    "max_recursion",
    "tokens",
    "cost",
    "time",
    "depth",
];

/// The words for `context = ..` of an agent: `trim(..)` and `compact(..)`.
pub(crate) const CONTEXTS: &[&str] = &["compact", "trim"];

/// The keys of `trim(..)` and `compact(..)`.
pub(crate) const CONTEXT: &[&str] = &["at", "by", "window"];

/// The keys that `#[skill(..)]` knows.
pub(crate) const SKILL: &[Key] = &[
    key(
        "when",
        Takes::Value,
        "when = |input: &String| input.len() < 80",
    ),
    key("tools", Takes::List, "tools = [ReadFile, \"github_*\"]"),
    key("memory", Takes::Nothing, "memory"),
    key("purpose", Takes::Value, "purpose = PurposeKey::Scoring"),
];

/// The methods that describe a place in a `structure!`.
pub(crate) const PLACE: &[Key] = &[
    key("grants", Takes::Arguments, "grants([ReadFile, WriteFile])"),
    key("confirm", Takes::Arguments, "confirm([Deploy])"),
    key("budget", Takes::Arguments, "budget(tokens(500_000))"),
    key("background", Takes::Arguments, "background()"),
    key(
        "background_until_answer",
        Takes::Arguments,
        "background_until_answer()",
    ),
    key("delegates", Takes::Arguments, "delegates(Coder, Tester)"),
];

/// The attributes by which methods of an `#[agent] impl` are marked.
pub(crate) const MARKS: &[&str] = &["skill", "knowledge"];

/// The blocks that may stand behind the function in a `tool!`.
pub(crate) const TOOL_BLOCKS: &[&str] = &["on_error", "in_doubt", "undo"];

/// The blocks that may stand beside functions in an `#[agent] impl`.
pub(crate) const BLOCKS: &[&str] = &["on_error", "on_escalation"];

/// A kind of failure that an arm can answer.
pub(crate) struct Kind {
    /// The word for the kind in arms, such as `invalid_args`.
    pub(crate) name: &'static str,
    /// The variant of the runtime's `CallError` for this kind of failure.
    pub(crate) variant: &'static str,
    /// The names of the values that an arm of this kind is given.
    pub(crate) takes: &'static [&'static str],
}

/// The kinds of failure that an arm of `on_error` can answer.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        name: "invalid_args",
        variant: "InvalidArgs",
        takes: &["raw", "error"],
    },
    Kind {
        name: "deserialization_error",
        variant: "Deserialization",
        takes: &["value", "error"],
    },
    Kind {
        name: "execution_error",
        variant: "Execution",
        takes: &["failure"],
    },
    Kind {
        name: "invalid_output",
        variant: "InvalidOutput",
        takes: &["raw", "error"],
    },
];

/// Failures of an execution that users take for kinds, in small letters and without `_`, and the pattern to write for
/// each.
pub(crate) const FAILURES: &[(&str, &str)] = &[
    ("returned", "Returned(e)"),
    ("err", "Returned(e)"),
    ("timedout", "TimedOut(_)"),
    ("timeout", "TimedOut(_)"),
    ("panicked", "Panicked(_)"),
    ("panic", "Panicked(_)"),
];

/// The severities of an escalation, for `severity = ..`.
pub(crate) const SEVERITIES: &[&str] = &["Low", "Medium", "High", "Critical"];

/// The verbs that `on_escalation!` knows.
pub(crate) const RESOLUTIONS: &[Verb] = &[
    verb("retry_with_model", 1, &[], None),
    verb("reroute_to_skill", 1, &[], None),
    verb("reroute_to", 1, &[], None),
    verb("return_partial_result", 1, &[], None),
    verb("escalate", 1, &["severity"], Some("severity")),
    verb("inherit", 0, &[], None),
    verb("throw", 1, &[], None),
];

/// A verb of `on_error` or `on_escalation`, with the arguments that it takes.
pub(crate) struct Verb {
    /// The verb as it is written, such as `retry`.
    pub(crate) name: &'static str,
    /// The keys that the verb takes: `retry(max_attempts = 3)` is `retry().max_attempts(3)`.
    pub(crate) keys: &'static [&'static str],
    /// The number of values that the verb takes without a key.
    pub(crate) plain: usize,
    /// The key that was probably meant, if there is one value too many.
    pub(crate) next: Option<&'static str>,
}

const fn verb(
    name: &'static str,
    plain: usize,
    keys: &'static [&'static str],
    next: Option<&'static str>,
) -> Verb {
    Verb {
        name,
        keys,
        plain,
        next,
    }
}

/// The verbs that `on_error!` knows.
pub(crate) const VERBS: &[Verb] = &[
    verb("fix", 1, &["agent", "retries"], None),
    verb("fix_with", 1, &["retries"], Some("retries")),
    verb("sanitize", 1, &[], None),
    verb(
        "retry",
        0,
        &["max_attempts", "backoff"],
        Some("max_attempts"),
    ),
    verb("feedback", 1, &[], None),
    verb("escalate", 1, &["severity"], Some("severity")),
    verb("throw", 1, &[], None),
];

/// Returns the verb of this name among `verbs`.
pub(crate) fn named(name: &Ident, verbs: &'static [Verb]) -> Option<&'static Verb> {
    verbs.iter().find(|verb| name == verb.name)
}

/// Tells whether this is the name of a verb, for a failure or for an escalation.
pub(crate) fn is_verb(name: &Ident) -> bool {
    named(name, VERBS).or(named(name, RESOLUTIONS)).is_some()
}

/// Returns the names of the verbs that `on_error!` knows.
pub(crate) fn verbs() -> Vec<&'static str> {
    VERBS.iter().map(|verb| verb.name).collect()
}

/// Returns the names of the kinds of failure.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}

/// Returns the names of keys.
pub(crate) fn words(keys: &'static [Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// Returns the kind of failure of this name.
pub(crate) fn kind(name: &Ident) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| name == kind.name)
}
