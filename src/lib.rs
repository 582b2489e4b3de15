//! AI agents whose tool calls fail, and what happens then.
//!
//! An agent is a typed function `In -> Out`. Its tools are plain async functions. When a model's
//! call is malformed, of the wrong type, or the tool itself fails, the run goes on: the call is
//! read leniently, the model is told what was wrong and where, and every call leaves a receipt.
//!
//! ```
//! use agents::{prelude::*, tool};
//!
//! /// Adds two numbers.
//! #[tool(none)]
//! async fn add(
//!     /// The first.
//!     left: i64,
//!     /// The second.
//!     right: i64,
//! ) -> i64 {
//!     left + right
//! }
//!
//! /// You are good at arithmetic. Use your tools.
//! #[agent(tools = [Add])]
//! async fn calculator(question: String) -> String;
//!
//! # use agents::testing::{Script, ScriptedModel};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let (model, _) = ScriptedModel::new([
//! #     Script::call("add", r#"{"left": 17, "right": "25",}"#),
//! #     Script::text("17 + 25 = 42"),
//! # ]);
//! // `model` is `ollama("qwen3:4b")`, or whatever else implements `Model`.
//! let outcome = Calculator.run("What is 17 + 25?").model(model).outcome().await?;
//!
//! for receipt in outcome.outputs.receipts() {
//!     println!("{} {} -> {:?}, read with {}", receipt.name, receipt.input, receipt.output, receipt.repairs);
//! }
//! assert_eq!(outcome.result?, "17 + 25 = 42");
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//!
//! | you want | look at |
//! |-|-|
//! | to write a tool | [`tool!`][tool-macro], [`#[tool]`][tool-attribute], [`Tool`] |
//! | to name a model in a configuration | [`model_named`] |
//! | to write an agent | [`#[agent]`][agent-attribute], [`Agent`], [`AgentBuilder`] |
//! | to give an agent memory or knowledge | [`memory`], [`AgentBuilder::knowledge`] |
//! | to compose agents | [`branch!`], [`compose`] |
//! | to build a team with delegates | [`structure!`], [`team`] |
//! | to hold a conversation | [`Agent::chat`], [`agent::Chat`] |
//! | to run an agent | [`Agent::run`], [`agent::Run`], [`run::Outcome`] |
//! | to see what happened | [`run::ToolEnvelope`], [`run::EventKind`], [`console`], [`timeline`], [`observe`] |
//! | a person to approve calls | [`approve`], [`agent::Run::approver`] |
//! | to test without a model | `testing` (feature `testing`), [`journal::Recorded`] |
//! | to score an agent on cases, and to compare two versions of it | [`evals`] |
//! | to define what happens when a call fails | [`recovery`] |
//! | to say what became of a call whose process ended | [`tool::InDoubt`], [`agent::Run::journal`] |
//! | to undo calls | [`tool::Undone`], [`tool::undo_tool`] |
//! | to give tools secret keys | [`secret`], [`ToolContext::secret`] |
//! | to define who handles escalated failures | [`escalation`], [`on_escalation!`] |
//! | to limit what a run may do, how often, and at what cost | [`policy`], [`rate`], [`agent::Run::price`] |
//! | to hold a model to receipts, and its arguments to what somebody said | [`evidence::Done`], [`evidence::Known`] |
//! | to reuse results, and to store large ones | [`cache`], [`blob`] |
//! | to keep several versions of a tool | [`tool::Registry`] |
//! | to read JSON as models write it | [`reader`] |
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `macros` | the macros | yes |
//! | `ollama` | the client for Ollama | yes |
//! | `openai` | the client for OpenAI, and for servers that speak Chat Completions | yes |
//! | `anthropic` | the client for Anthropic | no |
//! | `gemini` | the client for Gemini | no |
//! | `tls` | HTTPS, and for the clients the proxies that the environment names; without it a client speaks plain HTTP, which is enough for an Ollama on this machine | yes |
//! | `compose` | [`compose`]: agents that are made of agents, such as `a.then(b)`, `(a, b)` and [`branch!`] | yes |
//! | `recordings` | `journal::Recorded`: stored runs to look into, to replay and to vary | yes |
//! | `evals` | `evals`: agents run on cases, and their answers are scored; includes `recordings` | yes |
//! | `console` | `console` and `timeline`: runs as lines and charts in a terminal | yes |
//! | `testing` | `testing::ScriptedModel` | no |
//! | `cache` | `cache::MokaCache` | no |
//! | `limits` | `rate::GovernorLimiter` | no |
//! | `http-tool` | the tool `http::HttpTool` | no |
//! | `otel` | `otel::layer`, for OpenTelemetry | no |
//!

// Without the macros, links to them lead to the list of features.
#![cfg_attr(
    feature = "macros",
    doc = "

[tool-macro]: prelude::tool
[tool-attribute]: macro@tool
[agent-attribute]: macro@agent
"
)]
#![cfg_attr(
    not(feature = "macros"),
    doc = "

