//! Abilities and limits of models, by their names.

use agents_core::model::Capabilities;

/// Returns the abilities of the model of this name. Models that are known to be old, and models whose names do not
/// contain `claude`, count as unable to follow a schema. Every other ability counts as there.
pub(crate) fn capabilities(name: &str) -> Capabilities {
    let is_old = ["claude-3", "claude-sonnet-4-2", "claude-sonnet-4-0"]
        .iter()
        .chain(&["claude-opus-4-2", "claude-opus-4-0"])
        .any(|old| name.contains(old));
    Capabilities {
        structured_output: name.contains("claude") && !is_old,
        images: true,
        files: true,
        window: name.contains("claude").then_some(200_000),
        ..Capabilities::default()
    }
}

/// Returns the default limit of a reply in tokens, by the name of the model; the server demands a limit. It includes
/// thinking, and is no more than every model of its family permits.
pub(crate) fn max_tokens(name: &str) -> u32 {
    match name.contains("claude") {
        true if name.contains("claude-3") => 4_096,
        true => 32_000,
        false => 8_192,
    }
}

#[cfg(test)]
mod tests {
    use super::{capabilities, max_tokens};

    #[test]
    fn models_by_their_names() {
        for (name, structured, tokens) in [
            ("claude-sonnet-5", true, 32_000),
            ("anthropic.claude-opus-4-5-20251101-v1:0", true, 32_000),
            ("claude-haiku-4-5", true, 32_000),
            ("claude-sonnet-4-20250514", false, 32_000),
            ("claude-opus-4-0", false, 32_000),
            ("claude-3-haiku-20240307", false, 4_096),
            ("kimi-k2", false, 8_192),
        ] {
            assert_eq!(capabilities(name).structured_output, structured, "{name}");
            assert_eq!(max_tokens(name), tokens, "{name}");
            let window = (name != "kimi-k2").then_some(200_000);
            assert_eq!(capabilities(name).window, window, "{name}");
        }
    }
}
