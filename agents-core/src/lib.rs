//! The runtime of `agents`: typed agents, their tools, and what happens when a call fails.
//!
//! Most people use it through the `agents` crate. It knows no HTTP, no files and no database: a
//! [`Model`] is a trait, and so is everything else that reaches outside.
//!
//! In reading order:
//!
//! | module | what |
//! |-|-|
//! | [`agent`] | typed functions `In -> Out` that may use a model, and their runs |
//! | [`compose`] | composition of agents into agents |
//! | [`team`] | agents that have delegates: who may use what, and who asks whom |
//! | [`memory`] | what an agent remembers from one run to the next |
//! | [`tool`] | async functions that a model can call, and their specifications |
//! | [`model`] | language models, their requests and their replies |
//! | [`run`] | budgets, approvals, events, snapshots, and what a run leaves behind |
//! | [`observe`] | the spans, log lines and steps by which a run is watched |
//! | [`secret`] | secrets: looked up when a tool asks, and masked wherever anything is written |
//! | `turn` | what moves a run: the way of one call, a file for each stage |
//! | [`policy`], [`rate`] | rules about what a run's calls may do, and limits on how often |
//! | [`cache`], [`blob`] | results that are reused, and results that are too large |
//! | [`reader`] | JSON as models write it, read by the schema: strict, then lenient, then coerced |
//! | [`recovery`] | what happens when a call fails: verbs, decisions, repair agents |
//! | [`escalation`] | failures that are handed up, and what the agents above do about them |
//! | [`error`] | the errors of a call, and the error of an agent |

// On docs.rs every item says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
pub mod blob;
mod brain;
mod budget;
pub mod cache;
pub mod compose;
pub mod error;
pub mod escalation;
mod hex;
mod json;
pub mod memory;
pub mod model;
pub mod observe;
mod panics;
mod place;
pub mod policy;
pub mod rate;
pub mod reader;
pub mod recovery;
#[doc(hidden)]
pub mod rt;
pub mod run;
mod scope;
pub mod secret;
pub mod team;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tool;
mod turn;

pub use agent::{Agent, AgentBuilder};
/// Attribute for every `impl` of a trait of this crate with `async` functions.
///
/// Such traits are [`Model`], [`Agent`], [`Memory`](memory::Memory) and [`Secrets`](secret::Secrets). It is
/// the one of the crate of that name, re-exported so that nobody needs another dependency for it.
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
pub use model::Model;
pub use run::{Budget, Outcome};
pub use tokio_util::sync::CancellationToken;
pub use tool::{Effects, Tool, ToolContext};
