//! Evidence of a run: the words of the user and the receipts of calls, against which values of a model are checked.
//!
//! - [`Done`] in an answer stands for a call that has succeeded. An answer that claims a call which has not succeeded
//!   in the run is refused.
//! - [`Known`] in the arguments of a tool takes only values that the user or a tool has given. A call with a value of
//!   the model's own invention fails like any call with an argument that does not fit.
//!
//! Both types say where a value comes from. They do not say that the value is the right one: see the limits of each
//! type.
//!
//! ```
//! # use agents_core as agents;
//! use agents::evidence::{Known, User};
//! # use agents::tool::ToolName;
//! # struct FindOrder;
//! # impl ToolName for FindOrder { const NAME: &'static str = "find_order"; }
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Refund {
//!     /// Number of the order.
//!     order: Known<String, (User, FindOrder)>,
//! }
//! let schema = agents::tool::schema_of::<Refund>();
//! let described = &schema["properties"]["order"]["description"];
//! assert_eq!(described, "Number of the order. Only a value that the user named or `find_order` returned.");
//! ```

mod done;
mod iban;
mod known;
mod marks;
mod numeral;
mod origin;
mod reading;
mod search;
mod source;
mod text;
mod wording;

pub use done::Done;
pub use known::Known;
pub(crate) use marks::without_marks;
pub use origin::{Giver, Origin};
pub(crate) use reading::{Evidence, KnownValues, Reading, Respelled, Success, nobody, stored};
pub use source::{ClaimedTool, Sources, User};
pub(crate) use wording::{claims_unreachable, respelled, to_be_respelled};
