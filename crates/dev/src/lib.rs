//! For developers of [`agents`](https://docs.rs/typed-agents): journals and blobs in files, approval at the terminal, runs
//! on a terminal, recordings and evals.
//!
//! Programs use this crate through `agents`, which re-exports its modules.
//!
//! | module | what |
//! |-|-|
//! | [`journal`] | a run in a file; with the feature `recordings` stored runs to look into, replay and vary |
//! | [`blob`] | large outputs of tools, stored in files |
//! | [`approve`] | approval of calls at the terminal |
//! | `console`, `timeline` | (feature `console`) runs as lines and charts in a terminal |
//! | `evals` | (feature `evals`) agents run on cases, and their answers are scored |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod approve;
pub mod blob;
#[cfg(feature = "console")]
pub mod console;
#[cfg(feature = "evals")]
pub mod evals;
mod files;
pub mod journal;
#[cfg(feature = "console")]
pub mod timeline;
#[cfg(any(feature = "console", feature = "evals"))]
mod width;
