//! What is said elsewhere than people look for it.

/// Where that is said for which there is no key `name` in `attribute`.
pub(crate) fn said_elsewhere(attribute: &str, name: &str) -> Option<&'static str> {
    let (.., instead) = ELSEWHERE
        .iter()
        .find(|(of, words, _)| *of == attribute && words.contains(&name))?;
    Some(instead)
}

/// Attributes, words that people look for in them, and where that is said instead.
const ELSEWHERE: &[(&str, &[&str], &str)] = &[
    (
        "tool",
        &["description", "desc", "doc"],
        "what the model is told of a tool is its doc comment: write `/// ..` above the function",
    ),
    (
        "tool",
        &["name", "rename"],
        "a tool goes by the name of its function: rename that",
    ),
    (
        "tool",
        &["for", "window"],
        "the time for which it holds belongs to `idempotent`: write `idempotent(for = hours(24))`",
    ),
    (
        "tool",
        &["effect", "effects"],
        "an effect stands alone: write `none`, `reads` or `writes`",
    ),
    (
        "tool",
        &["retry", "retries", "max_retries", "on_error"],
        "what happens after a failure is said by arms behind the function: `tool! { .. on_error { execution_error(_) => retry() } }`",
    ),
    (
        "tool",
        &["in_doubt"],
        "what became of an interrupted execution is said behind the function: `tool! { .. in_doubt(key) => .. }`",
    ),
    (
        "agent",
        &["system", "system_prompt", "instructions", "preamble"],
        "what a model is told to be is its prompt: write `prompt = \"You are ..\"`",
    ),
    (
        "agent",
        &["name", "rename"],
        "an agent goes by the name of its function or type: rename that",
    ),
    (
        "agent",
        &["temperature", "top_p", "seed"],
        "this is said of the model: write `model = ollama(\"qwen3:4b\").temperature(0.0)`",
    ),
    (
        "agent",
        &["skill", "skills"],
        "a skill is a method of the `impl`: write `#[skill]` above it",
    ),
    (
        "agent",
        &["on_error", "on_escalation"],
        "arms stand among the methods of the `impl`: write `on_error!(match error { .. });`",
    ),
    (
        "skill",
        &["prompt", "description", "desc", "doc"],
        "what is said of a skill is its doc comment: write `/// ..` above the method",
    ),
];