[tool-macro]: #features
[tool-attribute]: #features
[agent-attribute]: #features
[`structure!`]: #features
[`on_escalation!`]: #features
"
)]
#![cfg_attr(
    not(all(feature = "macros", feature = "compose")),
    doc = "

[`branch!`]: #features
"
)]
#![cfg_attr(
    not(feature = "compose"),
    doc = "

[`compose`]: #features
"
)]
#![cfg_attr(
    not(feature = "recordings"),
    doc = "

[`journal::Recorded`]: #features
"
)]
#![cfg_attr(
    not(feature = "evals"),
    doc = "

[`evals`]: #features
"
)]
#![cfg_attr(
    not(feature = "console"),
    doc = "

[`console`]: #features
[`timeline`]: #features
"
)]
// On docs.rs every item names the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "compose")]
pub use agents_core::compose;
#[cfg(feature = "otel")]
pub use agents_core::otel;
pub use agents_core::{
    Agent, AgentBuilder, Budget, CancellationToken, Class, Code, Effects, Error, ErrorKind, Json,
    Model, Outcome, PurposeKey, Severity, Tool, ToolContext, ToolError, ToolFailure, async_trait,
};
pub use agents_core::{
    agent, cache, error, escalation, evidence, memory, model, observe, policy, rate, reader,
    recovery, run, secret, team, tool,
};

#[cfg(feature = "anthropic")]
pub use agents_anthropic::{self as anthropic, Anthropic, anthropic};
#[cfg(feature = "testing")]
pub use agents_core::testing;
#[cfg(feature = "evals")]
pub use agents_dev::evals;
pub use agents_dev::{approve, blob, journal};
#[cfg(feature = "console")]
pub use agents_dev::{console, timeline};
#[cfg(feature = "gemini")]
pub use agents_gemini::{self as gemini, Gemini, gemini};
#[cfg(feature = "http-tool")]
pub use agents_http_tool as http;
#[cfg(all(feature = "macros", feature = "compose"))]
pub use agents_macros::branch;
#[cfg(feature = "macros")]
pub use agents_macros::{
    agent, dir, example, in_doubt, on_error, on_escalation, structure, tool_attribute as tool, undo,
};
#[cfg(feature = "ollama")]
pub use agents_ollama::{self as ollama, Ollama, ollama};
#[cfg(feature = "openai")]
pub use agents_openai::{self as openai, OpenAi, openai};

mod model_named;

pub use model_named::model_named;

#[doc(hidden)]
pub use agents_core::rt as __rt;

