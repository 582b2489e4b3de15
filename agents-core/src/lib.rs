//! Runtime of `agents`: typed agents, their tools, and recovery from failed calls.
//!
//! Most programs use this crate through the `agents` crate. It contains no HTTP, no file access and no database:
//! [`Model`] is a trait, and so is every other interface to the world outside the process.
//!
//! In reading order:
//!
//! | module | what |
//! |-|-|
//! | [`agent`] | typed functions `In -> Out` that may use a model, and their runs |
//! | `compose` | (feature `compose`) composition of agents into agents |
//! | [`team`] | agents that have delegates: grants of tools, and lines of delegation |
//! | [`memory`] | memory of an agent, which lasts from one run to the next |
//! | [`tool`] | async functions that a model can call, and their specifications |
//! | [`model`] | language models, their requests and their replies |
//! | [`run`] | budgets, approvals, events, and the results of a run |
//! | [`journal`] | facts of a run, journals that store them, recorded runs |
//! | [`observe`] | spans, log lines and timed steps of a run |
//! | [`secret`] | secrets: looked up when a tool asks for them, and masked in all output |
//! | `engine` | actions of a run: the loop of an agent and the course of a call, one file an action |
//! | [`policy`], [`rate`] | policies for the calls of a run, and limits on their rate |
//! | [`cache`], [`blob`] | reused results, and storage for large ones |
//! | [`reader`] | reading JSON as models write it, led by the schema: strict, then lenient, then coerced |
//! | [`evidence`] | claims with receipts, and arguments that somebody has given |
//! | [`recovery`] | recovery from failed calls: verbs, decisions, repair agents |
//! | [`escalation`] | failures that are passed to the agents above, and their resolutions |
//! | [`error`] | the errors of a call, and the error of an agent |
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `compose` | the module `compose`: agents that are made of agents, such as `a.then(b)` and `(a, b)` | no |
//! | `cache` | `cache::MokaCache`: a cache for many results that many runs share | no |
//! | `limits` | `rate::GovernorLimiter`: limits for many tenants and threads | no |
//! | `otel` | the module `otel`: runs as traces of OpenTelemetry | no |
//! | `recordings` | `journal::Recorded` and `journal::Follower`: runs that are read back from their journals; `Run::replay` | no |
//! | `testing` | the module `testing`, `ToolContext::detached`, and a check of each run at its end | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
pub mod blob;
mod budget;
pub mod cache;
#[cfg(any(test, feature = "testing"))]
mod checks;
#[cfg(feature = "compose")]
pub mod compose;
mod context;
mod deep;
mod definition;
mod digits;
mod engine;
pub mod error;
pub mod escalation;
pub mod evidence;
mod hex;
pub mod journal;
mod json;
mod media;
pub mod memory;
pub mod model;
pub mod observe;
#[cfg(feature = "otel")]
pub mod otel;
mod panics;
mod place;
pub mod policy;
pub mod rate;
pub mod recovery;
#[doc(hidden)]
pub mod rt;
// The macros name `::agents::__rt`, in this repository also where `agents` is another name of this crate.
#[doc(hidden)]
pub use rt as __rt;
pub mod run;
mod scope;
#[doc(hidden)]
pub mod screen;
pub mod secret;
mod shared;
pub mod team;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tool;

pub use agent::{Agent, AgentBuilder};
/// Reader of JSON as models write it: the crate `agents-reader`.
#[doc(inline)]
pub use agents_reader as reader;
/// Attribute for every `impl` of a trait of this crate with `async` functions, except [`Tool`], which needs none.
///
/// Such traits are, for instance, [`Model`], [`Agent`], [`Memory`](memory::Memory) and [`Secrets`](secret::Secrets).
/// The attribute is that of the crate `async-trait`, re-exported so that programs need not depend on that crate
/// themselves.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, Error, async_trait, run::RunContext};
///
/// struct Echo;
///
/// #[async_trait]
/// impl Agent for Echo {
///     type In = String;
///     type Out = String;
///
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn work(&self, _: &RunContext, input: String) -> Result<String, Error> {
///         Ok(input)
///     }
/// }
/// ```
#[doc(inline)]
pub use async_trait::async_trait;
pub use error::{Class, Code, Error, ErrorKind, Severity, ToolError, ToolFailure};
pub use json::Json;
pub use model::{Model, PurposeKey};
pub use run::{Budget, Outcome};
pub use tokio_util::sync::CancellationToken;
pub use tool::{Effects, Tool, ToolContext};
