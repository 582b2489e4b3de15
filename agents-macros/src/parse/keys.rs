//! Every key of every attribute, once, with the way to write it.

/// One key.
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// How it is written, for messages.
    pub(crate) usage: &'static str,
}

const fn key(name: &'static str, usage: &'static str) -> Key {
    Key { name, usage }
}

/// What a tool does to the world; exactly one has to be said.
pub(crate) const EFFECTS: [&str; 3] = ["none", "reads", "writes"];

/// `#[tool(..)]`
pub(crate) const TOOL: &[Key] = &[
    key("none", "none"),
    key("reads", "reads"),
    key("writes", "writes"),
    key("idempotent", "idempotent"),
    key("external", "external"),
    key("strict", "strict"),
    key("version", "version = \"1.0.0\""),
    key("category", "category = search"),
    key("timeout", "timeout = Duration::from_secs(2)"),
    key("cache", "cache = ttl(Duration::from_secs(60))"),
    key("approval", "approval = always"),
    key("crate", "crate = path::to::agents"),
];

/// `category = ..`
pub(crate) const CATEGORIES: &[&str] = &["api", "code", "data", "search", "utility"];

/// `cache = ..`
pub(crate) const CACHES: &[&str] = &["none", "forever", "ttl"];

/// `approval = ..`
pub(crate) const APPROVALS: &[&str] = &["never", "always", "when"];

/// `#[agent(..)]`
pub(crate) const AGENT: &[Key] = &[
    key("prompt", "prompt = \"You are ..\""),
    key("description", "description = \"What others are told\""),
    key("model", "model = ollama(\"qwen3:4b\")"),
    key("tools", "tools = [ReadFile, ..more]"),
    key("budget", "budget(max_turns = 10)"),
    key("strict", "strict"),
    key("fixers", "fixers = [JsonFixer]"),
    key("crate", "crate = path::to::agents"),
];

/// `budget(..)`
pub(crate) const BUDGET: &[&str] = &["max_turns", "max_tool_calls", "max_recursion", "tokens", "time", "depth"];

/// `#[skill(..)]`
pub(crate) const SKILL: &[Key] = &[key("when", "when = |input: &String| input.len() < 80")];

/// What stands in an `#[agent] impl` beside functions.
pub(crate) const BLOCKS: &[&str] = &["on_error", "on_escalation"];

/// The kinds of failure an arm can answer, and what each hands over.
pub(crate) const KINDS: &[(&str, &[&str])] = &[
    ("invalid_args", &["raw", "error"]),
    ("deserialization_error", &["value", "error"]),
    ("execution_error", &["failure"]),
    ("invalid_output", &["raw", "error"]),
];