/// The names that most programs need: `use agents::prelude::*`.
///
/// With `use agents::{prelude::*, tool}` the attribute `#[tool]` is available as well.
pub mod prelude {
    #[cfg(feature = "compose")]
    pub use crate::compose::Step::{Again, Done};
    #[cfg(feature = "compose")]
    pub use crate::compose::first_of;
    #[cfg(feature = "ollama")]
    pub use crate::ollama;
    #[cfg(feature = "openai")]
    pub use crate::openai;
    pub use crate::run::{Budget, hours, minutes, tokens};
    pub use crate::tool::Ask;
    pub use crate::{Agent, AgentBuilder, Error, Model, Outcome, Tool, ToolContext, ToolFailure};
    // One name cannot be exported twice from one module: `tool!` is here, `#[tool]` at the root.
    #[cfg(all(feature = "macros", feature = "compose"))]
    pub use agents_macros::branch;
    #[cfg(feature = "macros")]
    pub use agents_macros::{agent, dir, in_doubt, on_error, structure, tool, undo};
    // `#[tool]` reads `#[example]`. The export is for code with `#[example]` above `#[tool]`, which gets an error
    // that explains the order.
    #[cfg(feature = "macros")]
    #[doc(hidden)]
    pub use agents_macros::example;
}

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../book/src/first-agent.md")]
    struct FirstAgent;
    #[doc = include_str!("../book/src/what-an-agent-can-and-knows.md")]
    struct WhatAnAgentCanAndKnows;
    #[doc = include_str!("../book/src/when-a-call-fails.md")]
    struct WhenACallFails;
    #[doc = include_str!("../book/src/recovery-by-example.md")]
    struct RecoveryByExample;
    #[doc = include_str!("../book/src/conversations.md")]
    struct Conversations;
    #[doc = include_str!("../book/src/context.md")]
    struct Context;
    #[doc = include_str!("../book/src/streams.md")]
    struct Streams;
    #[doc = include_str!("../book/src/composition.md")]
    struct Composition;
    #[doc = include_str!("../book/src/organisation.md")]
    struct Organisation;
    #[doc = include_str!("../book/src/what-a-run-may-do.md")]
    struct WhatARunMayDo;
    #[doc = include_str!("../book/src/a-tool-that-fails.md")]
    struct AToolThatFails;
    #[doc = include_str!("../book/src/asking-for-help.md")]
    struct AskingForHelp;
    #[doc = include_str!("../book/src/two-of-them.md")]
    struct TwoOfThem;
    #[doc = include_str!("../book/src/the-flow.md")]
    struct TheFlow;
    #[doc = include_str!("../book/src/tools.md")]
    struct Tools;
    #[doc = include_str!("../book/src/tools-on-demand.md")]
    struct ToolsOnDemand;
    #[doc = include_str!("../book/src/skill-folders.md")]
    struct SkillFolders;
    #[doc = include_str!("../book/src/words.md")]
    struct Words;
    #[doc = include_str!("../book/src/models.md")]
    struct Models;
    #[doc = include_str!("../book/src/openai.md")]
    struct OpenAi;
    #[doc = include_str!("../book/src/anthropic.md")]
    struct Anthropic;
    #[doc = include_str!("../book/src/gemini.md")]
    struct Gemini;
    #[doc = include_str!("../book/src/five-providers.md")]
    struct FiveProviders;
    #[doc = include_str!("../book/src/reading-calls.md")]
    struct ReadingCalls;
    #[doc = include_str!("../book/src/repair-agents.md")]
    struct RepairAgents;
    #[doc = include_str!("../book/src/giving-up.md")]
    struct GivingUp;
    #[doc = include_str!("../book/src/final-answers.md")]
    struct FinalAnswers;
    #[doc = include_str!("../book/src/questions.md")]
    struct Questions;
    #[doc = include_str!("../book/src/steering.md")]
    struct Steering;
    #[doc = include_str!("../book/src/background.md")]
    struct Background;
    #[doc = include_str!("../book/src/claims.md")]
    struct Claims;
    #[doc = include_str!("../book/src/approvals.md")]
    struct Approvals;
    #[doc = include_str!("../book/src/budgets.md")]
    struct Budgets;
    #[doc = include_str!("../book/src/receipts.md")]
    struct Receipts;
    #[doc = include_str!("../book/src/ids-and-the-cache.md")]
    struct IdsAndTheCache;
    #[doc = include_str!("../book/src/secrets.md")]
    struct Secrets;
    #[doc = include_str!("../book/src/images-and-files.md")]
    struct ImagesAndFiles;
    #[doc = include_str!("../book/src/the-http-tool.md")]
    struct TheHttpTool;
    #[doc = include_str!("../book/src/what-can-be-seen.md")]
    struct WhatCanBeSeen;
    #[doc = include_str!("../book/src/stored-runs.md")]
    struct StoredRuns;
    #[doc = include_str!("../book/src/replay.md")]
    struct Replay;
    #[doc = include_str!("../book/src/evals.md")]
    struct Evals;
    #[doc = include_str!("../book/src/cookbook.md")]
    struct Cookbook;
    #[doc = include_str!("../book/src/cookbook-small-models.md")]
    struct CookbookSmallModels;
    #[doc = include_str!("../book/src/cookbook-timeouts.md")]
    struct CookbookTimeouts;
    #[doc = include_str!("../book/src/cookbook-stopping.md")]
    struct CookbookStopping;
    #[doc = include_str!("../book/src/cookbook-usage.md")]
    struct CookbookUsage;
    #[doc = include_str!("../book/src/cookbook-shared-values.md")]
    struct CookbookSharedValues;
    #[doc = include_str!("../book/src/cookbook-busy-servers.md")]
    struct CookbookBusyServers;
    #[doc = include_str!("../book/src/cookbook-testing.md")]
    struct CookbookTesting;
    #[doc = include_str!("../book/src/cookbook-recording.md")]
    struct CookbookRecording;
    #[doc = include_str!("../book/src/cookbook-tool-versions.md")]
    struct CookbookToolVersions;
    #[doc = include_str!("../book/src/cookbook-listed-tools.md")]
    struct CookbookListedTools;
    #[doc = include_str!("../book/src/glossary.md")]
    struct Glossary;
    #[doc = include_str!("../book/src/stability.md")]
    struct Stability;
    #[doc = include_str!("../book/src/features.md")]
    struct Features;
    #[doc = include_str!("../book/src/errors.md")]
    struct Errors;
    #[doc = include_str!("../book/src/compile-errors.md")]
    struct CompileErrors;
    #[doc = include_str!("../book/src/every-compile-error.md")]
    struct EveryCompileError;
    #[doc = include_str!("../book/src/what-models-are-told.md")]
    struct WhatModelsAreTold;
    #[doc = include_str!("../book/src/beside-others.md")]
    struct BesideOthers;
    #[doc = include_str!("../book/src/coming-from-agents-kt.md")]
    struct ComingFromAgentsKt;
    #[doc = include_str!("../book/src/coming-from-rig.md")]
    struct ComingFromRig;
    #[doc = include_str!("../book/src/coming-from-langgraph.md")]
    struct ComingFromLanggraph;
    #[doc = include_str!("../book/src/coming-from-pydantic-ai.md")]
    struct ComingFromPydanticAi;
}
