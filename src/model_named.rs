//! A model named by a text, for configuration.

use crate::{Error, ErrorKind, Model};
use std::sync::Arc;

/// Names of the providers that a model's name can begin with; each is a feature of this crate.
const PROVIDERS: [&str; 4] = ["anthropic", "gemini", "ollama", "openai"];

/// Creates the model of this name, for programs that are told their model by a file or a variable.
///
/// The name is the provider, a colon, and the model as the provider calls it. The address of a server may follow behind
/// an `@`; it begins with `http://` or `https://`. Any other text behind an `@` is refused, unless it is a version, as in
/// `model@2026-10`. Without one, the client is set up as by `anthropic(..)` and the
/// others, from the environment as well. A server that is named by its address gets no key from the environment.
///
/// | name | model |
/// |-|-|
/// | `anthropic:claude-sonnet-5` | `anthropic("claude-sonnet-5")` |
/// | `gemini:gemini-3-flash` | `gemini("gemini-3-flash")` |
/// | `ollama:qwen3:4b` | `ollama("qwen3:4b")` |
/// | `openai:gpt-6-mini` | `openai("gpt-6-mini")` |
/// | `openai:qwen3-8b@http://localhost:8000/v1` | `openai("qwen3-8b").base_url("http://localhost:8000/v1")` |
///
/// ```
/// use agents::{Model, model_named};
///
/// # fn main() -> Result<(), agents::Error> {
/// # #[cfg(feature = "ollama")] {
/// let model = model_named("ollama:qwen3:4b")?;
/// assert_eq!(model.id(), "ollama/qwen3:4b");
/// # }
/// // The scheme is missing.
/// let error = model_named("openai:qwen@127.0.0.1:8000/v1").err().unwrap();
/// assert!(error.to_string().contains("write `openai:qwen@http://..`"));
/// let error = model_named("qwen3").err().unwrap();
/// assert!(error.to_string().contains("write `ollama:qwen3`"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the name has no provider or no model, when an address has no scheme, when the provider is not known, or when its feature is off.
pub fn model_named(name: impl AsRef<str>) -> Result<Arc<dyn Model>, Error> {
    let name = name.as_ref().trim();
    let at = ["@http://", "@https://"]
        .iter()
        .filter_map(|at| name.find(at))
        .min();
    // An address may hold a password, so no error shows it.
    let (name, url) = match at {
        Some(at) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    };
    // Without its scheme, an address would be a part of the model's name, and another server would be asked.
    if let Some((before, behind)) = name.split_once('@')
        && !is_version(behind)
    {
        return Err(unfit(format!(
            "the address behind `{before}@` begins neither with `http://` nor with `https://`: write `{before}@http://..`. A \
             model whose own name has this `@` is named in code, as by `openai(..)`"
        )));
    }
    let Some((provider, model)) = name.split_once(':') else {
        return Err(incomplete(name, &format!("ollama:{name}")));
    };
    if model.trim().is_empty() {
        return Err(incomplete(name, &format!("{provider}:MODEL")));
    }
    match provider {
        "anthropic" => anthropic(model, url),
        "gemini" => gemini(model, url),
        "ollama" => ollama(model, url),
        "openai" => openai(model, url),
        _ => Err(unfit(format!(
            "`{provider}` of `{name}` is no provider that is known: they are {}. For a server that speaks OpenAI's \
             protocol write `openai:MODEL@https://host/v1`",
            providers()
        ))),
    }
}

/// Returns `true` for the version of a model, as in `model@2026-10`, which is no address.
fn is_version(behind: &str) -> bool {
    behind.starts_with(|c: char| c.is_ascii_digit()) && !behind.contains(['.', ':', '/'])
}

fn providers() -> String {
    PROVIDERS.map(|provider| format!("`{provider}`")).join(", ")
}

/// Creates the error for a name without a provider or without a model; `such_as` is a name that has both.
fn incomplete(name: &str, such_as: &str) -> Error {
    unfit(format!(
        "`{name}` does not name a provider and its model: write `{such_as}`, or another provider before the colon ({})",
        providers()
    ))
}

fn unfit(why: String) -> Error {
    Error::new(ErrorKind::Build, why)
}

/// Defines the function that creates a model of a provider, or an error if its feature is off.
macro_rules! provider {
    ($name:ident, $feature:literal, $url:ident) => {
        #[cfg(feature = $feature)]
        fn $name(model: &str, url: Option<&str>) -> Result<Arc<dyn Model>, Error> {
            let model = crate::$name(model);
            Ok(match url {
                Some(url) => Arc::new(model.$url(url)),
                None => Arc::new(model),
            })
        }

        #[cfg(not(feature = $feature))]
        fn $name(model: &str, _: Option<&str>) -> Result<Arc<dyn Model>, Error> {
            Err(unfit(format!(
                "`{0}:{model}` needs the feature `{0}` of `agents`, which is off: add it in Cargo.toml",
                $feature
            )))
        }
    };
}

provider!(anthropic, "anthropic", base_url);
provider!(gemini, "gemini", base_url);
provider!(ollama, "ollama", url);
provider!(openai, "openai", base_url);
