//! Evals: an agent runs on cases, its answers are scored, and two such reports are compared.
//!
//! ```
//! use agents::{evals::{Case, Eval}, prelude::*};
//! # use agents::testing::{Script, ScriptedModel};
//!
//! /// You name capitals.
//! #[agent]
//! async fn geographer(country: String) -> String;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let (model, _) = ScriptedModel::from_fn(|asked| Script::text(match asked.last() {
//! #     "Norway" => "Oslo",
//! #     _ => "Gothenburg",
//! # }));
//! let cases = [Case::new("norway", "Norway", "Oslo"), Case::new("sweden", "Sweden", "Stockholm")];
//! let report = Eval::new("capitals", &cases, |country| Geographer.run(country).model(model.clone()))
//!     .exact()
//!     .predicate("a name", |tried| !tried.output.contains(' '))
//!     .await;
//!
//! assert_eq!(report.passed(), 1);
//! assert!(report.to_string().contains(r#"expected "Stockholm", got "Gothenburg""#));
//! # }
//! ```
//!
//! A failed run, an output that does not fit and a panic are results of their case. The other cases go on.

mod case;
mod diff;
mod eval;
mod judge;
mod models;
mod report;
mod score;
mod table;
mod wording;

pub use case::{Case, read_cases};
pub use diff::{Change, Diff};
pub use eval::Eval;
pub use judge::{Judged, Verdict};
pub use report::{CaseReport, Report, Spent};
pub use score::{CaseScore, Score, Tried};
