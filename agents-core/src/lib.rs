//! The runtime of `agents`: typed agents, their tools, and what happens when a call fails.
//!
//! Most programs use it through the `agents` crate. It contains no HTTP, no file access and no database:
//! [`Model`] is a trait, and so is everything else that reaches outside the process.
//!
//! In reading order:
//!
//! | module | what |
//! |-|-|
//! | [`agent`] | typed functions `In -> Out` that may use a model, and their runs |
//! | [`compose`] | composition of agents into agents |
//! | [`team`] | agents that have delegates: who may use what, and who asks whom |
//! | [`memory`] | what an agent remembers between runs |
//! | [`tool`] | async functions that a model can call, and their specifications |
//! | [`model`] | language models, their requests and their replies |
//! | [`run`] | budgets, approvals, events, and what a run leaves behind |
//! | [`journal`] | facts of a run, journals that store them, recorded runs |
//! | [`observe`] | spans, log lines and timed steps of a run |
//! | [`secret`] | secrets: looked up when a tool asks, and masked wherever anything is written |
//! | `engine` | what moves a run: the loop of an agent and the way of a call, one file an action |
//! | [`policy`], [`rate`] | rules about what a run's calls may do, and limits on how often |
//! | [`cache`], [`blob`] | reused results, and storage for large ones |
//! | [`reader`] | reading JSON as models write it, led by the schema: strict, then lenient, then coerced |
//! | [`recovery`] | what happens when a call fails: verbs, decisions, repair agents |
//! | [`escalation`] | failures that are passed to the agents above, and how those resolve them |
//! | [`error`] | the errors of a call, and the error of an agent |

// On docs.rs every item says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
pub mod blob;
mod brain;
mod budget;
pub mod cache;
pub mod compose;
mod context;
mod deep;
mod engine;
pub mod error;
pub mod escalation;
mod hex;
pub mod journal;
mod json;
pub mod memory;
pub mod model;
pub mod observe;
mod panics;
mod place;
pub mod policy;
pub mod rate;
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

pub use agent::{Agent, AgentBuilder};
/// Reading JSON as models write it: the crate `agents-reader`.
#[doc(inline)]
pub use agents_reader as reader;
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
